import type { Category } from '../domain/category.ts';
import { Thread, Turn } from '../domain/conversation.ts';
import { TriageError } from '../domain/errors.ts';
import { type QuestionState, ReviewerQuestion } from '../domain/review.ts';
import type { Database } from '../ports/database.ts';
import type { ConversationStore } from '../ports/stores.ts';
import { fromNow, listColumns, queryAll, queryFirst, scopeValue, toPageValues } from './sql.ts';
import { REQUEST_AGAIN } from './work.ts';

interface QuestionFilter {
  readonly state?: QuestionState;
  readonly category?: Category;
  readonly repository?: string;
  /** The repositories to include: `owner/name`, or `owner/*`. */
  readonly repositories?: readonly string[];
}

/** The name of the service in the audit trail. */
const MACHINE = 'faultline';

/** The store of questions that running triages ask people. */
export type QuestionStore = ReturnType<typeof createQuestionStore>;

/**
 * Creates the store of questions to people. Closing one (answered or expired) and requesting the triage of
 * its build are one statement, so that neither happens without the other. Deadlines are judged by the
 * database's clock.
 */
export function createQuestionStore(db: Database) {
  return {
    /**
     * Stores a question that waits for `waitMs`. A triage has one question: a second call returns the stored
     * one.
     */
    ask: async (
      question: Omit<
        ReviewerQuestion,
        'kind' | 'state' | 'answer' | 'answeredBy' | 'answeredAt' | 'expiresAt'
      >,
      waitMs: number,
    ) => {
      const { id, triageId, buildId, repository, title, category, question: text, openedAt } = question;
      const values = [id, triageId, buildId, repository, title, category, text, openedAt, waitMs, MACHINE];
      const asked = await queryFirst(db, ReviewerQuestion, ASK, values);
      const stored =
        asked ?? (await queryFirst(db, ReviewerQuestion, `${STORED} where triage_id = $1`, [triageId]));
      if (stored === null)
        throw new TriageError('conflict', `The id ${id} belongs to the question of another triage`);
      return stored;
    },
    find: async (id: string) => await queryFirst(db, ReviewerQuestion, `${STORED} where id = $1`, [id]),
    findByTriage: async (triageId: string) =>
      await queryFirst(db, ReviewerQuestion, `${STORED} where triage_id = $1`, [triageId]),
    /** Lists questions, oldest first. */
    list: async (filter: QuestionFilter, page: { readonly limit: number; readonly offset: number }) => {
      const { state, category, repository, repositories } = filter;
      const values = [
        state ?? null,
        category ?? null,
        repository ?? null,
        ...toPageValues(page),
        scopeValue(repositories),
      ];
      return await queryAll(db, ReviewerQuestion, LIST_QUESTIONS, values);
    },
    /**
     * Stores the answer and requests the build's triage; workers must then be woken. Returns null if the
     * question no longer waits.
     */
    answer: async (id: string, answer: string, by: string) =>
      await queryFirst(db, ReviewerQuestion, ANSWER, [id, answer, by]),
    /** Closes the questions that have waited too long. Returns the builds that this has triaged again. */
    expire: async () => (await db.query<{ key: string }>(EXPIRE, [MACHINE])).map(({ key }) => key),
  };
}

const QUESTION = listColumns(ReviewerQuestion, 'q', { kind: `'question'` });

const STORED = `select ${QUESTION} from reviewer_questions q`;

// The oldest question comes first.
const LIST_QUESTIONS = `${STORED}
  where ($1::text is null or q.state = $1) and ($2::text is null or q.category = $2)
    and ($3::text is null or q.repository = $3)
    and ($6::text[] is null or q.repository like any($6))
  order by q.opened_at, q.id limit $4 offset $5`;

const ASK = `
  with q as (
    insert into reviewer_questions (id, triage_id, build_id, repository, title, category, question, state,
      opened_at, expires_at)
    values ($1, $2, $3, $4, $5, $6, $7, 'waiting', $8, ${fromNow('$9')})
    on conflict do nothing returning *
  ), logged as (
    insert into review_events (review_id, event, actor, details)
    select q.id, 'asked', $10::text, jsonb_build_object('question', q.question) from q
  )
  select ${QUESTION} from q`;

