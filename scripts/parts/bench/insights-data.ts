import { createHash } from 'node:crypto';
import type { Sql } from '../../../src/ports/database.ts';
import { sampleAnalysis, sampleDecision, sampleFailure } from '../../../test/stores/samples.ts';
import { FORMS, MESSAGE, WORDS } from './store-data.ts';

/** The amount of data in the store. */
export interface InsightsSize {
  readonly failures: number;
  readonly answers: number;
  readonly testResults: number;
  /** The number of days for which there are builds. 90 if absent. */
  readonly days?: number;
}

const REPOSITORIES = 200;
const TESTS_A_BUILD = 50;

/**
 * The number of turns in which answers are added, reviewed and decided. Each turn removes what the one before
 * left in the indexes.
 */
const TURNS = 50;

/**
 * Fills an empty, migrated database: builds in 200 repositories, half of them failed with five failures each, answers to some of these (most
 * decided), and test results whose flakiness is followed as the service would. Failures say one of 100,000 messages.
 */
export async function fillInsights(
  sql: Pick<Sql, 'query'>,
  { failures, answers, testResults, days = 90 }: InsightsSize,
): Promise<void> {
  const builds = Math.max((2 * failures) / 5, testResults / TESTS_A_BUILD);
  const step = async (text: string, values: readonly unknown[] = [], tables = '') => {
    await sql.query(text, values);
    // Each change removes old ones. So many at once would accumulate.
    await sql.query('truncate changes');
    await sql.query(`analyze ${tables}`);
  };
  await step(BUILDS, [builds, days]);
  await step(FAILURES, [failures, WORDS, FORMS, sampleFailure('b', 'f')]);
  await step(TRIAGES, [answers]);
  for (let n = 0; n <= TURNS; n += 1) {
    // The first turn is small, because triggers keep the query plans that they made for empty tables.
    const some = n === 0 ? 1_000 : Math.ceil(answers / TURNS);
    await step(
      ANALYSES,
      [sampleAnalysis({ buildId: 'b', triageId: 't', fingerprint: 'f' }), some],
      'analyses, answer_facts',
    );
    await step(REVIEWS, [], 'reviews, answer_facts');
    await step(DECISIONS, [sampleDecision({ id: 'r', analysisId: 'a' })], 'decisions, answer_facts');
  }
  await step(RESULTS, [testResults, TESTS_A_BUILD]);
  await step(SETUPS, [days]);
}

/** Returns the ids of builds with test results, newest first, with these results. */
export async function listBuildsWithResults(
  sql: Sql,
  count: number,
): Promise<{ readonly id: string; readonly results: unknown }[]> {
  return await sql.query(
    `select b.id, (select jsonb_agg(jsonb_build_object('name', name, 'suite', suite, 'file', file, 'status', status, 'durationMs', duration_ms)
       order by position) from test_results where build_id = b.id) as results
     from builds b where exists (select from test_results where build_id = b.id) order by b.id desc limit $1`,
    [count],
  );
}

/** Returns a fingerprint that fails occasionally. `n` is 0..199. */
export function createFingerprintNumber(n: number): string {
  return createHash('md5').update(`fp_${n}_7`).digest('hex');
}

const HASH = (seed: string, below: number) => `(abs(hashtextextended(${seed}, 7)) % ${below})`;

// The ids are numbered so that they sort by age, like those of the service. Every second build failed.
const BUILDS = `
  insert into builds (id, provider, repository, pipeline, number, attempt, branch, commit, author, pull_request, status, started_at, finished_at,
    received_at)
  select 'bld_' || lpad(n::text, 9, '0'), 'github', 'acme/service-' || n / 2 % ${REPOSITORIES}, 'CI', (n / (2 * ${REPOSITORIES}))::text, 1 + n % 2,
    case when main then 'main' else 'topic-' || n % 40 end, 'c' || n / 2 % ${REPOSITORIES} || '-' || n / (2 * ${REPOSITORIES}), 'author-' || n % 30,
    case when main then null else n % 500 end, case when n % 2 = 0 then 'failed' else 'passed' end, at - ${HASH('n::text', 1800)} * interval '1 second', at, at
  from (
    select n, ${HASH(`'b' || n`, 3)} = 0 as main, now() - $2::int * interval '1 day' + n * ($2::int * interval '1 day' / $1::int) as at
    from generate_series(1, $1::int) as n
  ) as numbered`;

