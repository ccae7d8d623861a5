import { z } from 'zod';
import { RepositoryThread } from '../domain/ask-session.ts';
import { Turn } from '../domain/conversation.ts';
import { TriageError } from '../domain/errors.ts';
import type { Database, Page } from '../ports/database.ts';
import { inScope, listColumns, queryAll, queryFirst, scopeValue, toPageValues } from './sql.ts';

interface ThreadFilter {
  readonly repository?: string | undefined;
  /** The repositories to include: `owner/name`, or `owner/*`. */
  readonly repositories?: readonly string[];
}

/** The lines that a thread keeps besides its turns. */
const Remembered = z.object({ learned: z.array(z.string()), stack: z.array(z.string()) });
type Remembered = Readonly<z.infer<typeof Remembered>>;

const MAX_TURNS = 200;

export type RepositoryThreadStore = ReturnType<typeof createRepositoryThreadStore>;

/** Creates the store of questions about repositories. */
export function createRepositoryThreadStore(db: Database) {
  return {
    find: async (id: string) => await queryFirst(db, RepositoryThread, `${THREAD} where t.id = $1`, [id]),
    /** Lists threads, the newest question first. */
    list: async ({ repository, repositories }: ThreadFilter, page: Page) =>
      await queryAll(db, RepositoryThread, LIST, [
        repository ?? null,
        scopeValue(repositories),
        ...toPageValues(page),
      ]),
    /** Returns the last 200 turns of a thread, oldest first. */
    turns: async (id: string) => {
      const rows = await db.query<{ body: unknown }>(TURNS, [id, MAX_TURNS]);
      return rows.map(({ body }) => Turn.parse(body)).reverse();
    },
    /** Returns what a thread remembers; null for a thread that is not stored yet. */
    remembered: async (id: string) =>
      await queryFirst(db, Remembered, 'select learned, stack from repository_threads where id = $1', [id]),
    /**
     * Stores a turn, with its thread if it is the first. Throws `conflict` if another question took its place
     * or the thread was deleted.
     */
    append: async (thread: RepositoryThread, turn: Turn, { learned, stack }: Remembered) =>
      await db.transaction(async (sql) => {
        const { id, repository, title, startedBy, startedAt } = thread;
        const memory = [JSON.stringify(learned), JSON.stringify(stack)];
        if (turn.position === 1)
          await sql.query(START, [id, repository, title, startedBy, startedAt, turn.askedAt, ...memory]);
        else await sql.query(TOUCH, [id, turn.askedAt, ...memory]);
        const [added] = await sql.query(ADD, [id, turn.position, turn.askedBy, turn.askedAt, turn]);
        if (added !== undefined) return;
        const message = `Another question was asked in the thread ${id} in the meantime; ask again.`;
        throw new TriageError('conflict', message, { retryable: true });
      }),
    /** Deletes a thread with its turns. Returns false if there is none. */
    remove: async (id: string) =>
      (await db.query('delete from repository_threads where id = $1 returning id', [id])).length > 0,
  };
}

const COUNT = '(select count(*)::int from repository_turns r where r.thread_id = t.id)';

const THREAD = `select ${listColumns(RepositoryThread, 't', { turns: COUNT })} from repository_threads t`;

const LIST = `${THREAD}
  where ($1::text is null or t.repository = $1) and ${inScope('t.repository', '$2')}
  order by t.last_asked_at desc, t.id desc limit $3 offset $4`;

const TURNS = 'select body from repository_turns where thread_id = $1 order by position desc limit $2';

const START = `
  insert into repository_threads
    (id, repository, title, started_by, started_at, last_asked_at, learned, stack)
  values ($1, $2, $3, $4, $5, $6, $7::jsonb, $8::jsonb) on conflict (id) do nothing`;

const TOUCH = `update repository_threads
  set last_asked_at = $2, learned = $3::jsonb, stack = $4::jsonb where id = $1`;

// A thread that was deleted while it was being answered is not created again.
const ADD = `
  insert into repository_turns (thread_id, position, asked_by, asked_at, body)
  select t.id, $2::int, $3, $4, $5::jsonb from repository_threads t where t.id = $1
  on conflict (thread_id, position) do nothing
  returning position`;
