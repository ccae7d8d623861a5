import { isRetryable } from '../domain/errors.ts';
import type { TriageJob } from '../domain/triage.ts';
import type { Sql } from '../ports/database.ts';
import type { WaitOutside } from './detachable-queue.ts';

/** What a worker gives along with a build. */
export interface TriageRun {
  /** Aborted where the process stops, and where the lease was lost. */
  readonly signal: AbortSignal;
  /** What does not work now will not be waited for any longer. */
  readonly lastTry: boolean;
  /**
   * Whether the worker still holds the build. Asked first in every transaction that stores an answer; where it says yes,
   * nobody else can take the build before that transaction ends.
   */
  readonly fence: (sql: Sql) => Promise<boolean>;
  /** What is owed, as it was when it was taken. */
  readonly job?: TriageJob;
  /** Waits for a provider without the place where the build is worked on; absent: it is kept meanwhile. */
  readonly outside?: WaitOutside;
  /** Told of each finished step, so that the tries that died before it count no more. */
  readonly progressed?: () => void;
}

/** Whether another try may get further: the run was cut off, or what went wrong may pass and there are tries left. */
export function mayPass(error: unknown, run: Pick<TriageRun, 'signal' | 'lastTry'>): boolean {
  return run.signal.aborted || (isRetryable(error) && !run.lastTry);
}
