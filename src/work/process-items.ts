import { computeRetryDelay, getErrorMessage, isRetryable, TriageError } from '../domain/errors.ts';
import type { WorkEnd, WorkItem } from '../domain/work.ts';
import { omitUndefined } from '../lib/collections.ts';
import type { Masker } from '../log/mask/mask.ts';
import type { Failpoint } from '../ports/database.ts';
import type { Logger } from '../ports/telemetry.ts';
import type { WorkHandler, WorkRun } from '../ports/work.ts';
import type { WorkStore, WorkTake } from '../stores/work.ts';
import { keepLease } from './lease.ts';
import type { ServiceLanes } from './service-lanes.ts';
import type { Slot } from './slots.ts';

export interface WorkDeps {
  readonly work: Pick<WorkStore, 'take' | 'finish' | 'release' | 'renew' | 'holds' | 'progressed'>;
  readonly masker: Pick<Masker, 'mask'>;
  readonly logger: Logger;
  readonly failpoint?: Failpoint;
}

/** Items under one lease, and the time at which the lease was requested. */
export interface Taken {
  readonly items: readonly WorkItem[];
  readonly takenAt: number;
}

interface Attempt {
  readonly handler: WorkHandler;
  readonly deps: WorkDeps;
  /** The signal that interrupts the attempt. */
  readonly signal: AbortSignal;
  /** The slot of the attempt; absent if it needs none. */
  readonly slot?: Slot;
  readonly lanes?: ServiceLanes;
}

const MAX_ERROR_LENGTH = 500;
const DAY_MS = 24 * 3_600_000;

/** Processes the items of a topic that are due now. Throws if the database is unavailable. */
export async function drainWork(handler: WorkHandler, deps: WorkDeps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await handler.isPaused?.()) !== true) {
    const taken = await takeItems(handler, deps, {});
    if (taken.items.length === 0) return;
    const ok = await processItems(taken, { handler, deps, signal });
    if (!ok && (handler.batch ?? 1) > 1) return;
  }
}

/**
 * Processes these items now, whether or not they are due. Returns true if none of them failed. Throws if the
 * database is unavailable.
 */
export async function processNow(
  handler: WorkHandler,
  keys: readonly string[],
  deps: WorkDeps,
  signal: AbortSignal,
): Promise<boolean> {
  const taken = await takeItems(handler, deps, { keys, early: true });
  return await processItems(taken, { handler, deps, signal });
}

/** Takes items that no other process holds. */
export async function takeItems(
  { topic, leaseMs, batch = 1, newestFirst }: WorkHandler,
  { work, failpoint }: WorkDeps,
  wanted: { readonly [Name in 'keys' | 'early' | 'except' | 'served']?: WorkTake[Name] | undefined },
): Promise<Taken> {
  const takenAt = performance.now();
  const limit = wanted.keys?.length ?? batch;
  const items = await work.take({ topic, leaseMs, limit, ...omitUndefined({ ...wanted, newestFirst }) });
  if (items.length > 0) failpoint?.('work-taken', formatNames(items));
  return { items, takenAt };
}

/**
 * Processes items and finishes them, or releases those that must be retried. Returns true if none of them
 * failed. Throws only if the database is unavailable; the items are then found again when their lease has
 * expired.
 */
export async function processItems(taken: Taken, attempt: Attempt): Promise<boolean> {
  const { handler, deps } = attempt;
  const controller = new AbortController();
  const lease = keepLease(taken.items, { ...deps, leaseMs: handler.leaseMs });
  const run = createRun(
    taken,
    attempt,
    controller,
    AbortSignal.any([attempt.signal, lease.lost, controller.signal]),
  );
  try {
    const items = await giveUpWorn(taken.items, handler, deps, run);
    if (items.length === 0) return true;
    let end: WorkEnd | null;
    try {
      end = await handler.handle(items, run);
    } catch (error) {
      return await recover({ ...taken, items }, error, attempt, run);
    }
    deps.failpoint?.('work-handled', formatNames(items));
    if (end !== null) for (const item of items) await finish(item, end, attempt);
    deps.failpoint?.('work-finished', formatNames(items));
    return true;
  } finally {
    lease.stop();
  }
}

function createRun(
  { items, takenAt }: Taken,
  { handler, deps, slot, lanes }: Attempt,
  controller: AbortController,
  signal: AbortSignal,
): WorkRun {
  const [item] = items;
  const { leaseMs, limits } = handler;
  let isNoted = false;
  return {
    takenAt,
    leaseMs,
    signal,
    lastTry: limits !== null && items.some(({ retries }) => retries >= limits.retries),
    holds: async (sql) => item !== undefined && (await deps.work.holds(item, sql)),
    progressed: () => {
      if (isNoted || item === undefined) return;
      isNoted = true;
      deps.work
        .progressed(item)
        .catch((error: unknown) =>
          deps.logger.warn({ key: item.key, error }, 'progress could not be recorded'),
        );
    },
    withoutSlot:
      slot === undefined || lanes === undefined || item === undefined
        ? (_service, wait) => wait()
        : lanes.createWaiter(item.key, slot, controller),
  };
}

