import { TriageError } from '../domain/errors.ts';
import { type Decision, Review, ReviewEvent } from '../domain/review.ts';
import type { Database, Sql } from '../ports/database.ts';
import type { ReviewStore } from '../ports/stores.ts';
import { pageValues } from './page.ts';
import { scopeValue } from './scope.ts';

/** Who opened the review, in the audit trail. */
const MACHINE = 'faultline';

/**
 * The review queue. Each change and its audit event are one statement, so that neither is ever there without the other.
 * A claim that ran out reads as waiting; claims are judged by the database's clock.
 */
export function createReviewStore(db: Database): ReviewStore {
  const first = async (sql: Sql, text: string, values: readonly unknown[]) => {
    const [row] = await sql.query(text, values);
    return row === undefined ? null : Review.parse(row);
  };

  return {
    open: async (review, sql = db) => {
      const opened = await first(sql, OPEN, [
        ...[review.id, review.analysisId, review.buildId, review.repository, review.title, review.category, review.confidence],
        ...[review.why, review.openedAt, MACHINE],
      ]);
      const stored = opened ?? (await first(sql, FIND_BY_ANALYSIS, [review.analysisId]));
      if (stored === null) throw new TriageError('conflict', `The id ${review.id} belongs to the review of another analysis`);
      return stored;
    },

    find: async (id) => await first(db, FIND, [id]),

    list: async (filter, page) => {
      const values = [
        filter.state ?? null,
        filter.category ?? null,
        filter.repository ?? null,
        ...pageValues(page),
        scopeValue(filter.repositories),
      ];
      return (await db.query(LIST, values)).map((row) => Review.parse(row));
    },

    claim: async (id, reviewer, claimMs) => await first(db, CLAIM, [id, reviewer, claimMs]),
    release: async (id, reviewer) => await first(db, RELEASE, [id, reviewer]),
    decide: async (id, version, decision, sql = db) => await first(sql, DECIDE, decideValues(id, version, decision)),

    events: async (id) => (await db.query(EVENTS, [id])).map((row) => ReviewEvent.parse(row)),
  };
}

function decideValues(id: string, version: number, decision: Decision): unknown[] {
  const stored = { ...decision, reviewId: id };
  return [id, version, decision.reviewer, decision.id, decision.type, decision.category ?? null, stored, decision.decidedAt];
}

const EXPIRED = `(r.state = 'claimed' and r.claim_expires_at <= clock_timestamp())`;

const STATE = `case when ${EXPIRED} then 'waiting' else r.state end`;

const REVIEW = `r.id, r.analysis_id as "analysisId", r.build_id as "buildId", r.repository, r.title, r.category, r.confidence, r.why,
  ${STATE} as state,
  case when ${EXPIRED} then null else r.claimed_by end as "claimedBy",
  case when ${EXPIRED} then null else r.claim_expires_at end as "claimExpiresAt",
  r.version, r.opened_at as "openedAt"`;

const STORED = `select ${REVIEW}, d.body as decision from reviews r left join decisions d on d.review_id = r.id`;

const FIND = `${STORED} where r.id = $1`;

const FIND_BY_ANALYSIS = `${STORED} where r.analysis_id = $1`;

/** The stored states that may read as the one that is asked for: a condition that an index can answer. */
const STORED_STATES = `case when $1 = 'waiting' then array['waiting', 'claimed'] else array[$1] end`;

const READS_AS = `case $1 when 'waiting' then r.state = 'waiting' or ${EXPIRED} when 'claimed' then not ${EXPIRED} else true end`;

// Oldest first: a queue.
const LIST = `${STORED}
  where ($1::text is null or (r.state = any(${STORED_STATES}) and ${READS_AS})) and ($2::text is null or r.category = $2) and ($3::text is null or r.repository = $3)
    and ($6::text[] is null or r.repository like any($6))
  order by r.opened_at, r.id limit $4 offset $5`;

/** A changed review (`changed`), its event, and the review as it is afterwards. */
function changeWithEvent(change: string, event: ReviewEvent['event'], actor: string, details: string): string {
  return `with changed as (${change} returning r.*),
    logged as (
      insert into review_events (review_id, event, actor, details) select r.id, '${event}', ${actor}, ${details} from changed r
    )`;
}

const OPEN = `
  ${changeWithEvent(
    `insert into reviews as r (id, analysis_id, build_id, repository, title, category, confidence, why, state, opened_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, 'waiting', $9) on conflict do nothing`,
    'opened',
    '$10::text',
    `jsonb_build_object('why', r.why, 'confidence', r.confidence)`,
  )}
  select ${REVIEW}, null as decision from changed r`;

const CLAIM = `
  ${changeWithEvent(
    `update reviews r set state = 'claimed', claimed_by = $2, version = version + 1,
       claim_expires_at = clock_timestamp() + $3::float8 * interval '1 millisecond'
     where r.id = $1 and (r.state = 'waiting' or (r.state = 'claimed' and r.claimed_by = $2) or ${EXPIRED})`,
    'claimed',
    '$2::text',
    `jsonb_build_object('expiresAt', r.claim_expires_at)`,
  )}
  select ${REVIEW}, null as decision from changed r`;

const RELEASE = `
  ${changeWithEvent(
    `update reviews r set state = 'waiting', claimed_by = null, claim_expires_at = null, version = version + 1
     where r.id = $1 and r.state = 'claimed' and r.claimed_by = $2 and not ${EXPIRED}`,
    'released',
    '$2::text',
    `'{}'::jsonb`,
  )}
  select ${REVIEW}, null as decision from changed r`;

const DECIDE = `
  ${changeWithEvent(
    `update reviews r set state = 'decided', claimed_by = null, claim_expires_at = null, version = version + 1
     where r.id = $1 and r.version = $2 and (r.state = 'waiting' or (r.state = 'claimed' and r.claimed_by = $3) or ${EXPIRED})`,
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
