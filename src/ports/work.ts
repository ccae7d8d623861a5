import type { WorkEnd, WorkItem } from '../domain/work.ts';
import type { Sql } from './database.ts';

/** The lease under which items are processed. It is renewed until the handler returns. */
export interface WorkLease {
  /**
   * The time when the lease was requested. It is on the monotonic clock, which also runs while the process is
   * frozen.
   */
  readonly takenAt: number;
  readonly leaseMs: number;
  /** The signal that is aborted if the process stops or the lease is lost. */
  readonly signal: AbortSignal;
}

/** One attempt at items, with the functions by which its handler reports to the worker. */
export interface WorkRun extends WorkLease {
  /** True if no retry follows. The handler must then continue without anything that does not work now. */
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
 * A function that waits for an external service without occupying a slot of the worker. If too many items
 * already wait for that service, the signal of the run is aborted. The item is tried again when one of them
 * has finished waiting.
 */
export type WithoutSlot = <Value>(service: string, wait: () => Promise<Value>) => Promise<Value>;

/** The handler that processes the items of one topic. */
export interface WorkHandler {
  readonly topic: string;
  readonly leaseMs: number;
  /** The number of items, or of batches, that are processed at once in this process; 1 if absent. */
  readonly concurrency?: number;
  /** The number of items that are processed together; 1 if absent. */
  readonly batch?: number;
  readonly newestFirst?: boolean;
  /**
   * The maximum numbers of unfinished attempts and of retries, after which the item is given up. Null if it
   * never is.
   */
  readonly limits: { readonly attempts: number; readonly retries: number } | null;
  /**
   * The maximum time between two retries, in milliseconds. The first retry is after about 2 s; then the time
   * doubles.
   */
  readonly longestDelayMs: number;
  /** The maximum `Retry-After` that is respected, in milliseconds. A day if absent. */
  readonly longestAskedMs?: number;
  /** False if the delays between retries are not shortened at random. True if absent. */
  readonly jitter?: boolean;
  /**
   * True if the work continues after its last finished step and changes nothing in other systems. Then an
   * attempt that the worker interrupts does not count, and a new request restarts counts and delays. An item
   * during which a process died is retried alone in its process, so that no other item is blamed for the next
   * crash.
   */
  readonly resumable?: boolean;
  /** Returns true if other work has priority. Called before items are taken. */
  isPaused?(): Promise<boolean>;
  /**
   * Processes items. Returns null if it has already settled them. Throws TriageError, which is `retryable` if
   * another attempt may succeed.
   */
  handle(items: readonly WorkItem[], run: WorkRun): Promise<WorkEnd | null>;
  /** Replaces the work on an item that is given up, for example by asking a person. The item is done then. */
  exhausted?(item: WorkItem, error: unknown, run: WorkRun): Promise<void>;
  /** Finishes an item in place of the store. Returns false if the lease is stale. */
  finish?(item: WorkItem, end: WorkEnd): Promise<boolean>;
}

/** The part of a worker that a wake-up calls. */
export interface Wakeable {
  /** Checks at once for due items of the topic. */
  look(topic: string): void;
  /**
   * Processes this item if it is due, and resolves when it is finished. Throws if the database cannot be
   * queried.
   */
  run(topic: string, key: string): Promise<void>;
}

/**
 * A driver that tells workers which triages are due. The database is authoritative: a wake-up may come twice
 * or be lost.
 */
export interface WakeUp {
  readonly driver: string;
  /**
   * Reports that an item is due. Takes about a second at most. Throws a retryable `upstream-failed` if the
   * queue is broken.
   */
  wake(topic: string, key: string): Promise<void>;
  /** Wakes the worker of this process from now on. */
  start(worker: Wakeable): void;
  /**
   * Checks whether the driver now reports each item of the topic, so that no worker needs to search for
   * items.
   */
  brings(topic: string): boolean;
  /**
   * Sets the maximum number of items that may be reported at once. It is higher than usual while some items
   * wait without a slot.
   */
  resize(topic: string, concurrency: number): void;
  /** Returns the number of waiting and running items, for the readiness check. */
  depth(): Promise<number>;
  /** Stops waking the worker. */
  stop(): void;
  /** Reports what has ended, and closes the connections. Takes a limited time. */
  close(): Promise<void>;
}
