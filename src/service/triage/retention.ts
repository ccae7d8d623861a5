import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../domain/errors.ts';
import { type OutboxHandler, REMOVE_LOGS } from '../../domain/outbox.ts';
import { append, maxOf, present } from '../../lib/collections.ts';
import { type Clock, lookRegularly } from '../../lib/time.ts';
import type { BuildArchive } from '../../ports/build-archive.ts';
import type { OutboxStore } from '../../stores/outbox.ts';
import type { ForgetScope, RetentionStore, RowCounts } from '../../stores/retention.ts';
import { drainOutbox, type OutboxDeps } from '../outbox.ts';

/** How long something is kept, in days since it was received; 0: for ever. */
interface RetentionDays {
  readonly logsDays: number;
  readonly buildsDays: number;
}

interface RetentionPolicy extends RetentionDays {
  /** For repositories of their own; what is not given is as for all. */
  readonly repositories: Readonly<Record<string, { readonly logsDays?: number | undefined; readonly buildsDays?: number | undefined }>>;
}

export interface RetentionDeps extends OutboxDeps {
  readonly outbox: OutboxDeps['outbox'] & Pick<OutboxStore, 'waiting'>;
  readonly store: RetentionStore;
  readonly archive: Pick<BuildArchive, 'remove' | 'settle'>;
  /** Forgets the checkpoints of triages that are gone. */
  readonly forgetThreads: () => Promise<unknown>;
  /** Takes library entries out of the index; `false` where that stays pending. */
  readonly unindex: (ids: readonly string[]) => Promise<boolean>;
  readonly clock: Clock;
}

export interface Forgotten {
  readonly builds: number;
  /** Builds that stay, without their logs. */
  readonly logs: number;
  readonly libraryEntries: number;
  /** What is recorded to be deleted elsewhere, and could not be yet. */
  readonly pending: { readonly logs: number; readonly vectors: boolean };
}

/** Builds of one transaction: small enough that nobody waits for its end. */
const BATCH = 50;
const DAY_MS = 86_400_000;

/** What would be deleted of a repository. */
export async function countRepository(deps: RetentionDeps, repository: string, olderThanDays: number): Promise<RowCounts> {
  return await deps.store.count(scopeOf(deps.clock, repository, olderThanDays));
}

/**
 * Deletes what is known of a repository, or what of it is older than so many days (0: all): builds with all that hangs on them, library entries
 * and their vectors, kept answers of tools, checkpoints, logs wherever they are. May be cut off anywhere and begun anew; what a store that is
 * away has stays pending in the database.
 */
export async function forgetRepository(
  deps: RetentionDeps,
  repository: string,
  olderThanDays: number,
  signal: AbortSignal,
): Promise<Forgotten> {
  const scope = { ...scopeOf(deps.clock, repository, olderThanDays), repository };
  const builds = await inBatches(signal, () => deps.store.forgetBuilds(scope, BATCH));
  const ids: string[] = [];
  await inBatches(signal, async () => {
    const some = await deps.store.forgetLibrary(scope, BATCH);
    append(ids, some);
    return some.length;
  });
  await deps.store.forgetRepository(scope);
  await deps.forgetThreads();
  const vectors = ids.length > 0 && !(await deps.unindex(ids));
  const pending = { logs: await removeLogs(deps, signal), vectors };
  return { builds, logs: 0, libraryEntries: ids.length, pending };
}

/** Deletes what the policy no longer keeps. The error library stays: it is what people taught. `pause` is awaited after each batch. */
export async function retain(
  deps: RetentionDeps,
  policy: RetentionPolicy,
  signal: AbortSignal,
  pause: () => Promise<void> = async () => undefined,
): Promise<Forgotten> {
  const own = Object.keys(policy.repositories);
  let [builds, logs] = [0, 0];
  for (const repository of [null, ...own]) {
    const { buildsDays, logsDays } = { ...policy, ...present((repository !== null && policy.repositories[repository]) || {}) };
    const scope = (days: number) => ({
      ...scopeOf(deps.clock, repository, days),
      except: repository === null ? own : [],
      settledOnly: true,
    });
    if (buildsDays > 0) builds += await inBatches(signal, () => deps.store.forgetBuilds(scope(buildsDays), BATCH), pause);
    if (logsDays > 0) logs += await inBatches(signal, () => deps.store.forgetLogs(scope(logsDays), BATCH), pause);
  }
  if (builds > 0) await deps.forgetThreads();
  return { builds, logs, libraryEntries: 0, pending: { logs: await removeLogs(deps, signal), vectors: false } };
}

