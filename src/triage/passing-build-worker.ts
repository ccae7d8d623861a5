import { isRetryable, messageOf } from '../domain/errors.ts';
import type { GreenJob, Stores } from '../ports/stores.ts';
import type { Logger } from '../ports/telemetry.ts';
import { type LearnDeps, learnGreen } from './learn-green.ts';
import { lookRegularly } from './look-regularly.ts';
import { retryDelay } from './retries.ts';

export interface PassingBuildWorkerDeps extends LearnDeps {
  readonly stores: LearnDeps['stores'] & {
    readonly greens: Pick<Stores['greens'], 'take' | 'release'>;
    readonly triages: Pick<Stores['triages'], 'owed'>;
  };
  readonly logger: Logger;
  /** Between two looks at what is owed, in milliseconds. */
  readonly intervalMs: number;
}

/** How long one green build may take; fetching has a limit of its own. */
const LEASE_MS = 300_000;
/** Tries of one build, those included in which the process died. The next green build makes up for one that is given up. */
const MAX_TRIES = 12;
const MAX_SENTENCE = 500;

/**
 * Makes templates of passed builds in the background, one build at a time, as long as no failed build waits to be triaged. What is owed
 * stands in the database, so a stop loses nothing. `stop` gives back what is being worked on.
 */
export function startPassingBuildWorker(deps: PassingBuildWorkerDeps): { stop(): Promise<void> } {
  return lookRegularly(deps.intervalMs, (stopping) => workOff(deps, stopping));
}

async function workOff(deps: PassingBuildWorkerDeps, stopping: AbortSignal): Promise<void> {
  try {
    while (!stopping.aborted && (await deps.stores.triages.owed(1)).length === 0) {
      const job = await deps.stores.greens.take(LEASE_MS);
      if (job === null) return;
      await settle(job, deps, stopping);
    }
  } catch (error) {
    if (!stopping.aborted) deps.logger.warn({ error }, 'green builds could not be looked after; it will be tried again');
  }
}

async function settle(job: GreenJob, deps: PassingBuildWorkerDeps, stopping: AbortSignal): Promise<void> {
  const { greens } = deps.stores;
  if (job.attempts > MAX_TRIES) return await greens.drop(job, 'failed', 'Stopped after too many attempts that did not finish.');
  const tooLong = AbortSignal.timeout(LEASE_MS);
  try {
    await learnGreen(job, deps, AbortSignal.any([stopping, tooLong]));
  } catch (error) {
    if (stopping.aborted) return await greens.release(job, 'The process stopped.', 0);
    const again = isRetryable(error) && job.attempts < MAX_TRIES;
    deps.logger.warn(
      { buildId: job.buildId, attempts: job.attempts, again, error },
      'the logs of a green build could not be kept as templates',
    );
    const sentence = (await deps.masker.mask(messageOf(error))).text.slice(0, MAX_SENTENCE);
    if (again) await greens.release(job, sentence, retryDelay(job.attempts - 1, error));
    else await greens.drop(job, 'failed', sentence);
  }
}
