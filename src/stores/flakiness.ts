import { z } from 'zod';
import type { TestResult } from '../domain/build.ts';
import {
  type FlakinessCounts,
  measureFlakiness,
  type QuarantineEvent,
  TestFlakiness,
  TestRunFacts,
  WINDOW,
} from '../domain/flakiness.ts';
import type { Period } from '../domain/insights.ts';
import type { Database, Page, Sql } from '../ports/database.ts';
import {
  escapeLike,
  IS_DEFAULT,
  isoTime,
  queryAll,
  queryFirst,
  scopeValue,
  toBatches,
  toPageValues,
  toPeriodValues,
} from './sql.ts';

export interface FlakinessFilter {
  readonly repository?: string;
  /** The test's name, as in its report or log. */
  readonly test?: string;
  /** The minimum number of flakes among the newest runs; 1 if absent. */
  readonly minFlakes?: number;
  /** The repositories to include: `owner/name`, or `owner/*`. */
  readonly repositories?: readonly string[];
  /** True to list quarantined tests, flaky or not, soonest to end first. */
  readonly quarantined?: boolean;
}

/** A test, with the cost of its failures in a period. */
export const TestCost = TestFlakiness.omit({ recent: true }).extend({
  /** The number of failed runs in the period. */
  failures: z.int(),
  /**
   * The duration in minutes of the builds in which it failed, divided evenly among the tests that failed
   * there.
   */
  machineMinutes: z.number(),
  /**
   * The number of builds in which it failed, divided in the same way: the number of builds that people looked
   * at because of it.
   */
  builds: z.number(),
  /** The number of failed runs whose build has no known duration. */
  untimed: z.int(),
});
export type TestCost = z.infer<typeof TestCost>;

export interface TestCostQuery extends Period {
  /** The minutes that a person loses by a failed build. */
  readonly minutes: number;
  /** A part of the name. If present, tests that did not fail in the period are listed as well. */
  readonly name?: string;
}

/** A test of a repository. Without a suite, it is the test of that name with the most flakes. */
export interface TestName {
  readonly repository: string;
  readonly name: string;
  readonly suite?: string | null;
}

interface NamedFilter {
  readonly words: string;
  readonly repositories?: readonly string[];
}

const FoundTest = z.object({ repository: z.string(), suite: z.string().nullable(), name: z.string() });

/** The maximum number of failed tests of a build. If more fail, the build as a whole is broken. */
const MAX_FAILING = 1_000;
/** The maximum number of tests whose counts are updated for one build. */
const MAX_FOLLOWED = 2_000;
/**
 * The number of runs that are kept of a test: twice the counted window, so that deleted builds leave no gap.
 */
const KEPT = 2 * WINDOW;
const MAX_ASKED = 200;
/** The number of days for which all failed runs are kept, so that their cost can be counted. */
const COSTS_DAYS = 31;
/** The days after which a test that has not run again no longer counts as failing. */
const FAILING_DAYS = 14;
/** The maximum number of changes of a test's quarantine that are kept. */
const MAX_EVENTS = 20;

/**
 * Creates the store of test flakiness, computed from passing and failing results. It adds to a failure's
 * category and never replaces it. Lists read from counts that were updated when results were saved, and never
 * scan the results themselves.
 */
