import type { InsightsFilter } from '../domain/insights.ts';
import { Lane } from '../domain/lane.ts';
import type { Sql } from '../ports/database.ts';
import { MEANT } from './insights.ts';
import { filterValues, isoTime, queryAll, USUAL_NAMES } from './sql.ts';

/** The number of past days in which a pipeline must have builds to be included. */
const DAYS = 7;
const MAX_PIPELINES = 1_000;
/** The maximum number of builds that are drawn in one lane. */
const MAX_BUILDS = 200;

/**
 * Reads the default branches of all pipelines with builds in the past week, red ones first, longest red
 * first; at most `limit`. For red ones, includes the builds since `since` and the last one before.
 */
export async function readLanes(
  sql: Pick<Sql, 'query'>,
  filter: InsightsFilter & { readonly since: string },
  limit: number,
): Promise<Lane[]> {
  return await queryAll(sql, Lane, LANES, [...filterValues(filter), filter.since, limit]);
}

const AT = 'coalesce(b.finished_at, b.received_at)';
const OWN = `builds b where b.provider = n.provider and b.repository = n.repository
    and b.pipeline = n.pipeline and b.branch = n.branch`;

const LANES = `
  with shown as materialized (
    select f.provider, f.repository, f.pipeline from build_days f
    where ${MEANT} and f.day > (now() at time zone 'UTC')::date - ${DAYS}
    group by 1, 2, 3 limit ${MAX_PIPELINES}
  ), newest as materialized (
    select s.provider, s.repository, s.pipeline, main.branch, main.status
    from shown s left join default_branches d on d.provider = s.provider and d.repository = s.repository
    cross join lateral (
      select n.branch, last.status
      from unnest(case when d.branch is null then array[${USUAL_NAMES}]
        else array[d.branch] end) as n (branch)
      cross join lateral (
        select b.status from builds b where b.provider = s.provider and b.repository = s.repository
          and b.pipeline = s.pipeline and b.branch = n.branch and b.status in ('passed', 'failed')
        order by b.received_at desc limit 1
      ) as last limit 1
    ) as main
  )
  select n.repository, n.pipeline, n.branch, n.status = 'failed' as "isRed",
    ${isoTime('red.since')} as "redSince", coalesce(lane.builds, '[]') as builds,
    count(*) over ()::int as "of"
  from newest n
  left join lateral (
    select min(${AT}) as since from ${OWN} and b.status = 'failed' and b.received_at > coalesce((
      select max(b.received_at) from ${OWN} and b.status = 'passed'
    ), '-infinity')
  ) as red on n.status = 'failed'
  left join lateral (
    select jsonb_agg(jsonb_build_object('at', ${isoTime('at')}, 'failed', failed) order by at) as builds
    from (
      (select ${AT} as at, b.status = 'failed' as failed from ${OWN} and b.status in ('passed', 'failed')
        and b.received_at >= $3::timestamptz order by b.received_at desc limit ${MAX_BUILDS})
      union all
      (select ${AT}, b.status = 'failed' from ${OWN} and b.status in ('passed', 'failed')
        and b.received_at < $3::timestamptz order by b.received_at desc limit 1)
    ) as drawn
  ) as lane on n.status = 'failed'
  order by n.status = 'failed' desc, red.since, n.repository, n.pipeline limit $4`;
