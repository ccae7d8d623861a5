import type { Sql } from '../ports/database.ts';
import { DayCount, type InsightsStore, WeekFigures } from '../ports/insights.ts';
import { periodValues, RIGHT, WITHIN } from './insights-filter.ts';

/** What came when, and what it cost. */
export function timeMethods(read: Pick<Sql, 'query'>): Pick<InsightsStore, 'categoriesPerDay' | 'perWeek'> {
  return {
    categoriesPerDay: async (period) => (await read.query(PER_DAY, periodValues(period))).map((row) => DayCount.parse(row)),
    perWeek: async (period) => (await read.query(PER_WEEK, periodValues(period))).map((row) => WeekFigures.parse(row)),
  };
}

// A rejected answer leaves the cause open, unless only the cause within the category was wrong.
const PER_DAY = `
  select to_char(day, 'YYYY-MM-DD') as day, category, open, count from (
    select (f.created_at at time zone 'UTC')::date as day, coalesce(f.decided_category, f.category) as category,
      case when f.decision is null then f.reviewed else f.decision = 'reject' and ${RIGHT} is not true end as open, count(*)::int as count
    from answer_facts f where ${WITHIN} group by 1, 2, 3
  ) as counted order by day, category, open`;

const NOT_RECALLED = `filter (where f.analyst <> 'recall')`;

/** Weeks counted from one Monday: much quicker than asking the calendar of every answer. */
const WEEK = `floor((extract(epoch from f.created_at)::float8 - 345600) / 604800)`;

// Both figures of one sort.
const PER_WEEK = `
  select week, answers, recalled, usd[1] as "medianUsd", usd[2] as "p90Usd", seconds[1] as "medianSeconds", seconds[2] as "p90Seconds"
  from (
    select to_char(date_trunc('week', min(f.created_at) at time zone 'UTC'), 'YYYY-MM-DD') as week, count(*)::int as answers,
      count(*) filter (where f.analyst = 'recall')::int as recalled,
      percentile_cont(array[0.5, 0.9]) within group (order by f.cost_usd) ${NOT_RECALLED} as usd,
      percentile_cont(array[0.5, 0.9]) within group (order by f.seconds) ${NOT_RECALLED} as seconds
    from answer_facts f where ${WITHIN} group by ${WEEK}
  ) as weeks order by week`;
