import { z } from 'zod';
import type { Sql } from '../ports/database.ts';
import { AnsweredCount, DecidedCount, type InsightsStore, ReviewingFigures } from '../ports/insights.ts';
import { filterValues, HUNDREDTH, MEANT, periodValues, RIGHT, WITHIN } from './insights-filter.ts';

const TENTHS = 10;

/** How far stated confidence can be trusted, and how people decide. */
export function trustMethods(read: Pick<Sql, 'query'>): Pick<InsightsStore, 'decided' | 'answered' | 'trackRecord' | 'reviewing'> {
  return {
    decided: async (period) => (await read.query(DECIDED, periodValues(period))).map((row) => DecidedCount.parse(row)),
    answered: async (period) => (await read.query(ANSWERED, periodValues(period))).map((row) => AnsweredCount.parse(row)),
    trackRecord: async (confidence, category, filter = {}) => {
      const tenth = Math.min(TENTHS - 1, Math.max(0, Math.floor((confidence + 1e-9) * TENTHS)));
      const [from, to] = [tenth / TENTHS, (tenth + 1) / TENTHS];
      const values = [...filterValues(filter), from * 100, tenth === TENTHS - 1 ? 101 : to * 100, category ?? null];
      const [row] = await read.query(TRACK_RECORD, values);
      return { ...Counted.parse(row), from, to };
    },
    reviewing: async (period) => {
      const [row] = await read.query(REVIEWING, periodValues(period));
      return ReviewingFigures.parse(row);
    },
  };
}

const Counted = z.object({ right: z.int(), of: z.int() });

const NEWEST = (limit: number, where: string) => `
  select f.*, ${RIGHT} as right from answer_facts f
  where f.decision is not null and f.analyst <> 'recall' and ${where}
  order by f.decided_at desc limit ${limit}`;

const DECIDED_WITHIN = `${MEANT} and f.decided_at > $3::timestamptz and f.decided_at <= $4::timestamptz`;

const DECIDED = `
  with newest as (${NEWEST(5000, DECIDED_WITHIN)})
  select ${HUNDREDTH} / 100.0::float8 as at, f.category, f.right, f.blind is not null as blind, count(*)::int as count
  from newest f where f.right is not null group by 1, 2, 3, 4 order by 1, 2, 3, 4`;

const ANSWERED = `
  select ${HUNDREDTH} / 100.0::float8 as at, count(*)::int as count from answer_facts f
  where f.analyst <> 'recall' and ${WITHIN} group by 1 order by 1`;

const TRACK_RECORD = `
  with newest as (${NEWEST(2000, MEANT)})
  select count(*) filter (where f.right)::int as right, count(*)::int as of
  from newest f
  where f.right is not null and ${HUNDREDTH} >= round($3::float8) and ${HUNDREDTH} < round($4::float8) and ($5::text is null or f.category = $5)`;

// Of a cause on which several people decided, the newest two people's newest words.
const REVIEWING = `
  with decided as (
    select f.repository, f.fingerprint, f.reviewer, f.decided_at, f.decision, f.category, f.blind, f.seconds_open, ${RIGHT} as right,
      coalesce(f.decided_category, f.category) as said
    from answer_facts f where f.decision is not null and ${DECIDED_WITHIN} order by f.decided_at desc limit 2000
  ), words as (
    select distinct on (repository, fingerprint, reviewer) repository, fingerprint, reviewer, said, decided_at
    from decided where decision <> 'reject' order by repository, fingerprint, reviewer, decided_at desc
  ), ranked as (
    select *, row_number() over (partition by repository, fingerprint order by decided_at desc, reviewer) as nth from words
  ), pairs as (
    select one.said = other.said as agreed from ranked one
    join ranked other on other.repository = one.repository and other.fingerprint = one.fingerprint and one.nth = 1 and other.nth = 2
  )
  select count(*)::int as decided,
    count(*) filter (where blind is null and d.right is not null)::int as shown,
    count(*) filter (where blind is null and d.right)::int as "shownAgreed",
    count(*) filter (where blind is not null)::int as blind,
    count(*) filter (where blind = category)::int as "blindAgreed",
    (percentile_cont(array[0.5, 0.9]) within group (order by seconds_open))[1] as "medianSeconds",
    (percentile_cont(array[0.5, 0.9]) within group (order by seconds_open))[2] as "p90Seconds",
    count(*) filter (where decision = 'accept' and seconds_open is not null)::int as "timedAccepts",
    count(*) filter (where decision = 'accept' and seconds_open < 3)::int as "hastyAccepts",
    (select count(*)::int from pairs) as pairs, (select count(*)::int from pairs where agreed) as "pairsAgreed"
  from decided d`;