export function createFlakinessStore(db: Database) {
  const read = db.reader ?? db;
  const ofTests = async (tests: readonly TestName[]) => {
    const asked = tests.slice(0, MAX_ASKED).map(({ repository, name, suite }) => ({
      repository,
      name,
      suite: suite ?? null,
      any: suite === undefined,
    }));
    const rows = await read.query<{ name: unknown }>(OF_TESTS, [{ asked }]);
    return rows.map((row) => (row.name === null ? null : TestFlakiness.parse(row)));
  };
  return {
    /**
     * Counts results that were just saved for a build, in the transaction that saved them. Counting them
     * again changes nothing. Only tests that failed at least once are counted. A build in which very many
     * tests failed at once is left out, because it says nothing about any of them.
     */
    follow: async (buildId: string, results: readonly TestResult[], sql: Sql) =>
      await follow(sql, buildId, results),
    /**
     * Lists tests with a flake among their newest runs, highest share of flakes first. `quarantined` lists
     * the tests in quarantine instead.
     */
    list: async (
      { repository, test, minFlakes, repositories, quarantined = false }: FlakinessFilter,
      page: Page,
    ) => {
      const values = [
        repository ?? null,
        test ?? null,
        quarantined ? 0 : (minFlakes ?? 1),
        ...toPageValues(page),
        scopeValue(repositories),
      ];
      return await queryAll(read, TestFlakiness, quarantined ? QUARANTINED : FLAKY, values);
    },
    /** Lists tests whose newest run failed, in the last two weeks, the newest failure first. */
    listFailing: async ({ repository, repositories }: FlakinessFilter, page: Page) =>
      await queryAll(read, TestFlakiness, FAILING, [
        repository ?? null,
        scopeValue(repositories),
        ...toPageValues(page),
      ]),
    /**
     * Lists tests that failed in the period, starting with those that cost the most minutes of machines and
     * people. With `name`, also lists followed tests that did not fail in it.
     */
    costs: async (query: TestCostQuery, page: Page) => {
      const { name, minutes } = query;
      const pattern = name === undefined ? null : `%${escapeLike(name)}%`;
      return await queryAll(read, TestCost, costs(name !== undefined), [
        ...toPeriodValues(query),
        ...toPageValues(page),
        minutes,
        pattern,
      ]);
    },
    /** Lists the newest runs of a test, newest first; at most `WINDOW`. */
    runs: async (test: TestName) => {
      const known = (await ofTests([test]))[0];
      if (known == null) return [];
      return await queryAll(read, TestRunFacts, RUNS_OF, [known.repository, known.suite, known.name, WINDOW]);
    },
    /**
     * Puts a test in quarantine, or ends its quarantine if `until` is null. Returns null if no such test is
     * followed.
     */
    quarantine: async (
      { repository, suite, name }: TestName & { readonly suite: string | null },
      { until, by, reason }: Omit<QuarantineEvent, 'at'>,
      sql: Sql = db,
    ) =>
      await queryFirst(sql, TestFlakiness, SET_QUARANTINE, [
        repository,
        suite ?? null,
        name,
        until,
        by,
        reason,
      ]),
    /**
     * Lists at most `limit` tests that failed at least once and whose names contain these words, shortest
     * first.
     */
    find: async ({ words, repositories }: NamedFilter, limit: number) =>
      await queryAll(read, FoundTest, FIND, [`%${escapeLike(words)}%`, scopeValue(repositories), limit]),
    /** Returns the flakiness of one test; null if it never failed. */
    ofTest: async (test: TestName) => (await ofTests([test]))[0] ?? null,
    /** Returns the same for several tests, in their order; at most 200. */
    ofTests,
  };
}

/** Reads the newest runs of tests of a repository, newest first. Tests without counts have none. */
export async function readRunsOfTests(
  sql: Sql,
  repository: string,
  tests: readonly Pick<TestResult, 'name' | 'suite'>[],
): Promise<TestRunFacts[][]> {
  const asked = tests.map(({ name, suite }) => ({ name, suite }));
  const rows = await queryAll(sql, z.object({ key: z.string() }), KEYS, [repository, { names: asked }]);
  const keys = rows.map(({ key }) => key);
  const runs = z.array(StoredRun).parse(await sql.query(NEWEST_RUNS, [[...new Set(keys)], WINDOW]));
  const byKey = Map.groupBy(runs, ({ key }) => key);
  return keys.map((key) => byKey.get(key) ?? []);
}

