import { z } from 'zod';
import type { Analysis } from '../domain/analysis.ts';
import { Build, TestResult } from '../domain/build.ts';
import { FixedFailure, GradeCount, ListedGrade } from '../domain/graded.ts';
import type { Period } from '../domain/insights.ts';
import { GradedAnswer, type GradeQuestion, type OutcomeGrade, QUESTIONS } from '../domain/outcome.ts';
import type { Database, Page, Sql } from '../ports/database.ts';
import { MEANT } from './insights.ts';
import type { PublishedEventStore } from './published-events.ts';
import {
  buildColumns,
  buildOrder,
  isBefore,
  isoTime,
  isSamePipeline,
  queryAll,
  toPageValues,
  toPeriodValues,
} from './sql.ts';

/** A build of the branch of another one, with the fingerprints of its failures. */
const BranchBuild = Build.extend({ has: z.array(z.string()) });
export type BranchBuild = z.infer<typeof BranchBuild>;

/** Maximum numbers of builds read before and after a failed one. */
const [BEFORE, AFTER] = [20, 60];
/** Maximum number of failed builds that one passed build grades. */
const MAX_GRADED = 50;
/** Maximum number of answers whose grades are counted. */
const MAX_COUNTED = 20_000;
/** Number of the newest graded answers that are counted as precedents. */
const MAX_PRECEDENTS = 20;
/** Maximum number of results of the failed tests that are read from a build. */
const MAX_RESULTS = 1_000;

/** Creates the store of answers that were graded by later builds. */
export function createGradeStore(db: Database, events: Pick<PublishedEventStore, 'add'>) {
  const read = db.reader ?? db;
  return {
    /**
     * Lists the builds of the same pipeline, branch and pull request that ended: those after the last passed
     * one (at most 20 before this build), the build itself, and those up to the next passed one (at most 60),
     * oldest first.
     */
    around: async (buildId: string) => {
      const builds = await queryAll(db, BranchBuild, AROUND, [buildId]);
      const at = builds.findIndex(({ id }) => id === buildId);
      const isPassed = ({ status }: BranchBuild) => status === 'passed';
      const start = builds.slice(0, Math.max(0, at)).findLastIndex(isPassed) + 1;
      const next = builds.slice(at).findIndex(isPassed);
      return builds.slice(start, next < 0 ? undefined : at + next + 1);
    },
    /** Lists the failed builds whose next passed build is this one, newest first. */
    endedBy: async (buildId: string) =>
      (await db.query<{ id: string }>(ENDED_BY, [buildId])).map(({ id }) => id),
    /** Lists results of these tests in a build; null if the build reports no tests at all. */
    testsIn: async (buildId: string, names: readonly string[]) => {
      const [any] = await db.query('select 1 from test_results where build_id = $1 limit 1', [buildId]);
      return any === undefined ? null : await queryAll(db, Result, RESULTS, [buildId, [...names]]);
    },
    /**
     * Saves the grade of an answer, replacing an earlier one, and publishes it as an event. Does nothing if
     * the answer is no longer stored.
     */
    save: async (analysis: Analysis, build: Build, graded: GradedAnswer, sql: Sql = db) => {
      const { mend, grades } = graded;
      const isProven = mend.kind === 'change' && mend.doubt === null;
      const values = [
        analysis.id,
        build.id,
        build.repository,
        analysis.fingerprint,
        analysis.kind,
        analysis.verdict.route ?? null,
        build.receivedAt,
        mend.kind,
        isProven ? mend.files : [],
        ...QUESTIONS.map((name) => grades.find(({ question }) => question === name)?.grade ?? null),
        graded,
      ];
      if ((await sql.query(SAVE, values)).length === 0) return;
      const outcome = { analysisId: analysis.id, greenBuildId: mend.green.id };
      await events.add({ type: 'outcome.graded', ...outcome }, build.id, sql);
    },
    find: async (analysisId: string) => {
      const [row] = await db.query<{ body: unknown }>(FIND, [analysisId]);
      return row === undefined ? null : GradedAnswer.parse(row.body);
    },
    /** Counts the category grades of a repository's newest answers, newest builds first. */
    newest: async (repository: string, limit: number) => {
      const [row] = await read.query(NEWEST_GRADES, [repository, limit]);
      return Newest.parse(row);
    },
    /** Counts how earlier answers of the category to the same failure of the repository were graded. */
    precedent: async ({ repository }: Build, { fingerprint, category, buildId }: Analysis, sql: Sql = db) => {
      const [row] = await sql.query(PRECEDENT, [repository, fingerprint, category, buildId]);
      return Precedent.parse(row);
    },
    /** Counts the grades of the newest 20,000 answers of the period that are graded or decided. */
    counts: async (period: Period) => await queryAll(read, GradeCount, COUNTS, toPeriodValues(period)),
    /**
     * Lists graded answers of the period, newest first, whose grade for `question` is `grade`; null lists
     * every grade.
     */
    list: async (
      period: Period,
      { question, grade }: { readonly question: GradeQuestion; readonly grade: OutcomeGrade | null },
      page: Page,
    ) =>
      await queryAll(read, ListedGrade, LIST, [
        ...toPeriodValues(period),
        question,
        grade,
        ...toPageValues(page),
      ]),
    /**
     * Lists the newest earlier failures that a change of files fixed: those with the same fingerprint first,
     * then those of the same kind.
     */
    listFixedBefore: async (
      buildId: string,
      { fingerprint, kind }: Pick<Analysis, 'fingerprint' | 'kind'>,
      limit: number,
      sql: Pick<Sql, 'query'> = read,
    ) => await queryAll(sql, FixedFailure, FIXED_BEFORE, [buildId, fingerprint, kind, limit]),
  };
}

