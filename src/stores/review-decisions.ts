import { Decision, Review } from '../domain/review.ts';
import type { Database, Sql } from '../ports/database.ts';
import type { PublishedEventStore } from './published-events.ts';
import { changeWithEvent, REVIEW, type ReviewFilter } from './review-queue.ts';
import { queryFirst, scopeValue } from './sql.ts';

/** Creates the methods for decisions and undone decisions. */
export function createDecisionMethods(db: Database, events: Pick<PublishedEventStore, 'add'>) {
  return {
    /**
     * Undoes a standing decision, so that the item waits again. Returns null if the decision no longer
     * stands.
     */
    undo: async ({ id, reviewId }: Pick<Decision, 'id' | 'reviewId'>, by: string, sql: Sql = db) => {
      const undone = await queryFirst(sql, Review, UNDO, [reviewId, by, id]);
      if (undone !== null) await events.add({ type: 'decision.undone', decisionId: id }, undone.buildId, sql);
      return undone;
    },
    /** Lists the standing decisions of a batch, in the order of their reviews' ids. */
    batch: async (batchId: string, sql: Sql = db) =>
      (await sql.query<{ body: unknown }>(BATCH, [batchId])).map(({ body }) => Decision.parse(body)),
    /** Returns the newest standing decision of a reviewer; null if there is none. */
    lastDecision: async (reviewer: string, { repositories }: Pick<ReviewFilter, 'repositories'> = {}) => {
      const [row] = await db.query<{ body: unknown }>(LAST, [reviewer, scopeValue(repositories)]);
      return row === undefined ? null : Decision.parse(row.body);
    },
    /** Returns the last undone decision on this review, and who undid it; null if there is none. */
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

// Only the transaction that moves the decision changes the review. Of two concurrent calls, one finds
// nothing.
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