/** SQL that requests the triage of the build again, without fetching logs. */
const WOKEN = `update work w set ${REQUEST_AGAIN('w')},
    result = case when (w.result->>'fetched')::int >= w.version
      then w.result || jsonb_build_object('fetched', w.version + 1) else w.result end
  where w.topic = 'triage' and w.key in (select build_id from q) returning w.key`;

const ANSWER = `
  with q as (
    update reviewer_questions set state = 'answered', answer = $2, answered_by = $3,
      answered_at = clock_timestamp()
    where id = $1 and state = 'waiting' returning *
  ), logged as (
    insert into review_events (review_id, event, actor, details)
    select q.id, 'answered', $3::text, jsonb_build_object('answer', q.answer) from q
  ), woken as (${WOKEN})
  select ${QUESTION} from q`;

const EXPIRE = `
  with q as (
    update reviewer_questions set state = 'expired'
    where state = 'waiting' and expires_at <= clock_timestamp() returning *
  ), logged as (
    insert into review_events (review_id, event, actor, details) select q.id, 'expired', $1::text, '{}'::jsonb
    from q
  ), woken as (${WOKEN})
  select key from woken`;

const MAX_TURNS = 1_000;

/** Creates the store of conversations and their turns. */
export function createConversationStore(db: Database): ConversationStore {
  return {
    find: async (id) => await queryFirst(db, Thread, `${THREAD} where c.id = $1`, [id]),
    list: async ({ analysisId, buildId, repositories }, page) =>
      await queryAll(db, Thread, LIST_CONVERSATIONS, [
        analysisId ?? null,
        buildId ?? null,
        ...toPageValues(page),
        scopeValue(repositories),
      ]),
    turns: async (threadId, limit) => {
      const rows = await db.query<{ body: unknown }>(TURNS, [threadId, Math.min(limit, MAX_TURNS)]);
      return rows.map(({ body }) => Turn.parse(body)).reverse();
    },
    append: async (thread, turn) =>
      await db.transaction(async (sql) => {
        const { id, analysisId, buildId, title, startedBy, startedAt } = thread;
        // The thread's row is locked until the end, so that turns of one thread are serialized.
        await sql.query(
          turn.position === 1 ? START : TOUCH,
          turn.position === 1
            ? [id, analysisId, buildId, title, startedBy, startedAt, turn.askedAt]
            : [id, turn.askedAt],
        );
        const [added] = await sql.query(ADD, [id, turn.position, turn.askedBy, turn.askedAt, turn]);
        if (added === undefined)
          throw new TriageError(
            'conflict',
            `Another question was asked in the thread ${id} in the meantime; ask again.`,
            {
              retryable: true,
            },
          );
      }),
    remove: async (id) =>
      (await db.query('delete from conversations where id = $1 returning id', [id])).length > 0,
  };
}

const TURNS_OF = '(select count(*)::int from conversation_turns t where t.conversation_id = c.id)';

const THREAD = `select ${listColumns(Thread, 'c', { turns: TURNS_OF })} from conversations c`;

const LIST_CONVERSATIONS = `${THREAD}
  where ($1::text is null or c.analysis_id = $1) and ($2::text is null or c.build_id = $2)
    and ($5::text[] is null or exists (select from builds b
      where b.id = c.build_id and b.repository like any($5)))
  order by c.last_asked_at desc, c.id desc limit $3 offset $4`;

const TURNS = `select body from conversation_turns where conversation_id = $1 order by position desc
  limit $2`;

const START = `
  insert into conversations (id, analysis_id, build_id, title, started_by, started_at, last_asked_at)
  values ($1, $2, $3, $4, $5, $6, $7) on conflict (id) do nothing`;

const TOUCH = `update conversations set last_asked_at = $2 where id = $1`;

// A thread that was deleted while it was being answered is not created again.
const ADD = `
  insert into conversation_turns (conversation_id, position, asked_by, asked_at, body)
  select c.id, $2::int, $3, $4, $5::jsonb from conversations c where c.id = $1
  on conflict (conversation_id, position) do nothing
  returning position`;
