import { z } from 'zod';
import { Review, ReviewCounts, RISKS } from '../domain/review.ts';
import type { Database } from '../ports/database.ts';
import type { ReviewFilter, ReviewSort, ReviewStore } from '../ports/reviews.ts';
import { pageValues } from './page.ts';
import { CLAIM, EXPIRED, FREE_FOR, firstReview, REVIEW, STORED } from './review-rows.ts';
import { scopeValue } from './scope.ts';

type QueueMethods = Pick<ReviewStore, 'list' | 'listGroups' | 'counts' | 'listSame' | 'next'>;

/** Candidates that are tried before the next page of them is asked for: as many reviewers may press the key at once. */
const TRIES = 20;
const MAX_PAGES = 5;

/** Which items there are, and which comes next. Whatever asks for undecided items says so literally, which partial indices answer. */
export function queueMethods(db: Database): QueueMethods {
  return {
    list: async (filter, page, sort = 'age') => {
      const values = [...filterValues(filter), ...pageValues(page)];
      return (await db.query(listText(filter, sort), values)).map((row) => Review.parse(row));
    },
    listGroups: async (filter, page, sort = 'risk') => {
      const rows = await db.query(groupsText(sort), [...filterValues(filter), ...pageValues(page)]);
      return rows.map((row) => {
        const { count } = Count.parse(row);
        return { review: Review.parse(row), count };
      });
    },
    counts: async (reviewer, { repository, repositories } = {}) => {
      const [row] = await db.query(COUNTS, [reviewer, repository ?? null, scopeValue(repositories)]);
      return ReviewCounts.parse(row);
    },
    listSame: async (id, reviewer, limit, sql = db) =>
      (await sql.query(SAME, [id, reviewer, limit])).map((row) => Review.parse({ ...row, decision: null })),
    next: async (filter, { reviewer, claimMs, skippedMs, after, sort = 'risk' }) => {
      for (let page = 0; page < MAX_PAGES; page++) {
        const values = [...filterValues(filter), TRIES, page * TRIES, reviewer, skippedMs, after ?? null];
        const ids = await db.query<{ id: string }>(nextText(sort), values);
        for (const { id } of ids) {
          const claimed = await firstReview(db, CLAIM, [id, reviewer, claimMs]);
          if (claimed !== null) return claimed;
        }
        if (ids.length < TRIES) return null;
      }
      return null;
    },
  };
}

const Count = z.object({ count: z.int() });

function filterValues({ category, repository, fingerprint, why, repositories }: ReviewFilter): unknown[] {
  const words = why === undefined ? null : `%${why.replace(/[\\%_]/g, '\\$&')}%`;
  return [category ?? null, repository ?? null, fingerprint ?? null, words, scopeValue(repositories)];
}

/** $1 to $5 of every list. */
const matches = (row: string) => `($1::text is null or ${row}.category = $1) and ($2::text is null or ${row}.repository = $2)
  and ($3::text is null or ${row}.fingerprint = $3)
  and ($4::text is null or array_to_string(${row}.why, ' · ') ilike $4)
  and ($5::text[] is null or ${row}.repository like any($5))`;

const STATES: Readonly<Record<NonNullable<ReviewFilter['state']> | 'any', string>> = {
  any: 'true',
  decided: `r.state = 'decided'`,
  claimed: `r.state <> 'decided' and r.state = 'claimed' and not ${EXPIRED}`,
  waiting: `r.state <> 'decided' and (r.state = 'waiting' or ${EXPIRED})`,
};

const WAITED = `greatest(extract(epoch from clock_timestamp() - r.opened_at), 1)`;

/** Of the rows of `r`. Risks are few, so within each the oldest comes first and only the heads need comparing. */
const ORDERS: Readonly<Record<ReviewSort, string>> = {
  age: 'r.opened_at, r.id',
  confidence: 'r.confidence, r.opened_at, r.id',
  risk: `r.risk * ${WAITED} desc, r.opened_at, r.id`,
};

