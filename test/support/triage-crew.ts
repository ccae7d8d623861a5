import { setTimeout as delay } from 'node:timers/promises';
import { newId } from '../../src/domain/ids.ts';
import type { Database } from '../../src/ports/database.ts';
import type { JobQueue, QueueAdmin } from '../../src/ports/job-queue.ts';
import { type Logger, silentLogger } from '../../src/ports/telemetry.ts';
import { detachableQueue, fairQueue } from '../../src/service/triage/queue.ts';
import { startSweeper, startWorker } from '../../src/service/triage/worker.ts';
import { createBullmqQueue } from '../../src/stores/queue/bullmq.ts';
import { createStores } from '../../src/stores/stores.ts';
import { createJobTurns } from '../../src/stores/triages.ts';
import { sampleBuild } from '../stores/samples.ts';

const SWEEP_MS = 300;
/** A fifth of the usual, so that a notification whose process died is soon handed out again. */
const LOCK_MS = 2000;

/** Worker and sweeper as the app starts them, over a real queue and a real store, with a triage that only takes time. */
export interface Crew {
  readonly queue: JobQueue & QueueAdmin;
  /** Builds whose triage began, once for each beginning. */
  readonly begun: string[];
  /** Builds whose triage ended, once for each end. */
  readonly ended: string[];
  /** Owes a build a triage and notifies as intake does; says whether the queue was notified and how long it took, in milliseconds. */
  accept(
    repository?: string,
  ): Promise<{ readonly buildId: string; readonly notified: boolean; readonly tookMs: number }>;
  work(options: { readonly concurrency: number; readonly takesMs: number }): Promise<void>;
  stop(timeoutMs?: number): Promise<void>;
}

export interface CrewOptions {
  readonly db: Database;
  readonly url: string;
  readonly prefix: string;
  readonly logger?: Logger;
}

export async function openCrew({ db, url, prefix, logger = silentLogger }: CrewOptions): Promise<Crew> {
  const stores = createStores(db, { now: () => Date.now() });
  const turns = createJobTurns(db);
  const queue = await createBullmqQueue({ url, prefix, logger, lockMs: LOCK_MS });
  const jobQueue = detachableQueue(fairQueue(queue, { turns, logger }), logger);
  const begun: string[] = [];
  const ended: string[] = [];
  let sweeper: { stop(): void } | null = null;
  return {
    queue,
    begun,
    ended,
    accept: async (repository = 'acme/shop') => {
      const { build } = await stores.builds.upsert(sampleBuild({ repository, number: newId('bld') }));
      const { id } = await stores.triages.request(build.id);
      const startedAt = performance.now();
      const notified = await jobQueue.enqueue(id).then(
        () => true,
        () => false,
      );
      return { buildId: build.id, notified, tookMs: performance.now() - startedAt };
    },
    work: async ({ concurrency, takesMs }) => {
      const triage = async (buildId: string, run: { readonly signal: AbortSignal }) => {
        begun.push(buildId);
        await delay(takesMs, undefined, { signal: run.signal });
        ended.push(buildId);
      };
      const giveUp = async () => undefined;
      await startWorker({
        jobQueue,
        triages: stores.triages,
        logger,
        leaseMs: 60_000,
        concurrency,
        maxCrashes: 3,
        triage,
        escalateToReviewer: giveUp,
      });
      sweeper = startSweeper({ jobQueue, turns, logger, intervalMs: SWEEP_MS });
    },
    stop: async (timeoutMs = 5000) => {
      sweeper?.stop();
      await jobQueue.stop({ timeoutMs });
    },
  };
}