/** Gives up the items with too many unfinished attempts, and returns the others. */
async function giveUpWorn(
  items: readonly WorkItem[],
  handler: WorkHandler,
  deps: WorkDeps,
  run: WorkRun,
): Promise<readonly WorkItem[]> {
  const { limits } = handler;
  if (limits === null) return items;
  const worn = items.filter(({ attempts }) => attempts > limits.attempts);
  for (const item of worn) {
    const { attempts } = limits;
    const reason = 'for example because the process died';
    const error = new TriageError(
      'internal',
      `Stopped after ${attempts} attempts that did not finish, ${reason}.`,
    );
    // The previous attempt was only to give up the item, and did not end either.
    const isHopeless = item.attempts > limits.attempts + 1;
    await giveUp(item, error, { handler, deps, run, isHopeless });
  }
  return items.filter((item) => !worn.includes(item));
}

/**
 * Handles an error: releases interrupted items, processes a batch one by one after a permanent error (one
 * item may have caused it), and retries or gives up the others.
 */
async function recover(taken: Taken, error: unknown, attempt: Attempt, run: WorkRun): Promise<boolean> {
  const { handler, deps } = attempt;
  const { items } = taken;
  if (run.signal.aborted) {
    for (const item of items) await giveBack(item, run.signal.reason, handler, deps);
    return false;
  }
  if (items.length > 1 && !isRetryable(error)) {
    const each: boolean[] = [];
    for (const item of items) each.push(await processItems({ ...taken, items: [item] }, attempt));
    return each.every(Boolean);
  }
  for (const item of items) {
    const { limits } = handler;
    if (limits === null || (isRetryable(error) && item.retries < limits.retries))
      await retryLater(item, error, handler, deps);
    else await giveUp(item, error, { handler, deps, run });
  }
  return false;
}

/** Releases an item that was interrupted. */
async function giveBack(
  item: WorkItem,
  reason: unknown,
  { resumable = false }: WorkHandler,
  { work, logger }: WorkDeps,
): Promise<void> {
  const { topic, key } = item;
  // A stop, or a limit on items that wait for the same service, is not an error.
  const isUsual = reason instanceof TriageError && reason.code === 'cancelled';
  logger[isUsual ? 'debug' : 'warn'](
    { topic, key, error: reason },
    'work was interrupted or taken over; it will be retried',
  );
  // A call may have succeeded. With a delay, the attempt counts, and the next one looks for its result.
  await work.release(item, getErrorMessage(reason), resumable ? 0 : 1, resumable);
}

async function retryLater(
  item: WorkItem,
  error: unknown,
  { longestDelayMs, longestAskedMs, jitter, resumable = false }: WorkHandler,
  deps: WorkDeps,
): Promise<void> {
  const { topic, key, retries } = item;
  const random = jitter === false ? 1 : undefined;
  const delayMs = computeDelay(retries, error, { longestMs: longestDelayMs, longestAskedMs, random });
  deps.logger.warn(
    { topic, key, retries, delayMs: Math.round(delayMs), error },
    'work could not be processed; it will be retried',
  );
  await deps.work.release(item, await describe(error, deps), delayMs, resumable);
}

interface GivingUp {
  readonly handler: WorkHandler;
  readonly deps: WorkDeps;
  readonly run: WorkRun;
  /** True if a previous attempt to give up did not end either. */
  readonly isHopeless?: boolean;
}

/** Lets the handler replace the work on an item that cannot succeed, or ends the item as failed. */
async function giveUp(item: WorkItem, error: unknown, giving: GivingUp): Promise<void> {
  const { handler, deps, run, isHopeless = false } = giving;
  const { topic, key, buildId } = item;
  deps.logger.error({ topic, key, buildId, error }, 'work failed permanently');
  const end: WorkEnd = { outcome: 'failed', error: await describe(error, deps) };
  if (handler.exhausted === undefined || isHopeless) return await finish(item, end, giving);
  try {
    await handler.exhausted(item, error, run);
  } catch (failure) {
    if (run.signal.aborted) return await giveBack(item, run.signal.reason, handler, deps);
    if (isRetryable(failure) && !run.lastTry) return await retryLater(item, failure, handler, deps);
    return await finish(item, { ...end, error: await describe(failure, deps) }, giving);
  }
  await finish(item, { outcome: 'done' }, giving);
}

async function finish(item: WorkItem, end: WorkEnd, { handler, deps }: Pick<Attempt, 'handler' | 'deps'>) {
  const { topic, key } = item;
  if (await (handler.finish?.(item, end) ?? deps.work.finish(item, end))) return;
  deps.logger.warn({ topic, key }, 'work was taken over by another process before it ended');
}

async function describe(error: unknown, { masker }: WorkDeps): Promise<string> {
  return (await masker.mask(getErrorMessage(error))).text.slice(0, MAX_ERROR_LENGTH);
}

function formatNames(items: readonly WorkItem[]): string {
  return items.map(({ topic, key }) => `${topic} ${key}`).join(', ');
}

interface Delays {
  readonly longestMs: number;
  readonly longestAskedMs?: number | undefined;
  readonly random?: number | undefined;
}

/**
 * Computes the delay in milliseconds of an item that was retried `retries` times before: about 2 s, doubled
 * each time up to `longestMs`, or longer if the server requested it (Retry-After), up to `longestAskedMs`, by
 * default a day. A random reduction by up to a half spreads the retries of items that failed together.
 */
export function computeDelay(retries: number, error: unknown, delays: Delays): number {
  const { longestMs, longestAskedMs = DAY_MS, random } = delays;
  return computeRetryDelay(retries, error, { longestMs, longestAskedMs, random });
}