const FAILURES = `
  insert into failures (id, build_id, repository, group_number, position, fingerprint_algorithm, fingerprint_version, fingerprint, generic,
    test_name, message, body, seen_at)
  select 'fal_' || f, b.id, b.repository, f % 5, 0, 'message', 1, md5('fp_' || f / 5 % ${REPOSITORIES} || '_' || ${HASH(`'p' || f`, 200)}), false, 'test_' || f % 5000, message,
    $4::jsonb || jsonb_build_object('id', 'fal_' || f, 'buildId', b.id, 'message', message), b.received_at
  from (select f, ${MESSAGE} as message from (select f, ${HASH(`'m' || f`, 100_000)} as n from generate_series(5, $1::int + 4) as f) as numbered) as told
    join builds b on b.id = 'bld_' || lpad((f / 5 * 2)::text, 9, '0')`;

const TRIAGES = `
  insert into triages (id, build_id, fingerprint, state, analysis_id, opened_at)
  select replace(id, 'fal', 'tri'), build_id, fingerprint, 'concluded', replace(id, 'fal', 'ana'), seen_at
  from (select distinct on (build_id, fingerprint) * from failures) as f order by hashtext(id) limit $1`;

const ANALYSES = `
  insert into analyses (id, triage_id, build_id, fingerprint, category, kind, confidence, action, analyst, body, created_at)
  select id, triage_id, build_id, fingerprint, category, 'assertion', 0.4 + ${HASH(`'c' || id`, 60)} / 100.0, 'human_review',
    case when ${HASH(`'r' || id`, 5)} = 0 then 'recall' else 'rules' end,
    $1::jsonb || jsonb_build_object('id', id, 'buildId', build_id, 'triageId', triage_id, 'fingerprint', fingerprint, 'category', category,
      'milliseconds', ${HASH(`'m' || id`, 90_000)}, 'usage', $1::jsonb -> 'usage' || jsonb_build_object('costUsd', ${HASH(`'d' || id`, 900)} / 10000.0), 'failureIds',
      (select jsonb_agg(f.id) from failures f where f.build_id = made.build_id and f.fingerprint = made.fingerprint)), opened_at
  from (
    select t.analysis_id as id, t.id as triage_id, t.build_id, t.fingerprint, t.opened_at,
      (array['CODE_ERROR', 'INFRA_ERROR', 'TEST_FAILURE', 'DEPENDENCY_ERROR', 'CONFIG_ERROR'])[1 + ${HASH('t.id', 5)}::int] as category
    from triages t where not exists (select from analyses a where a.triage_id = t.id) order by t.opened_at limit $2
  ) as made`;

const REVIEWS = `
  insert into reviews (id, analysis_id, build_id, repository, title, category, kind, fingerprint, confidence, why, state, opened_at)
  select replace(a.id, 'ana', 'rev'), a.id, a.build_id, b.repository, 'x', a.category, a.kind, a.fingerprint, a.confidence, array['why'],
    case when ${HASH(`'s' || a.id`, 5)} = 0 then 'waiting' else 'decided' end, a.created_at
  from analyses a join builds b on b.id = a.build_id where not exists (select from reviews r where r.analysis_id = a.id)`;

const DECISIONS = `
  insert into decisions (id, review_id, analysis_id, type, category, reviewer, body, decided_at)
  select replace(id, 'rev', 'dec'), id, analysis_id, type, case when type = 'correct' then 'CODE_ERROR' end, reviewer,
    $1::jsonb || jsonb_build_object('id', replace(id, 'rev', 'dec'), 'reviewId', id, 'analysisId', analysis_id, 'type', type, 'reviewer', reviewer,
      'secondsOpen', ${HASH(`'o' || id`, 60)}), opened_at + interval '1 hour'
  from (
    select *, (array['accept', 'accept', 'accept', 'correct'])[1 + ${HASH(`'t' || id`, 4)}::int] as type, 'reviewer-' || ${HASH('id', 9)} as reviewer
    from reviews where state = 'decided' and not exists (select from decisions d where d.review_id = reviews.id)
  ) as r`;

// A few releases, so that there are changes to compare.
const SETUPS = `
  insert into setups (at, release, analyst, auto_notify)
  select now() - n * $1::int * interval '1 day' / 8, '0.' || 9 - n, 'rules', 0.85 from generate_series(7, 1, -1) as n`;

// Each build runs the same fifty tests of its repository. One in forty fails occasionally.
const RESULTS = `
  insert into test_results (build_id, position, name, suite, file, status, duration_ms)
  select 'bld_' || lpad((1 + n / $2::int)::text, 9, '0'), n % $2::int, 'test ' || n % $2::int, 'suite', 'test.ts',
    case when ${HASH(`'f' || n`, 40)} = 0 then 'failed' else 'passed' end, 12
  from generate_series(0, $1::int - 1) as n`;
