import type { Sql } from '../../src/ports/database.ts';

/** How much is stored when the insights are asked. */
export interface InsightsSize {
  readonly failures: number;
  readonly answers: number;
  readonly testResults: number;
}

const REPOSITORIES = 200;
const TESTS_A_BUILD = 50;

/**
 * Fills an empty, migrated database: builds of ninety days in 200 repositories, five failures in each failed one, answers to some of them
 * (most decided), and builds with passing and failing results whose flakiness is followed as the service would.
 */
export async function fillInsights(sql: Sql, { failures, answers, testResults }: InsightsSize): Promise<void> {
  const builds = Math.max(failures / 5, testResults / TESTS_A_BUILD);
  await sql.query(BUILDS, [builds]);
  await sql.query(FAILURES, [failures]);
  await sql.query(TRIAGES, [answers]);
  await sql.query(ANALYSES, [{ answer: { title: 'The cart loses an item' }, usage: { costUsd: 0.02 }, milliseconds: 31_000 }]);
  await sql.query(REVIEWS);
  await sql.query(DECISIONS);
  await sql.query(RESULTS, [testResults, TESTS_A_BUILD]);
  for (const table of ['builds', 'failures', 'triages', 'analyses', 'answer_facts', 'reviews', 'decisions', 'test_results'])
    await sql.query(`analyze ${table}`);
}

/** Ids of builds that hold results, newest first, with what they hold. */
export async function buildsWithResults(sql: Sql, count: number): Promise<{ readonly id: string; readonly results: unknown }[]> {
  return await sql.query(
    `select b.id, (select jsonb_agg(jsonb_build_object('name', name, 'suite', suite, 'file', file, 'status', status, 'durationMs', duration_ms)
       order by position) from test_results where build_id = b.id) as results
     from builds b where exists (select from test_results where build_id = b.id) order by b.id desc limit $1`,
    [count],
  );
}

const HASH = (seed: string, below: number) => `(abs(hashtextextended(${seed}, 7)) % ${below})`;

// Numbered so that ids sort by age, as the service's own do.
const BUILDS = `
  insert into builds (id, provider, repository, pipeline, number, attempt, branch, commit, author, pull_request, status, started_at, finished_at,
    received_at)
  select 'bld_' || lpad(n::text, 9, '0'), 'github', 'acme/service-' || n % ${REPOSITORIES}, 'CI', (n / (2 * ${REPOSITORIES}))::text,
    1 + n / ${REPOSITORIES} % 2, case when n % 3 = 0 then 'main' else 'topic-' || n % 40 end, 'c' || n % ${REPOSITORIES} || '-' || n / (2 * ${REPOSITORIES}),
    'author-' || n % 30, case when n % 3 = 0 then null else n % 500 end, case when n % 4 = 0 then 'passed' else 'failed' end, at, at + interval '12 minutes', at
  from (select n, now() - interval '90 days' + n * (interval '90 days' / $1::int) as at from generate_series(1, $1::int) as n) as numbered`;

const FAILURES = `
  insert into failures (id, build_id, repository, group_number, position, fingerprint_algorithm, fingerprint_version, fingerprint, generic,
    test_name, message, body, seen_at)
  select 'fal_' || f, b.id, b.repository, f % 5, 0, 'message', 1, 'fp_' || ${HASH(`'p' || f`, 4000)}, false, 'test_' || f % 5000,
    'failure ' || f % 4000, '{}', b.received_at
  from generate_series(5, $1::int + 4) as f join builds b on b.id = 'bld_' || lpad((f / 5)::text, 9, '0')`;

const TRIAGES = `
  insert into triages (id, build_id, fingerprint, state, analysis_id, opened_at)
  select replace(id, 'fal', 'tri'), build_id, fingerprint, 'concluded', replace(id, 'fal', 'ana'), seen_at
  from (select distinct on (build_id, fingerprint) * from failures) as f order by hashtext(id) limit $1`;

const ANALYSES = `
  insert into analyses (id, triage_id, build_id, fingerprint, category, kind, confidence, action, analyst, body, created_at)
  select analysis_id, id, build_id, fingerprint,
    (array['CODE_ERROR', 'INFRA_ERROR', 'TEST_FAILURE', 'DEPENDENCY_ERROR', 'CONFIG_ERROR'])[1 + ${HASH('id', 5)}::int], 'assertion',
    0.4 + ${HASH(`'c' || id`, 60)} / 100.0, 'human_review', case when ${HASH(`'r' || id`, 5)} = 0 then 'recall' else 'rules' end, $1::jsonb, opened_at
  from triages`;

const REVIEWS = `
  insert into reviews (id, analysis_id, build_id, repository, title, category, kind, fingerprint, confidence, why, state, opened_at)
  select replace(a.id, 'ana', 'rev'), a.id, a.build_id, b.repository, 'x', a.category, a.kind, a.fingerprint, a.confidence, array['why'],
    case when ${HASH(`'s' || a.id`, 5)} = 0 then 'waiting' else 'decided' end, a.created_at
  from analyses a join builds b on b.id = a.build_id`;

const DECISIONS = `
  insert into decisions (id, review_id, analysis_id, type, category, reviewer, body, decided_at)
  select replace(id, 'rev', 'dec'), id, analysis_id, type, case when type = 'correct' then 'CODE_ERROR' end, 'reviewer-' || ${HASH('id', 9)},
    jsonb_build_object('secondsOpen', ${HASH(`'o' || id`, 60)}), opened_at + interval '1 hour'
  from (select *, (array['accept', 'accept', 'accept', 'correct'])[1 + ${HASH(`'t' || id`, 4)}::int] as type from reviews where state = 'decided') as r`;

// Of the tests of a repository each build runs the same fifty; one in forty fails now and then.
const RESULTS = `
  insert into test_results (build_id, position, name, suite, file, status, duration_ms)
  select 'bld_' || lpad((1 + n / $2::int)::text, 9, '0'), n % $2::int, 'test ' || n % $2::int, 'suite', 'test.ts',
    case when ${HASH(`'f' || n`, 40)} = 0 then 'failed' else 'passed' end, 12
  from generate_series(0, $1::int - 1) as n`;
