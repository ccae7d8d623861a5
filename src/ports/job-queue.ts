import z from 'zod';
import { Step } from '../domain/analysis.ts';

/** What is known of the job when it is queued. */
interface Urgency {
  /** `high` goes before every `normal` one that waits: failures of default branches. */
  readonly priority?: 'high' | 'normal';
}

/** A queue of messages about jobs that stand in the database. A message may come twice, or be lost; handlers are idempotent. */
export interface JobQueue {
  readonly driver: string;
  /**
   * Queues one triage job. A second message for a job that still waits is dropped; one during its run is handled after
   * it. Bounded in time (about a second); throws a retryable `upstream-failed` where the queue is broken.
   */
  enqueue(jobId: string, urgency?: Urgency): Promise<void>;
  /** Hands queued jobs to the handler, at most `concurrency` at once. A handler that throws is called again later with backoff. */
  work(handler: (jobId: string, signal: AbortSignal) => Promise<void>, options: { readonly concurrency: number }): Promise<void>;
  /** Jobs waiting or running, for readiness and the demo. */
  depth(): Promise<number>;
  /** Stops taking jobs, waits for running ones up to the limit, then aborts their signal. */
  stop(options: { readonly timeoutMs: number }): Promise<void>;
}

/** One message as the queue keeps it. */
export interface QueueMessage {
  readonly jobId: string;
  /** `later` waits for its next try; `dead` was given up after the last one. */
  readonly state: 'waiting' | 'running' | 'later' | 'dead';
  /** Tries that failed. */
  readonly tries: number;
  /** When it was queued, or given up. */
  readonly at: string;
  /** What the last try failed with; null where none did. */
  readonly error: string | null;
}

/** Looking into a queue and mending it by hand. */
export interface QueueAdmin {
  /** Messages that wait, run or were put off. */
  messages(limit: number): Promise<QueueMessage[]>;
  /** Messages that were given up after the last try, the newest first. Their jobs are still pending in the database. */
  dead(limit: number): Promise<QueueMessage[]>;
  /** Takes a given-up message from the dead ones and queues it anew; false where there is none. */
  requeue(jobId: string): Promise<boolean>;
}

/** A pending triage job that nobody holds, and what decides when its turn is. */
export const Turn = z.object({
  id: z.string(),
  repository: z.string(),
  /** It is of the branch that everybody works from. */
  urgent: z.boolean(),
  /** Jobs of its repository that are in work now, anywhere. */
  working: z.int(),
});
export type Turn = z.infer<typeof Turn>;

/** A triage job that ended without an answer that could be stored. */
export const FailedJob = z.object({
  id: z.string(),
  buildId: z.string(),
  repository: z.string(),
  error: z.string().nullable(),
  at: z.iso.datetime(),
});
export type FailedJob = z.infer<typeof FailedJob>;

/** Whose turn it is, so that one noisy repository cannot starve the others. Ask the lease who really gets a job. */
export interface JobTurns {
  /** One of each repository after another, each repository's urgent ones first. */
  next(limit: number): Promise<Turn[]>;
  /** Null where the job is unknown. */
  place(jobId: string): Promise<Pick<Turn, 'repository' | 'urgent'> | null>;
  /** The newest first. */
  failed(limit: number): Promise<FailedJob[]>;
  /**
   * Queues a job anew that failed for good or waits for its next try, as if there were news of its build. `done` and `in-work`:
   * nothing is changed. Null where it is unknown.
   */
  requeue(jobId: string): Promise<'pending' | 'in-work' | 'done' | null>;
}

/** A finished step of a run that goes on; `position` rises with each, and may skip numbers. */
export const RunStep = z.object({ position: z.int(), step: Step });
export type RunStep = z.infer<typeof RunStep>;

/** Steps of triages that are running, from whichever process works on them. Losing any of it costs a look only. */
export interface RunStepStore {
  add(buildId: string, step: Step): Promise<void>;
  /** Those of this build after a position, in order; at most 300. */
  after(buildId: string, position: number): Promise<RunStep[]>;
  /** The build's triage begins anew, or is over. */
  forget(buildId: string): Promise<void>;
}