/** Updates the counts of tests; see `FlakinessStore.follow`. */
export async function follow(sql: Sql, buildId: string, results: readonly TestResult[]): Promise<void> {
  const outcomes = toTestOutcomes(results);
  const failed = outcomes.filter((outcome) => outcome.failed);
  if (outcomes.length === 0 || failed.length > MAX_FAILING) return;
  await sql.query(BEGIN_FOLLOWING, [buildId, { names: failed }]);
  const followed = await findFollowed(sql, buildId, outcomes);
  const touched = await sql.query<{ key: string }>(TOUCH, [[...followed.keys()], MAX_FOLLOWED]);
  if (touched.length === 0) return;
  const keys = touched.map(({ key }) => key);
  const names = keys.flatMap((key) => followed.get(key) ?? []);
  await sql.query(ADD_RUNS, [buildId, keys, { names }]);
  await sql.query(SHARE_COST, [buildId]);
  if (keys.length === MAX_FOLLOWED) await sql.query(DROP_WITHOUT_RUNS, [buildId, { names: failed }]);
  const runs = Map.groupBy(
    z.array(StoredRun).parse(await sql.query(NEWEST_RUNS, [keys, WINDOW])),
    ({ key }) => key,
  );
  const counts = keys.map((key) => ({ key, ...measureFlakiness(runs.get(key) ?? []) }));
  await sql.query(SAVE_COUNTS, [{ counts }]);
  await sql.query(DROP_OLD_RUNS, [keys, KEPT]);
}

/** Finds the tests with counts, by key. */
async function findFollowed(
  sql: Sql,
  buildId: string,
  outcomes: readonly NamedOutcome[],
): Promise<ReadonlyMap<string, NamedOutcome>> {
  const found: [string, NamedOutcome][] = [];
  for (const names of toBatches(outcomes)) {
    const rows = await sql.query<{ key: string; at: number }>(FIND_FOLLOWED, [buildId, { names }]);
    for (const { key, at } of rows) {
      const outcome = names[at];
      if (outcome !== undefined) found.push([key, outcome]);
    }
  }
  return new Map(found);
}

interface NamedOutcome extends Pick<TestResult, 'name' | 'suite' | 'file'> {
  readonly failed: boolean;
  readonly duration: number | null;
  readonly runner: string | null;
}

/**
 * Merges results by test: failed if any result failed, with the longest duration, because a matrix may run a
 * test on several systems. Skipped tests are left out.
 */
function toTestOutcomes(results: readonly TestResult[]): NamedOutcome[] {
  const tests = new Map<string, NamedOutcome>();
  for (const { name, suite, file, status, durationMs, runner } of results) {
    if (status === 'skipped') continue;
    const id = JSON.stringify([suite, name]);
    const known = tests.get(id);
    const failed = status === 'failed';
    tests.set(id, {
      name,
      suite,
      file: known?.file ?? file,
      failed: failed || known?.failed === true,
      duration: durationMs === null ? (known?.duration ?? null) : Math.max(durationMs, known?.duration ?? 0),
      // The runner of a failed result takes precedence over that of a passed one.
      runner: (failed ? runner : known?.runner) ?? runner ?? known?.runner ?? null,
    });
  }
  return [...tests.values()];
}

const StoredRun = TestRunFacts.extend({ key: z.string() });

/** The fields and columns of the counts; `recent` is written separately. */
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
  `jsonb_to_recordset(${parameter}::jsonb->'names') as n (name text, suite text, file text, failed boolean,
    duration float8, runner text)`;

const KEY = (repository: string, suite: string, name: string) =>
  `md5(jsonb_build_array(${repository}, ${suite}, ${name})::text)`;

const BEGIN_FOLLOWING = `
  insert into followed_tests (key, repository, name, suite, file)
  select ${KEY('b.repository', 'n.suite', 'n.name')}, b.repository, n.name, n.suite, n.file
  from builds b cross join ${NAMES('$2')} where b.id = $1
  order by 1
  on conflict (key) do update set file = excluded.file where excluded.file is not null
    and followed_tests.file is distinct from excluded.file`;

const FIND_FOLLOWED = `
  select t.key, (n.position - 1)::int as at
  from builds b cross join jsonb_array_elements($2::jsonb->'names') with ordinality as n (test, position)
    join followed_tests t on t.key = ${KEY('b.repository', "n.test->>'suite'", "n.test->>'name'")}
  where b.id = $1`;

const KEYS = `
  select ${KEY('$1::text', "n.test->>'suite'", "n.test->>'name'")} as key
  from jsonb_array_elements($2::jsonb->'names') with ordinality as n (test, position) order by n.position`;

// Rows are locked in one order, so that two builds with the same tests do not deadlock.
const TOUCH = `
  select key from followed_tests where key = any($1::text[]) order by key limit $2 for update`;

