import { setTimeout as delay } from 'node:timers/promises';
import { PgBoss } from 'pg-boss';
import { z } from 'zod';
import { messageOf, TriageError } from '../../domain/errors.ts';
import type { JobQueue } from '../../ports/job-queue.ts';
import type { Logger } from '../../ports/logger.ts';
import { type PoolExecutor, poolExecutor, type QueuePool } from './pool-executor.ts';

const SCHEMA = 'pgboss';
const QUEUE = 'triage';
/** Only for rings that come from elsewhere and for retries: a ring of this process wakes its workers itself. */
const POLL_SECONDS = 1;
/** How long an aborted handler may take to end before it is left behind. */
const ABORT_GRACE_MS = 2000;

const QUEUE_OPTIONS = {
  // One waiting ring for each job id; a ring during a run waits for its turn.
  policy: 'short',
  retryLimit: 20,
  retryDelay: 1,
  retryBackoff: true,
  retryDelayMax: 300,
  // A run may take long; a dead process is noticed by its heartbeat instead.
  expireInSeconds: 4 * 3600,
  heartbeatSeconds: 30,
  deleteAfterSeconds: 3600,
};

const Ring = z.object({ jobId: z.string() });

type Handler = Parameters<JobQueue['work']>[0];

export interface PgBossQueueOptions {
  readonly db: { readonly driver: 'pglite' | 'postgres'; readonly pool: QueuePool };
  readonly logger: Logger;
  /** Seconds between two looks for rings of other processes and for retries. */
  readonly pollSeconds?: number;
}

/** The doorbell on the database itself, by pg-boss in a schema of its own. Within one process a ring is answered at once. */
export async function createPgBossQueue({ db, logger, pollSeconds = POLL_SECONDS }: PgBossQueueOptions): Promise<JobQueue> {
  const sql = poolExecutor(db.pool);
  const boss = new PgBoss({ db: sql, schema: SCHEMA, backend: db.driver, schedule: false });
  boss.on('error', (error) => logger.warn({ error }, 'job queue reported an error'));
  boss.on('warning', (warning) => logger.warn({ warning }, 'job queue warned'));
  await startBoss(boss);
  // PGlite belongs to one process: whatever is still marked as running there died with the one before.
  if (db.driver === 'pglite') await releaseOrphans(boss, sql);

  const workerIds: string[] = [];
  const running = new Set<AbortController>();
  const handling = { running, logger, pollSeconds };
  let stopping: Promise<void> | null = null;

  return {
    driver: 'pg-boss',

    enqueue: async (jobId) => {
      if (stopping !== null) return;
      await boss.send(QUEUE, { jobId }, { singletonKey: jobId });
      for (const id of workerIds) boss.notifyWorker(id);
    },

    work: async (handler, { concurrency }) => {
      for (let worker = 0; worker < concurrency; worker += 1) workerIds.push(await startWorker(boss, handler, handling));
    },

    depth: async () => {
      const { rows } = await sql.executeSql(`select count(*)::int as depth from ${SCHEMA}.job where name = $1 and state < 'completed'`, [
        QUEUE,
      ]);
      return z.object({ depth: z.int() }).parse(rows[0]).depth;
    },

    stop: ({ timeoutMs }) => {
      stopping ??= stopBoss(boss, workerIds, running, timeoutMs);
      return stopping;
    },
  };
}

async function startBoss(boss: PgBoss): Promise<void> {
  try {
    await boss.start();
    await boss.createQueue(QUEUE, QUEUE_OPTIONS);
  } catch (error) {
    throw new TriageError('storage-failed', `The job queue could not start: ${messageOf(error)}`, { cause: error });
  }
}

async function releaseOrphans(boss: PgBoss, sql: PoolExecutor): Promise<void> {
  const { rows } = await sql.executeSql(`select id from ${SCHEMA}.job where name = $1 and state = 'active'`, [QUEUE]);
  const ids = z.array(z.object({ id: z.string() })).parse(rows);
  if (ids.length === 0) return;
  await boss.fail(
    QUEUE,
    ids.map(({ id }) => id),
    { reason: 'its process ended' },
  );
}

interface Handling {
  readonly running: Set<AbortController>;
  readonly logger: Logger;
  readonly pollSeconds: number;
}

/** One worker, which takes one job at a time; returns its id. */
async function startWorker(boss: PgBoss, handler: Handler, { running, logger, pollSeconds }: Handling): Promise<string> {
  let id = '';
  const handle = async (rings: readonly { readonly data: unknown }[]) => {
    try {
      for (const { data } of rings) await runHandler(handler, Ring.parse(data).jobId, running, logger);
    } finally {
      // A worker that has just finished looks again at once instead of waiting for its next poll.
      boss.notifyWorker(id);
    }
  };
  id = await boss.work(QUEUE, { pollingIntervalSeconds: pollSeconds }, handle);
  return id;
}

async function runHandler(handler: Handler, jobId: string, running: Set<AbortController>, logger: Logger): Promise<void> {
  const controller = new AbortController();
  running.add(controller);
  try {
    await handler(jobId, controller.signal);
  } catch (error) {
    logger.warn({ jobId, error }, 'job failed and will be tried again');
    throw error;
  } finally {
    running.delete(controller);
  }
}

async function stopBoss(boss: PgBoss, workerIds: readonly string[], running: Set<AbortController>, timeoutMs: number): Promise<void> {
  const drained = Promise.all(workerIds.map((id) => boss.offWork(QUEUE, { id, wait: true })));
  if (!(await settlesWithin(drained, timeoutMs))) {
    for (const controller of running) controller.abort(new TriageError('cancelled', 'The queue is stopping'));
    await settlesWithin(drained, ABORT_GRACE_MS);
  }
  await boss.stop({ graceful: false, close: false });
}

async function settlesWithin(work: Promise<unknown>, milliseconds: number): Promise<boolean> {
  const timer = new AbortController();
  const settled = work.then(() => true);
  const late = delay(milliseconds, false, { signal: timer.signal }).catch(() => false);
  const result = await Promise.race([settled, late]);
  timer.abort();
  return result;
}
