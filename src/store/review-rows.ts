import { Review, type ReviewEvent } from '../domain/review.ts';
import type { Sql } from '../ports/database.ts';

/** A claim that ran out: the item reads as waiting. Judged by the database's clock. */
export const EXPIRED = `(r.state = 'claimed' and r.claim_expires_at <= clock_timestamp())`;

/** What a review shows of itself; the decision is added by who selects. */
export const REVIEW = `r.id, r.analysis_id as "analysisId", r.build_id as "buildId", r.repository, r.title, r.category, r.kind, r.fingerprint,
  r.pull_request as "pullRequest", r.risk, r.origin, r.confidence, r.why,
  case when ${EXPIRED} then 'waiting' else r.state end as state,
  case when ${EXPIRED} then null else r.claimed_by end as "claimedBy",
  case when ${EXPIRED} then null else r.claimed_at end as "claimedAt",
  case when ${EXPIRED} then null else r.claim_expires_at end as "claimExpiresAt",
  r.version, r.opened_at as "openedAt"`;

export const STORED = `select ${REVIEW}, d.body as decision from reviews r left join decisions d on d.review_id = r.id`;

/** Nobody else holds it, so that the reviewer of `parameter` may have it. */
export const FREE_FOR = (parameter: string) =>
  `(r.state = 'waiting' or (r.state = 'claimed' and r.claimed_by = ${parameter}) or ${EXPIRED})`;

/** A changed review (`changed`), its event, and the review as it is afterwards. */
export function changeWithEvent(change: string, event: ReviewEvent['event'], actor: string, details: string): string {
  return `with changed as (${change} returning r.*),
    logged as (
      insert into review_events (review_id, event, actor, details) select r.id, '${event}', ${actor}, ${details} from changed r
    )`;
}

const HOLD = `state = 'claimed', claimed_by = $2::text, version = version + 1,
  claimed_at = case when r.state = 'claimed' and r.claimed_by = $2::text and not ${EXPIRED} then coalesce(r.claimed_at, clock_timestamp())
    else clock_timestamp() end,
  claim_expires_at = clock_timestamp() + $3::float8 * interval '1 millisecond'`;

/** $1: review, $2: reviewer, $3: for how many milliseconds. */
export const CLAIM = `
  ${changeWithEvent(
    `update reviews r set ${HOLD} where r.id = $1 and ${FREE_FOR('$2::text')}`,
    'claimed',
    '$2::text',
    `jsonb_build_object('expiresAt', r.claim_expires_at)`,
  )}
  select ${REVIEW}, null as decision from changed r`;

/** The same, whoever holds it. */
export const TAKE_OVER = `
  ${changeWithEvent(
    `update reviews r set ${HOLD} where r.id = $1 and r.state <> 'decided'`,
    'claimed',
    '$2::text',
    `jsonb_build_object('expiresAt', r.claim_expires_at, 'takenOver', true)`,
  )}
  select ${REVIEW}, null as decision from changed r`;

/** The first row as a review, or null. */
export async function firstReview(sql: Sql, text: string, values: readonly unknown[]): Promise<Review | null> {
  const [row] = await sql.query(text, values);
  return row === undefined ? null : Review.parse(row);
}
