import { z } from 'zod';
import type { TestResult } from '../domain/build.ts';
import { type FlakinessCounts, measureFlakiness, TestFlakiness, type TestRun, WINDOW } from '../domain/flakiness.ts';
import type { Database, Sql } from '../ports/database.ts';
import type { FlakinessStore, TestName } from '../ports/insights.ts';
import { all, IS_DEFAULT, pageValues, scopeValue } from './sql.ts';

/** A build in which more tests fail than this is broken as a whole. */
const MOST_FAILING = 1_000;
/** Tests whose counts are taken anew with one build. */
const MOST_FOLLOWED = 2_000;
/** Runs kept of a test: what is counted, and as many again, so that deleted builds leave no gap. */
const KEPT = 2 * WINDOW;
const MOST_ASKED = 200;

/** Reads lists from what was counted when results were saved: no list looks at the results themselves. */
export function createFlakinessStore(db: Database): FlakinessStore {
  const read = db.reader ?? db;
  const ofTests = async (tests: readonly TestName[]) => {
    const asked = tests
      .slice(0, MOST_ASKED)
      .map(({ repository, name, suite }) => ({ repository, name, suite: suite ?? null, any: suite === undefined }));
    const rows = await read.query<{ name: unknown }>(OF_TESTS, [{ asked }]);
    return rows.map((row) => (row.name === null ? null : TestFlakiness.parse(row)));
  };
  return {
    follow: async (buildId, results, sql) => await follow(sql, buildId, results),
    list: async ({ repository, test, minFlakes, repositories }, page) => {
      const values = [repository ?? null, test ?? null, minFlakes ?? 1, ...pageValues(page), scopeValue(repositories)];
      return await all(read, TestFlakiness, LIST, values);
    },
    ofTest: async (test) => (await ofTests([test]))[0] ?? null,
    ofTests,
  };
}

/** See `FlakinessStore.follow`. */
export async function follow(sql: Sql, buildId: string, results: readonly TestResult[]): Promise<void> {
  const names = testsOf(results);
  if (names.length === 0 || names.filter(({ failed }) => failed).length > MOST_FAILING) return;
  await sql.query(BEGIN_FOLLOWING, [buildId, { names: names.filter(({ failed }) => failed) }]);
  const touched = await sql.query<{ key: string }>(TOUCHED, [buildId, { names }, MOST_FOLLOWED]);
  if (touched.length === 0) return;
  const keys = touched.map(({ key }) => key);
  await sql.query(ADD_RUNS, [buildId, keys, { names }]);
  if (keys.length === MOST_FOLLOWED) await sql.query(DROP_WITHOUT_RUNS, [buildId, { names }]);
  const runs = Map.groupBy(z.array(StoredRun).parse(await sql.query(NEWEST_RUNS, [keys, WINDOW])), ({ key }) => key);
  const counts = keys.map((key) => ({ key, ...measureFlakiness((runs.get(key) ?? []).map(runOf)) }));
  await sql.query(SAVE_COUNTS, [{ counts }]);
  await sql.query(DROP_OLD_RUNS, [keys, KEPT]);
}

interface NamedOutcome extends Pick<TestResult, 'name' | 'suite' | 'file'> {
  readonly failed: boolean;
}

/** Each test that ran once, failed where any of its results failed: a matrix may run it on several systems. */
function testsOf(results: readonly TestResult[]): NamedOutcome[] {
  const tests = new Map<string, NamedOutcome>();
  for (const { name, suite, file, status } of results) {
    if (status === 'skipped') continue;
    const id = JSON.stringify([suite, name]);
    const known = tests.get(id);
    tests.set(id, { name, suite, file: known?.file ?? file, failed: status === 'failed' || known?.failed === true });
  }
  return [...tests.values()];
}

const StoredRun = z.object({
  key: z.string(),
  buildId: z.string(),
  outcome: z.enum(['passed', 'failed']),
  commit: z.string().nullable(),
  lane: z.string(),
  onDefaultBranch: z.boolean(),
  at: z.string(),
});

function runOf({ key: _key, ...run }: z.infer<typeof StoredRun>): TestRun {
  return run;
}

/** Field by column; `recent` is written apart. */
const COUNTS = [
  ['runs', 'runs', 'integer'],
  ['failed', 'failed', 'integer'],
  ['flakes', 'flakes', 'integer'],
  ['rerun', 'rerun', 'integer'],
  ['recovered', 'recovered', 'integer'],
  ['default_runs', 'defaultRuns', 'integer'],
  ['flips', 'flips', 'integer'],
  ['since', 'since', 'timestamptz'],
  ['last_flake_at', 'lastFlakeAt', 'timestamptz'],
  ['last_failed_at', 'lastFailedAt', 'timestamptz'],
  ['recent', 'recent', 'jsonb'],
] as const satisfies readonly (readonly [string, keyof FlakinessCounts, string])[];

