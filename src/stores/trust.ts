import { z } from 'zod';
import type { InsightsFilter, Period } from '../domain/insights.ts';
import { CheckedAnswer, TrustChange } from '../domain/trust.ts';
import type { Database, Page } from '../ports/database.ts';
import { DECIDED_WITHIN, MEANT, NEWEST } from './insights.ts';
import { filterValues, isoTime, queryAll, toPageValues, toPeriodValues } from './sql.ts';

/** The configuration with which answers are made and published. */
export interface Setup {
  readonly release: string;
  /** The analyst: "rules", or "llm" with the model's name. */
  readonly analyst: string;
  readonly autoNotify: number;
}

/**
 * Creates the store of changes to the way answers are made, with the figures of the answers before and after
 * each change.
 */
export function createTrustStore(db: Database) {
  const read = db.reader ?? db;
  return {
    /** Stores the setup of a running process if it differs from the last one. */
    record: async ({ release, analyst, autoNotify }: Setup) => {
      await db.query(RECORD, [release, analyst, autoNotify]);
    },
    /**
     * Lists the newest changes, newest first; at most 5, each with at most 1,000 answers before and after it,
     * within 30 days.
     */
    changes: async (filter: InsightsFilter) => {
      const acts = await queryAll(read, Act, ACTS, filterValues(filter));
      return await Promise.all(
        acts.map(async ({ since, until, ...act }) => {
          // The times are passed as separate values, so that the database knows how many answers lie between
          // them.
          const values = [...filterValues(filter), act.repository, since, act.at, until];
          const [row] = await queryAll(read, Tallies, TALLIES, values);
          return TrustChange.parse({ ...act, ...row });
        }),
      );
    },
    /**
     * Lists those of the newest 5,000 decided answers of the period that state at least `from`. `right`
     * selects only those that were right, or only those that were not.
     */
    answers: async (
      period: Period,
      { from, right }: { readonly from: number; readonly right: boolean | null },
      page: Page,
    ) =>
      await queryAll(read, CheckedAnswer, ANSWERS, [
        ...toPeriodValues(period),
        from,
        right,
        ...toPageValues(page),
      ]),
  };
}

const Act = TrustChange.omit({ before: true, after: true }).extend({
  since: z.iso.datetime(),
  until: z.iso.datetime(),
});

const Counts = z
  .tuple([z.int(), z.int(), z.int(), z.int()])
  .transform(([answers, published, decided, right]) => ({ answers, published, decided, right }));
const Tallies = z.object({ before: Counts, after: Counts });

const RECORD = `
  insert into setups (release, analyst, auto_notify)
  select $1::text, $2::text, $3::float8
  where not exists (
    select from (select * from setups order by id desc limit 1) as last
    where last.release = $1 and last.analyst = $2 and last.auto_notify = $3
  )`;

// Audited answers were published, too.
const TALLY = (between: string, order: string) => `(
    select array[count(*), count(*) filter (where f.review_origin is null or f.review_origin = 'audit'),
      count(f.is_right), count(*) filter (where f.is_right)]::int[]
    from (
      select f.review_origin, f.is_right from answer_facts f
      where f.analyst <> 'recall' and ${MEANT} and ($3::text is null or f.repository = $3) and ${between}
      order by f.created_at ${order} limit 1000
    ) as f
  )`;

const TALLIES = `
  select ${TALLY('f.created_at >= $4::timestamptz and f.created_at < $5::timestamptz', 'desc')} as before,
    ${TALLY('f.created_at >= $5::timestamptz and f.created_at < $6::timestamptz', 'asc')} as after`;

const MONTH = `interval '30 days'`;

// A new version of a rule follows the one before it; a rule that is withdrawn for good has no version after
// it.
const ACTS = `
  with steps as (
    select s.*, lag(release) over w as was_release, lag(analyst) over w as was_analyst,
      lag(auto_notify) over w as was_notify
    from setups s window w as (order by id)
  ), acts as (
    select at, kind, null::text as repository, was, now from steps cross join lateral (values
      ('release', was_release, release), ('analyst', was_analyst, analyst),
        ('threshold', was_notify::text, auto_notify::text)
    ) as v (kind, was, now) where was <> now
    union all
    select at, 'calibration', null, analyst || ', version ' || replaced, analyst || ', version ' || version
    from calibration_acts
    union all
    select created_at, 'rule', repository, lag(title) over (partition by id order by version), title
    from rules
    union all
    select withdrawn_at, 'rule', repository, title, null from rules r
    where withdrawn_at is not null and not exists (select from rules n
      where n.id = r.id and n.version > r.version)
  ), changes as (
    select a.*, coalesce(lag(at) over w, '-infinity') as since, coalesce(lead(at) over w, 'infinity') as until
    from acts a window w as (partition by kind order by at)
  )
  select ${isoTime('at')} as at, kind, repository, was as "from", now as "to",
    ${isoTime(`greatest(since, at - ${MONTH})`)} as since,
    ${isoTime(`least(until, at + ${MONTH})`)} as until
  from changes where ($1::text is null or repository is null or repository = $1)
    and ($2::text[] is null or repository is null or repository like any($2))
  order by changes.at desc limit 5`;

const ANSWERS = `
  with newest as (${NEWEST(5000, DECIDED_WITHIN)})
  select f.analysis_id as "analysisId", f.build_id as "buildId", f.repository, f.title, f.category,
    f.confidence, f.is_right as right,
    case when f.decision = 'reject' then null else f.shown_category end as "decidedCategory",
    ${isoTime('f.decided_at')} as "decidedAt"
  from newest f
  where f.is_right is not null and f.hundredth >= round($5::float8 * 100)
    and ($6::boolean is null or f.is_right = $6)
  order by f.decided_at desc, f.analysis_id limit $7 offset $8`;