/** Whether there is anything that the policy deletes. */
function keepsForEver(policy: RetentionPolicy): boolean {
  return [policy, ...Object.values(policy.repositories)].every(({ logsDays, buildsDays }) => !logsDays && !buildsDays);
}

/** Deletes the logs of builds in the archive. Nothing is given up: an archive that is away is asked again. */
export function removeLogsHandler(archive: Pick<BuildArchive, 'remove'>): OutboxHandler {
  return {
    topic: REMOVE_LOGS,
    leaseMs: 120_000,
    batch: BATCH,
    limits: null,
    longestDelayMs: 5_000,
    handle: async (entries, { signal }) => {
      for (const { key } of entries) {
        signal.throwIfAborted();
        await archive.remove(key);
      }
      return { outcome: 'done', forget: true };
    },
  };
}

/** Deletes logs now, as far as the archive does so; says how many are left. */
async function removeLogs({ archive, ...deps }: RetentionDeps, signal: AbortSignal): Promise<number> {
  try {
    await drainOutbox(removeLogsHandler(archive), deps, signal);
    return (await deps.outbox.waiting(REMOVE_LOGS)).count + ((await archive.settle?.(signal))?.pending ?? 0);
  } catch (error) {
    deps.logger.warn({ error: messageOf(error) }, 'logs could not be deleted; will retry');
    return (await deps.outbox.waiting(REMOVE_LOGS)).count;
  }
}

/**
 * Days after which a store that knows no repositories may delete a log by itself, were nobody else to do so: a week after the last repository
 * would. 0: never.
 */
export function longestLogsDays(policy: RetentionPolicy): number {
  const days = [
    policy.logsDays,
    ...Object.values(policy.repositories).flatMap(({ logsDays }) => (logsDays === undefined ? [] : [logsDays])),
  ];
  return days.includes(0) ? 0 : maxOf(days) + 7;
}

async function inBatches(signal: AbortSignal, work: () => Promise<number>, pause?: () => Promise<void>): Promise<number> {
  let total = 0;
  for (let some = BATCH; some === BATCH && !signal.aborted; ) {
    some = await work();
    total += some;
    if (some > 0) await pause?.();
  }
  return total;
}

function scopeOf(clock: Clock, repository: string | null, days: number): ForgetScope {
  return { repository, except: [], before: new Date(clock.now() - days * DAY_MS).toISOString(), settledOnly: false };
}

interface RetentionWorkerDeps extends RetentionDeps {
  readonly policy: RetentionPolicy;
  /** Between two looks at what other stores still have to delete, in milliseconds. */
  readonly intervalMs: number;
  /** Between two looks for what is too old, in milliseconds. */
  readonly retainMs?: number;
}

const LEASE = 'retention';
/** Longer than a batch and a look take; a process that died is followed by another one after that. */
const HOLD_MS = 120_000;
const RETAIN_MS = 3_600_000;
/** Between two batches, so that deleting is nobody's load. */
const PAUSE_MS = 200;

/**
 * Deletes in the background what is too old, and what other stores still are to delete; brings home what was kept elsewhere while a store was
 * away. One process at a time does so. what is pending is in the database, so a stop loses nothing.
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
      .settle?.(stopping)
      .catch((error: unknown) => deps.logger.warn({ error: messageOf(error) }, 'logs could not be moved to their archive; will retry'));
    if (keepsForEver(deps.policy) || performance.now() - rounds.retainedAt < (deps.retainMs ?? RETAIN_MS)) return;
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
