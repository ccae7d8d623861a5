import { TriageError } from '../domain/errors.ts';
import { ReviewerQuestion } from '../domain/review.ts';
import type { Database } from '../ports/database.ts';
import type { QuestionStore } from '../ports/reviews.ts';
import { pageValues } from './page.ts';
import { scopeValue } from './scope.ts';

/** Who asks, in the audit trail. */
const MACHINE = 'faultline';

/**
 * Questions to people. Closing one (answered or expired) and waking the build that waits for it are one statement, so that
 * neither is ever there without the other. Deadlines are judged by the database's clock.
 */
export function createQuestionStore(db: Database): QuestionStore {
  const first = async (text: string, values: readonly unknown[]) => {
    const [row] = await db.query(text, values);
    return row === undefined ? null : ReviewerQuestion.parse({ ...row, kind: 'question' });
  };
  return {
    ask: async (question, waitMs) => {
      const { id, triageId, buildId, repository, title, category, question: text, openedAt } = question;
      const asked = await first(ASK, [id, triageId, buildId, repository, title, category, text, openedAt, waitMs, MACHINE]);
      const stored = asked ?? (await first(`${STORED} where triage_id = $1`, [triageId]));
      if (stored === null) throw new TriageError('conflict', `The id ${id} belongs to the question of another triage`);
      return stored;
    },
    find: async (id) => await first(`${STORED} where id = $1`, [id]),
    findByTriage: async (triageId) => await first(`${STORED} where triage_id = $1`, [triageId]),
    list: async (filter, page) => {
      const values = [
        filter.state ?? null,
        filter.category ?? null,
        filter.repository ?? null,
        ...pageValues(page),
        scopeValue(filter.repositories),
      ];
      return (await db.query(LIST, values)).map((row) => ReviewerQuestion.parse({ ...row, kind: 'question' }));
    },
    answer: async (id, answer, by) => {
      const [row] = await db.query<{ job: string | null }>(ANSWER, [id, answer, by]);
      if (row === undefined) return null;
      const { job, ...question } = row;
      return { question: ReviewerQuestion.parse({ ...question, kind: 'question' }), jobId: job };
    },
    expire: async () => (await db.query<{ job: string }>(EXPIRE, [MACHINE])).map((row) => row.job),
  };
}

const QUESTION = `q.id, q.triage_id as "triageId", q.build_id as "buildId", q.repository, q.title, q.category, q.question, q.state,
  q.answer, q.answered_by as "answeredBy", q.answered_at as "answeredAt", q.opened_at as "openedAt", q.expires_at as "expiresAt"`;

const STORED = `select ${QUESTION} from reviewer_questions q`;

// Oldest first: a queue.
const LIST = `${STORED}
  where ($1::text is null or q.state = $1) and ($2::text is null or q.category = $2) and ($3::text is null or q.repository = $3)
    and ($6::text[] is null or q.repository like any($6))
  order by q.opened_at, q.id limit $4 offset $5`;

const ASK = `
  with q as (
    insert into reviewer_questions (id, triage_id, build_id, repository, title, category, question, state, opened_at, expires_at)
    values ($1, $2, $3, $4, $5, $6, $7, 'waiting', $8, clock_timestamp() + $9::float8 * interval '1 millisecond')
    on conflict do nothing returning *
  ), logged as (
    insert into review_events (review_id, event, actor, details)
    select q.id, 'asked', $10::text, jsonb_build_object('question', q.question) from q
  )
  select ${QUESTION} from q`;

/** The build is owed once more, without new logs: what was fetched stays all there is. */
const WOKEN = `update triage_jobs j set
    owed = owed + 1, fetched = case when fetched >= owed then owed + 1 else fetched end,
    state = case when state = 'running' then 'running' else 'queued' end,
    attempts = case when state = 'running' then attempts else 0 end,
    retries = case when state = 'running' then retries else 0 end,
    not_before = null, error = null, updated_at = clock_timestamp()
  where j.build_id in (select build_id from q) returning j.id, j.build_id`;

const ANSWER = `
  with q as (
    update reviewer_questions set state = 'answered', answer = $2, answered_by = $3, answered_at = clock_timestamp()
    where id = $1 and state = 'waiting' returning *
  ), logged as (
    insert into review_events (review_id, event, actor, details)
    select q.id, 'answered', $3::text, jsonb_build_object('answer', q.answer) from q
  ), woken as (${WOKEN})
  select ${QUESTION}, (select w.id from woken w) as job from q`;

const EXPIRE = `
  with q as (
    update reviewer_questions set state = 'expired'
    where state = 'waiting' and expires_at <= clock_timestamp() returning *
  ), logged as (
    insert into review_events (review_id, event, actor, details) select q.id, 'expired', $1::text, '{}'::jsonb from q
  ), woken as (${WOKEN})
  select w.id as job from woken w`;
