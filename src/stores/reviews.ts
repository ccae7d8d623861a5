import { z } from 'zod';
import type { Category } from '../domain/category.ts';
import { TriageError } from '../domain/errors.ts';
import {
  Decision,
  type NewReview,
  Review,
  ReviewCounts,
  ReviewEvent,
  type ReviewState,
  RISKS,
} from '../domain/review.ts';
import type { Database, Page, Sql } from '../ports/database.ts';
import { all, columnsFor, first, fromNow, likeLiteral, pageValues, scopeValue } from './sql.ts';

export interface ReviewFilter {
  readonly state?: ReviewState;
  readonly category?: Category;
  readonly repository?: string;
  readonly fingerprint?: string;
  /** Words that must occur in why it is here. */
  readonly why?: string;
  /**
   * True to list only items decided since midnight UTC, newest decision first, independent of the requested
   * order.
   */
  readonly decidedToday?: true;
  /** The repositories to include: `owner/name`, or `owner/*`. */
  readonly repositories?: readonly string[];
}

/** `risk`: see `computeRisk`; `age`: oldest first; `confidence`: least sure first. */
export type ReviewSort = 'risk' | 'age' | 'confidence';

/** Items of one fingerprint in one repository, shown as one. */
export interface ReviewGroup {
  readonly review: Review;
  /** The number of undecided items, including the one that is shown. */
  readonly count: number;
}

interface NextQuery {
  readonly reviewer: string;
  readonly claimMs: number;
  /** Milliseconds for which a skipped item is not offered to the reviewer again. */
  readonly skippedMs: number;
  /** The id of the item that the reviewer comes from; it is left out. */
  readonly after?: string;
  readonly sort?: ReviewSort;
}

/** A claim that ran out: the item reads as waiting. Judged by the database's clock. */
const EXPIRED = `(r.state = 'claimed' and r.claim_expires_at <= clock_timestamp())`;

/**
 * Returns SQL for a column of the claim; null if the claim has expired. `REVIEW` has all columns except the
 * decision, which each query adds.
 */
const HELD = (column: string) => `case when ${EXPIRED} then null else r.${column} end`;
const REVIEW = columnsFor(Review.omit({ decision: true }), 'r', {
  state: `case when ${EXPIRED} then 'waiting' else r.state end`,
  claimedBy: HELD('claimed_by'),
  claimedAt: HELD('claimed_at'),
  claimExpiresAt: HELD('claim_expires_at'),
});

const STORED = `select ${REVIEW}, d.body as decision from reviews r
  left join decisions d on d.review_id = r.id`;

/**
 * Returns SQL for the condition that the reviewer in `parameter` may claim the item, because no other
 * reviewer holds it.
 */
const FREE_FOR = (parameter: string) =>
  `(r.state = 'waiting' or (r.state = 'claimed' and r.claimed_by = ${parameter}) or ${EXPIRED})`;

/**
 * Returns SQL that changes a review (available as `changed`) and logs its event, to be followed by a select
 * of the changed review.
 */
