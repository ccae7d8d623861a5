/** A doorbell for work that the database already knows is owed. It may ring twice, or be lost; handlers are idempotent. */
export interface JobQueue {
  readonly driver: string;
  /** Rings for one triage job. Ringing twice for a job that still waits is one ring. */
  enqueue(jobId: string): Promise<void>;
  /** Hands ringing jobs to the handler, at most `concurrency` at once. A handler that throws is called again later with backoff. */
  work(handler: (jobId: string, signal: AbortSignal) => Promise<void>, options: { readonly concurrency: number }): Promise<void>;
  /** Jobs waiting or running, for readiness and the demo. */
  depth(): Promise<number>;
  /** Stops taking jobs, waits for running ones up to the limit, then aborts their signal. */
  stop(options: { readonly timeoutMs: number }): Promise<void>;
}
