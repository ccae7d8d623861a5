import { z } from 'zod';
import { Analysis } from '../domain/analysis.ts';
import { Build } from '../domain/build.ts';
import { Failure } from '../domain/failure.ts';
import type { NoticeAbout } from '../domain/notice.ts';
import type { Database } from '../ports/database.ts';
import type { BuildSituation, Cause, FailedBefore, Situation } from '../ports/notices.ts';
import { createQuestionStore } from './conversations.ts';
import { readDefaultBranch, readHistories } from './failure-history.ts';
import { createReviewStore } from './reviews.ts';
import { buildColumns, buildOrder } from './sql.ts';
import { TRIAGE_STATE } from './triages.ts';

/** The maximum number of causes of one build that are shown. The others are counted. */
const MAX_CAUSES = 500;
const MAX_HEADS = 20;
/** The maximum number of failures of one cause that are read in detail. */
const MAX_SAMPLE = 20;

/**
 * Reads all facts about the subject of a notice in several queries. The caller detects changes between them
 * when it checks whether the notice is still current.
 */
export async function readSituation(db: Database, about: NoticeAbout): Promise<Situation> {
  const scope = toScope(about);
  const heads = (await db.query(newestBuilds(scope.condition), [...scope.values])).map((row) =>
    Build.parse(row),
  );
  const [first] = heads;
  if (first === undefined) return { about, heads: [], defaultBranch: null, usualMs: null };
  const defaultBranch = await readDefaultBranch(db, first);
  const read: BuildSituation[] = [];
  for (const build of heads) read.push(await readBuildSituation(db, build, defaultBranch, scope));
  const isLooking = read.some(({ build, causes }) => build.status === 'failed' && causes.length === 0);
  return {
    about,
    heads: read,
    defaultBranch,
    usualMs: isLooking ? await readUsual(db, first.repository) : null,
  };
}

interface Scope {
  /** The SQL condition over `builds b`. */
  readonly condition: string;
  readonly values: readonly unknown[];
}

function toScope(about: NoticeAbout): Scope {
  switch (about.type) {
    case 'build':
      return { condition: 'b.id = $1', values: [about.buildId] };
    case 'commit':
      return { condition: 'b.repository = $1 and b.commit = $2', values: [about.repository, about.commit] };
    case 'pull-request':
      return {
        condition: 'b.repository = $1 and b.pull_request = $2',
        values: [about.repository, about.pullRequest],
      };
    case 'branch':
      return {
        condition: 'b.repository = $1 and b.pipeline = $2 and b.branch = $3 and b.pull_request is null',
        values: [about.repository, about.pipeline, about.branch],
      };
  }
}

async function readBuildSituation(
  db: Database,
  build: Build,
  defaultBranch: string | null,
  scope: Scope,
): Promise<BuildSituation> {
  const [counted] = await db.query(COUNTED, [build.id]);
  const { failures, open, ...job } = Counted.parse(counted);
  const [question] = (await db.query<{ id: string }>(QUESTION, [build.id])).map(({ id }) => id);
  return {
    build,
    job: job.state === null ? null : { state: job.state, error: job.error },
    failures,
    openCauses: open,
    causes: build.status === 'failed' ? await readCauses(db, build, defaultBranch) : [],
    question: question === undefined ? null : await createQuestionStore(db).find(question),
    lastFailed: build.status === 'passed' ? await readLastFailed(db, build, scope) : null,
  };
}

const Counted = z.object({
  failures: z.int(),
  open: z.int(),
  state: z.enum(['queued', 'running', 'done', 'failed']).nullable(),
  error: z.string().nullable(),
});

const CauseRow = z.object({
  analysis: Analysis,
  failures: z.int(),
  tests: z.array(z.string()),
  sample: z.array(Failure),
  reviewId: z.string().nullable(),
  openedAt: z.string().nullable(),
  isDecided: z.boolean(),
  right: z.int(),
  decided: z.int(),
  isMuted: z.boolean(),
});
type CauseRow = z.infer<typeof CauseRow>;

/** Minimum number of decided answers of a confidence level for which a record is shown. */
const ENOUGH = 20;

async function readCauses(db: Database, build: Build, defaultBranch: string | null): Promise<Cause[]> {
  const rows = z.array(CauseRow).parse(await db.query(CAUSES, [build.id, MAX_CAUSES]));
  const fingerprints = rows.map(({ analysis }) => analysis.fingerprint);
  const histories = await readHistories(db, build, fingerprints, defaultBranch);
  const causes: Cause[] = [];
  for (const row of rows) {
    causes.push({
      analysis: row.analysis,
      failures: Math.max(row.failures, row.analysis.failureIds.length, 1),
      tests: row.tests,
      sample: row.sample,
      review: await readReview(db, row),
      history: histories(row.analysis.fingerprint),
      record: row.decided < ENOUGH ? null : { right: row.right, decided: row.decided },
      isMuted: row.isMuted,
    });
  }
  return causes;
}

async function readReview(
  db: Database,
  { reviewId, openedAt, isDecided }: CauseRow,
): Promise<Cause['review']> {
  if (reviewId === null || openedAt === null) return null;
  const decision = isDecided ? ((await createReviewStore(db).find(reviewId))?.decision ?? null) : null;
  return { id: reviewId, openedAt, decision };
}

