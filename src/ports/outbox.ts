import type { OutboxEntry } from '../domain/outbox.ts';

/** How an entry ended. */
export interface OutboxEnd {
  readonly outcome: NonNullable<OutboxEntry['outcome']>;
  /** To be kept; absent: what was kept before stays. */
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: string;
  /** The entry is then left alone for so many milliseconds, whatever changes. */
  readonly pauseMs?: number;
  /** Nothing is to be kept of it: the entry is deleted, unless it was requested again meanwhile. */
  readonly forget?: boolean;
}

/** The lease under which entries are processed. */
export interface OutboxLease {
  /** When it was requested, on the monotonic clock, which goes on while the process is frozen. */
  readonly takenAt: number;
  readonly leaseMs: number;
  /** Aborted where the process stops. */
  readonly signal: AbortSignal;
}

/** Processes the entries of one topic. */
export interface OutboxHandler {
  readonly topic: string;
  readonly leaseMs: number;
  /** Entries, or batches of them, processed at once in this process. Absent: 1. */
  readonly lanes?: number;
  /** Entries processed together. Absent: 1. */
  readonly batch?: number;
  readonly newestFirst?: boolean;
  /** After so many attempts that did not end, or retries, the entry is given up. Null: it never is. */
  readonly limits: { readonly attempts: number; readonly retries: number } | null;
  /** The longest time between two retries, in milliseconds; the first is after about 2 s, then twice as long each. */
  readonly longestDelayMs: number;
  /** Asked before entries are taken: `true` where other work goes first. */
  isPaused?(): Promise<boolean>;
  /** Null: what was to be done with the entries in the outbox is done already. Throws TriageError; `retryable` where it may be tried again. */
  handle(entries: readonly OutboxEntry[], lease: OutboxLease): Promise<OutboxEnd | null>;
}
