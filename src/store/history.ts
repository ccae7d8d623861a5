import { z } from 'zod';
import type { Database } from '../ports/database.ts';
import type { HistoryStore } from '../ports/stores.ts';
import { buildColumns, buildOrder, readBuild } from './build-rows.ts';
import { FAILURE_ROW, FAILURE_ROW_FROM, readFailureRow } from './failure-rows.ts';

/** Only reads: `db` may be a database's `reader`. */
export function createHistoryStore(db: Pick<Database, 'query' | 'transaction'>): HistoryStore {
  return {
    failureHistory: async ({ repository, fingerprint, test, beforeBuildId, limit }) => {
      const rows = await db.query(FAILURE_HISTORY, [repository, fingerprint, test, beforeBuildId, limit]);
      return rows.map(readFailureRow);
    },

    consecutiveFailures: async ({ repository, pipeline, branch, buildId }) => {
      const rows = await db.query<{ status: string }>(CONSECUTIVE, [repository, pipeline, branch, buildId]);
      const failed = rows.filter((row) => row.status === 'failed');
      const oldest = failed.at(-1);
      const green = rows.find((row) => row.status === 'passed');
      return {
        count: failed.length,
        firstBuild: oldest === undefined ? null : readBuild(oldest),
        lastGreen: green === undefined ? null : readBuild(green),
      };
    },

    similarFailures: async ({ text, excludeBuildId, minScore, limit }) =>
      await db.transaction(async (sql) => {
        // The operator that can use the index takes its threshold from a setting; `true` binds it to this transaction.
        await sql.query(`select set_config('pg_trgm.similarity_threshold', $1, true)`, [String(minScore)]);
        const rows = await sql.query<{ score: unknown }>(SIMILAR, [text, excludeBuildId, limit]);
        return rows.map((row) => ({ ...readFailureRow(row), score: z.number().parse(row.score) }));
      }),
  };
}

const FAILURE_HISTORY = `
  select ${FAILURE_ROW} from ${FAILURE_ROW_FROM}
  where f.repository = $1 and (f.fingerprint = $2 or f.test_name = $3::text) and f.build_id <> $4
    and f.seen_at <= coalesce((select received_at from builds where id = $4), 'infinity')
  order by f.seen_at desc, f.id desc
  limit $5`;

const SIMILAR = `
  select ${FAILURE_ROW}, similarity(f.message, $1) as score from ${FAILURE_ROW_FROM}
  where f.message % $1 and f.build_id <> $2
  order by score desc, f.seen_at desc, f.id desc
  limit $3`;

// Each earlier build number once, by its newest attempt; this build by itself. Cancelled and unknown builds neither
// count nor end the row. `greens` counts passed builds from this one backwards.
const CONSECUTIVE = `
  with numbered as (
    select distinct on (b.number) b.*
    from builds base
    join builds b on b.provider = base.provider
      and (b.id = base.id or (b.number <> base.number and ${buildOrder('b')} < ${buildOrder('base')}))
    where base.id = $4 and b.repository = $1 and b.pipeline = $2 and b.branch is not distinct from $3
    order by b.number, b.attempt desc
  ), counted as (
    select n.*, count(*) filter (where n.status = 'passed') over (order by ${buildOrder('n')} desc) as greens from numbered n
  )
  select ${buildColumns('c')} from counted c
  where (c.greens = 0 and c.status = 'failed') or (c.greens = 1 and c.status = 'passed')
  order by ${buildOrder('c')} desc`;
