import type { JobQueue, JobTurns } from '../ports/job-queue.ts';
import type { QuestionStore } from '../ports/reviews.ts';
import type { Logger } from '../ports/telemetry.ts';
import { lookRegularly } from './look-regularly.ts';

const BATCH = 100;

export interface SweeperDeps {
  readonly jobQueue: JobQueue;
  readonly turns: Pick<JobTurns, 'next'>;
  /** Where runs wait for people; what waited too long is closed, and its run goes on. */
  readonly questions?: Pick<QuestionStore, 'expire'>;
  readonly logger: Logger;
  readonly intervalMs: number;
}

/** Rings again for every job that is owed and that nobody holds: the queue may forget, the database does not. */
export function startSweeper(deps: SweeperDeps): { stop(): Promise<void> } {
  return lookRegularly(deps.intervalMs, () => sweep(deps));
}

async function sweep(deps: SweeperDeps): Promise<void> {
  try {
    await deps.questions?.expire();
    for (const { id, urgent } of await deps.turns.next(BATCH)) await deps.jobQueue.enqueue(id, { priority: urgent ? 'high' : 'normal' });
  } catch (error) {
    deps.logger.warn({ error }, 'sweep failed; it will be tried again');
  }
}
