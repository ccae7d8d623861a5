import { z } from 'zod';
import {
  type ComparedPeriod,
  type Deployment,
  FailedJobs,
  Health,
  Mark,
  type RepositoryHealth,
  UnreadLogs,
} from '../domain/health.ts';
import type { InsightsFilter, Period } from '../domain/insights.ts';
import type { Database } from '../ports/database.ts';
import { MEANT } from './insights.ts';
import { readLanes } from './lanes.ts';
import {
  filterValues,
  inScope,
  insert,
  isoTime,
  queryAll,
  queryFirst,
  toPeriodValues,
  USUAL_NAMES,
} from './sql.ts';

/**
 * Creates the store of health figures for pipelines and branches. Daily counts come from `build_days`, and
 * all other figures from the builds of the shown pipelines and branches.
 */
export function createHealthStore(db: Pick<Database, 'query' | 'reader'>) {
  const read = db.reader ?? db;
  return {
    /** Lists the pipelines with the most failed builds of the period; at most `limit`. */
    pipelines: async (period: ComparedPeriod, limit: number) =>
      await queryAll(read, Health, PIPELINES, listComparedValues(period, limit)),
    /**
     * Returns the health of one repository: its branches with the most failed builds, at most `limit`; the
     * jobs that failed in its newest 500 failed builds; its days.
     */
    repository: async (
      period: ComparedPeriod & { readonly repository: string },
      limit: number,
    ): Promise<RepositoryHealth> => {
      const values = toPeriodValues(period);
      const [branches, jobs, days, marks] = await Promise.all([
        queryAll(read, Health, BRANCHES, listComparedValues(period, limit)),
        queryFirst(read, FailedJobs, JOBS, values),
        queryAll(read, Day, DAYS, values),
        queryAll(read, Mark, MARKS, values),
      ]);
      return { branches, jobs: jobs ?? { jobs: [], builds: 0, unknown: 0 }, days, marks: marks.toReversed() };
    },
    /** Reads the default branches of pipelines, the red ones first with their builds; at most `limit`. */
    lanes: async (filter: InsightsFilter & { readonly since: string }, limit: number) =>
      await readLanes(read, filter, limit),
    /** Lists at most `limit` repositories, those first whose logs could not be read for the most builds. */
    unreadLogs: async (period: Period, limit: number) =>
      await queryAll(read, UnreadLogs, UNREAD_LOGS, toPeriodValues(period).concat(limit)),
    /** Stores a deployment once. */
    addDeployment: async (deployment: Deployment) => {
      await insert(db, 'deployments', deployment, 'on conflict do nothing');
    },
  };
}

const DAY_MS = 86_400_000;

function listComparedValues(period: ComparedPeriod, limit: number): unknown[] {
  const last = period.until.slice(0, 10);
  const before = new Date(Date.parse(last) - (2 * period.days - 1) * DAY_MS).toISOString().slice(0, 10);
  return [
    ...filterValues(period),
    last,
    period.days,
    limit,
    TIMED,
    period.until,
    period.comparedFrom ?? before,
  ];
}

/** SQL for the time of a build's result, as far as it is known. */
const AT = 'coalesce(b.finished_at, b.received_at)';

/** The maximum number of builds of a pipeline and period whose durations are read. */
const TIMED = 100;

/** Returns SQL for the finished builds of pipeline `s` in the current or the earlier period. */
const BUILDS_OF_PIPELINE = (which: 'now' | 'before') => `builds b
  where b.provider = s.provider and b.repository = s.repository and b.pipeline = s.pipeline
    and b.status in ('passed', 'failed')
    and b.received_at >= p.${which}_since and b.received_at < p.${which}_until`;

const IS_NOW = '(day > $3::date - $4::int and day <= $3::date)';
const IS_BEFORE = '(day >= $8::date and day < $8::date + $4::int)';

/** SQL for the builds of branches, counted as `build_days` counts those of pipelines. */
const BRANCH_DAYS = `branch_days as materialized (
    select b.repository, b.pipeline, b.provider, b.branch, (b.received_at at time zone 'UTC')::date as day,
      count(*)::int as builds,
      count(*) filter (where b.status = 'failed')::int as failed
    from p join builds b on b.repository = $1 and b.status in ('passed', 'failed') and b.branch is not null
      and (b.received_at >= p.now_since and b.received_at < p.now_until
        or b.received_at >= p.before_since and b.received_at < p.before_until)
    group by 1, 2, 3, 4, 5
  ),`;

const MEDIANS = (which: 'now' | 'before', more: string) => `left join lateral (
      select percentile_cont(0.5) within group (order by ran) as ran,
        percentile_cont(0.5) within group (order by waited) as waited from (
        select extract(epoch from b.finished_at - b.started_at)::float8 / 60 as ran,
          b.queued_seconds / 60 as waited
        from ${BUILDS_OF_PIPELINE(which)} ${more} order by b.received_at desc limit $6
      ) as newest
    ) as ${which} on true`;

/**
 * Returns SQL for health figures. Selects the shown rows by daily counts, and then reads only the builds of
 * those rows. A branch is red from the end of a failed build until the end of the next passed one; further
 * failures in between change nothing.
 */
