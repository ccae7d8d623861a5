import { z } from 'zod';
import { Category } from '../domain/category.ts';
import {
  AnsweredCount,
  CauseBuild,
  CausePlace,
  ComparedBuild,
  DayCount,
  DecidedBy,
  DecidedCount,
  type InsightsFilter,
  listDays,
  type Period,
  ReviewingFigures,
  type TopCause,
  type TrackRecord,
  WeekFigures,
} from '../domain/insights.ts';
import type { Database, Sql } from '../ports/database.ts';
import { filterValues, inScope, queryAll, toPeriodValues } from './sql.ts';

/**
 * Creates the store of statistics on answers and decisions. Every query is bounded in its result and in the
 * rows it reads. Reads `answer_facts`, which has one narrow row for each answer; triggers keep it
 * synchronized with analyses, reviews and decisions.
 */
export function createInsightsStore(db: Pick<Database, 'query' | 'reader'>) {
  const read = db.reader ?? db;
  return { ...trustMethods(read), ...createTimeMethods(read), ...createCauseMethods(read) };
}

/** SQL for the facts of the selected repositories. */
export const MEANT = `($1::text is null or f.repository = $1) and ${inScope('f.repository', '$2')}`;

/**
 * Returns SQL for a condition that a date column lies in the period: whole UTC days, including the day on
 * which the period ends.
 */
const DAYS_WITHIN = (column: string) =>
  `${MEANT} and ${column} > ($3::timestamptz at time zone 'UTC')::date
    and ${column} <= ($4::timestamptz at time zone 'UTC')::date`;

const TENTHS = 10;

/** Creates the methods that show how reliable stated confidence is, and how people decide. */
function trustMethods(read: Pick<Sql, 'query'>) {
  return {
    /** Counts the newest 5,000 decided answers of the period. */
    decided: async (period: Period) => await queryAll(read, DecidedCount, DECIDED, toPeriodValues(period)),
    /** Counts the newest 20,000 answers of the period. */
    answered: async (period: Period) => await queryAll(read, AnsweredCount, ANSWERED, toPeriodValues(period)),
    /**
     * Counts, among the newest 2,000 decided answers, those with the same tenth of stated confidence, and
     * with the category if given, and how many of them were right.
     */
    trackRecord: async (
      confidence: number,
      category?: Category | null,
      filter: InsightsFilter = {},
    ): Promise<TrackRecord> => {
      const tenth = Math.min(TENTHS - 1, Math.max(0, Math.floor((confidence + 1e-9) * TENTHS)));
      const [from, to] = [tenth / TENTHS, (tenth + 1) / TENTHS];
      const values = [
        ...filterValues(filter),
        from * 100,
        tenth === TENTHS - 1 ? 101 : to * 100,
        category ?? null,
      ];
      const [row] = await read.query(TRACK_RECORD, values);
      return { ...Counted.parse(row), from, to };
    },
    /** Computes the figures of the newest 2,000 decisions of the period. */
    reviewing: async (period: Period) => {
      const [row] = await read.query(REVIEWING, toPeriodValues(period));
      return ReviewingFigures.parse(row);
    },
  };
}

const Counted = z.object({ right: z.int(), of: z.int() });

export const NEWEST = (limit: number, where: string) => `
  select f.* from answer_facts f where f.decision is not null and f.analyst <> 'recall' and ${where}
  order by f.decided_at desc limit ${limit}`;

export const DECIDED_WITHIN = `${MEANT} and f.decided_at > $3::timestamptz
  and f.decided_at <= $4::timestamptz`;

const DECIDED = `
  with newest as (${NEWEST(5000, DECIDED_WITHIN)})
  select f.hundredth / 100.0::float8 as at, f.category, f.is_right as right, count(*)::int as count
  from newest f where f.is_right is not null group by 1, 2, 3 order by 1, 2, 3`;

const ANSWERED = `
  with newest as (
    select f.hundredth from answer_facts f
    where f.analyst <> 'recall' and ${MEANT} and f.created_at > $3::timestamptz
      and f.created_at <= $4::timestamptz
    order by f.created_at desc limit 20000
  )
  select f.hundredth / 100.0::float8 as at, count(*)::int as count from newest f group by 1 order by 1`;