const Result = TestResult.pick({ name: true, suite: true, status: true });

const Newest = z.object({ right: z.int(), wrong: z.int(), doubtful: z.int(), ungraded: z.int() });

const NEWEST_GRADES = `
  with newest as (
    select case f.is_right when true then 'right' when false then 'wrong' else g.category_grade end as grade
    from answer_facts f join builds b on b.id = f.build_id
      left join answer_grades g on g.analysis_id = f.analysis_id
    where f.repository = $1 and f.analyst <> 'recall' order by b.received_at desc limit $2
  )
  select count(*) filter (where grade = 'right')::int as right,
    count(*) filter (where grade = 'wrong')::int as wrong,
    count(*) filter (where grade = 'doubtful')::int as doubtful,
    count(*) filter (where grade is null)::int as ungraded
  from newest`;

const Precedent = z.object({ right: z.int(), wrong: z.int() });

// Generic fingerprints are excluded: they do not identify a cause.
const PRECEDENT = `
  with known as (
    select coalesce(f.is_right,
      case g.category_grade when 'right' then true when 'wrong' then false end) as is_right
    from answer_grades g join answer_facts f on f.analysis_id = g.analysis_id
    where g.repository = $1 and g.fingerprint = $2 and f.category = $3 and g.build_id <> $4
      and not exists (select from failures x
        where x.build_id = g.build_id and x.fingerprint = $2 and x.generic)
    order by g.failed_at desc limit ${MAX_PRECEDENTS}
  )
  select count(*) filter (where is_right)::int as right, count(*) filter (where not is_right)::int as wrong
  from known`;

const ON_BRANCH = `${isSamePipeline('b', 'h')} and b.branch is not distinct from h.branch
    and b.pull_request is not distinct from h.pull_request and b.status in ('passed', 'failed')`;

const AROUND = `
  with found as (
    (select b.id from builds h join builds b on ${ON_BRANCH} and ${isBefore('b', 'h')}
      where h.id = $1 order by ${buildOrder('b')} desc, b.attempt desc limit ${BEFORE})
    union all select $1
    union all
    (select b.id from builds h join builds b on ${ON_BRANCH} and ${isBefore('h', 'b')}
      where h.id = $1 order by ${buildOrder('b')}, b.attempt limit ${AFTER})
  )
  select ${buildColumns('b')},
    array(select distinct f.fingerprint from failures f where f.build_id = b.id) as has
  from found n join builds b on b.id = n.id
  order by coalesce(b.number_order, -1), b.attempt, coalesce(b.started_at, b.received_at), b.id`;

// A passed attempt ends the failed attempts of its own run, even if other runs lie between.
const ENDED_BY = `
  select b.id from builds h join builds b on ${ON_BRANCH} and b.status = 'failed' and ${isBefore('b', 'h')}
  where h.id = $1 and h.status = 'passed' and not exists (
    select from builds p where ${isSamePipeline('p', 'h')} and p.branch is not distinct from h.branch
      and p.pull_request is not distinct from h.pull_request and p.status = 'passed'
      and ${isBefore('p', 'h')} and ${isBefore('b', 'p')}
  )
  order by ${buildOrder('b')} desc limit ${MAX_GRADED}`;

