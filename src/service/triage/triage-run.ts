import { isRetryable } from '../../domain/errors.ts';
import type { WorkRun } from '../../ports/work.ts';

/**
 * The part of a worker's run that a triage uses. If `withoutSlot` is absent, the run keeps its slot while it
 * waits for a CI.
 */
export type TriageRun = Pick<WorkRun, 'signal' | 'lastTry' | 'holds'> &
  Partial<Pick<WorkRun, 'withoutSlot' | 'progressed'>>;

/**
 * Checks whether another attempt may succeed: the run was interrupted, or the error may be temporary and
 * attempts remain.
 */
export function mayRetry(error: unknown, run: Pick<TriageRun, 'signal' | 'lastTry'>): boolean {
  return run.signal.aborted || (isRetryable(error) && !run.lastTry);
}