// For a test that is new here, earlier results with its name are counted, too.
const ADD_RUNS = `
  with touched as (select key, repository, name, suite, runs = 0 as new from followed_tests
    where key = any($2::text[])),
  past as (
    select t.key, b.id as build_id, bool_or(r.status = 'failed') as failed, b.received_at,
      max(r.duration_ms) as duration,
      null::text as runner
    from touched t
    cross join lateral (
      select build_id, status, suite, duration_ms from test_results
      where name = t.name and status <> 'skipped' order by build_id desc limit 1000
    ) as r
    join builds b on b.id = r.build_id and b.repository = t.repository
    where t.new and r.suite is not distinct from t.suite and b.id <> $1
    group by t.key, b.id
  ), present as (
    select t.key, b.id as build_id, n.failed, b.received_at, n.duration, n.runner
    from touched t join builds b on b.id = $1 join ${NAMES('$3')} on n.name = t.name
      and n.suite is not distinct from t.suite
  )
  insert into test_runs (test_key, build_id, outcome, at, duration_ms, runner)
  select key, build_id, case when failed then 'failed' else 'passed' end, received_at, duration, runner from (
    select * from past union all select * from present
  ) as runs
  order by key, build_id
  on conflict (test_key, build_id) do update
  set outcome = excluded.outcome, duration_ms = excluded.duration_ms, runner = excluded.runner
    where (test_runs.outcome, test_runs.duration_ms) is distinct from (excluded.outcome,
      excluded.duration_ms)`;

// A part of the results contains only some of the failed tests. With the next part, the cost is divided among
// more.
const SHARE_COST = `
  update test_runs r set share = case when r.outcome = 'failed' then s.share end,
    lost_seconds = case when r.outcome = 'failed' then s.share * s.seconds end
  from (
    select 1.0::float8 / nullif(count(*) filter (where f.outcome = 'failed'), 0) as share,
      (select extract(epoch from finished_at - started_at)::float8 from builds where id = $1) as seconds
    from test_runs f where f.build_id = $1
  ) as s
  where r.build_id = $1 and r.share is distinct from case when r.outcome = 'failed' then s.share end`;

// Deletes tests without runs, because retention would never delete them.
const DROP_WITHOUT_RUNS = `
  delete from followed_tests t
  where t.key in (select ${KEY('b.repository', 'n.suite', 'n.name')} from builds b cross join ${NAMES('$2')}
    where b.id = $1 and n.failed)
    and not exists (select from test_runs r where r.test_key = t.key)`;

const newestRuns = (keys: string, limit: string) => `
  select k.key, r.build_id as "buildId", r.outcome, r.at, b.commit, b.provider || ' ' || b.pipeline as lane,
    b.pull_request is null and ${IS_DEFAULT('b')} as "onDefaultBranch", b.pipeline, b.number, b.branch,
    r.runner, r.duration_ms as "durationMs"
  from ${keys} as k (key)
  cross join lateral (
    select build_id, outcome, at, runner, duration_ms from test_runs where test_key = k.key
    order by at desc, build_id desc limit ${limit}
  ) as r
  join builds b on b.id = r.build_id
  order by k.key, r.at desc, r.build_id desc`;

const NEWEST_RUNS = newestRuns('unnest($1::text[])', '$2');
const RUNS_OF = newestRuns(`(select ${KEY('$1::text', '$2::text', '$3::text')})`, '$4');

const SAVE_COUNTS = `
  update followed_tests t set ${COUNTS.map(([column, field]) => `${column} = c."${field}"`).join(', ')}
  from jsonb_to_recordset($1::jsonb->'counts') as c (key text,
    ${COUNTS.map(([, field, type]) => `"${field}" ${type}`).join(', ')})
  where t.key = c.key`;

const DROP_OLD_RUNS = `
  delete from test_runs r using (
    select k.key, edge.at, edge.build_id from unnest($1::text[]) as k (key)
    cross join lateral (
      select at, build_id from test_runs where test_key = k.key order by at desc, build_id desc offset $2
      limit 1
    ) as edge
  ) as old
  where r.test_key = old.key and (r.at, r.build_id) <= (old.at, old.build_id)
    and (r.outcome = 'passed' or r.at < clock_timestamp() - interval '${COSTS_DAYS} days')`;

