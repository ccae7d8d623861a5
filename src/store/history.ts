import { z } from 'zod';
import type { Database } from '../ports/database.ts';
import type { HistoryStore } from '../ports/stores.ts';
import { buildColumns, buildOrder, readBuild } from './build-rows.ts';
import { FAILURE_ROW, FAILURE_ROW_FROM, readFailureRow } from './failure-rows.ts';
import { scopeValue } from './scope.ts';

/** Only reads: `db` may be a database's `reader`. */
export function createHistoryStore(db: Pick<Database, 'query'>): HistoryStore {
  return {
    failureHistory: async ({ repository, fingerprint, test, beforeBuildId, limit }) => {
      const rows = await db.query(FAILURE_HISTORY, [repository, fingerprint, test, beforeBuildId, limit]);
      return rows.map(readFailureRow);
    },

    consecutiveFailures: async ({ repository, pipeline, branch, buildId, fingerprint = null }) => {
      const rows = await db.query<{ status: string; same: boolean }>(CONSECUTIVE, [repository, pipeline, branch, buildId, fingerprint]);
      const failed = rows.filter((row) => row.status === 'failed');
      const other = failed.findIndex(({ same }) => !same);
      const alike = other === -1 ? failed : failed.slice(0, other);
      const [oldest, oldestAlike] = [failed.at(-1), alike.at(-1)];
      const green = rows.find((row) => row.status === 'passed');
      return {
        count: failed.length,
        firstBuild: oldest === undefined ? null : readBuild(oldest),
        lastGreen: green === undefined ? null : readBuild(green),
        same: alike.length,
        firstSame: oldestAlike === undefined ? null : readBuild(oldestAlike),
      };
    },

    similarFailures: async ({ text, excludeBuildId, minScore, limit, repositories }) => {
      const values = [text, excludeBuildId, limit, minScore, scopeValue(repositories)];
      const rows = await db.query<{ score: unknown }>(SIMILAR, values);
      return rows.map((row) => ({ ...readFailureRow(row), score: z.number().parse(row.score) }));
    },
  };
}

const FAILURE_HISTORY = `
  select ${FAILURE_ROW} from ${FAILURE_ROW_FROM}
  where f.repository = $1 and (f.fingerprint = $2 or f.test_name = $3::text) and f.build_id <> $4
    and f.seen_at <= coalesce((select received_at from builds where id = $4), 'infinity')
  order by f.seen_at desc, f.id desc
  limit $5`;

// The nearest texts by the index, then the newest failures that say them: a text that is seen every day must not hide the others. Some texts
// more than are asked for, since those of the build itself fall away; many more where most may be of other repositories.
const SIMILAR = `
  with near as materialized (
    select key, similarity(message, $1) as score from failure_messages order by message <-> $1
    limit ($3::int + 20) * case when $5::text[] is null then 1 else 10 end
  ), alike as materialized (
    select f.id, near.score, f.seen_at from near cross join lateral (
      select id, seen_at from failures
      where message_key = near.key and build_id <> $2 and not (generic and test_name is null) and ($5::text[] is null or repository like any ($5))
      order by seen_at desc, id desc limit 5
    ) as f
    where near.score >= $4::real
    order by near.score desc, f.seen_at desc, f.id desc
    limit $3::int
  )
  select ${FAILURE_ROW}, alike.score from alike join ${FAILURE_ROW_FROM.replace('failures f', 'failures f on f.id = alike.id')}
  order by alike.score desc, f.seen_at desc, f.id desc`;

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
  select ${buildColumns('c')}, (c.id = $4 and $5::text is not null) or exists (select 1 from failures f where f.build_id = c.id and f.fingerprint = $5) as same
  from counted c
  where (c.greens = 0 and c.status = 'failed') or (c.greens = 1 and c.status = 'passed')
  order by ${buildOrder('c')} desc`;
