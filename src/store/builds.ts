import type { TestResult } from '../domain/build.ts';
import type { Clock } from '../lib/time.ts';
import type { Database, Sql } from '../ports/database.ts';
import { type BuildStore, WHOLE_BUILD } from '../ports/stores.ts';
import { buildColumns, readBuild } from './build-rows.ts';
import { follow } from './flakiness.ts';
import { pageValues } from './page.ts';
import { scopeValue } from './scope.ts';
import { upsertBuild } from './upsert-build.ts';

export function createBuildStore(db: Database, clock: Clock): BuildStore {
  const first = async (sql: Sql, text: string, values: readonly unknown[]) => {
    const [row] = await sql.query(text, values);
    return row === undefined ? null : readBuild(row);
  };

  return {
    upsert: async (build, sql) => {
      const now = clock.now();
      return sql === undefined ? await db.transaction((own) => upsertBuild(own, build, now)) : await upsertBuild(sql, build, now);
    },

    withdrawUnfinished: async (buildId) => (await db.query<{ id: string }>(WITHDRAW, [buildId])).map(({ id }) => id),

    find: async (id, sql = db) => await first(sql, `select ${buildColumns('b')} from builds b where b.id = $1`, [id]),

    findByExternalId: async ({ provider, repository, externalId, attempt, failedPart }, sql = db) =>
      await first(sql, FIND_BY_EXTERNAL_ID, [provider, repository, externalId, attempt ?? null, failedPart ?? null]),

    list: async ({ provider, repository, pipeline, number, status, branch, repositories }, page) => {
      const filter = [provider, repository, pipeline, number, status, branch].map((value) => value ?? null);
      return (await db.query(LIST, [...filter, ...pageValues(page), scopeValue(repositories)])).map(readBuild);
    },

    saveTestResults: async (buildId, results, sql) => {
      const save = (own: Sql) => saveTestResults(own, buildId, results);
      await (sql === undefined ? db.transaction(save) : save(sql));
    },

    addFailedPart: async (buildId, part, sql = db) => (await sql.query(ADD_FAILED_PART, [buildId, part, WHOLE_BUILD])).length > 0,

    logsForgottenAt: async (buildId) => {
      const [row] = await db.query<{ at: string }>(LOGS_FORGOTTEN_AT, [buildId]);
      return row?.at ?? null;
    },
  };
}

/**
 * Results come in several parts (upload, the CI's own data, reports). A part replaces what was known of its tests and
 * leaves the rest, so that a build that is read again after a crash has each result once.
 */
async function saveTestResults(sql: Sql, buildId: string, results: readonly TestResult[]): Promise<void> {
  if (results.length === 0) return;
  await sql.query('select id from builds where id = $1 for update', [buildId]);
  await sql.query(FORGET_TEST_RESULTS, [buildId, { results }]);
  await sql.query(INSERT_TEST_RESULTS, [buildId, { results }]);
  await follow(sql, buildId, results);
}

// An upload gets its status, and what is owed to it, in the transaction that ends it.
const WITHDRAW = `
  delete from builds b where provider = 'upload' and status = 'unknown' and ($1::text is null or id = $1)
    and not exists (select from triage_jobs j where j.build_id = b.id) returning id`;

const FIND_BY_EXTERNAL_ID = `
  select ${buildColumns('b')} from builds b
  where b.provider = $1 and b.repository = $2 and b.external_id = $3 and ($4::int is null or b.attempt = $4)
  order by exists (select from failed_parts p where p.build_id = b.id and p.part = $5) desc, b.attempt desc
  limit 1`;

const LOGS_FORGOTTEN_AT = `
  select to_char(at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at from forgotten_logs where build_id = $1`;

const ADD_FAILED_PART = `
  insert into failed_parts (build_id, part)
  select $1, $2::text where not exists (select from failed_parts where build_id = $1 and part = $3)
  on conflict (build_id, part) do nothing returning part`;

const LIST = `
  select ${buildColumns('b')} from builds b
  where ($1::text is null or b.provider = $1) and ($2::text is null or b.repository = $2)
    and ($3::text is null or b.pipeline = $3) and ($4::text is null or b.number = $4)
    and ($5::text is null or b.status = $5) and ($6::text is null or b.branch = $6)
    and ($9::text[] is null or b.repository like any($9))
  order by b.received_at desc, b.id desc
  limit $7 offset $8`;

const FORGET_TEST_RESULTS = `
  delete from test_results t using (
    select distinct r->>'name' as name, r->>'suite' as suite from jsonb_array_elements($2::jsonb->'results') as r
  ) n
  where t.build_id = $1 and t.name = n.name and t.suite is not distinct from n.suite`;

const INSERT_TEST_RESULTS = `
  insert into test_results (build_id, position, name, suite, file, status, duration_ms)
  select $1, r.position + (select coalesce(max(position), 0) from test_results where build_id = $1),
    r.result->>'name', r.result->>'suite', r.result->>'file', r.result->>'status', (r.result->>'durationMs')::float8
  from jsonb_array_elements($2::jsonb->'results') with ordinality as r (result, position)`;
