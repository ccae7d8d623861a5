/** The priority of a job when it is queued. */
interface Urgency {
  /** `high` goes before every `normal` one that waits: failures of default branches. */
  readonly priority?: 'high' | 'normal';
}

/**
 * A queue of messages about jobs that are in the database. A message may come twice, or be lost; handlers are
 * idempotent.
 */
export interface JobQueue {
  readonly driver: string;
  /**
   * Queues one triage job. A second message for a job that still waits is dropped; one during its run is
   * handled after it. Bounded in time (about a second); throws a retryable `upstream-failed` where the queue
   * is broken.
   */
  enqueue(jobId: string, urgency?: Urgency): Promise<void>;
  /**
   * Hands queued jobs to the handler, at most `concurrency` at once. A handler that throws is called again
   * later with backoff.
   */
  work(
    handler: (jobId: string, signal: AbortSignal) => Promise<void>,
    options: { readonly concurrency: number },
  ): Promise<void>;
  /** Returns the number of waiting and running jobs, for readiness and the demo. */
  depth(): Promise<number>;
  /** Stops taking jobs, waits for running ones up to the limit, then aborts their signal. */
  stop(options: { readonly timeoutMs: number }): Promise<void>;
}

export interface QueueMessage {
  readonly jobId: string;
  /** `later` waits for its next try; `dead` was given up after the last one. */
  readonly state: 'waiting' | 'running' | 'later' | 'dead';
  /** Tries that failed. */
  readonly tries: number;
  /** The time when the message was queued or given up. */
  readonly at: string;
  /** The error of the last try; null if no try failed. */
  readonly error: string | null;
}

/** Looking into a queue and mending it by hand. */
export interface QueueAdmin {
  /** Messages that wait, run or were put off. */
  messages(limit: number): Promise<QueueMessage[]>;
  /**
   * Messages that were given up after the last try, the newest first. Their jobs are still pending in the
   * database.
   */
  dead(limit: number): Promise<QueueMessage[]>;
  /** Moves a dead message back to the queue. Returns false if there is none. */
  requeue(jobId: string): Promise<boolean>;
}
