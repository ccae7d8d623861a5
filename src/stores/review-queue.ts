import { z } from 'zod';
import type { Category } from '../domain/category.ts';
import { Offer } from '../domain/offers.ts';
import { Review, ReviewCounts, type ReviewEvent, type ReviewState, RISKS } from '../domain/review.ts';
import type { Database, Page, Sql } from '../ports/database.ts';
import {
  countOffers,
  escapeLike,
  fromNow,
  listColumns,
  queryAll,
  queryFirst,
  scopeValue,
  toPageValues,
} from './sql.ts';

export interface ReviewFilter {
  readonly state?: ReviewState;
  readonly category?: Category;
  readonly repository?: string;
  readonly fingerprint?: string;
  /** Words that the reason for the review must contain. */
  readonly why?: string;
  /**
   * True to list only items decided since midnight UTC, newest decision first, independent of the requested
   * order.
   */
  readonly decidedToday?: true;
  /** The repositories to include: `owner/name`, or `owner/*`. */
  readonly repositories?: readonly string[];
}

/**
 * The order of the queue. `risk`: see `computeRisk`; `age`: oldest first; `confidence`: least confident
 * first.
 */
export type ReviewSort = 'risk' | 'age' | 'confidence';

/** The items of one fingerprint in one repository, shown as one. */
export interface ReviewGroup {
  readonly review: Review;
  /** The number of undecided items, including the one that is shown. */
  readonly count: number;
}

interface NextQuery {
  readonly reviewer: string;
  readonly claimMs: number;
  /** The number of milliseconds for which a skipped item is not offered to the reviewer. */
  readonly skippedMs: number;
  /** The id of the reviewer's previous item, which is left out. */
  readonly after?: string;
  readonly sort?: ReviewSort;
}

/**
 * SQL for the condition that a claim has expired, by the database's clock. Such an item counts as waiting.
 */
export const EXPIRED = `(r.state = 'claimed' and r.claim_expires_at <= clock_timestamp())`;

/**
 * Returns SQL for a column of the claim; null if the claim has expired. `REVIEW` has all columns except the
 * decision, which each query adds.
 */
const HELD = (column: string) => `case when ${EXPIRED} then null else r.${column} end`;
export const REVIEW = listColumns(Review.omit({ decision: true }), 'r', {
  state: `case when ${EXPIRED} then 'waiting' else r.state end`,
  claimedBy: HELD('claimed_by'),
  claimedAt: HELD('claimed_at'),
  claimExpiresAt: HELD('claim_expires_at'),
});

export const STORED = `select ${REVIEW}, d.body as decision from reviews r
  left join decisions d on d.review_id = r.id`;

/**
 * Returns SQL for the condition that the reviewer in `parameter` may claim the item, because no other
 * reviewer holds it.
 */
export const IS_CLAIMABLE_BY = (parameter: string) =>
  `(r.state = 'waiting' or (r.state = 'claimed' and r.claimed_by = ${parameter}) or ${EXPIRED})`;

/**
 * Returns SQL that changes a review (available as `changed`) and logs its event, to be followed by a select
 * of the changed review.
 */
export function changeWithEvent(
  change: string,
  event: ReviewEvent['event'],
  actor: string,
  details: string,
): string {
  return `with changed as (${change} returning r.*),
    logged as (
      insert into review_events (review_id, event, actor, details) select r.id, '${event}', ${actor},
        ${details} from changed r
    )`;
}

export const HOLD = `state = 'claimed', claimed_by = $2::text, version = version + 1,
  claimed_at = case when r.state = 'claimed' and r.claimed_by = $2::text
    and not ${EXPIRED} then coalesce(r.claimed_at, clock_timestamp())
    else clock_timestamp() end,
  claim_expires_at = ${fromNow('$3')}`;

/** SQL with $1: review, $2: reviewer, $3: duration in milliseconds. */
export const CLAIM = `
  ${changeWithEvent(
    `update reviews r set ${HOLD} where r.id = $1 and ${IS_CLAIMABLE_BY('$2::text')}`,
    'claimed',
    '$2::text',
    `jsonb_build_object('expiresAt', r.claim_expires_at)`,
  )}
  select ${REVIEW}, null as decision from changed r`;

/**
 * The number of candidates that are tried before the next page of them is read: as many reviewers may claim
 * concurrently.
 */
const TRIES = 20;
const MAX_PAGES = 5;

/**
 * Creates the methods that list items and pick the next one. Queries for undecided items contain that
 * condition literally, so that partial indexes apply.
 */