async function readLastFailed(
  db: Database,
  head: Build,
  { condition, values }: Scope,
): Promise<FailedBefore | null> {
  const at = values.length;
  const [failed, fixedBy] = (
    await db.query(lastFailed(condition, at), [...values, head.id, head.provider, head.pipeline])
  ).map((row) => Build.parse(row));
  if (failed === undefined || fixedBy === undefined) return null;
  const [counted] = await db.query<{ failures: unknown }>(COUNTED, [failed.id]);
  const causes = (await db.query<{ analysis: unknown }>(CAUSES, [failed.id, MAX_CAUSES])).map(
    ({ analysis }) => Analysis.parse(analysis),
  );
  return { build: failed, fixedBy, failures: Counted.parse(counted).failures, causes };
}

async function readUsual(db: Database, repository: string): Promise<number | null> {
  const [row] = await db.query<{ count: unknown; usual: unknown }>(USUAL, [repository]);
  const { count, usual } = z.object({ count: z.int(), usual: z.number().nullable() }).parse(row);
  return count < 5 ? null : usual;
}

const newestBuilds = (condition: string) => `
  select * from (
    select distinct on (b.provider, b.pipeline) ${buildColumns('b')} from builds b
    where ${condition} and b.status in ('failed', 'passed')
    order by b.provider, b.pipeline, ${buildOrder('b')} desc, b.attempt desc
  ) as h order by h."receivedAt" desc, h.id limit ${MAX_HEADS}`;

// Canceled and unknown builds neither break nor fix anything.
const lastFailed = (condition: string, at: number) => `
  with ours as (
    select b.* from builds b
    where ${condition} and b.provider = $${at + 2} and b.pipeline = $${at + 3}
      and b.status in ('failed', 'passed')
  ), failed as (
    select b.* from ours b, builds h where h.id = $${at + 1} and b.status = 'failed'
      and ${buildOrder('b')} < ${buildOrder('h')}
    order by ${buildOrder('b')} desc limit 1
  ), fixing as (
    select b.* from ours b, failed f where b.status = 'passed' and ${buildOrder('b')} > ${buildOrder('f')}
    order by ${buildOrder('b')} limit 1
  )
  select ${buildColumns('b')} from (select 1 as place, * from failed union all select 2, * from fixing) as b
  order by b.place`;

const COUNTED = `
  select count(f.id)::int as failures, count(distinct f.fingerprint) filter (where a.id is null)::int as open,
    ${TRIAGE_STATE('w')} as state, w.error
  from builds b
  left join work w on w.topic = 'triage' and w.key = b.id
  left join failures f on f.build_id = b.id
  left join triages t on t.build_id = f.build_id and t.fingerprint = f.fingerprint
  left join analyses a on a.triage_id = t.id
  where b.id = $1
  group by w.topic, w.key`;

const QUESTION = `
  select id from reviewer_questions where build_id = $1 and state = 'waiting'
    and expires_at > clock_timestamp() order by opened_at limit 1`;

// The steps of a run are large and not needed here. Answers are grouped by tenths of confidence; recalled
// ones are left out.
const CAUSES = `
  with lately as materialized (
    select least(floor(a.confidence * 10), 9) as level, d.type from (
      select analysis_id, type from decisions order by decided_at desc limit 2000
    ) as d join analyses a on a.id = d.analysis_id where a.analyst <> 'recall'
  ), levels as (
    select level, count(*) filter (where type = 'accept')::int as right, count(*)::int as decided from lately
    group by level
  )
  select a.body || '{"steps": []}'::jsonb as analysis, coalesce(f.failures, 0) as failures,
    coalesce(f.tests, '{}') as tests, coalesce(s.sample, '[]') as sample, r.id as "reviewId",
    r.opened_at as "openedAt", coalesce(r.state = 'decided', false) as "isDecided",
    coalesce(l.right, 0) as right, coalesce(l.decided, 0) as decided,
    coalesce(c.muted_until > clock_timestamp() or c.muted_left is not null, false)
      or coalesce(f.quarantined, false) as "isMuted"
  from analyses a
  join builds b on b.id = a.build_id
  left join causes own on own.repository = b.repository and own.fingerprint = a.fingerprint
  left join causes c on c.repository = b.repository
    and c.fingerprint = coalesce(own.merged_into, own.fingerprint)
  left join reviews r on r.analysis_id = a.id
  left join levels l on l.level = least(floor(a.confidence * 10), 9)
  left join lateral (
    select count(*)::int as failures, bool_and(exists (
        select from followed_tests q where q.repository = f.repository and md5(q.name) = md5(f.test_name)
          and q.name = f.test_name
          and q.suite is not distinct from f.body->'test'->>'suite'
          and q.quarantined_until > clock_timestamp()
      )) as quarantined,
      (array_agg(distinct f.test_name) filter (where f.test_name is not null))[1:20] as tests
    from failures f where f.build_id = a.build_id and f.fingerprint = a.fingerprint
  ) as f on true
  left join lateral (
    select jsonb_agg(jsonb_set(first.body, '{excerpt,text}', '""', false)
      order by first.group_number, first.position) as sample from (
      select f.body, f.group_number, f.position from failures f
      where f.build_id = a.build_id and f.fingerprint = a.fingerprint order by f.group_number, f.position
      limit ${MAX_SAMPLE}
    ) as first
  ) as s on true
  where a.build_id = $1
  order by a.created_at, a.id limit $2`;

const USUAL = `
  select count(*)::int as count,
    percentile_cont(0.5) within group (order by (a.body ->> 'milliseconds')::float8) as usual
  from (select id from builds where repository = $1 and status = 'failed' order by received_at desc
    limit 50) as b
  join analyses a on a.build_id = b.id`;