const TRACK_RECORD = `
  with newest as (${NEWEST(2000, MEANT)})
  select count(*) filter (where f.is_right)::int as right, count(*)::int as of
  from newest f
  where f.is_right is not null and f.hundredth >= round($3::float8) and f.hundredth < round($4::float8)
    and ($5::text is null or f.category = $5)`;

// If several people decided about a cause, the newest decisions of the last two of them are compared.
const REVIEWING = `
  with decided as (
    select f.repository, f.fingerprint, f.reviewer, f.decided_at, f.decision,
      f.seconds_open, f.is_right,
      f.shown_category as said
    from answer_facts f where f.decision is not null and ${DECIDED_WITHIN} order by f.decided_at desc
    limit 2000
  ), words as (
    select distinct on (repository, fingerprint, reviewer) repository, fingerprint, reviewer, said, decided_at
    from decided where decision <> 'reject' order by repository, fingerprint, reviewer, decided_at desc
  ), ranked as (
    select *, row_number() over (partition by repository, fingerprint
      order by decided_at desc, reviewer) as nth from words
  ), pairs as (
    select one.said = other.said as agreed from ranked one
    join ranked other on other.repository = one.repository and other.fingerprint = one.fingerprint
      and one.nth = 1 and other.nth = 2
  )
  select count(*)::int as decided,
    count(*) filter (where d.is_right is not null)::int as judged,
    count(*) filter (where d.is_right)::int as agreed,
    (percentile_cont(array[0.5, 0.9]) within group (order by seconds_open))[1] as "medianSeconds",
    (percentile_cont(array[0.5, 0.9]) within group (order by seconds_open))[2] as "p90Seconds",
    count(*) filter (where decision = 'accept' and seconds_open is not null)::int as "timedAccepts",
    count(*) filter (where decision = 'accept' and seconds_open < 3)::int as "hastyAccepts",
    (select count(*)::int from pairs) as pairs, (select count(*)::int from pairs
      where agreed) as "pairsAgreed"
  from decided d`;

/** Creates the methods that show activity over time, and its cost. */
function createTimeMethods(read: Pick<Sql, 'query'>) {
  return {
    categoriesPerDay: async (period: Period) =>
      await queryAll(read, DayCount, PER_DAY_TIME, toPeriodValues(period)),
    /** Returns the figures of whole weeks whose Monday is in the period. */
    perWeek: async (period: Period) => await queryAll(read, WeekFigures, PER_WEEK, toPeriodValues(period)),
  };
}

const PER_DAY_TIME = `
  select to_char(f.day, 'YYYY-MM-DD') as day, f.shown_category as category, f.is_open as open,
    count(*)::int as count
  from answer_facts f where ${DAYS_WITHIN('f.day')} group by f.day, f.shown_category, f.is_open
  order by f.day, f.shown_category, f.is_open`;

const NOT_RECALLED = `filter (where f.analyst <> 'recall')`;

// One sort is used for both figures.
const PER_WEEK = `
  select week, answers, recalled, usd[1] as "medianUsd", usd[2] as "p90Usd", seconds[1] as "medianSeconds",
    seconds[2] as "p90Seconds"
  from (
    select to_char(f.week, 'YYYY-MM-DD') as week, count(*)::int as answers,
      count(*) filter (where f.analyst = 'recall')::int as recalled,
      percentile_cont(array[0.5, 0.9]) within group (order by f.cost_usd) ${NOT_RECALLED} as usd,
      percentile_cont(array[0.5, 0.9]) within group (order by f.seconds) ${NOT_RECALLED} as seconds
    from answer_facts f where ${DAYS_WITHIN('f.week')} group by f.week
  ) as weeks order by week`;

const MAX_CAUSES = 200;
const SPARK_DAYS = 30;
const SHOWN = 20;