const NAMES = (parameter: string) =>
  `jsonb_to_recordset(${parameter}::jsonb->'names') as n (name text, suite text, file text, failed boolean)`;

const KEY = (repository: string, suite: string, name: string) => `md5(jsonb_build_array(${repository}, ${suite}, ${name})::text)`;

const BEGIN_FOLLOWING = `
  insert into followed_tests (key, repository, name, suite, file)
  select ${KEY('b.repository', 'n.suite', 'n.name')}, b.repository, n.name, n.suite, n.file
  from builds b cross join ${NAMES('$2')} where b.id = $1
  order by 1
  on conflict (key) do update set file = excluded.file where excluded.file is not null and followed_tests.file is distinct from excluded.file`;

// In one order: two builds that touch the same tests wait for each other, and do not meet crosswise.
const TOUCHED = `
  select t.key from followed_tests t
  where t.key in (select ${KEY('b.repository', 'n.suite', 'n.name')} from builds b cross join ${NAMES('$2')} where b.id = $1)
  order by t.key limit $3 for update`;

// A test that begins to be followed brings its past along: the newest results that have its name.
const ADD_RUNS = `
  with touched as (select key, repository, name, suite, runs = 0 as new from followed_tests where key = any($2::text[])),
  past as (
    select t.key, b.id as build_id, bool_or(r.status = 'failed') as failed, b.received_at
    from touched t
    cross join lateral (
      select build_id, status, suite from test_results where name = t.name and status <> 'skipped' order by build_id desc limit 1000
    ) as r
    join builds b on b.id = r.build_id and b.repository = t.repository
    where t.new and r.suite is not distinct from t.suite and b.id <> $1
    group by t.key, b.id
  ), present as (
    select t.key, b.id as build_id, n.failed, b.received_at
    from touched t join builds b on b.id = $1 join ${NAMES('$3')} on n.name = t.name and n.suite is not distinct from t.suite
  )
  insert into test_runs (test_key, build_id, outcome, at)
  select key, build_id, case when failed then 'failed' else 'passed' end, received_at from (
    select * from past union all select * from present
  ) as runs
  order by key, build_id
  on conflict (test_key, build_id) do update set outcome = excluded.outcome where test_runs.outcome <> excluded.outcome`;

// A test that was one too many: without runs nothing would ever forget it.
const DROP_WITHOUT_RUNS = `
  delete from followed_tests t
  where t.key in (select ${KEY('b.repository', 'n.suite', 'n.name')} from builds b cross join ${NAMES('$2')} where b.id = $1 and n.failed)
    and not exists (select from test_runs r where r.test_key = t.key)`;

const NEWEST_RUNS = `
  select k.key, r.build_id as "buildId", r.outcome, r.at, b.commit, b.provider || ' ' || b.pipeline as lane,
    b.pull_request is null and ${IS_DEFAULT('b')} as "onDefaultBranch"
  from unnest($1::text[]) as k (key)
  cross join lateral (
    select build_id, outcome, at from test_runs where test_key = k.key order by at desc, build_id desc limit $2
  ) as r
  join builds b on b.id = r.build_id
  order by k.key, r.at desc, r.build_id desc`;

const SAVE_COUNTS = `
  update followed_tests t set ${COUNTS.map(([column, field]) => `${column} = c."${field}"`).join(', ')}
  from jsonb_to_recordset($1::jsonb->'counts') as c (key text, ${COUNTS.map(([, field, type]) => `"${field}" ${type}`).join(', ')})
  where t.key = c.key`;

const DROP_OLD_RUNS = `
  delete from test_runs r using (
    select k.key, edge.at, edge.build_id from unnest($1::text[]) as k (key)
    cross join lateral (
      select at, build_id from test_runs where test_key = k.key order by at desc, build_id desc offset $2 limit 1
    ) as edge
  ) as old
  where r.test_key = old.key and (r.at, r.build_id) <= (old.at, old.build_id)`;

const ROW = `t.repository, t.name, t.suite, t.file, ${COUNTS.map(([column, field]) => `t.${column} as "${field}"`).join(', ')}`;

const LIST = `
  select ${ROW} from followed_tests t
  where t.flakes > 0 and t.flakes >= $3 and ($1::text is null or t.repository = $1) and ($6::text[] is null or t.repository like any($6))
    and ($2::text is null or (md5(t.name) = md5($2) and t.name = $2))
  order by t.rate desc, t.flakes desc, t.key limit $4 offset $5`;

const OF_TESTS = `
  select found.* from jsonb_array_elements($1::jsonb->'asked') with ordinality as a (test, position)
  left join lateral (
    select ${ROW} from followed_tests t
    where t.repository = a.test->>'repository' and md5(t.name) = md5(a.test->>'name') and t.name = a.test->>'name'
      and ((a.test->>'any')::boolean or t.suite is not distinct from a.test->>'suite')
    order by t.rate desc, t.failed desc, t.key limit 1
  ) as found on true
  order by a.position`;
