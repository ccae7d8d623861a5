import { performance } from 'node:perf_hooks';
import { isRetryable, messageOf } from '../domain/errors.ts';
import type { OutwardAct } from '../domain/notice.ts';
import type { Masker } from '../log/mask/mask.ts';
import type { Failpoint } from '../ports/database.ts';
import type { Publisher } from '../ports/notices.ts';
import type { Stores } from '../ports/stores.ts';
import type { Logger } from '../ports/telemetry.ts';
import { actDelay, MAX_ACT_ATTEMPTS, MAX_ACT_RETRIES } from './act-retries.ts';
import { type BackgroundWorker, keepTurns } from './keep-turns.ts';
import { tell } from './tell.ts';

export interface ActsDeps {
  readonly stores: {
    readonly acts: Pick<Stores['acts'], 'take' | 'obsolete' | 'finish' | 'release'>;
    readonly builds: Pick<Stores['builds'], 'find'>;
    readonly analyses: Pick<Stores['analyses'], 'find'>;
  };
  readonly publishers: readonly Publisher[];
  readonly masker: Pick<Masker, 'mask'>;
  readonly logger: Logger;
  /** Of one call to the other side, in milliseconds. */
  readonly timeLimitMs: number;
  /** Between two looks at what is owed, in milliseconds; a wake comes before it. */
  readonly intervalMs: number;
  readonly failpoint?: Failpoint;
}

/** Tellings of one publisher at once in this process. */
const AT_ONCE = 2;
/** A lease covers the question whether it was told before, the telling, and as much again for everything else. */
const LEASE_PER_LIMIT = 3;
const MAX_SENTENCE = 500;

/**
 * Tells the world what is owed to it, in the background. What is owed stands in the database: a stop or a crash loses nothing, and any
 * number of processes may do this at once. Each publisher has its own turn, so that one that hangs holds up no other.
 */
export function startActs(deps: ActsDeps): BackgroundWorker {
  return keepTurns(deps.publishers, (publisher, signals) => payAll(publisher, deps, signals.stopping, signals.cutOff), deps.intervalMs);
}

async function payAll(publisher: Publisher, deps: ActsDeps, stopping: AbortSignal, cutOff: AbortSignal): Promise<void> {
  const leaseMs = deps.timeLimitMs * LEASE_PER_LIMIT;
  const lane = async () => {
    while (!stopping.aborted) {
      const takenAt = performance.now();
      const act = await deps.stores.acts.take([publisher.driver], leaseMs);
      if (act === null) return;
      deps.failpoint?.('act-taken', act.key);
      await pay(act, publisher, deps, { takenAt, leaseMs, cutOff });
    }
  };
  const lanes = await Promise.allSettled(Array.from({ length: AT_ONCE }, lane));
  for (const { reason } of lanes.filter((one) => one.status === 'rejected')) {
    deps.logger.warn(
      { publisher: publisher.driver, error: reason },
      'what is owed outside could not be looked after; it will be tried again',
    );
  }
}

interface Taken {
  readonly takenAt: number;
  readonly leaseMs: number;
  readonly cutOff: AbortSignal;
}

/** Throws only where the database cannot be asked; the act is then found again when its lease is over. */
async function pay(act: OutwardAct, publisher: Publisher, deps: ActsDeps, { cutOff, ...taken }: Taken): Promise<void> {
  const { acts, builds, analyses } = deps.stores;
  if (act.attempts > MAX_ACT_ATTEMPTS) return await fail(act, `Stopped after ${MAX_ACT_ATTEMPTS} attempts that did not finish.`, deps);
  const why = await acts.obsolete(act);
  if (why !== null) return void (await acts.finish(act, { state: 'superseded', error: why }));
  const [build, analysis] = [await builds.find(act.buildId), await analyses.find(act.analysisId)];
  if (build === null || analysis === null) return await fail(act, 'The answer to publish is no longer stored.', deps);
  const told = await tell(publisher, { act, build, analysis, ...taken, timeLimitMs: deps.timeLimitMs, signal: cutOff }).catch(
    async (error: unknown) => void (await settle(act, error, cutOff.aborted, deps)),
  );
  if (told === undefined) return;
  deps.failpoint?.('act-made', act.key);
  const noted = await acts.finish(act, { state: 'done', reference: told.reference });
  deps.failpoint?.('act-noted', act.key);
  if (!noted) deps.logger.warn({ key: act.key }, 'an answer was told, and another process had taken the telling over');
}

async function settle(act: OutwardAct, error: unknown, stopped: boolean, deps: ActsDeps): Promise<void> {
  if (stopped) return await deps.stores.acts.release(act, 'The process stopped.', 0);
  const again = isRetryable(error) && act.retries < MAX_ACT_RETRIES;
  deps.logger.warn({ key: act.key, retries: act.retries, again, error }, 'an answer could not be told');
  const sentence = (await deps.masker.mask(messageOf(error))).text.slice(0, MAX_SENTENCE);
  if (again) await deps.stores.acts.release(act, sentence, actDelay(act.retries, error));
  else await fail(act, sentence, deps);
}

async function fail(act: OutwardAct, error: string, { stores, logger }: ActsDeps): Promise<void> {
  logger.error({ key: act.key, buildId: act.buildId, reason: error }, 'an answer is not told');
  await stores.acts.finish(act, { state: 'failed', error });
}