const ROW = `t.repository, t.name, t.suite, t.file, case when t.quarantined_until > clock_timestamp() then
    jsonb_build_object('until', ${isoTime('t.quarantined_until')}, 'by', t.quarantined_by, 'reason',
      t.quarantine_reason) end as quarantine, t.quarantine_events as "quarantineEvents",
      ${COUNTS.map(([column, field]) => `t.${column} as "${field}"`).join(', ')}`;

const list = (condition: string, order: string) => `
  select ${ROW} from followed_tests t
  where ${condition} and t.flakes >= $3 and ($1::text is null or t.repository = $1)
    and ($6::text[] is null or t.repository like any($6))
    and ($2::text is null or (md5(t.name) = md5($2) and t.name = $2))
  order by ${order}, t.key limit $4 offset $5`;

const FLAKY = list('t.flakes > 0', 't.rate desc, t.flakes desc');
const FAILING = `
  select ${ROW} from followed_tests t
  where t.recent->-1->>'mark' = 'failed' and t.last_failed_at > now() - interval '${FAILING_DAYS} days'
    and ($1::text is null or t.repository = $1) and ($2::text[] is null or t.repository like any($2))
  order by t.last_failed_at desc, t.key limit $3 offset $4`;
const QUARANTINED = list('t.quarantined_until > clock_timestamp()', 't.quarantined_until');

// The failed runs of a period are read from an index alone. Tests of a repository are looked up first.
const costs = (named: boolean) => `
  with asked as materialized (
    select t.key from followed_tests t
    where ($1::text is null or t.repository = $1) and ($2::text[] is null or t.repository like any($2))
      and ($8::text is null or t.name ilike $8)
      and ($1::text is not null or $2::text[] is not null or $8::text is not null)
  ), lost as (
    select r.test_key, count(*)::int as failures, sum(r.share)::float8 as builds,
      coalesce(sum(r.lost_seconds), 0)::float8 / 60 as minutes,
      count(*) filter (where r.share is not null and r.lost_seconds is null)::int as untimed
    from test_runs r
    where r.outcome = 'failed' and r.at > $3::timestamptz and r.at <= $4::timestamptz
      and (($1::text is null and $2::text[] is null and $8::text is null)
        or r.test_key in (select key from asked))
    group by 1
  )
  select ${ROW}, coalesce(l.failures, 0) as failures, coalesce(l.builds, 0) as builds,
    coalesce(l.minutes, 0) as "machineMinutes",
    coalesce(l.untimed, 0) as untimed
  from ${
    named
      ? 'asked a join followed_tests t on t.key = a.key left join lost l on l.test_key = a.key'
      : 'lost l join followed_tests t on t.key = l.test_key'
  }
  order by coalesce(l.minutes, 0) + coalesce(l.builds, 0) * $7::float8 desc, t.key limit $5 offset $6`;

const FIND = `
  select repository, suite, name from followed_tests
  where name ilike $1 and ($2::text[] is null or repository like any($2))
  order by length(name), repository, name limit $3`;

const SET_QUARANTINE = `
  update followed_tests t set quarantined_until = $4::text::timestamptz, quarantined_by = $5::text,
    quarantine_reason = $6::text,
    quarantine_events = (case when jsonb_array_length(t.quarantine_events) < ${MAX_EVENTS}
      then t.quarantine_events else t.quarantine_events - 0 end)
      || jsonb_build_object('at', ${isoTime('clock_timestamp()')}, 'by', $5::text, 'until', $4::text,
        'reason', $6::text)
  where t.key = ${KEY('$1::text', '$2::text', '$3::text')} returning ${ROW}`;

const OF_TESTS = `
  select found.* from jsonb_array_elements($1::jsonb->'asked') with ordinality as a (test, position)
  left join lateral (
    select ${ROW} from followed_tests t
    where t.repository = a.test->>'repository' and md5(t.name) = md5(a.test->>'name')
      and t.name = a.test->>'name'
      and ((a.test->>'any')::boolean or t.suite is not distinct from a.test->>'suite')
    order by t.rate desc, t.failed desc, t.key limit 1
  ) as found on true
  order by a.position`;
