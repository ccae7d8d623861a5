import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { getErrorMessage } from '../../domain/errors.ts';
import { REMOVE_FROM_MONGODB, REMOVE_LOGS } from '../../domain/work.ts';
import { append, findMax, omitUndefined } from '../../lib/collections.ts';
import { type Clock, lookRegularly } from '../../lib/time.ts';
import type { BuildArchive } from '../../ports/build-archive.ts';
import type { WorkHandler } from '../../ports/work.ts';
import type { ForgetScope, RetentionStore, RowCounts } from '../../stores/retention.ts';
import type { WorkStore } from '../../stores/work.ts';
import { drainWork, type WorkDeps } from '../../work/process-items.ts';

/** The retention periods in days since receipt. 0 means forever. */
interface RetentionDays {
  readonly logsDays: number;
  readonly buildsDays: number;
}

interface RetentionPolicy extends RetentionDays {
  /** The retention periods of individual repositories; absent values are the general ones. */
  readonly repositories: Readonly<
    Record<string, { readonly logsDays?: number | undefined; readonly buildsDays?: number | undefined }>
  >;
}

export interface RetentionDeps extends WorkDeps {
  readonly work: WorkDeps['work'] & Pick<WorkStore, 'waiting'>;
  readonly store: RetentionStore;
  readonly archive: Pick<BuildArchive, 'remove' | 'removeElsewhere' | 'tidy'>;
  /** Deletes the checkpoints of triages that no longer exist. */
  readonly forgetThreads: () => Promise<unknown>;
  /** Removes entries of the library from the index. Returns false if that stays pending. */
  readonly unindex: (ids: readonly string[]) => Promise<boolean>;
  readonly clock: Clock;
}

export interface Forgotten {
  readonly builds: number;
  /** The number of builds that are kept without their logs. */
  readonly logs: number;
  readonly libraryEntries: number;
  /** The deletions in other stores that are requested but not finished. */
  readonly pending: { readonly logs: number; readonly vectors: boolean };
}

/** The number of builds per transaction, small enough that its locks delay no other work. */
const BATCH = 50;
const DAY_MS = 86_400_000;

/** Counts the records of a repository that would be deleted. */
export async function countRepository(
  deps: RetentionDeps,
  repository: string,
  olderThanDays: number,
): Promise<RowCounts> {
  return await deps.store.count(toForgetScope(deps.clock, repository, olderThanDays));
}

/**
 * Deletes everything about a repository, or everything older than this number of days (0: all): builds with
 * all dependent data, entries of the library and their vectors, cached tool results, checkpoints, and logs in
 * every store. It may be interrupted and restarted at any point. Deletions in an unavailable store stay
 * pending in the database.
 */
export async function forgetRepository(
  deps: RetentionDeps,
  repository: string,
  olderThanDays: number,
  signal: AbortSignal,
): Promise<Forgotten> {
  const scope = { ...toForgetScope(deps.clock, repository, olderThanDays), repository };
  const builds = await runInBatches(signal, () => deps.store.forgetBuilds(scope, BATCH));
  const ids: string[] = [];
  await runInBatches(signal, async () => {
    const some = await deps.store.forgetLibrary(scope, BATCH);
    append(ids, some);
    return some.length;
  });
  await deps.store.forgetRepository(scope);
  if (builds > 0) await deps.store.dropUnusedParts();
  await deps.forgetThreads();
  const vectors = ids.length > 0 && !(await deps.unindex(ids));
  const pending = { logs: await removeLogs(deps, signal), vectors };
  return { builds, logs: 0, libraryEntries: ids.length, pending };
}

/**
 * Deletes the data whose retention period has ended. The error library is kept, because it contains the
 * lessons of reviewers. `pause` is awaited after each batch.
 */
export async function retain(
  deps: RetentionDeps,
  policy: RetentionPolicy,
  signal: AbortSignal,
  pause: () => Promise<void> = async () => undefined,
): Promise<Forgotten> {
  const repositories = Object.keys(policy.repositories);
  let [builds, logs] = [0, 0];
  for (const repository of [null, ...repositories]) {
    const { buildsDays, logsDays } = {
      ...policy,
      ...omitUndefined((repository !== null && policy.repositories[repository]) || {}),
    };
    const scope = (days: number) => ({
      ...toForgetScope(deps.clock, repository, days),
      except: repository === null ? repositories : [],
      settledOnly: true,
    });
    if (buildsDays > 0) await deps.store.forgetQuestions(scope(buildsDays));
    if (buildsDays > 0)
      builds += await runInBatches(signal, () => deps.store.forgetBuilds(scope(buildsDays), BATCH), pause);
    if (logsDays > 0)
      logs += await runInBatches(signal, () => deps.store.forgetLogs(scope(logsDays), BATCH), pause);
  }
  if (builds > 0) {
    await deps.forgetThreads();
    await deps.store.dropUnusedParts();
  }
  return {
    builds,
    logs,
    libraryEntries: 0,
    pending: { logs: await removeLogs(deps, signal), vectors: false },
  };
}

/** Checks whether the policy deletes nothing. */
function keepsForEver(policy: RetentionPolicy): boolean {
  return [policy, ...Object.values(policy.repositories)].every(
    ({ logsDays, buildsDays }) => !logsDays && !buildsDays,
  );
}

