import type { NewOutboxEntry, OutboxEntry } from '../domain/outbox.ts';
import type { Sql } from './database.ts';

/** How an entry ended. */
export interface OutboxEnd {
  readonly outcome: NonNullable<OutboxEntry['outcome']>;
  /** To be kept; absent: what was kept before stays. */
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: string;
  /** The entry is then left alone for so many milliseconds, whatever changes. */
  readonly pauseMs?: number;
  /** Nothing is to be kept of it: the entry is deleted, unless it was asked for again meanwhile. */
  readonly forget?: boolean;
}

/** Which entries to take. */
export interface OutboxTake {
  readonly topic: string;
  readonly limit: number;
  readonly leaseMs: number;
  readonly newestFirst?: boolean;
  /** Only these, whether or not they are due; absent: those that are due. */
  readonly keys?: readonly string[];
}

/** Work that outlives the transaction which asks for it. Leases and due times are judged by the database's clock. */
export interface OutboxStore {
  /** Asks for the work, in the transaction of what causes it. Returns how many entries are pending for it. */
  add(entries: readonly NewOutboxEntry[], sql?: Sql): Promise<number>;
  /** The same for work that is done once for good: an entry that exists already stays as it is. */
  addOnce(entries: readonly NewOutboxEntry[], sql?: Sql): Promise<void>;
  /** Those of the topics that have something due now. */
  due(topics: readonly string[]): Promise<string[]>;
  /** Takes pending entries that nobody holds, the one that has been due for longest first. Several takers get different entries. */
  take(what: OutboxTake): Promise<OutboxEntry[]>;
  /** Whether nothing has changed since it was taken, and it is still held. */
  isCurrent(entry: OutboxEntry): Promise<boolean>;
  /** Ends what was taken; what was asked for meanwhile stays pending. `false` where the lease is stale: nothing changes. */
  finish(entry: OutboxEntry, end: OutboxEnd, sql?: Sql): Promise<boolean>;
  /** Gives it back, to be left alone for `delayMs`; with 0 the attempt does not count. A stale lease changes nothing. */
  release(entry: OutboxEntry, error: string | null, delayMs: number): Promise<void>;
  /** Gives back every held entry, and says how many; only for a database that no other process can have open. */
  reclaim(): Promise<number>;
  find(topic: string, key: string): Promise<OutboxEntry | null>;
  /** Oldest first. */
  listByBuild(buildId: string): Promise<OutboxEntry[]>;
  /** How many entries of the topic are pending, and since when the oldest is: null where none is. */
  waiting(topic: string): Promise<{ readonly count: number; readonly since: string | null }>;
}

/** The lease under which entries are processed. */
export interface OutboxLease {
  /** When it was asked for, on the monotonic clock, which goes on while the process is frozen. */
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