function changeWithEvent(
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

const HOLD = `state = 'claimed', claimed_by = $2::text, version = version + 1,
  claimed_at = case when r.state = 'claimed' and r.claimed_by = $2::text
    and not ${EXPIRED} then coalesce(r.claimed_at, clock_timestamp())
    else clock_timestamp() end,
  claim_expires_at = ${fromNow('$3')}`;

/** $1: review, $2: reviewer, $3: for how many milliseconds. */
const CLAIM = `
  ${changeWithEvent(
    `update reviews r set ${HOLD} where r.id = $1 and ${FREE_FOR('$2::text')}`,
    'claimed',
    '$2::text',
    `jsonb_build_object('expiresAt', r.claim_expires_at)`,
  )}
  select ${REVIEW}, null as decision from changed r`;

/** SQL like `CLAIM`, but also for an item that another reviewer holds. */
const TAKE_OVER = `
  ${changeWithEvent(
    `update reviews r set ${HOLD} where r.id = $1 and r.state <> 'decided'`,
    'claimed',
    '$2::text',
    `jsonb_build_object('expiresAt', r.claim_expires_at, 'takenOver', true)`,
  )}
  select ${REVIEW}, null as decision from changed r`;

/** The name under which the service opens reviews, in the audit trail. */
const MACHINE = 'faultline';

export type ReviewStore = ReturnType<typeof createReviewStore>;

/**
 * Creates the store of the review queue. Each change and its audit event are one statement, so that neither
 * ever exists without the other. An expired claim reads as waiting; claims are judged by the database's
 * clock.
 */
export function createReviewStore(db: Database) {
  return {
    ...queueMethods(db),
    ...decisionMethods(db),

    /** Opens the review of an analysis; there is one: a second call returns the first. */
    open: async (review: NewReview, sql: Sql = db) => {
      const stored =
        (await first(sql, Review, OPEN, openValues(review))) ??
        (await first(sql, Review, FIND_BY_ANALYSIS, [review.analysisId]));
      if (stored === null)
        throw new TriageError('conflict', `The id ${review.id} belongs to the review of another analysis`);
      return stored;
    },

    find: async (id: string, sql: Sql = db) => await first(sql, Review, FIND, [id]),
    /** Finds the review of this analysis; null if there is none. */
    findByAnalysis: async (analysisId: string, sql: Sql = db) =>
      await first(sql, Review, FIND_BY_ANALYSIS, [analysisId]),
    /**
     * Holds the item for one reviewer until the claim expires. Returns null if another reviewer holds it or
     * it is decided.
     */
    claim: async (id: string, reviewer: string, claimMs: number) =>
      await first(db, Review, CLAIM, [id, reviewer, claimMs]),
    /** Takes an item over, also from another reviewer who holds it; null if it is decided. */
    takeOver: async (id: string, reviewer: string, claimMs: number) =>
      await first(db, Review, TAKE_OVER, [id, reviewer, claimMs]),
    /** Gives the item back. Returns null if this reviewer does not hold it. */
    release: async (id: string, reviewer: string) => await first(db, Review, RELEASE, [id, reviewer]),
    /**
     * Puts an undecided item aside for this reviewer, and gives it back if this reviewer holds it. Returns
     * null if it is decided or not stored.
     */
    skip: async (id: string, reviewer: string) => await first(db, Review, SKIP, [id, reviewer]),
    /**
     * Stores the decision if the item is undecided, not held by another reviewer, and `version` is current;
     * otherwise returns null.
     */
    decide: async (id: string, version: number, decision: Decision, sql: Sql = db) =>
      await first(sql, Review, DECIDE, decideValues(id, version, decision)),
    events: async (id: string) => await all(db, ReviewEvent, EVENTS, [id]),
  };
}

function openValues(review: NewReview): unknown[] {
  return [
    review.id,
    review.analysisId,
    review.buildId,
    review.repository,
    review.title,
    review.category,
    review.confidence,
    review.why,
    review.openedAt,
    MACHINE,
    review.risk ?? 1,
    review.origin ?? 'unsure',
  ];
}

function decideValues(id: string, version: number, decision: Decision): unknown[] {
  const stored = { ...decision, reviewId: id };
  return [
    id,
    version,
    decision.reviewer,
    decision.id,
    decision.type,
    decision.category ?? null,
    stored,
    decision.decidedAt,
  ];
}

const FIND = `${STORED} where r.id = $1`;

const FIND_BY_ANALYSIS = `${STORED} where r.analysis_id = $1`;

const OPEN = `
  ${changeWithEvent(
    `insert into reviews as r (id, analysis_id, build_id, repository, title, category, confidence, why, state,
      opened_at, risk, origin)
     values ($1, $2, $3, $4, $5, $6, $7, $8, 'waiting', $9, $11, $12) on conflict do nothing`,
    'opened',
    '$10::text',
    `jsonb_build_object('why', r.why, 'confidence', r.confidence, 'origin', r.origin)`,
  )}
  select ${REVIEW}, null as decision from changed r`;

const LET_GO =
  "state = 'waiting', claimed_by = null, claimed_at = null, claim_expires_at = null, version = " +
  'version + 1';

const RELEASE = `
  ${changeWithEvent(
    `update reviews r set ${LET_GO} where r.id = $1 and r.state = 'claimed' and r.claimed_by = $2
        and not ${EXPIRED}`,
    'released',
    '$2::text',
    `'{}'::jsonb`,
  )}
  select ${REVIEW}, null as decision from changed r`;

// Skipping what another holds is remembered, and takes nothing away from the holder.
const SKIP = `
  with found as (select r.id from reviews r where r.id = $1 and r.state <> 'decided'),
    skipped as (
      insert into review_skips (review_id, reviewer) select id, $2::text from found
      on conflict (review_id, reviewer) do update set skipped_at = clock_timestamp()
    ),
    changed as (update reviews r set ${LET_GO} where r.id = $1 and r.state = 'claimed'
      and r.claimed_by = $2::text returning r.*),
    logged as (insert into review_events (review_id, event, actor, details) select id, 'skipped', $2::text,
      '{}'::jsonb from found),
    now as (select * from changed union all select * from reviews
      where id in (select id from found) and id not in (select id from changed))
  select ${REVIEW}, null as decision from now r`;

const DECIDE = `
  ${changeWithEvent(
    `update reviews r set state = 'decided', claimed_by = null, claimed_at = null, claim_expires_at = null,
        version = version + 1
     where r.id = $1 and r.version = $2 and ${FREE_FOR('$3')}`,
    'decided',
    '$3::text',
    '$7::jsonb',
  )},
  decided as (
    insert into decisions (id, review_id, analysis_id, type, category, reviewer, body, decided_at)
    select $4, r.id, r.analysis_id, $5, $6, $3, $7::jsonb, $8 from changed r
    returning body
  )
  select ${REVIEW}, (select body from decided) as decision from changed r`;

const EVENTS = `
  select review_id as "reviewId", event, actor, at, details from review_events where review_id = $1
  order by id`;

/**
 * Candidates that are tried before the next page of them is requested: as many reviewers may press the key at
 * once.
 */
const TRIES = 20;
const MAX_PAGES = 5;

/**
 * Creates the methods that list items and pick the next one. Queries for undecided items contain that
 * condition literally, so that partial indexes apply.
 */
function queueMethods(db: Database) {
  return {
    /**
     * Lists items in the order of `sort`. Risk orders only waiting or claimed items; all others are then
     * listed by age. Items decided today are always listed by decision, newest first.
     */
    list: async (filter: ReviewFilter, page: Page, sort: ReviewSort = 'age') => {
      const values = [...filterValues(filter), ...pageValues(page)];
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
      const rows = await db.query(groupsText(sort), [...filterValues(filter), ...pageValues(page)]);
      return rows.map((row) => {
        const { count } = Count.parse(row);
        return { review: Review.parse(row), count };
      });
    },
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
     * Claims the first item that this reviewer may have. Several reviewers at once each get a different item.
     * Returns null if there is none.
     */
    next: async (
      filter: Omit<ReviewFilter, 'state'>,
      { reviewer, claimMs, skippedMs, after, sort = 'risk' }: NextQuery,
    ) => {
      for (let page = 0; page < MAX_PAGES; page++) {
        const values = [...filterValues(filter), TRIES, page * TRIES, reviewer, skippedMs, after ?? null];
        const ids = await db.query<{ id: string }>(nextText(sort), values);
        for (const { id } of ids) {
          const claimed = await first(db, Review, CLAIM, [id, reviewer, claimMs]);
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
  const words = why === undefined ? null : `%${likeLiteral(why)}%`;
  return [category ?? null, repository ?? null, fingerprint ?? null, words, scopeValue(repositories)];
}

/** SQL for the filter of every list, with the values $1 to $5. */
const MATCHES = `($1::text is null or r.category = $1) and ($2::text is null or r.repository = $2)
  and ($3::text is null or r.fingerprint = $3)
  and ($4::text is null or array_to_string(r.why, ' · ') ilike $4)
  and ($5::text[] is null or r.repository like any($5))`;

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
function inOrder(sort: ReviewSort, where: string, limit: string, offset: string): string {
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
  return `select ${REVIEW}, null as decision from ${inOrder(wanted, where, '$6::int', '$7::int')}
    order by ${ORDERS[wanted]}`;
}

/**
 * This limits the items that are examined for groups; a reviewer with more waiting items starts at the top in
 * any case.
 */
const MAX_GROUPED = 2_000;

/**
 * Returns SQL for the first item of each group among the first items in order. The count includes all items
 * of the group.
 */
function groupsText(sort: ReviewSort): string {
  const where = `r.state <> 'decided' and ${MATCHES}`;
  return `with first as (
      select r.id, row_number() over (order by ${ORDERS[sort]}) as place,
        row_number() over (partition by r.repository, r.fingerprint order by ${ORDERS[sort]}) as nth
      from ${inOrder(sort, where, `${MAX_GROUPED}`, '0')}
    ), shown as (select id, place from first where nth = 1 order by place limit $6::int offset $7::int)
    select ${REVIEW}, null as decision, (
      select count(*)::int from reviews o where o.repository = r.repository and o.fingerprint = r.fingerprint
        and o.state <> 'decided'
    ) as count
    from shown join reviews r on r.id = shown.id order by shown.place`;
}

function nextText(sort: ReviewSort): string {
  const where = `r.state <> 'decided' and ${MATCHES} and ${FREE_FOR('$8::text')}
      and r.id is distinct from $10::text
    and not exists (select from review_skips s where s.review_id = r.id and s.reviewer = $8::text
      and s.skipped_at > clock_timestamp() - $9::float8 * interval '1 millisecond')`;
  return `select r.id from ${inOrder(sort, where, '$6::int', '$7::int')} order by ${ORDERS[sort]}`;
}

const SAME = `
  select ${REVIEW} from reviews base
  join reviews r on r.repository = base.repository and r.fingerprint = base.fingerprint
    and r.state <> 'decided' and r.id <> base.id
  where base.id = $1 and ${FREE_FOR('$2::text')}
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

/** Creates the methods for decisions and undone decisions. */
function decisionMethods(db: Database) {
  return {
    /**
     * Takes a standing decision back, so that the item waits again. Returns null if the decision no longer
     * stands.
     */
    undo: async ({ id, reviewId }: Pick<Decision, 'id' | 'reviewId'>, by: string, sql: Sql = db) =>
      await first(sql, Review, UNDO, [reviewId, by, id]),
    /** Lists the standing decisions of a batch, in the order of their reviews' ids. */
    batch: async (batchId: string, sql: Sql = db) =>
      (await sql.query<{ body: unknown }>(BATCH, [batchId])).map(({ body }) => Decision.parse(body)),
    /** Returns the newest standing decision of a reviewer; null if there is none. */
    lastDecision: async (reviewer: string, { repositories }: Pick<ReviewFilter, 'repositories'> = {}) => {
      const [row] = await db.query<{ body: unknown }>(LAST, [reviewer, scopeValue(repositories)]);
      return row === undefined ? null : Decision.parse(row.body);
    },
    /**
     * Returns the last decision on this review that was taken back, and who took it back; null if there is
     * none.
     */
    lastUndone: async (reviewId: string, sql: Sql = db) => {
      const [row] = await sql.query<{ body: unknown; by: string; at: string | Date }>(LAST_UNDONE, [
        reviewId,
      ]);
      return row === undefined
        ? null
        : { decision: Decision.parse(row.body), by: row.by, at: new Date(row.at).toISOString() };
    },
  };
}

// Only the transaction that moves the decision away changes the review. If two take it back at once, one
// finds nothing.
const UNDO = `
  with gone as (delete from decisions where id = $3 and review_id = $1 returning *),
  kept as (
    insert into decisions_undone (id, review_id, analysis_id, type, category, reviewer, body, decided_at,
      undone_by)
    select id, review_id, analysis_id, type, category, reviewer, body, decided_at, $2::text from gone
  ),
  ${changeWithEvent(
    `update reviews r set state = 'waiting', claimed_by = null, claimed_at = null, claim_expires_at = null,
        version = version + 1
     where r.id in (select review_id from gone) and r.state = 'decided'`,
    'undone',
    '$2::text',
    `jsonb_build_object('decision', (select body from gone))`,
  ).replace(/^with /, '')}
  select ${REVIEW}, null as decision from changed r`;

const BATCH = `select body from decisions where body ? 'batchId' and body ->> 'batchId' = $1
  order by review_id`;

const LAST = `
  select d.body from decisions d
  where d.reviewer = $1
    and ($2::text[] is null or exists (select from reviews r
      where r.id = d.review_id and r.repository like any($2)))
  order by d.decided_at desc, d.id desc limit 1`;

const LAST_UNDONE = `
  select body, undone_by as by, undone_at as at from decisions_undone where review_id = $1
  order by undone_at desc, id desc limit 1`;
