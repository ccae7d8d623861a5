import { Thread, Turn } from '../domain/conversation.ts';
import { TriageError } from '../domain/errors.ts';
import type { Database } from '../ports/database.ts';
import type { ConversationStore } from '../ports/reviews.ts';
import { pageValues } from './page.ts';
import { scopeValue } from './scope.ts';

const MAX_TURNS = 1_000;

/** Threads and their turns in the database. */
export function createConversationStore(db: Database): ConversationStore {
  return {
    find: async (id) => {
      const [row] = await db.query(`${THREAD} where c.id = $1`, [id]);
      return row === undefined ? null : Thread.parse(row);
    },
    list: async ({ analysisId, buildId, repositories }, page) => {
      const rows = await db.query(LIST, [analysisId ?? null, buildId ?? null, ...pageValues(page), scopeValue(repositories)]);
      return rows.map((row) => Thread.parse(row));
    },
    turns: async (threadId, limit) => {
      const rows = await db.query<{ body: unknown }>(TURNS, [threadId, Math.min(limit, MAX_TURNS)]);
      return rows.map(({ body }) => Turn.parse(body)).reverse();
    },
    append: async (thread, turn) =>
      await db.transaction(async (sql) => {
        const { id, analysisId, buildId, title, startedBy, startedAt } = thread;
        // The thread's row is held until the end, so that turns of one thread come one after the other.
        await sql.query(
          turn.position === 1 ? START : TOUCH,
          turn.position === 1 ? [id, analysisId, buildId, title, startedBy, startedAt, turn.askedAt] : [id, turn.askedAt],
        );
        const [added] = await sql.query(ADD, [id, turn.position, turn.askedBy, turn.askedAt, turn]);
        if (added === undefined)
          throw new TriageError('conflict', `Another question was asked in the thread ${id} in the meantime; ask again.`, {
            retryable: true,
          });
      }),
    remove: async (id) => (await db.query('delete from conversations where id = $1 returning id', [id])).length > 0,
  };
}

const THREAD = `
  select c.id, c.analysis_id as "analysisId", c.build_id as "buildId", c.title, c.started_by as "startedBy", c.started_at as "startedAt",
    c.last_asked_at as "lastAskedAt", (select count(*)::int from conversation_turns t where t.conversation_id = c.id) as turns
  from conversations c`;

const LIST = `${THREAD}
  where ($1::text is null or c.analysis_id = $1) and ($2::text is null or c.build_id = $2)
    and ($5::text[] is null or exists (select from builds b where b.id = c.build_id and b.repository like any($5)))
  order by c.last_asked_at desc, c.id desc limit $3 offset $4`;

const TURNS = `select body from conversation_turns where conversation_id = $1 order by position desc limit $2`;

const START = `
  insert into conversations (id, analysis_id, build_id, title, started_by, started_at, last_asked_at)
  values ($1, $2, $3, $4, $5, $6, $7) on conflict (id) do nothing`;

const TOUCH = `update conversations set last_asked_at = $2 where id = $1`;

// A thread that was deleted while it answered is not brought back.
const ADD = `
  insert into conversation_turns (conversation_id, position, asked_by, asked_at, body)
  select c.id, $2::int, $3, $4, $5::jsonb from conversations c where c.id = $1
  on conflict (conversation_id, position) do nothing
  returning position`;
