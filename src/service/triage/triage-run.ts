import { isRetryable } from '../../domain/errors.ts';
import type { WorkRun } from '../../ports/work.ts';

/** The part of a worker's run that a triage uses. Without `withoutSlot` a CI is asked while a slot is kept. */
export type TriageRun = Pick<WorkRun, 'signal' | 'lastTry' | 'holds'> &
  Partial<Pick<WorkRun, 'withoutSlot' | 'progressed'>>;

/**
 * Checks whether another attempt may get further: the run was interrupted, or the error may be temporary and
 * attempts remain.
 */
export function mayRetry(error: unknown, run: Pick<TriageRun, 'signal' | 'lastTry'>): boolean {
  return run.signal.aborted || (isRetryable(error) && !run.lastTry);
}