/** Creates the methods that show recurring causes, which are identified by their fingerprint. */
function createCauseMethods(read: Pick<Sql, 'query'>) {
  return {
    /** Lists the causes that cost the most hours, after the first `offset`; `limit` is at most 200. */
    topCauses: async (period: Period, limit: number, offset: number = 0) => {
      const most = Math.min(Math.max(Math.trunc(limit), 1), MAX_CAUSES);
      return await withHeads(
        read,
        await queryAll(read, Totals, TOP, [...toPeriodValues(period), most, offset]),
        period.until,
        period,
      );
    },
    countCauses: async (period: Period) =>
      (await read.query<{ count: number }>(COUNT_CAUSES, toPeriodValues(period)))[0]?.count ?? 0,
    /** Returns all facts about a cause, of all time except for `perDay`; null if it never occurred. */
    cause: async (fingerprint: string, until: string, filter: InsightsFilter = {}) => {
      const values = [...filterValues(filter), fingerprint];
      const [cause] = await withHeads(read, await queryAll(read, Totals, TOTALS_OF, values), until, filter);
      if (cause === undefined) return null;
      const builds = await queryAll(read, CauseBuild, BUILDS_OF, [...values, false, SHOWN]);
      const decisions = await queryAll(read, CauseBuild, BUILDS_OF, [...values, true, SHOWN]);
      const places = await queryAll(read, CausePlace, PLACES_OF, [...values, SHOWN]);
      return { cause, builds, decisions, places };
    },
    /**
     * Lists the newest 300 builds with the cause, and the newest 600 passed builds of the same repositories.
     */
    compared: async (fingerprint: string, filter: InsightsFilter = {}) =>
      await queryAll(read, ComparedBuild, COMPARED, [...filterValues(filter), fingerprint]),
  };
}

const Totals = z.object({
  fingerprint: z.string(),
  builds: z.int(),
  hours: z.number(),
  untimed: z.int(),
  firstAt: z.iso.datetime(),
  lastAt: z.iso.datetime(),
});
type Totals = z.infer<typeof Totals>;

const Head = z.object({
  fingerprint: z.string(),
  title: z.string(),
  category: Category,
  pullRequests: z.int(),
  repositories: z.int(),
  decidedCategory: Category.nullable(),
  reviewer: z.string().nullable(),
  decidedAt: z.iso.datetime().nullable(),
});

const Day = z.object({ fingerprint: z.string(), day: z.string(), count: z.int() });

/** Adds titles, categories and daily counts to the few causes that are shown. */
async function withHeads(
  read: Pick<Sql, 'query'>,
  totals: readonly Totals[],
  until: string,
  filter: InsightsFilter,
): Promise<TopCause[]> {
  if (totals.length === 0) return [];
  const names = totals.map(({ fingerprint }) => fingerprint);
  const days = listDays({ until, days: SPARK_DAYS });
  const [heads, counts] = await Promise.all([
    queryAll(read, Head, HEADS, [...filterValues(filter), names]),
    queryAll(read, Day, PER_DAY_CAUSES, [...filterValues(filter), names, `${days[0]}T00:00:00.000Z`]),
  ]);
  return totals.flatMap((total) => {
    const head = heads.find(({ fingerprint }) => fingerprint === total.fingerprint);
    if (head === undefined) return [];
    const { decidedCategory, reviewer, decidedAt, ...shown } = head;
    const decided = DecidedBy.safeParse({ category: decidedCategory, reviewer, at: decidedAt });
    const byCategory = new Map(
      counts
        .filter(({ fingerprint }) => fingerprint === total.fingerprint)
        .map(({ day, count }) => [day, count]),
    );
    return [
      {
        ...total,
        ...shown,
        decided: decided.success ? decided.data : null,
        perDay: days.map((day) => byCategory.get(day) ?? 0),
      },
    ];
  });
}

// A build that failed for several causes is divided among them. Each build has one triage for each
// fingerprint, so an answer counts as a build.
const TOTALS = `f.fingerprint, count(*)::int as builds, coalesce(sum(f.build_share), 0) / 3600 as hours,
    count(*) filter (where f.build_seconds is null)::int as untimed, min(f.created_at) as "firstAt",
    max(f.created_at) as "lastAt"`;

// Many causes are ranked, so ranking reads as little as possible. All figures are computed only for the few
// that are returned.
const TOP = `
  with top as materialized (
    select f.cause_key, coalesce(sum(f.build_share), 0) as seconds, count(*) as builds from answer_facts f
    where ${DAYS_WITHIN('f.day')}
    group by f.cause_key order by seconds desc, builds desc, f.cause_key limit $5 offset $6
  )
  select totals.* from top cross join lateral (
    select ${TOTALS} from answer_facts f where f.cause_key = top.cause_key and ${DAYS_WITHIN('f.day')}
    group by f.fingerprint
  ) as totals order by top.seconds desc, top.builds desc, top.cause_key`;

