import { PgBoss } from 'pg-boss';
import { z } from 'zod';
import { getErrorMessage, TriageError } from '../../domain/errors.ts';
import type { JobQueue, QueueAdmin, QueueMessage } from '../../ports/job-queue.ts';
import type { Logger } from '../../ports/telemetry.ts';
import { createHandlerRuns, type HandlerRuns, settlesWithin } from './handler-runs.ts';

const SCHEMA = 'pgboss';
const QUEUE = 'triage';
/** The queue to which pg-boss moves a message after its last try. */
const DEAD_QUEUE = 'triage-dead';

const ROW = `
  singleton_key as "jobId", state::text as state, retry_count as tries, created_on as at,
  coalesce(output ->> 'message', output ->> 'value') as error`;

const LIVE = `
  select ${ROW} from ${SCHEMA}.job where name = $1 and state < 'completed'
  order by case state when 'active' then 0 when 'created' then 1 else 2 end, priority desc, created_on limit $2`;

const DEAD = `
  select distinct on (singleton_key) ${ROW} from ${SCHEMA}.job where name = $1 and state < 'completed'
  order by singleton_key, created_on desc`;

const DEAD_NEWEST = `select * from (${DEAD}) as dead order by at desc limit $2`;

const REMOVE_DEAD = `delete from ${SCHEMA}.job where name = $1 and singleton_key = $2 returning id`;

const Row = z.object({
  jobId: z.string(),
  state: z.enum(['created', 'retry', 'active', 'blocked']),
  tries: z.int(),
  at: z.union([z.date(), z.string()]).transform((at) => new Date(at).toISOString()),
  error: z.string().nullable(),
});

const STATES = { active: 'running', created: 'waiting', blocked: 'waiting', retry: 'later' } as const;

/** Creates the admin interface for the messages that pg-boss keeps in the database. */
function createPgBossAdmin(sql: PoolExecutor, enqueue: JobQueue['enqueue']): QueueAdmin {
  const rows = async (text: string, name: string, limit: number) =>
    z.array(Row).parse((await sql.executeSql(text, [name, limit])).rows);
  return {
    messages: async (limit) =>
      (await rows(LIVE, QUEUE, limit)).map((row): QueueMessage => ({ ...row, state: STATES[row.state] })),
    dead: async (limit) =>
      (await rows(DEAD_NEWEST, DEAD_QUEUE, limit)).map((row): QueueMessage => ({ ...row, state: 'dead' })),
    requeue: async (jobId) => {
      const { rows: removed } = await sql.executeSql(REMOVE_DEAD, [DEAD_QUEUE, jobId]);
      if (removed.length === 0) return false;
      await enqueue(jobId, { priority: 'high' });
      return true;
    },
  };
}

/**
 * Seconds between two polls for retries and for messages of other processes. A message of this process wakes
 * its workers directly.
 */
const POLL_SECONDS = 1;
/** Milliseconds within which the same error is not logged as a warning again. */
const LOG_AGAIN_MS = 60_000;
/** Milliseconds that an aborted handler may take to end before it is abandoned. */
const ABORT_GRACE_MS = 2000;

/** pg-boss takes the highest first. */
const PRIORITIES = { high: 10, normal: 0 } as const;
/**
 * These take about eight minutes with the delays below; then the message is set aside. The job stays pending,
 * so the sweeper queues it again.
 */
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

const Message = z.object({ jobId: z.string() });

export interface PgBossQueueOptions {
  readonly db: { readonly driver: 'pglite' | 'postgres'; readonly pool: QueuePool };
  readonly logger: Logger;
  /** Seconds between two looks for messages of other processes and for retries. */
  readonly pollSeconds?: number;
  /** Tries before a message is given up. */
  readonly attempts?: number;
}

/**
 * Creates the queue in the database with pg-boss, in its own schema. Messages are handled at once if a worker
 * runs in the same process.
 */
