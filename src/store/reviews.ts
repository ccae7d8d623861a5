import { TriageError } from '../domain/errors.ts';
import { type Decision, type NewReview, ReviewEvent } from '../domain/review.ts';
import type { Database } from '../ports/database.ts';
import type { ReviewStore } from '../ports/reviews.ts';
import { decisionMethods } from './review-decisions.ts';
import { queueMethods } from './review-queue.ts';
import { CLAIM, changeWithEvent, EXPIRED, FREE_FOR, firstReview as first, REVIEW, STORED, TAKE_OVER } from './review-rows.ts';

/** Who opened the review, in the audit trail. */
const MACHINE = 'faultline';

/**
 * The review queue. Each change and its audit event are one statement, so that neither is ever there without the other.
 * A claim that ran out reads as waiting; claims are judged by the database's clock.
 */
export function createReviewStore(db: Database): ReviewStore {
  return {
    ...queueMethods(db),
    ...decisionMethods(db),

    open: async (review, sql = db) => {
      const stored = (await first(sql, OPEN, openValues(review))) ?? (await first(sql, FIND_BY_ANALYSIS, [review.analysisId]));
      if (stored === null) throw new TriageError('conflict', `The id ${review.id} belongs to the review of another analysis`);
      return stored;
    },

    find: async (id, sql = db) => await first(sql, FIND, [id]),
    findByAnalysis: async (analysisId, sql = db) => await first(sql, FIND_BY_ANALYSIS, [analysisId]),
    claim: async (id, reviewer, claimMs) => await first(db, CLAIM, [id, reviewer, claimMs]),
    takeOver: async (id, reviewer, claimMs) => await first(db, TAKE_OVER, [id, reviewer, claimMs]),
    release: async (id, reviewer) => await first(db, RELEASE, [id, reviewer]),
    skip: async (id, reviewer) => await first(db, SKIP, [id, reviewer]),
    decide: async (id, version, decision, sql = db) => await first(sql, DECIDE, decideValues(id, version, decision)),
    events: async (id) => (await db.query(EVENTS, [id])).map((row) => ReviewEvent.parse(row)),
  };
}

function openValues(review: NewReview): unknown[] {
  return [
    ...[review.id, review.analysisId, review.buildId, review.repository, review.title, review.category, review.confidence],
    ...[review.why, review.openedAt, MACHINE, review.risk ?? 1, review.origin ?? 'unsure'],
  ];
}

function decideValues(id: string, version: number, decision: Decision): unknown[] {
  const stored = { ...decision, reviewId: id };
  return [id, version, decision.reviewer, decision.id, decision.type, decision.category ?? null, stored, decision.decidedAt];
}

const FIND = `${STORED} where r.id = $1`;

const FIND_BY_ANALYSIS = `${STORED} where r.analysis_id = $1`;

const OPEN = `
  ${changeWithEvent(
    `insert into reviews as r (id, analysis_id, build_id, repository, title, category, confidence, why, state, opened_at, risk, origin)
     values ($1, $2, $3, $4, $5, $6, $7, $8, 'waiting', $9, $11, $12) on conflict do nothing`,
    'opened',
    '$10::text',
    `jsonb_build_object('why', r.why, 'confidence', r.confidence, 'origin', r.origin)`,
  )}
  select ${REVIEW}, null as decision from changed r`;

const LET_GO = `state = 'waiting', claimed_by = null, claimed_at = null, claim_expires_at = null, version = version + 1`;

const RELEASE = `
  ${changeWithEvent(
    `update reviews r set ${LET_GO} where r.id = $1 and r.state = 'claimed' and r.claimed_by = $2 and not ${EXPIRED}`,
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
    changed as (update reviews r set ${LET_GO} where r.id = $1 and r.state = 'claimed' and r.claimed_by = $2::text returning r.*),
    logged as (insert into review_events (review_id, event, actor, details) select id, 'skipped', $2::text, '{}'::jsonb from found),
    now as (select * from changed union all select * from reviews where id in (select id from found) and id not in (select id from changed))
  select ${REVIEW}, null as decision from now r`;

const DECIDE = `
  ${changeWithEvent(
    `update reviews r set state = 'decided', claimed_by = null, claimed_at = null, claim_expires_at = null, version = version + 1
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
  select review_id as "reviewId", event, actor, at, details from review_events where review_id = $1 order by id`;
