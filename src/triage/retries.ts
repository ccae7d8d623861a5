import { TriageError } from '../domain/errors.ts';

/**
 * How often a build is tried, counted since there was last news of it.
 *
 * - A try that failed with something that may pass (a retryable error) gives its job back and counts as a retry. The n-th
 *   retry waits 2ⁿ seconds, at most five minutes, or longer where the other side said so (Retry-After, at most an hour).
 *   After 19 of them, which is at least an hour, comes the last try: it goes on without what it cannot get.
 * - A try that ends because the process stops is not counted.
 * - A try that never gave its job back, as when the process died, counts as an attempt. After the configured number of them in a
 *   row (`triage.maxCrashes`) in which no step of the graph was finished, the job is set aside so that others proceed: a long run
 *   may outlive many processes, since each goes on from the last finished step, but a failure that takes its process down each
 *   time must not hold up the rest. After the first such try a job runs alone in its process, so that no other is blamed.
 * - A job that is set aside, and what fails for good, is given to a person with a failed analysis. The job itself ends as
 *   `failed` only where that cannot be stored.
 */
export const MAX_RETRIES = 19;

const LONGEST_MS = 300_000;
const LONGEST_ASKED_MS = 3_600_000;

/** How long to leave a job alone that was retried `retries` times before, in milliseconds. */
export function retryDelay(retries: number, error: unknown): number {
  const backoff = Math.min(2 ** (retries + 1) * 1000, LONGEST_MS);
  const asked = error instanceof TriageError ? (error.retryAfterMs ?? 0) : 0;
  return Math.max(backoff, Math.min(asked, LONGEST_ASKED_MS));
}
