import { PgBoss } from 'pg-boss';
import { z } from 'zod';
import { messageOf, TriageError } from '../../domain/errors.ts';
import type { JobQueue, QueueAdmin } from '../../ports/job-queue.ts';
import type { Logger } from '../../ports/telemetry.ts';
import { createHandlerRuns, type HandlerRuns } from './handler-runs.ts';
import { createPgBossAdmin, DEAD_QUEUE, QUEUE, SCHEMA } from './pg-boss-admin.ts';
import { type PoolExecutor, poolExecutor, type QueuePool } from './pool-executor.ts';
import { settlesWithin } from './settles-within.ts';

/** Only for rings that come from elsewhere and for retries: a ring of this process wakes its workers itself. */
const POLL_SECONDS = 1;
/** How long the same error is not worth another line. */
const SAY_AGAIN_MS = 60_000;
/** How long an aborted handler may take to end before it is left behind. */
const ABORT_GRACE_MS = 2000;

/** pg-boss takes the highest first. */
const PRIORITIES = { high: 10, normal: 0 } as const;
/** Some eight minutes with the delays below; then the ring is set aside. The job stays owed, so the sweeper rings anew. */
const ATTEMPTS = 20;

const QUEUE_OPTIONS = {
  retryDelay: 1,
  retryBackoff: true,
  // Soon again once whatever failed works again.
  retryDelayMax: 30,
  // A run may take long; a dead process is noticed by its heartbeat instead.
  expireInSeconds: 4 * 3600,
  heartbeatSeconds: 30,
  deleteAfterSeconds: 3600,
  deadLetter: DEAD_QUEUE,
};

const Ring = z.object({ jobId: z.string() });

export interface PgBossQueueOptions {
  readonly db: { readonly driver: 'pglite' | 'postgres'; readonly pool: QueuePool };
  readonly logger: Logger;
  /** Seconds between two looks for rings of other processes and for retries. */
  readonly pollSeconds?: number;
  /** Tries before a ring is given up. */
  readonly attempts?: number;
}

/** The doorbell on the database itself, by pg-boss in a schema of its own. Within one process a ring is answered at once. */
export async function createPgBossQueue(options: PgBossQueueOptions): Promise<JobQueue & QueueAdmin> {
  const { db, logger, pollSeconds = POLL_SECONDS, attempts = ATTEMPTS } = options;
  const sql = poolExecutor(db.pool);
  const boss = new PgBoss({ db: sql, schema: SCHEMA, backend: db.driver, schedule: false });
  const told = createRecentlyLogged(SAY_AGAIN_MS);
  boss.on('error', (error) => {
    // Every worker looks once a second, and a database that is away is worth one line, not hundreds.
    if (told(messageOf(error))) logger.debug({ error: messageOf(error) }, 'job queue reported the same error again');
    else logger.warn({ error }, 'job queue reported an error');
  });
  boss.on('warning', (warning) => logger.warn({ warning }, 'job queue warned'));
  await startBoss(boss, attempts);
  // PGlite belongs to one process: whatever is still marked as running there died with the one before.
  if (db.driver === 'pglite') await releaseOrphans(boss, sql);

  const workerIds: string[] = [];
  let runs: HandlerRuns | null = null;
  let stopping: Promise<void> | null = null;

  const enqueue: JobQueue['enqueue'] = async (jobId, { priority = 'normal' } = {}) => {
    if (stopping !== null) return;
    await boss.send(QUEUE, { jobId }, { singletonKey: jobId, priority: PRIORITIES[priority] });
    for (const id of workerIds) boss.notifyWorker(id);
  };

  return {
    driver: 'pg-boss',
    enqueue,

    work: async (handler, { concurrency }) => {
      runs = createHandlerRuns(handler, concurrency, logger);
      for (let worker = 0; worker < concurrency; worker += 1) workerIds.push(await startWorker(boss, runs, pollSeconds));
    },

    depth: async () => {
      const { rows } = await sql.executeSql(`select count(*)::int as depth from ${SCHEMA}.job where name = $1 and state < 'completed'`, [
        QUEUE,
      ]);
      return z.object({ depth: z.int() }).parse(rows[0]).depth;
    },

    stop: ({ timeoutMs }) => {
      stopping ??= stopBoss(boss, workerIds, runs, timeoutMs);
      return stopping;
    },

    ...createPgBossAdmin(sql, enqueue),
  };
}

/** Whether the last one was the same, less than so long ago. */
function createRecentlyLogged(milliseconds: number): (message: string) => boolean {
  let last = { message: '', at: Number.NEGATIVE_INFINITY };
  return (message) => {
    const now = performance.now();
    if (message === last.message && now - last.at < milliseconds) return true;
    last = { message, at: now };
    return false;
  };
}

async function startBoss(boss: PgBoss, attempts: number): Promise<void> {
  const options = { ...QUEUE_OPTIONS, retryLimit: attempts - 1 };
  try {
    await boss.start();
    await boss.createQueue(DEAD_QUEUE);
    // One waiting ring for each job id; a ring during a run waits for its turn.
    await boss.createQueue(QUEUE, { policy: 'short', ...options });
    await boss.updateQueue(QUEUE, options);
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

/** One worker, which takes one job at a time; returns its id. */
async function startWorker(boss: PgBoss, runs: HandlerRuns, pollSeconds: number): Promise<string> {
  let id = '';
  const handle = async (rings: readonly { readonly data: unknown }[]) => {
    try {
      for (const { data } of rings) await runs.run(Ring.parse(data).jobId);
    } finally {
      // A worker that has just finished looks again at once instead of waiting for its next poll.
      boss.notifyWorker(id);
    }
  };
  id = await boss.work(QUEUE, { pollingIntervalSeconds: pollSeconds }, handle);
  return id;
}

async function stopBoss(boss: PgBoss, workerIds: readonly string[], runs: HandlerRuns | null, timeoutMs: number): Promise<void> {
  const drained = Promise.all(workerIds.map((id) => boss.offWork(QUEUE, { id, wait: true })));
  if (!(await settlesWithin(drained, timeoutMs))) {
    runs?.abort(new TriageError('cancelled', 'The queue is stopping'));
    await settlesWithin(drained, ABORT_GRACE_MS);
  }
  await boss.stop({ graceful: false, close: false });
}