export function createQueueMethods(db: Database) {
  return {
    /**
     * Lists items in the order of `sort`. Risk orders only waiting or claimed items; all others are then
     * listed by age. Items decided today are always listed by decision, newest first.
     */
    list: async (filter: ReviewFilter, page: Page, sort: ReviewSort = 'age') => {
      const values = [...filterValues(filter), ...toPageValues(page)];
      return (await db.query(listText(filter, sort), values)).map((row) => Review.parse(row));
    },
    /**
     * Lists undecided items, one for each fingerprint and repository: the first in the order of `sort`. If
     * there are more than 2,000 items, groups only the first 2,000.
     */
    listGroups: async (
      filter: Omit<ReviewFilter, 'state' | 'fingerprint'>,
      page: Page,
      sort: ReviewSort = 'risk',
    ) => {
      const rows = await db.query(writeGroupsSql(sort), [...filterValues(filter), ...toPageValues(page)]);
      return rows.map((row) => {
        const { count } = Count.parse(row);
        return { review: Review.parse(row), count };
      });
    },
    /** Counts the values of each field among the undecided items of a list, the most frequent first. */
    offers: async (filter: Omit<ReviewFilter, 'state' | 'fingerprint'>) =>
      await queryAll(db, Offer, OFFERS, filterValues(filter)),
    counts: async (
      reviewer: string,
      { repository, repositories }: Pick<ReviewFilter, 'repository' | 'repositories'> = {},
    ) => {
      const [row] = await db.query(COUNTS, [reviewer, repository ?? null, scopeValue(repositories)]);
      return ReviewCounts.parse(row);
    },
    /**
     * Lists undecided items of this one's fingerprint and repository that this reviewer could decide, oldest
     * first, without the item itself.
     */
    listSame: async (id: string, reviewer: string, limit: number, sql: Sql = db) =>
      (await sql.query(SAME, [id, reviewer, limit])).map((row) => Review.parse({ ...row, decision: null })),
    /**
     * Claims the first item that this reviewer may have. Concurrent calls get different items. Returns null
     * if there is none.
     */
    next: async (
      filter: Omit<ReviewFilter, 'state'>,
      { reviewer, claimMs, skippedMs, after, sort = 'risk' }: NextQuery,
    ) => {
      for (let page = 0; page < MAX_PAGES; page++) {
        const values = [...filterValues(filter), TRIES, page * TRIES, reviewer, skippedMs, after ?? null];
        const ids = await db.query<{ id: string }>(writeNextSql(sort), values);
        for (const { id } of ids) {
          const claimed = await queryFirst(db, Review, CLAIM, [id, reviewer, claimMs]);
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
  const words = why === undefined ? null : `%${escapeLike(why)}%`;
  return [category ?? null, repository ?? null, fingerprint ?? null, words, scopeValue(repositories)];
}

/** SQL for the filter of every list, with the values $1 to $5. */
const MATCHES = `($1::text is null or r.category = $1) and ($2::text is null or r.repository = $2)
  and ($3::text is null or r.fingerprint = $3)
  and ($4::text is null or array_to_string(r.why, ' · ') ilike $4)
  and ($5::text[] is null or r.repository like any($5))`;

/** The maximum number of items whose values are counted. */
const MOST_OFFERED = 2_000;
const OFFERS = countOffers(
  `select r.repository, r.category, r.why[1] as why from reviews r where r.state <> 'decided' and ${MATCHES}
    limit ${MOST_OFFERED}`,
  ['repository', 'category', 'why'],
);

const STATES: Readonly<Record<NonNullable<ReviewFilter['state']> | 'any', string>> = {
  any: 'true',
  decided: `r.state = 'decided'`,
  claimed: `r.state <> 'decided' and r.state = 'claimed' and not ${EXPIRED}`,
  waiting: `r.state <> 'decided' and (r.state = 'waiting' or ${EXPIRED})`,
};

/**
 * Sort orders for the rows of `r`. There are few risk values, so within each the oldest comes first and only
 * the heads must be compared.
 */
const ORDERS: Readonly<Record<ReviewSort, string>> = {
  age: 'r.opened_at, r.id',
  confidence: 'r.confidence, r.opened_at, r.id',
  risk: 'r.risk * greatest(extract(epoch from clock_timestamp() - r.opened_at), 1) desc, r.opened_at, r.id',
};

/**
 * Returns SQL for `limit` + `offset` rows of `where` in the order of `sort`, as `r`. For the risk order, the
 * rows are the heads of one index scan for each risk.
 */
function writeOrderSql(sort: ReviewSort, where: string, limit: string, offset: string): string {
  if (sort !== 'risk')
    return `(select r.* from reviews r where ${where} order by ${ORDERS[sort]}
      limit ${limit} offset ${offset}) r`;
  // Each risk has its own query, so that the database knows how many items have it; with a single query for
  // all risks, it might read all items for each.
  const heads = RISKS.map(
    (risk) =>
      `(select r.* from reviews r where r.risk = ${risk} and ${where} order by r.opened_at, r.id
        limit ${limit} + ${offset})`,
  ).join(' union all ');
  return `(select r.* from (${heads}) r order by ${ORDERS.risk} limit ${limit} offset ${offset}) r`;
}

function listText(filter: ReviewFilter, wanted: ReviewSort): string {
  const open = filter.state === 'waiting' || filter.state === 'claimed';
  const where = `${STATES[filter.state ?? 'any']} and ${MATCHES}`;
  if (filter.decidedToday)
    return `${STORED} where ${STATES.decided} and d.decided_at >= ${SINCE} and ${MATCHES}
      order by d.decided_at desc, r.id limit $6 offset $7`;
  if (!open)
    return `${STORED} where ${where} order by ${wanted === 'confidence' ? ORDERS.confidence : ORDERS.age}
      limit $6 offset $7`;
  return `select ${REVIEW}, null as decision from ${writeOrderSql(wanted, where, '$6::int', '$7::int')}
    order by ${ORDERS[wanted]}`;
}

/**
 * The maximum number of items that are grouped. A reviewer with more waiting items begins at the top in any
 * case.
 */
const MAX_GROUPED = 2_000;

/**
 * Returns SQL for the first item of each group among the first items in order. The count includes all items
 * of the group.
 */
function writeGroupsSql(sort: ReviewSort): string {
  const where = `r.state <> 'decided' and ${MATCHES}`;
  return `with first as (
      select r.id, row_number() over (order by ${ORDERS[sort]}) as place,
        row_number() over (partition by r.repository, r.fingerprint order by ${ORDERS[sort]}) as nth
      from ${writeOrderSql(sort, where, `${MAX_GROUPED}`, '0')}
    ), shown as (select id, place from first where nth = 1 order by place limit $6::int offset $7::int)
    select ${REVIEW}, null as decision, (
      select count(*)::int from reviews o where o.repository = r.repository and o.fingerprint = r.fingerprint
        and o.state <> 'decided'
    ) as count
    from shown join reviews r on r.id = shown.id order by shown.place`;
}

function writeNextSql(sort: ReviewSort): string {
  const where = `r.state <> 'decided' and ${MATCHES} and ${IS_CLAIMABLE_BY('$8::text')}
      and r.id is distinct from $10::text
    and not exists (select from review_skips s where s.review_id = r.id and s.reviewer = $8::text
      and s.skipped_at > clock_timestamp() - $9::float8 * interval '1 millisecond')`;
  return `select r.id from ${writeOrderSql(sort, where, '$6::int', '$7::int')} order by ${ORDERS[sort]}`;
}

const SAME = `
  select ${REVIEW} from reviews base
  join reviews r on r.repository = base.repository and r.fingerprint = base.fingerprint
    and r.state <> 'decided' and r.id <> base.id
  where base.id = $1 and ${IS_CLAIMABLE_BY('$2::text')}
  order by r.opened_at, r.id limit $3::int`;

const SINCE = `date_trunc('day', now() at time zone 'utc') at time zone 'utc'`;

const COUNTS = `
  select
    (select count(*)::int from reviews r where r.state <> 'decided'
      and ($2::text is null or r.repository = $2)
      and ($3::text[] is null or r.repository like any($3))) as waiting,
    (select count(*)::int from reviews r where r.state = 'claimed' and r.claimed_by = $1 and not ${EXPIRED}
      and ($2::text is null or r.repository = $2)
      and ($3::text[] is null or r.repository like any($3))) as mine,
    t.decided as "decidedToday", t.agreed as "agreedToday"
  from (
    select count(*)::int as decided, count(*) filter (where d.type = 'accept')::int as agreed
    from decisions d join reviews r on r.id = d.review_id
    where d.decided_at >= ${SINCE} and ($2::text is null or r.repository = $2)
      and ($3::text[] is null or r.repository like any($3))
  ) t`;