/**
 * Creates the handlers that delete the logs of builds in the archive. They retry without limit while a store
 * is unavailable.
 */
export function createRemovalHandlers(
  archive: Pick<BuildArchive, 'remove' | 'removeElsewhere'>,
): WorkHandler[] {
  const { removeElsewhere } = archive;
  const handlers = [createRemovalHandler(REMOVE_LOGS, (buildId) => archive.remove(buildId))];
  return removeElsewhere === undefined
    ? handlers
    : [...handlers, createRemovalHandler(REMOVE_FROM_MONGODB, removeElsewhere)];
}

function createRemovalHandler(topic: string, remove: (buildId: string) => Promise<void>): WorkHandler {
  return {
    topic,
    leaseMs: 120_000,
    batch: BATCH,
    limits: null,
    longestDelayMs: 5_000,
    handle: async (entries, { signal }) => {
      for (const { key } of entries) {
        signal.throwIfAborted();
        await remove(key);
      }
      return { outcome: 'done', forget: true };
    },
  };
}

/** Deletes logs now, as far as the stores respond. Returns the number of pending deletions. */
async function removeLogs({ archive, ...deps }: RetentionDeps, signal: AbortSignal): Promise<number> {
  let pending = 0;
  for (const handler of createRemovalHandlers(archive)) {
    await drainWork(handler, deps, signal).catch((error: unknown) =>
      deps.logger.warn({ error: getErrorMessage(error) }, 'logs could not be deleted; will retry'),
    );
    pending += (await deps.work.waiting(handler.topic)).count;
  }
  return pending;
}

/**
 * Returns the number of days after which a store that does not know repositories may delete any log as a
 * fallback: a week after the longest retention period. Returns 0 for never.
 */
export function findLongestLogsDays(policy: RetentionPolicy): number {
  const days = [
    policy.logsDays,
    ...Object.values(policy.repositories).flatMap(({ logsDays }) =>
      logsDays === undefined ? [] : [logsDays],
    ),
  ];
  return days.includes(0) ? 0 : findMax(days) + 7;
}

async function runInBatches(
  signal: AbortSignal,
  work: () => Promise<number>,
  pause?: () => Promise<void>,
): Promise<number> {
  let total = 0;
  for (let some = BATCH; some === BATCH && !signal.aborted; ) {
    some = await work();
    total += some;
    if (some > 0) await pause?.();
  }
  return total;
}

function toForgetScope(clock: Clock, repository: string | null, days: number): ForgetScope {
  return {
    repository,
    except: [],
    before: new Date(clock.now() - days * DAY_MS).toISOString(),
    settledOnly: false,
  };
}

interface RetentionWorkerDeps extends RetentionDeps {
  readonly policy: RetentionPolicy;
  /** The interval in milliseconds between two searches for leftovers in the archive. */
  readonly intervalMs: number;
  /** The interval in milliseconds between two searches for expired data. */
  readonly retainMs?: number;
}

const LEASE = 'retention';
/**
 * The duration of the lease in milliseconds. It is longer than any batch; after a crash, another process
 * takes over once it ends.
 */
const HOLD_MS = 120_000;
const RETAIN_MS = 3_600_000;
/** The pause between two batches, in milliseconds. It keeps the load of deletion low. */
const PAUSE_MS = 200;

/**
 * Starts deleting expired data and leftovers of interrupted writes in the background. Only one process at a
 * time does so. Pending deletions are in the database, so that a stop loses nothing.
 */
export function startRetentionWorker(deps: RetentionWorkerDeps): { stop(): Promise<void> } {
  const holder = randomUUID();
  const rounds = { deps, holder, retainedAt: Number.NEGATIVE_INFINITY };
  const looking = lookRegularly(deps.intervalMs, (stopping) => lookAfter(rounds, stopping));
  return {
    stop: async () => {
      await looking.stop();
      await deps.store.leave(LEASE, holder).catch(() => undefined);
    },
  };
}

interface Rounds {
  readonly deps: RetentionWorkerDeps;
  readonly holder: string;
  retainedAt: number;
}

async function lookAfter(rounds: Rounds, stopping: AbortSignal): Promise<void> {
  const { deps, holder } = rounds;
  const hold = () => deps.store.hold(LEASE, holder, HOLD_MS);
  try {
    if (!(await hold())) return;
    await deps.archive
      .tidy?.()
      .catch((error: unknown) =>
        deps.logger.warn(
          { error: getErrorMessage(error) },
          'the archive could not delete interrupted writes; will retry',
        ),
      );
    if (keepsForEver(deps.policy) || performance.now() - rounds.retainedAt < (deps.retainMs ?? RETAIN_MS))
      return;
    const lost = new AbortController();
    const pause = async () => {
      if (!(await hold())) lost.abort();
      await sleep(PAUSE_MS, undefined, { signal: stopping }).catch(() => undefined);
    };
    const { builds, logs } = await retain(deps, deps.policy, AbortSignal.any([stopping, lost.signal]), pause);
    rounds.retainedAt = performance.now();
    if (builds + logs > 0) deps.logger.info({ builds, logs }, 'expired data was deleted');
  } catch (error) {
    if (!stopping.aborted) deps.logger.warn({ error }, 'expired data could not be deleted; will retry');
  }
}