/** `limit` + `offset` rows of `where` in the order of `sort`, as `r`; by risk they are the heads of one index walk for each risk. */
function inOrder(sort: ReviewSort, where: string, limit: string, offset: string): string {
  if (sort !== 'risk') return `(select r.* from reviews r where ${where} order by ${ORDERS[sort]} limit ${limit} offset ${offset}) r`;
  const heads = `(values ${RISKS.map((risk) => `(${risk}::float8)`).join(', ')}) w (risk)
    cross join lateral (select r.* from reviews r where r.risk = w.risk and ${where} order by r.opened_at, r.id limit ${limit} + ${offset}) r`;
  return `(select r.* from ${heads} order by ${ORDERS.risk} limit ${limit} offset ${offset}) r`;
}

function listText(filter: ReviewFilter, wanted: ReviewSort): string {
  const open = filter.state === 'waiting' || filter.state === 'claimed';
  const where = `${STATES[filter.state ?? 'any']} and ${matches('r')}`;
  if (filter.decidedToday)
    return `${STORED} where ${STATES.decided} and d.decided_at >= ${SINCE} and ${matches('r')} order by d.decided_at desc, r.id limit $6 offset $7`;
  if (!open) return `${STORED} where ${where} order by ${wanted === 'confidence' ? ORDERS.confidence : ORDERS.age} limit $6 offset $7`;
  return `select ${REVIEW}, null as decision from ${inOrder(wanted, where, '$6::int', '$7::int')} order by ${ORDERS[wanted]}`;
}

/** Items that are looked at for groups: whoever has more waiting begins at the top all the same. */
const MAX_GROUPED = 2_000;

/** The first of each group among the first items in order; what is counted is all of the group. */
function groupsText(sort: ReviewSort): string {
  const where = `r.state <> 'decided' and ${matches('r')}`;
  return `with first as (
      select r.id, row_number() over (order by ${ORDERS[sort]}) as place,
        row_number() over (partition by r.repository, r.fingerprint order by ${ORDERS[sort]}) as nth
      from ${inOrder(sort, where, `${MAX_GROUPED}`, '0')}
    ), shown as (select id, place from first where nth = 1 order by place limit $6::int offset $7::int)
    select ${REVIEW}, null as decision, (
      select count(*)::int from reviews o where o.repository = r.repository and o.fingerprint = r.fingerprint and o.state <> 'decided'
    ) as count
    from shown join reviews r on r.id = shown.id order by shown.place`;
}

function nextText(sort: ReviewSort): string {
  const where = `r.state <> 'decided' and ${matches('r')} and ${FREE_FOR('$8::text')} and r.id is distinct from $10::text
    and not exists (select from review_skips s where s.review_id = r.id and s.reviewer = $8::text
      and s.skipped_at > clock_timestamp() - $9::float8 * interval '1 millisecond')`;
  return `select r.id from ${inOrder(sort, where, '$6::int', '$7::int')} order by ${ORDERS[sort]}`;
}

const SAME = `
  select ${REVIEW} from reviews base
  join reviews r on r.repository = base.repository and r.fingerprint = base.fingerprint and r.state <> 'decided' and r.id <> base.id
  where base.id = $1 and ${FREE_FOR('$2::text')}
  order by r.opened_at, r.id limit $3::int`;

const SINCE = `date_trunc('day', now() at time zone 'utc') at time zone 'utc'`;

const COUNTS = `
  select
    (select count(*)::int from reviews r where r.state <> 'decided' and ($2::text is null or r.repository = $2)
      and ($3::text[] is null or r.repository like any($3))) as waiting,
    (select count(*)::int from reviews r where r.state = 'claimed' and r.claimed_by = $1 and not ${EXPIRED}
      and ($2::text is null or r.repository = $2) and ($3::text[] is null or r.repository like any($3))) as mine,
    t.decided as "decidedToday", t.agreed as "agreedToday"
  from (
    select count(*)::int as decided, count(*) filter (where d.type = 'accept')::int as agreed
    from decisions d join reviews r on r.id = d.review_id
    where d.decided_at >= ${SINCE} and ($2::text is null or r.repository = $2) and ($3::text[] is null or r.repository like any($3))
  ) t`;