const RESULTS = `select name, suite, status from test_results where build_id = $1 and name = any ($2::text[])
  limit ${MAX_RESULTS}`;

const GRADE_COLUMNS = QUESTIONS.map((question) => `${question}_grade`);

const SAVE = `
  insert into answer_grades (analysis_id, build_id, repository, fingerprint, kind, route, failed_at, mend,
    mended_files, ${GRADE_COLUMNS.join(', ')}, body)
  select $1, $2, $3, $4, $5, $6, $7, $8, $9::text[], $10, $11, $12, $13, $14, $15::jsonb
  where exists (select from analyses where id = $1)
  on conflict (analysis_id) do update set failed_at = excluded.failed_at, mend = excluded.mend,
    mended_files = excluded.mended_files, body = excluded.body, graded_at = clock_timestamp(),
    ${GRADE_COLUMNS.map((column) => `${column} = excluded.${column}`).join(', ')}
  returning analysis_id`;

const FIND = 'select body from answer_grades where analysis_id = $1';

const COUNTS = `
  with newest as (
    select f.repository, f.is_right,
      ${GRADE_COLUMNS.map((column) => `g.${column}`).join(', ')},
      case when g.analysis_id is not null then g.route else f.route end as route
    from answer_facts f left join answer_grades g on g.analysis_id = f.analysis_id
    where f.analyst <> 'recall' and ${MEANT} and f.created_at > $3::timestamptz
      and f.created_at <= $4::timestamptz and (g.analysis_id is not null or f.is_right is not null)
    order by f.created_at desc limit ${MAX_COUNTED}
  ), alike as (
    select n.*, count(*) as count from newest n
    group by repository, is_right, ${GRADE_COLUMNS.join(', ')}, route
  )
  select v.question, n.repository, n.route, v.grade, v.by_person as "byPerson", sum(n.count)::int as count
  from alike n cross join lateral (values
    ('category', case n.is_right when true then 'right' when false then 'wrong' else n.category_grade end,
      n.is_right is not null),
    ${QUESTIONS.slice(1)
      .map((question) => `('${question}', n.${question}_grade, false)`)
      .join(', ')}
  ) as v (question, grade, by_person)
  where v.grade is not null group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5`;

const LIST = `
  select f.analysis_id as "analysisId", f.build_id as "buildId", f.repository, f.title, f.category,
    q ->> 'grade' as grade, q ->> 'because' as because,
    g.body -> 'mend' -> 'green' ->> 'id' as "greenBuildId", ${isoTime('g.failed_at')} as at
  from answer_grades g join answer_facts f on f.analysis_id = g.analysis_id
  cross join lateral jsonb_array_elements(g.body -> 'grades') as q
  where ${MEANT} and f.analyst <> 'recall' and f.created_at > $3::timestamptz
    and f.created_at <= $4::timestamptz and q ->> 'question' = $5
    and ($6::text is null or q ->> 'grade' = $6)
  order by g.failed_at desc, f.analysis_id limit $7 offset $8`;

const FIXED_BEFORE = `
  with asked as (select repository, received_at from builds where id = $1), found as (
    (select g.*, true as same from asked, answer_grades g
      where g.repository = asked.repository and g.fingerprint = $2 and g.failed_at < asked.received_at
        and g.build_id <> $1 and g.mended_files <> '{}' order by g.failed_at desc limit $4)
    union all
    (select g.*, false from asked, answer_grades g
      where g.repository = asked.repository and g.kind = $3 and g.fingerprint <> $2
        and g.failed_at < asked.received_at and g.build_id <> $1 and g.mended_files <> '{}'
      order by g.failed_at desc limit $4)
  )
  select g.analysis_id as "analysisId", g.build_id as "buildId", b.pipeline, b.number,
    ${isoTime('g.failed_at')} as at, g.same as "isSame", g.mended_files as files,
    g.body -> 'mend' -> 'commits' -> 0 ->> 'commit' as commit,
    g.body -> 'mend' -> 'green' ->> 'id' as "greenBuildId"
  from found g join builds b on b.id = g.build_id order by g.same desc, g.failed_at desc limit $4`;
