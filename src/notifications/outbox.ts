import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Analysis } from '../domain/analysis.ts';
import type { Build } from '../domain/build.ts';
import { delayOfRetry, isRetryable, messageOf, TriageError } from '../domain/errors.ts';
import type { OutboxEntry } from '../domain/notice.ts';
import type { Masker } from '../log/mask/mask.ts';
import type { Failpoint } from '../ports/database.ts';
import type { Published, Publisher } from '../ports/notices.ts';
import type { Stores } from '../ports/stores.ts';
import type { Logger } from '../ports/telemetry.ts';

export interface OutboxDeps {
  readonly stores: {
    readonly outbox: Pick<Stores['outbox'], 'take' | 'obsolete' | 'finish' | 'release'>;
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
export function startOutbox(deps: OutboxDeps): BackgroundWorker {
  return keepTurns(deps.publishers, (publisher, signals) => payAll(publisher, deps, signals.stopping, signals.cutOff), deps.intervalMs);
}

async function payAll(publisher: Publisher, deps: OutboxDeps, stopping: AbortSignal, cutOff: AbortSignal): Promise<void> {
  const leaseMs = deps.timeLimitMs * LEASE_PER_LIMIT;
  const lane = async () => {
    while (!stopping.aborted) {
      const takenAt = performance.now();
      const act = await deps.stores.outbox.take([publisher.driver], leaseMs);
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
async function pay(act: OutboxEntry, publisher: Publisher, deps: OutboxDeps, { cutOff, ...taken }: Taken): Promise<void> {
  const { outbox, builds, analyses } = deps.stores;
  if (act.attempts > MAX_OUTBOX_ATTEMPTS)
    return await fail(act, `Stopped after ${MAX_OUTBOX_ATTEMPTS} attempts that did not finish.`, deps);
  const why = await outbox.obsolete(act);
  if (why !== null) return void (await outbox.finish(act, { state: 'superseded', error: why }));
  const [build, analysis] = [await builds.find(act.buildId), await analyses.find(act.analysisId)];
  if (build === null || analysis === null) return await fail(act, 'The answer to publish is no longer stored.', deps);
  const told = await tell(publisher, { act, build, analysis, ...taken, timeLimitMs: deps.timeLimitMs, signal: cutOff }).catch(
    async (error: unknown) => void (await settle(act, error, cutOff.aborted, deps)),
  );
  if (told === undefined) return;
  deps.failpoint?.('act-made', act.key);
  const noted = await outbox.finish(act, { state: 'done', reference: told.reference });
  deps.failpoint?.('act-noted', act.key);
  if (!noted) deps.logger.warn({ key: act.key }, 'an answer was told, and another process had taken the telling over');
}

async function settle(act: OutboxEntry, error: unknown, stopped: boolean, deps: OutboxDeps): Promise<void> {
  if (stopped) return await deps.stores.outbox.release(act, 'The process stopped.', 0);
  const again = isRetryable(error) && act.retries < MAX_OUTBOX_RETRIES;
  deps.logger.warn({ key: act.key, retries: act.retries, again, error }, 'an answer could not be told');
  const sentence = (await deps.masker.mask(messageOf(error))).text.slice(0, MAX_SENTENCE);
  if (again) await deps.stores.outbox.release(act, sentence, outboxDelay(act.retries, error));
  else await fail(act, sentence, deps);
}

async function fail(act: OutboxEntry, error: string, { stores, logger }: OutboxDeps): Promise<void> {
  logger.error({ key: act.key, buildId: act.buildId, reason: error }, 'an answer is not told');
  await stores.outbox.finish(act, { state: 'failed', error });
}

/**
 * How often an act is tried.
 *
 * - The n-th retry after something that may pass waits about 2ⁿ seconds, at most a quarter of an hour, or longer where the other side
 *   said so (Retry-After, at most a day). After 100 of them, which is about a day, nobody waits for the news any more.
 * - A try that was cut off because the process stops is not counted.
 * - A try that never gave the act back, as when the process died, counts as an attempt. After five of them the act is given up: it may
 *   be what takes the process down.
 */
export const MAX_OUTBOX_RETRIES = 100;
export const MAX_OUTBOX_ATTEMPTS = 5;

/**
 * How long to leave an act alone that was retried `retries` times before, in milliseconds. A random part of up to a half keeps many
 * outbox that failed together from coming back together.
 */
export function outboxDelay(retries: number, error: unknown, random: number = Math.random()): number {
  return delayOfRetry(retries, error, { longestMs: 15 * 60_000, longestAskedMs: 24 * 3_600_000, spread: 1 - random / 2 });
}

/** Work in the background that looks regularly for what is owed. */
export interface BackgroundWorker {
  /** Looks at once: something is owed. */
  wake(): void;
  /** Takes nothing more, lets what is being told end for a moment, and gives back the rest. */
  stop(): Promise<void>;
}

/** `stopping`: nothing more is to be begun. `cutOff`: what is under way is to end. */
export interface StopSignals {
  readonly stopping: AbortSignal;
  readonly cutOff: AbortSignal;
}

/** A call cut off may have got through, so a stop waits for it; in milliseconds. */
const STOP_GRACE_MS = 5_000;

/**
 * Works for each of these in turns of its own, so that one that hangs holds up no other: at once, every `intervalMs`, and when it is woken.
 * `work` must not throw.
 */
export function keepTurns<Of>(
  all: readonly Of[],
  work: (one: Of, signals: StopSignals) => Promise<void>,
  intervalMs: number,
  stopGraceMs = STOP_GRACE_MS,
): BackgroundWorker {
  const [stopping, cutOff] = [new AbortController(), new AbortController()];
  const signals = { stopping: stopping.signal, cutOff: cutOff.signal };
  const turns = all.map((one) => turnOf(() => work(one, signals)));
  const wake = () => {
    if (!stopping.signal.aborted) for (const turn of turns) turn.look();
  };
  const timer = setInterval(wake, intervalMs);
  timer.unref();
  wake();
  return {
    wake,
    stop: async () => {
      clearInterval(timer);
      stopping.abort();
      const ended = Promise.all(turns.map((turn) => turn.ended()));
      await Promise.race([ended, sleep(stopGraceMs, undefined, { ref: false })]);
      cutOff.abort(new Error('the process stops'));
      await ended;
    },
  };
}

/** One look at a time; a look asked for meanwhile comes after it. */
function turnOf(work: () => Promise<void>): { look(): void; ended(): Promise<void> } {
  let running: Promise<void> | null = null;
  let again = false;
  const look = () => {
    again = running !== null;
    running ??= work().finally(() => {
      running = null;
      if (again) look();
    });
  };
  return { look, ended: () => running ?? Promise.resolve() };
}

/** A call under a lease. */
export interface TimedCall {
  /** When the lease was asked for, on the monotonic clock, which goes on while the process is frozen. */
  readonly takenAt: number;
  readonly leaseMs: number;
  /** Of one call, in milliseconds. */
  readonly timeLimitMs: number;
  readonly signal: AbortSignal;
}

export interface Telling extends TimedCall {
  readonly act: OutboxEntry;
  readonly build: Build;
  readonly analysis: Analysis;
}

/**
 * Tells once: a try before this one may have got through, so the other side is asked first where it can say. A call is begun only
 * where it must end within the lease, so that nobody else can make it at the same time. Throws what the publisher throws,
 * `timeout` and, where the lease is nearly over, `cancelled`; all of them may pass.
 */
export async function tell(publisher: Publisher, telling: Telling): Promise<Published> {
  const { act, build, analysis } = telling;
  if (act.lease > 1 && publisher.find !== undefined) {
    const find = publisher.find;
    const found = await inTime(telling, (signal) => find(build, analysis, { key: act.key, signal }));
    if (found !== null) return found;
  }
  return await inTime(telling, (signal) => publisher.publish(build, analysis, { key: act.key, signal }));
}

/** Makes a call that must end within its limit and its lease. Throws `timeout` and `cancelled`, both of which may pass, and what the call throws. */
export async function inTime<Result>(telling: TimedCall, call: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
  const { takenAt, leaseMs, timeLimitMs, signal } = telling;
  signal.throwIfAborted();
  if (performance.now() - takenAt > leaseMs - timeLimitMs) {
    throw new TriageError('cancelled', 'The lease is about to expire; another process may already be publishing this', { retryable: true });
  }
  const tooLong = AbortSignal.timeout(timeLimitMs);
  const late = (cause?: unknown) => new TriageError('timeout', `No answer within ${timeLimitMs} ms`, { retryable: true, cause });
  try {
    return await ended(call(AbortSignal.any([signal, tooLong])), tooLong, late);
  } catch (error) {
    if (tooLong.aborted && !signal.aborted) throw late(error);
    throw error;
  }
}

/** A publisher that does not hear the signal is left behind. */
async function ended<Result>(work: Promise<Result>, tooLong: AbortSignal, late: () => Error): Promise<Result> {
  work.catch(() => undefined);
  return await Promise.race([
    work,
    new Promise<never>((_resolve, reject) => tooLong.addEventListener('abort', () => reject(late()), { once: true })),
  ]);
}