const COUNT_CAUSES = `
  select count(*)::int as count from (select from answer_facts f where ${DAYS_WITHIN('f.day')}
    group by f.cause_key) as causes`;

/** Returns SQL for the condition that an answer counts for a cause: as its own, or merged into it. */
const COUNTS_AS = (cause: string) => `(f.fingerprint = any (array(select ${cause} union all
    select m.fingerprint from causes m where m.merged_into = ${cause}))
  and (f.fingerprint = ${cause} or exists (select from causes m where m.merged_into = ${cause}
    and m.repository = f.repository and m.fingerprint = f.fingerprint)))`;

const TOTALS_OF = `select ${TOTALS.replace('f.fingerprint', '$3::text as fingerprint')} from answer_facts f
  where ${COUNTS_AS('$3::text')} and ${MEANT} having count(*) > 0`;

const HEADS = `
  select n.fingerprint, newest.title, coalesce(said."decidedCategory", newest.category) as category, counts.*,
    said.*
  from unnest($3::text[]) as n (fingerprint)
  cross join lateral (
    select f.title, f.category from answer_facts f where ${COUNTS_AS('n.fingerprint')} and ${MEANT}
    order by f.created_at desc limit 1
  ) as newest
  cross join lateral (
    select count(distinct f.repository)::int as repositories,
      count(distinct (f.repository, f.pull_request)) filter (where f.pull_request is not null)::int
      as "pullRequests"
    from answer_facts f where ${COUNTS_AS('n.fingerprint')} and ${MEANT}
  ) as counts
  left join lateral (
    select f.shown_category as "decidedCategory", f.reviewer, f.decided_at as "decidedAt"
    from answer_facts f where ${COUNTS_AS('n.fingerprint')} and f.decision in ('accept', 'correct')
      and ${MEANT}
    order by f.decided_at desc limit 1
  ) as said on true`;

const PER_DAY_CAUSES = `
  select n.fingerprint, to_char(f.day, 'YYYY-MM-DD') as day, count(*)::int as count
  from unnest($3::text[]) as n (fingerprint) join answer_facts f on ${COUNTS_AS('n.fingerprint')}
  where f.created_at >= $4::timestamptz and ${MEANT}
  group by 1, 2`;

const BUILDS_OF = `
  select f.analysis_id as "analysisId", b.id as "buildId", b.repository, b.pipeline, b.number, b.branch,
    f.category, f.confidence, f.analyst,
    f.decision, f.decided_category as "decidedCategory", f.reviewer, f.decided_at as "decidedAt",
    f.created_at as at
  from answer_facts f join builds b on b.id = f.build_id
  where ${COUNTS_AS('$3::text')} and ${MEANT} and (not $4::boolean or f.decision is not null)
  order by case when $4 then f.decided_at end desc nulls last, f.created_at desc, f.analysis_id limit $5`;

const PLACES_OF = `
  with newest as (select f.build_id, f.created_at from answer_facts f
    where ${COUNTS_AS('$3::text')} and ${MEANT}
    order by f.created_at desc limit 1000)
  select b.repository, b.pipeline, b.branch, count(*)::int as builds, max(n.created_at) as "lastAt"
  from newest n join builds b on b.id = n.build_id
  group by 1, 2, 3 order by builds desc, "lastAt" desc limit $4`;

const COMPARED_BUILD = `b.pipeline, b.branch, b.author, b.provider,
    b.pull_request is not null as "pullRequest", b.attempt > 1 as rerun,
  extract(hour from coalesce(b.started_at, b.received_at) at time zone 'UTC')::int as hour,
  extract(dow from coalesce(b.started_at, b.received_at) at time zone 'UTC')::int as weekday`;

const COMPARED = `
  with failing as materialized (
    select f.build_id, f.repository from answer_facts f where ${COUNTS_AS('$3::text')} and ${MEANT}
    order by f.created_at desc limit 300
  ), passing as (
    select b.* from (select distinct repository from failing limit 20) as r
    cross join lateral (
      select * from (
        select * from builds where repository = r.repository order by received_at desc limit 3000
      ) as newest where status = 'passed' limit 600
    ) as b
    order by b.received_at desc limit 600
  )
  select true as failing, ${COMPARED_BUILD} from failing f join builds b on b.id = f.build_id
  union all
  select false as failing, ${COMPARED_BUILD} from passing b`;
