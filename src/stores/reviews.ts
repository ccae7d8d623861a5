import { TriageError } from '../domain/errors.ts';
import { type Decision, type NewReview, Review, ReviewEvent } from '../domain/review.ts';
import type { Database, Sql } from '../ports/database.ts';
import type { PublishedEventStore } from './published-events.ts';
import { createDecisionMethods } from './review-decisions.ts';
import {
  CLAIM,
  changeWithEvent,
  createQueueMethods,
  EXPIRED,
  HOLD,
  IS_CLAIMABLE_BY,
  REVIEW,
  STORED,
} from './review-queue.ts';
import { queryAll, queryFirst } from './sql.ts';

/** SQL like `CLAIM`, but also for an item that another reviewer holds. */
const TAKE_OVER = `
  ${changeWithEvent(
    `update reviews r set ${HOLD} where r.id = $1 and r.state <> 'decided'`,
    'claimed',
    '$2::text',
    `jsonb_build_object('expiresAt', r.claim_expires_at, 'takenOver', true)`,
  )}
  select ${REVIEW}, null as decision from changed r`;

/** The name of the service in the audit trail. */
const MACHINE = 'faultline';

/** Events that no channel asked for. */
const NO_EVENTS: Pick<PublishedEventStore, 'add'> = { add: async () => undefined };

export type ReviewStore = ReturnType<typeof createReviewStore>;

/**
 * Creates the store of the review queue. Each change and its audit event are one statement, so that neither
 * ever exists without the other. An expired claim reads as waiting; claims are judged by the database's
 * clock. Decisions are also published as events.
 */
export function createReviewStore(db: Database, events: Pick<PublishedEventStore, 'add'> = NO_EVENTS) {
  return {
    ...createQueueMethods(db),
    ...createDecisionMethods(db, events),

    /** Opens the review of an analysis. A second call returns the first review. */
    open: async (review: NewReview, sql: Sql = db) => {
      const stored =
        (await queryFirst(sql, Review, OPEN, openValues(review))) ??
        (await queryFirst(sql, Review, FIND_BY_ANALYSIS, [review.analysisId]));
      if (stored === null)
        throw new TriageError('conflict', `The id ${review.id} belongs to the review of another analysis`);
      return stored;
    },

    find: async (id: string, sql: Sql = db) => await queryFirst(sql, Review, FIND, [id]),
    /** Finds the review of this analysis; null if there is none. */
    findByAnalysis: async (analysisId: string, sql: Sql = db) =>
      await queryFirst(sql, Review, FIND_BY_ANALYSIS, [analysisId]),
    /**
     * Holds the item for one reviewer until the claim expires. Returns null if another reviewer holds it or
     * it is decided.
     */
    claim: async (id: string, reviewer: string, claimMs: number) =>
      await queryFirst(db, Review, CLAIM, [id, reviewer, claimMs]),
    /** Takes an item over, also from another reviewer who holds it; null if it is decided. */
    takeOver: async (id: string, reviewer: string, claimMs: number) =>
      await queryFirst(db, Review, TAKE_OVER, [id, reviewer, claimMs]),
    /** Releases the item. Returns null if this reviewer does not hold it. */
    release: async (id: string, reviewer: string) => await queryFirst(db, Review, RELEASE, [id, reviewer]),
    /**
     * Skips an undecided item for this reviewer, and releases it if they hold it. Returns null if it is
     * decided or not stored.
     */
    skip: async (id: string, reviewer: string) => await queryFirst(db, Review, SKIP, [id, reviewer]),
    /**
     * Stores the decision if the item is undecided, not held by another reviewer, and `version` is current;
     * otherwise returns null.
     */
    decide: async (id: string, version: number, decision: Decision, sql: Sql = db) => {
      const decided = await queryFirst(sql, Review, DECIDE, decideValues(id, version, decision));
      if (decided !== null)
        await events.add({ type: 'decision.made', decisionId: decision.id }, decided.buildId, sql);
      return decided;
    },
    events: async (id: string) => await queryAll(db, ReviewEvent, EVENTS, [id]),
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

// Skipping an item that another reviewer holds is recorded, and does not affect the holder.
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
     where r.id = $1 and r.version = $2 and ${IS_CLAIMABLE_BY('$3')}`,
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
