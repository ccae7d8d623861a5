/** What is known of the job when it rings. */
export interface Ring {
  /** `high` goes before every `normal` one that waits: failures of default branches. */
  readonly priority?: 'high' | 'normal';
}

/** A doorbell for work that the database already knows is owed. It may ring twice, or be lost; handlers are idempotent. */
export interface JobQueue {
  readonly driver: string;
  /**
   * Rings for one triage job. Ringing twice for a job that still waits is one ring; a ring during its run is handled after
   * it. Bounded in time (about a second); throws a retryable `upstream-failed` where the queue is broken.
   */
  enqueue(jobId: string, ring?: Ring): Promise<void>;
  /** Hands ringing jobs to the handler, at most `concurrency` at once. A handler that throws is called again later with backoff. */
  work(handler: (jobId: string, signal: AbortSignal) => Promise<void>, options: { readonly concurrency: number }): Promise<void>;
  /** Jobs waiting or running, for readiness and the demo. */
  depth(): Promise<number>;
  /** Stops taking jobs, waits for running ones up to the limit, then aborts their signal. */
  stop(options: { readonly timeoutMs: number }): Promise<void>;
}

/** One ring as the queue keeps it. */
export interface RingState {
  readonly jobId: string;
  /** `later` waits for its next try; `dead` was given up after the last one. */
  readonly state: 'waiting' | 'running' | 'later' | 'dead';
  /** Tries that failed. */
  readonly tries: number;
  /** When it rang, or was given up. */
  readonly at: string;
  /** What the last try failed with; null where none did. */
  readonly error: string | null;
}

/** Looking into a queue and mending it by hand. */
export interface QueueAdmin {
  /** Rings that wait, run or were put off. */
  rings(limit: number): Promise<RingState[]>;
  /** Rings that were given up after the last try, the newest first. Their jobs are still owed in the database. */
  dead(limit: number): Promise<RingState[]>;
  /** Takes a given-up ring from the dead ones and rings anew; false where there is none. */
  requeue(jobId: string): Promise<boolean>;
}
