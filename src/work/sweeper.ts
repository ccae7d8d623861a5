import { TRIAGE } from '../domain/work.ts';
import { lookRegularly } from '../lib/time.ts';
import type { Logger } from '../ports/telemetry.ts';
import type { WakeUp } from '../ports/work.ts';
import type { QuestionStore } from '../stores/conversations.ts';
import type { WorkStore } from '../stores/work.ts';

const BATCH = 100;

interface SweeperDeps {
  readonly wakeUp: Pick<WakeUp, 'wake' | 'brings'>;
  readonly work: Pick<WorkStore, 'dueKeys'>;
  /** The store of runs that wait for people. Expired questions are closed, and their runs continue. */
  readonly questions?: Pick<QuestionStore, 'expire'>;
  readonly logger: Logger;
  readonly intervalMs: number;
}

/**
 * Starts waking workers again for every triage that is due, if they do not check for it themselves, because
 * the queue may lose messages.
 */
export function startSweeper(deps: SweeperDeps): { stop(): Promise<void> } {
  return lookRegularly(deps.intervalMs, () => sweep(deps));
}

async function sweep({ wakeUp, work, questions, logger }: SweeperDeps): Promise<void> {
  try {
    await questions?.expire();
    const keys = wakeUp.brings(TRIAGE) ? await work.dueKeys(TRIAGE, BATCH) : [];
    for (const key of keys) await wakeUp.wake(TRIAGE, key);
  } catch (error) {
    logger.warn({ error }, 'pending triages could not be announced again; will retry');
  }
}
