import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { lookRegularly } from './look-regularly.ts';
import { keepsForEver, payLogs, type RetentionDeps, type RetentionPolicy, retain } from './retention.ts';

export interface RetentionWorkerDeps extends RetentionDeps {
  readonly policy: RetentionPolicy;
  /** Between two looks at what is owed to other stores, in milliseconds. */
  readonly intervalMs: number;
  /** Between two looks for what is too old, in milliseconds. */
  readonly retainMs?: number;
}

const OFFICE = 'retention';
/** Longer than a batch and a look take; a process that died is followed by another one after that. */
const HOLD_MS = 120_000;
const RETAIN_MS = 3_600_000;
/** Between two batches, so that deleting is nobody's load. */
const PAUSE_MS = 200;

/**
 * Deletes in the background what is too old, and what other stores still are to delete; brings home what was kept elsewhere while a store was
 * away. One process at a time does so. What is owed stands in the database, so a stop loses nothing.
 */
export function startRetentionWorker(deps: RetentionWorkerDeps): { stop(): Promise<void> } {
  const holder = randomUUID();
  const rounds = { deps, holder, retainedAt: Number.NEGATIVE_INFINITY };
  const looking = lookRegularly(deps.intervalMs, (stopping) => lookAfter(rounds, stopping));
  return {
    stop: async () => {
      await looking.stop();
      await deps.store.leave(OFFICE, holder).catch(() => undefined);
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
  const hold = () => deps.store.hold(OFFICE, holder, HOLD_MS);
  try {
    if (!(await hold())) return;
    await payLogs(deps, stopping);
    if (keepsForEver(deps.policy) || performance.now() - rounds.retainedAt < (deps.retainMs ?? RETAIN_MS)) return;
    const lost = new AbortController();
    const pause = async () => {
      if (!(await hold())) lost.abort();
      await sleep(PAUSE_MS, undefined, { signal: stopping }).catch(() => undefined);
    };
    const { builds, logs } = await retain(deps, deps.policy, AbortSignal.any([stopping, lost.signal]), pause);
    rounds.retainedAt = performance.now();
    if (builds + logs > 0) deps.logger.info({ builds, logs }, 'what was too old is deleted');
  } catch (error) {
    if (!stopping.aborted) deps.logger.warn({ error }, 'what is too old could not be looked after; it will be tried again');
  }
}