const healthBy = (days: string, key: readonly string[], more: string, branch: string, before = '') => `
  with p as (
    select ($3::date - $4::int + 1)::timestamp at time zone 'UTC' as now_since,
      ($3::date + 1)::timestamp at time zone 'UTC' as now_until,
      $8::date::timestamp at time zone 'UTC' as before_since,
      ($8::date + $4::int)::timestamp at time zone 'UTC' as before_until
  ), ${before} shown as materialized (
    select ${key.join(', ')}, sum(builds)::int as builds, sum(failed)::int as failed from ${days} f
    where ${MEANT} and ${IS_NOW}
    group by ${key.join(', ')} order by failed desc, builds desc, ${key.join(', ')} limit $5
  )
  select s.*, earlier.*, now.ran as minutes, before.ran as "minutesBefore", now.waited as "queueMinutes",
    before.waited as "queueMinutesBefore",
    main.branch, coalesce(red.hours, 0) as "redHours", coalesce(red.now, false) as "isRed",
    coalesce(red.recoveries, 0) as recoveries,
    red."hoursToGreen", array(
      select coalesce(d.failed, 0) from generate_series($4::int - 1, 0, -1) as n (ago) left join ${days} d
        on ${key.map((id) => `d.${id} = s.${id}`).join(' and ')} and d.day = $3::date - n.ago and ${IS_NOW}
      order by n.ago desc
    ) as "perDay"
  from p cross join shown s
    cross join lateral (
      select coalesce(sum(d.builds), 0)::int as "buildsBefore",
        coalesce(sum(d.failed), 0)::int as "failedBefore" from ${days} d
      where ${key.map((id) => `d.${id} = s.${id}`).join(' and ')} and ${IS_BEFORE}
    ) as earlier
    ${MEDIANS('now', more)}
    ${MEDIANS('before', more)}
    ${branch}
    left join lateral (
      select sum(hours) as hours, bool_or(until is null) as now, count(until)::int as recoveries,
        percentile_cont(0.5) within group (order by hours) filter (where until is not null) as "hoursToGreen"
      from (
        select until, greatest(extract(epoch from coalesce(until, least($7::timestamptz, now())) - at),
          0)::float8 / 3600 as hours
        from (
          select status, at, lead(at) over (order by at, id) as until from (
            select b.id, b.status, ${AT} as at, lag(b.status) over (order by ${AT}, b.id) as before
            from ${BUILDS_OF_PIPELINE('now')} and b.branch = main.branch
          ) as line where status is distinct from before
        ) as turns where status = 'failed'
      ) as streaks
    ) as red on true
  order by s.failed desc, s.builds desc, s.provider, s.repository, s.pipeline, main.branch`;

const DEFAULT_BRANCH = `left join default_branches d on d.provider = s.provider
  and d.repository = s.repository
    left join lateral (
      select n.branch
      from unnest(case when d.branch is null then array[${USUAL_NAMES}]
        else array[d.branch] end) as n (branch)
      where exists (select from ${BUILDS_OF_PIPELINE('now')} and b.branch = n.branch) limit 1
    ) as main on true`;

const OWN_BRANCH = 'cross join lateral (select s.branch) as main';

const PIPELINE = ['provider', 'repository', 'pipeline'];
const PIPELINES = healthBy('build_days', PIPELINE, '', DEFAULT_BRANCH);
const BRANCHES = healthBy(
  'branch_days',
  [...PIPELINE, 'branch'],
  'and b.branch = s.branch',
  OWN_BRANCH,
  BRANCH_DAYS,
);

const JOBS = `
  with failing as materialized (
    select b.id, array(select failed_jobs(b)) as jobs from builds b
    where b.repository = $1 and ${inScope('b.repository', '$2')} and b.status = 'failed'
      and b.received_at > $3::timestamptz and b.received_at <= $4::timestamptz
    order by b.received_at desc limit 500
  ), counted as (
    select job, count(*)::int as builds from failing cross join lateral unnest(jobs) as j (job) group by job
    order by builds desc, job limit 50
  )
  select (select count(*)::int from failing) as builds, (select count(*)::int from failing
    where jobs = '{}') as unknown,
    coalesce((select jsonb_agg(jsonb_build_object('job', job, 'builds', builds) order by builds desc, job)
      from counted), '[]') as jobs`;

const UNREAD_LOGS = `
  select f.provider, f.repository, count(*)::int as builds,
    (array_agg(f.id order by a.created_at desc))[1] as "buildId",
    (array_agg(a.body #>> '{answer,rootCause}' order by a.created_at desc))[1] as why
  from analyses a join builds f on f.id = a.build_id
  where a.fingerprint like 'unread-%' and a.created_at > $3::timestamptz and a.created_at <= $4::timestamptz
    and ${MEANT}
  group by f.provider, f.repository order by builds desc, f.repository, f.provider limit $5`;

const Day = z.object({ day: z.string(), builds: z.int(), failed: z.int() });

const DAYS = `
  select f.day::text as day, sum(f.builds)::int as builds, sum(f.failed)::int as failed from build_days f
  where ${MEANT} and f.day > ($3::timestamptz at time zone 'UTC')::date
    and f.day <= ($4::timestamptz at time zone 'UTC')::date
  group by f.day order by f.day`;

// The first release is not an upgrade, so it gets no mark.
const MARKS = `
  select kind, ${isoTime('at')} as at, name, url from (
    select 'deployment' as kind, f.at, f.version || ' to ' || f.environment as name, f.url from deployments f
    where ${MEANT}
    union all
    select 'upgrade', at, 'Faultline ' || release, null
    from (select at, release, lag(release) over (order by id) as was from setups) as s
    where was <> release
  ) as marks where at > $3::timestamptz and at <= $4::timestamptz order by marks.at desc, name desc
  limit 100`;
