import type { WorkEnd, WorkItem } from '../domain/work.ts';
import type { Sql } from './database.ts';

/** The lease under which items are processed. It is renewed until the handler returns. */
export interface WorkLease {
  /**
   * The time when the lease was requested, on the monotonic clock, which also runs while the process is
   * frozen.
   */
  readonly takenAt: number;
  readonly leaseMs: number;
  /** The signal that is aborted if the process stops or the lease is lost. */
  readonly signal: AbortSignal;
}

/** One attempt at items, and what its handler may tell the worker. */
export interface WorkRun extends WorkLease {
  /** True if no retry follows: the handler must continue without anything that does not work now. */
  readonly lastTry: boolean;
  /**
   * Checks whether the worker still holds the items. Call this first in every transaction that stores a
   * result; if it returns true, no other worker can take them before that transaction ends.
   */
  readonly holds: (sql: Sql) => Promise<boolean>;
  /** Records that a step is finished, so that earlier attempts that crashed no longer count. */
  readonly progressed: () => void;
  readonly withoutSlot: WithoutSlot;
}

/**
 * A function that waits for an external service without occupying a slot of the worker. If enough items
 * already wait for that service, the signal of the run is aborted; the item is tried again when one of them
 * has finished waiting.
 */
export type WithoutSlot = <Value>(service: string, wait: () => Promise<Value>) => Promise<Value>;

/** Processes the items of one topic. */
export interface WorkHandler {
  readonly topic: string;
  readonly leaseMs: number;
  /** The number of items, or of batches, that are processed at once in this process; 1 if absent. */
  readonly concurrency?: number;
  /** The number of items that are processed together; 1 if absent. */
  readonly batch?: number;
  readonly newestFirst?: boolean;
  /**
   * The numbers of unfinished attempts and of retries after which the item is given up. Null if it never is.
   */
  readonly limits: { readonly attempts: number; readonly retries: number } | null;
  /**
   * The longest time between two retries, in milliseconds; the first is after about 2 s, then twice as long
   * each.
   */
  readonly longestDelayMs: number;
  /** The longest `Retry-After` that is respected, in milliseconds; a day if absent. */
  readonly longestAskedMs?: number;
  /** False if the delays between retries are not shortened at random; true if absent. */
  readonly jitter?: boolean;
  /**
   * True if the work goes on from its last finished step and changes nothing outside. Then an attempt that
   * the worker interrupts does not count; a new request restarts counts and delays; and an item during which
   * a process died is retried alone in its process, so that no other item is blamed for the next crash.
   */
  readonly resumable?: boolean;
  /** Returns true if other work has priority. Is called before items are taken. */
  isPaused?(): Promise<boolean>;
  /**
   * Returns null if the handler has already settled the items. Throws TriageError; it is `retryable` if
   * another try may succeed.
   */
  handle(items: readonly WorkItem[], run: WorkRun): Promise<WorkEnd | null>;
  /** Replaces the work on an item that is given up, for example by asking a person. The item then is done. */
  exhausted?(item: WorkItem, error: unknown, run: WorkRun): Promise<void>;
  /** Finishes an item in the place of the store. Returns false if the lease is stale. */
  finish?(item: WorkItem, end: WorkEnd): Promise<boolean>;
}

/** The part of a worker that wake-ups reach. */
export interface Wakeable {
  /** Checks at once for due items of the topic. */
  look(topic: string): void;
  /** Processes this item if it is due, and ends when that is done. Throws if the database cannot be asked. */
  run(topic: string, key: string): Promise<void>;
}

/**
 * A driver that tells workers of triages that are due. The database knows which are; a wake-up may come
 * twice, or be lost.
 */
export interface WakeUp {
  readonly driver: string;
  /**
   * Tells that an item is due. Bounded in time (about a second); throws a retryable `upstream-failed` where
   * the queue is broken.
   */
  wake(topic: string, key: string): Promise<void>;
  /** Wakes the worker of this process from now on. */
  start(worker: Wakeable): void;
  /** Checks whether the driver now brings each item of the topic, so that no worker needs to look for it. */
  brings(topic: string): boolean;
  /** Sets how many items may be brought at once: more than usual while some wait without a slot. */
  resize(topic: string, concurrency: number): void;
  /** Returns the number of items that wait or run, for readiness. */
  depth(): Promise<number>;
  /** Stops to wake the worker. */
  stop(): void;
  /** Reports what ended, and closes the connections. Bounded in time. */
  close(): Promise<void>;
}
