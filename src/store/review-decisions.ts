import { Category } from '../domain/category.ts';
import { Decision } from '../domain/review.ts';
import type { Database } from '../ports/database.ts';
import type { ReviewStore } from '../ports/reviews.ts';
import { changeWithEvent, firstReview, REVIEW } from './review-rows.ts';
import { scopeValue } from './scope.ts';

type DecisionMethods = Pick<ReviewStore, 'undo' | 'batch' | 'lastDecision' | 'lastUndone' | 'guess' | 'guessOf'>;

/** What was decided, taken back, and guessed before the verdict was shown. */
export function decisionMethods(db: Database): DecisionMethods {
  return {
    undo: async ({ id, reviewId }, by, sql = db) => await firstReview(sql, UNDO, [reviewId, by, id]),
    batch: async (batchId, sql = db) => (await sql.query<{ body: unknown }>(BATCH, [batchId])).map(({ body }) => Decision.parse(body)),
    lastDecision: async (reviewer, { repositories } = {}) => {
      const [row] = await db.query<{ body: unknown }>(LAST, [reviewer, scopeValue(repositories)]);
      return row === undefined ? null : Decision.parse(row.body);
    },
    lastUndone: async (reviewId, sql = db) => {
      const [row] = await sql.query<{ body: unknown; by: string; at: string | Date }>(LAST_UNDONE, [reviewId]);
      return row === undefined ? null : { decision: Decision.parse(row.body), by: row.by, at: new Date(row.at).toISOString() };
    },
    guess: async (id, reviewer, category) => {
      await db.query(GUESS, [id, reviewer, category]);
      const [row] = await db.query<{ category: string }>(GUESS_OF, [id, reviewer]);
      return Category.parse(row?.category);
    },
    guessOf: async (id, reviewer, sql = db) => {
      const [row] = await sql.query<{ category: string }>(GUESS_OF, [id, reviewer]);
      return row === undefined ? null : Category.parse(row.category);
    },
  };
}

// Only who moves the decision away changes the review: of two that take it back at once, one finds nothing.
const UNDO = `
  with gone as (delete from decisions where id = $3 and review_id = $1 returning *),
  kept as (
    insert into decisions_undone (id, review_id, analysis_id, type, category, reviewer, body, decided_at, undone_by)
    select id, review_id, analysis_id, type, category, reviewer, body, decided_at, $2::text from gone
  ),
  ${changeWithEvent(
    `update reviews r set state = 'waiting', claimed_by = null, claimed_at = null, claim_expires_at = null, version = version + 1
     where r.id in (select review_id from gone) and r.state = 'decided'`,
    'undone',
    '$2::text',
    `jsonb_build_object('decision', (select body from gone))`,
  ).replace(/^with /, '')}
  select ${REVIEW}, null as decision from changed r`;

const BATCH = `select body from decisions where body ? 'batchId' and body ->> 'batchId' = $1 order by review_id`;

const LAST = `
  select d.body from decisions d
  where d.reviewer = $1
    and ($2::text[] is null or exists (select from reviews r where r.id = d.review_id and r.repository like any($2)))
  order by d.decided_at desc, d.id desc limit 1`;

const LAST_UNDONE = `
  select body, undone_by as by, undone_at as at from decisions_undone where review_id = $1 order by undone_at desc, id desc limit 1`;

const GUESS = `
  with said as (
    insert into review_guesses (review_id, reviewer, category) select r.id, $2::text, $3::text from reviews r where r.id = $1
    on conflict do nothing returning review_id, category
  )
  insert into review_events (review_id, event, actor, details)
  select review_id, 'guessed', $2::text, jsonb_build_object('category', category) from said`;

const GUESS_OF = `select category from review_guesses where review_id = $1 and reviewer = $2`;
