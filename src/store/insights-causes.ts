import { z } from 'zod';
import { Category } from '../domain/category.ts';
import type { Sql } from '../ports/database.ts';
import {
  CauseBuild,
  CausePlace,
  ComparedBuild,
  DecidedBy,
  type InsightsFilter,
  type InsightsStore,
  type TopCause,
} from '../ports/insights.ts';
import { filterValues, MEANT, periodValues, WITHIN } from './insights-filter.ts';

const MOST_CAUSES = 50;
const SPARK_DAYS = 30;
const SHOWN = 20;

/** Causes that come again and again, known by their fingerprint. */
export function causeMethods(read: Pick<Sql, 'query'>): Pick<InsightsStore, 'topCauses' | 'cause' | 'compared'> {
  return {
    topCauses: async (period, limit) => {
      const values = [...periodValues(period), Math.min(Math.max(Math.trunc(limit), 1), MOST_CAUSES)];
      const totals = (await read.query(TOP, values)).map((row) => Totals.parse(row));
      return await withHeads(read, totals, period.until, period);
    },
    cause: async (fingerprint, until, filter = {}) => {
      const values = [...filterValues(filter), fingerprint];
      const [row] = await read.query(TOTALS_OF, values);
      const totals = Totals.safeParse(row);
      if (!totals.success) return null;
      const [cause] = await withHeads(read, [totals.data], until, filter);
      if (cause === undefined) return null;
      const builds = (await read.query(BUILDS_OF, [...values, false, SHOWN])).map((one) => CauseBuild.parse(one));
      const decisions = (await read.query(BUILDS_OF, [...values, true, SHOWN])).map((one) => CauseBuild.parse(one));
      const places = (await read.query(PLACES_OF, [...values, SHOWN])).map((one) => CausePlace.parse(one));
      return { cause, builds, decisions, places };
    },
    compared: async (fingerprint, filter = {}) =>
      (await read.query(COMPARED, [...filterValues(filter), fingerprint])).map((row) => ComparedBuild.parse(row)),
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

/** The few causes that are shown, with what people call them. */
async function withHeads(read: Pick<Sql, 'query'>, totals: readonly Totals[], until: string, filter: InsightsFilter): Promise<TopCause[]> {
  if (totals.length === 0) return [];
  const names = totals.map(({ fingerprint }) => fingerprint);
  const days = daysUntil(until);
  const heads = (await read.query(HEADS, [...filterValues(filter), names])).map((row) => Head.parse(row));
  const counts = (await read.query(PER_DAY, [...filterValues(filter), names, `${days[0]}T00:00:00.000Z`])).map((row) => Day.parse(row));
  return totals.flatMap((one) => {
    const head = heads.find(({ fingerprint }) => fingerprint === one.fingerprint);
    if (head === undefined) return [];
    const { decidedCategory, reviewer, decidedAt, ...shown } = head;
    const decided = DecidedBy.safeParse({ category: decidedCategory, reviewer, at: decidedAt });
    const own = new Map(counts.filter(({ fingerprint }) => fingerprint === one.fingerprint).map(({ day, count }) => [day, count]));
    return [{ ...one, ...shown, decided: decided.success ? decided.data : null, perDay: days.map((day) => own.get(day) ?? 0) }];
  });
}

function daysUntil(until: string): string[] {
  const last = Date.parse(until);
  return Array.from({ length: SPARK_DAYS }, (_, at) => new Date(last - (SPARK_DAYS - 1 - at) * 86_400_000).toISOString().slice(0, 10));
}

// A build that failed for several causes is shared among them; one triage a build and fingerprint, so an answer is a build.
const TOTALS = `f.fingerprint, count(*)::int as builds, coalesce(sum(f.build_seconds / f.causes), 0) / 3600 as hours,
    count(*) filter (where f.build_seconds is null)::int as untimed, min(f.created_at) as "firstAt", max(f.created_at) as "lastAt"`;

const TOP = `
  select ${TOTALS} from answer_facts f where ${WITHIN}
  group by f.fingerprint order by hours desc, builds desc, f.fingerprint limit $5`;

const TOTALS_OF = `select ${TOTALS} from answer_facts f where f.fingerprint = $3 and ${MEANT} group by f.fingerprint`;

const HEADS = `
  select n.fingerprint, newest.title, coalesce(said."decidedCategory", newest.category) as category, counts.*, said.*
  from unnest($3::text[]) as n (fingerprint)
  cross join lateral (
    select f.title, f.category from answer_facts f where f.fingerprint = n.fingerprint and ${MEANT} order by f.created_at desc limit 1
  ) as newest
  cross join lateral (
    select count(distinct f.repository)::int as repositories,
      count(distinct (f.repository, f.pull_request)) filter (where f.pull_request is not null)::int as "pullRequests"
    from answer_facts f where f.fingerprint = n.fingerprint and ${MEANT}
  ) as counts
  left join lateral (
    select coalesce(f.decided_category, f.category) as "decidedCategory", f.reviewer, f.decided_at as "decidedAt"
    from answer_facts f where f.fingerprint = n.fingerprint and f.decision in ('accept', 'correct') and ${MEANT}
    order by f.decided_at desc limit 1
  ) as said on true`;

const PER_DAY = `
  select f.fingerprint, to_char(f.created_at at time zone 'UTC', 'YYYY-MM-DD') as day, count(*)::int as count
  from answer_facts f where f.fingerprint = any($3::text[]) and f.created_at >= $4::timestamptz and ${MEANT} group by 1, 2`;

const BUILDS_OF = `
  select f.analysis_id as "analysisId", b.id as "buildId", b.repository, b.pipeline, b.number, b.branch, f.category, f.confidence, f.analyst,
    f.decision, f.decided_category as "decidedCategory", f.reviewer, f.decided_at as "decidedAt", f.created_at as at
  from answer_facts f join builds b on b.id = f.build_id
  where f.fingerprint = $3 and ${MEANT} and (not $4::boolean or f.decision is not null)
  order by case when $4 then f.decided_at end desc nulls last, f.created_at desc, f.analysis_id limit $5`;

const PLACES_OF = `
  with newest as (select f.build_id, f.created_at from answer_facts f where f.fingerprint = $3 and ${MEANT} order by f.created_at desc limit 1000)
  select b.repository, b.pipeline, b.branch, count(*)::int as builds, max(n.created_at) as "lastAt"
  from newest n join builds b on b.id = n.build_id
  group by 1, 2, 3 order by builds desc, "lastAt" desc limit $4`;

const COMPARED_BUILD = `b.pipeline, b.branch, b.author, b.provider, b.pull_request is not null as "pullRequest", b.attempt > 1 as rerun,
  extract(hour from coalesce(b.started_at, b.received_at) at time zone 'UTC')::int as hour,
  extract(dow from coalesce(b.started_at, b.received_at) at time zone 'UTC')::int as weekday`;

const COMPARED = `
  with failing as materialized (
    select f.build_id, f.repository from answer_facts f where f.fingerprint = $3 and ${MEANT} order by f.created_at desc limit 300
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
