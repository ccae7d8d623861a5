import { z } from 'zod';
import type { JobQueue, QueueAdmin, RingState } from '../../ports/job-queue.ts';
import type { PoolExecutor } from './pool-executor.ts';

export const SCHEMA = 'pgboss';
export const QUEUE = 'triage';
/** Where pg-boss puts a ring after its last try. */
export const DEAD_QUEUE = 'triage-dead';

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

/** The rings that pg-boss keeps in the database. */
export function createPgBossAdmin(sql: PoolExecutor, enqueue: JobQueue['enqueue']): QueueAdmin {
  const rows = async (text: string, name: string, limit: number) => z.array(Row).parse((await sql.executeSql(text, [name, limit])).rows);
  return {
    rings: async (limit) => (await rows(LIVE, QUEUE, limit)).map((row): RingState => ({ ...row, state: STATES[row.state] })),
    dead: async (limit) => (await rows(DEAD_NEWEST, DEAD_QUEUE, limit)).map((row): RingState => ({ ...row, state: 'dead' })),
    requeue: async (jobId) => {
      const { rows: removed } = await sql.executeSql(REMOVE_DEAD, [DEAD_QUEUE, jobId]);
      if (removed.length === 0) return false;
      await enqueue(jobId, { priority: 'high' });
      return true;
    },
  };
}