export async function createPgBossQueue(options: PgBossQueueOptions): Promise<JobQueue & QueueAdmin> {
  const { db, logger, pollSeconds = POLL_SECONDS, attempts = ATTEMPTS } = options;
  const sql = poolExecutor(db.pool);
  const boss = new PgBoss({ db: sql, schema: SCHEMA, backend: db.driver, schedule: false });
  const isRepeated = createRecentlyLogged(LOG_AGAIN_MS);
  boss.on('error', (error) => {
    // Every worker looks once a second, and a database that is away is worth one line, not hundreds.
    if (isRepeated(getErrorMessage(error)))
      logger.debug({ error: getErrorMessage(error) }, 'job queue reported the same error again');
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
      for (let worker = 0; worker < concurrency; worker += 1)
        workerIds.push(await startWorker(boss, runs, pollSeconds));
    },

    depth: async () => {
      const { rows } = await sql.executeSql(
        `select count(*)::int as depth from ${SCHEMA}.job where name = $1 and state < 'completed'`,
        [QUEUE],
      );
      return z.object({ depth: z.int() }).parse(rows[0]).depth;
    },

    stop: ({ timeoutMs }) => {
      stopping ??= stopBoss(boss, workerIds, runs, timeoutMs);
      return stopping;
    },

    ...createPgBossAdmin(sql, enqueue),
  };
}

/**
 * Creates a function that returns true if the previous message was the same and is less than `milliseconds`
 * old.
 */
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
    // Each job id has at most one waiting message; a message that arrives during a run waits until the run
    // ends.
    await boss.createQueue(QUEUE, { policy: 'short', ...options });
    await boss.updateQueue(QUEUE, options);
  } catch (error) {
    throw new TriageError('storage-failed', `The job queue could not start: ${getErrorMessage(error)}`, {
      cause: error,
    });
  }
}

async function releaseOrphans(boss: PgBoss, sql: PoolExecutor): Promise<void> {
  const { rows } = await sql.executeSql(`select id from ${SCHEMA}.job where name = $1 and state = 'active'`, [
    QUEUE,
  ]);
  const ids = z.array(z.object({ id: z.string() })).parse(rows);
  if (ids.length === 0) return;
  await boss.fail(
    QUEUE,
    ids.map(({ id }) => id),
    { reason: 'its process ended' },
  );
}

/** Starts a worker that takes one job at a time. Returns its id. */
async function startWorker(boss: PgBoss, runs: HandlerRuns, pollSeconds: number): Promise<string> {
  let id = '';
  const handle = async (messages: readonly { readonly data: unknown }[]) => {
    try {
      for (const { data } of messages) await runs.run(Message.parse(data).jobId);
    } finally {
      // A worker that has just finished looks again at once instead of waiting for its next poll.
      boss.notifyWorker(id);
    }
  };
  id = await boss.work(QUEUE, { pollingIntervalSeconds: pollSeconds }, handle);
  return id;
}

async function stopBoss(
  boss: PgBoss,
  workerIds: readonly string[],
  runs: HandlerRuns | null,
  timeoutMs: number,
): Promise<void> {
  const drained = Promise.all(workerIds.map((id) => boss.offWork(QUEUE, { id, wait: true })));
  if (!(await settlesWithin(drained, timeoutMs))) {
    runs?.abort(new TriageError('cancelled', 'The queue is stopping'));
    await settlesWithin(drained, ABORT_GRACE_MS);
  }
  await boss.stop({ graceful: false, close: false });
}

/** The part of a pg pool that the queue uses. */
interface QueuePool {
  connect(): Promise<QueueClient>;
}

interface QueueClient {
  query(text: string, values?: unknown[]): Promise<unknown>;
  /** Returns the connection to the pool, or discards it if `broken` is `true`. */
  release(broken?: boolean): void;
}

/** The database interface that pg-boss expects. */
interface PoolExecutor {
  executeSql(text: string, values?: unknown[]): Promise<{ rows: object[] }>;
}

/**
 * Lets pg-boss run its SQL on our pool, one statement or block at a time. On PGlite's single connection this
 * keeps its SQL out of open transactions of other callers. A block that fails half-way is rolled back,
 * because the connection would otherwise stay in its transaction. A connection on which the rollback fails
 * too is discarded: if the server no longer responds, the next user would wait in vain.
 */
export function poolExecutor(pool: QueuePool): PoolExecutor {
  return {
    executeSql: async (text, values) => {
      const client = await pool.connect();
      try {
        const rows = extractRows(await client.query(text, values));
        client.release();
        return { rows };
      } catch (error) {
        const isBroken = await client.query('ROLLBACK').then(
          () => false,
          () => true,
        );
        client.release(isBroken);
        throw error;
      }
    },
  };
}

/** Returns the rows of a result. A block of several statements has one result for each statement. */
function extractRows(result: unknown): object[] {
  if (Array.isArray(result)) return result.flatMap(extractRows);
  if (typeof result === 'object' && result !== null && 'rows' in result && Array.isArray(result.rows))
    return result.rows;
  return [];
}
