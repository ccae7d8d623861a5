import { setTimeout as delay } from 'node:timers/promises';
import { createId } from '../../src/domain/ids.ts';
import { TRIAGE } from '../../src/domain/work.ts';
import { createMasker } from '../../src/log/mask/mask.ts';
import type { Database } from '../../src/ports/database.ts';
import { type Logger, silentLogger } from '../../src/ports/telemetry.ts';
import type { WakeUp } from '../../src/ports/work.ts';
import type { TriageRun } from '../../src/service/triage/triage-run.ts';
import { createTriageHandler } from '../../src/service/triage/triage-work.ts';
import { createStores } from '../../src/stores/stores.ts';
import { createBullmqWakeUp } from '../../src/work/drivers/bullmq.ts';
import { startSweeper } from '../../src/work/sweeper.ts';
import { startWorker, type Worker } from '../../src/work/worker.ts';
import { sampleBuild } from '../stores/samples.ts';

const SWEEP_MS = 300;
/** A fifth of the usual time, so that a job whose process died is soon assigned again. */
const LOCK_MS = 2000;

/**
 * A worker and a sweeper as the app starts them, with a real queue and a real store. The triage only takes
 * time.
 */
export interface Crew {
  readonly queue: WakeUp;
  /** The builds whose triage began, once for each beginning. */
  readonly begun: string[];
  /** The builds whose triage ended, once for each end. */
  readonly ended: string[];
  /**
   * Stores a build, requests its triage and wakes a worker, as intake does. Returns whether the queue was
   * notified, and the duration in milliseconds.
   */
  accept(
    repository?: string,
  ): Promise<{ readonly buildId: string; readonly notified: boolean; readonly tookMs: number }>;
  work(options: {
    readonly takesMs: number;
    /** Replaces the triage that only takes time. */
    readonly triage?: (buildId: string, run: TriageRun) => Promise<unknown>;
  }): Promise<void>;
  stop(timeoutMs?: number): Promise<void>;
}

export interface CrewOptions {
  readonly db: Database;
  readonly url: string;
  readonly prefix: string;
  readonly concurrency: number;
  readonly logger?: Logger;
}

export async function openCrew({
  db,
  url,
  prefix,
  concurrency,
  logger = silentLogger,
}: CrewOptions): Promise<Crew> {
  const stores = createStores(db, { now: () => Date.now() });
  const { rank } = stores.work;
  const queue = await createBullmqWakeUp({ url, prefix, logger, concurrency, rank, lockMs: LOCK_MS });
  const begun: string[] = [];
  const ended: string[] = [];
  let worker: Worker | null = null;
  let sweeper: { stop(): Promise<void> } | null = null;
  return {
    queue,
    begun,
    ended,
    accept: async (repository = 'acme/shop') => {
      const { build } = await stores.builds.upsert(sampleBuild({ repository, number: createId('bld') }));
      await stores.triages.request(build.id);
      const startedAt = performance.now();
      const notified = await queue.wake(TRIAGE, build.id).then(
        () => true,
        () => false,
      );
      return { buildId: build.id, notified, tookMs: performance.now() - startedAt };
    },
    work: async ({ takesMs, triage = (_, { signal }) => delay(takesMs, undefined, { signal }) }) => {
      const handler = createTriageHandler({
        database: db,
        stores,
        leaseMs: 60_000,
        concurrency,
        maxCrashes: 3,
        triage: async ({ key }, run) => {
          begun.push(key);
          await triage(key, run);
          ended.push(key);
        },
        escalateToReviewer: async () => undefined,
      });
      const deps = { work: stores.work, masker: createMasker(), logger };
      worker = startWorker({ ...deps, handlers: [handler], wakeUp: queue, intervalMs: SWEEP_MS });
      sweeper = startSweeper({ ...deps, wakeUp: queue, intervalMs: SWEEP_MS });
    },
    stop: async (timeoutMs = 5000) => {
      await sweeper?.stop();
      await worker?.stop(timeoutMs);
      await queue.close();
    },
  };
}
