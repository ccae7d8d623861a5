import { TASKS, WRITES_IDX_MAP } from '@langchain/langgraph-checkpoint';
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';
import { getErrorMessage, TriageError } from '../domain/errors.ts';
import type { Database } from '../ports/database.ts';
import { toStorageError } from './database/pool-database.ts';

const SCHEMA = 'checkpoints';

type Pool = ConstructorParameters<typeof PostgresSaver>[0];

/**
 * Creates and sets up the store of graph checkpoints, in its own schema of the same database. A thread is one
 * triage; `deleteThread` deletes it. Throws `storage-failed`.
 */
export async function createPostgresCheckpointer(db: {
  readonly driver?: string;
  readonly pool: Pool;
}): Promise<PostgresSaver> {
  const saver = new BatchingSaver(db.pool, SCHEMA, db.driver === 'pglite');
  try {
    await saver.setup();
  } catch (error) {
    throw new TriageError(
      'storage-failed',
      `The checkpoints could not be set up: ${getErrorMessage(error)}`,
      { cause: error },
    );
  }
  return saver;
}

/**
 * Deletes the threads of all triages that are concluded or no longer exist, which a crash between concluding
 * and `deleteThread` left behind. Returns their number. Requires the schema of `createPostgresCheckpointer`.
 */
export async function sweepCheckpoints(db: Pick<Database, 'transaction'>): Promise<number> {
  return await db.transaction(async (sql) => {
    await sql.query(`delete from ${SCHEMA}.checkpoint_writes c where ${LEFT_OVER}`);
    await sql.query(`delete from ${SCHEMA}.checkpoint_blobs c where ${LEFT_OVER}`);
    const swept = await sql.query<{ thread: string }>(
      `delete from ${SCHEMA}.checkpoints c where ${LEFT_OVER} returning thread_id as thread`,
    );
    return new Set(swept.map((row) => row.thread)).size;
  });
}

const LEFT_OVER = `not exists (select from triages t where t.id = c.thread_id and t.state = 'open')`;

const START = '__start__';

type Put = Parameters<PostgresSaver['put']>;
type PutWrites = Parameters<PostgresSaver['putWrites']>;
type BatchPool = ConstructorParameters<typeof PostgresSaver>[0];

/**
 * LangGraph's saver, with one statement instead of a transaction with one statement for each channel. A node
 * of this graph writes about ten channels, and each statement is a round trip to the database. The stored
 * data is the same, and a single statement is atomic.
 *
 * The writes of a node are stored before its checkpoint only if other nodes run in parallel. If a node is
 * alone in its step, the checkpoint follows at once and holds the same data, so a crash in between loses only
 * the work of that node.
 *
 * All that a run reads and writes throws `storage-failed`, retryable where the same may succeed later: the
 * pool throws the errors of its driver, after which a triage would not be tried again.
 */
class BatchingSaver extends PostgresSaver {
  readonly #pool: BatchPool;
  readonly #schema: string;
  readonly #isPrepared: boolean;
  /** The ids of the checkpoints, by thread, after which one node runs alone. */
  readonly #alone = new Map<string, string>();

  constructor(pool: BatchPool, schema: string, isPrepared: boolean) {
    super(pool, undefined, { schema });
    this.#pool = pool;
    this.#schema = schema;
    this.#isPrepared = isPrepared;
  }

  override async put(...[config, checkpoint, metadata, newVersions]: Put): ReturnType<PostgresSaver['put']> {
    const { thread_id, checkpoint_ns = '', checkpoint_id } = config.configurable ?? {};
    const [blobs, about] = await Promise.all([
      this._dumpBlobs(thread_id, checkpoint_ns, checkpoint.channel_values, newVersions),
      this._dumpMetadata(metadata),
    ]);
    if (countNextTasks(checkpoint.channel_values) === 1) this.#alone.set(thread_id, checkpoint.id);
    else this.#alone.delete(thread_id);
    const values = [
      thread_id,
      checkpoint_ns,
      checkpoint.id,
      checkpoint_id,
      this._dumpCheckpoint(checkpoint),
      about,
    ];
    const insert = `insert into ${this.#schema}.checkpoints (thread_id, checkpoint_ns, checkpoint_id,
      parent_checkpoint_id, checkpoint, metadata)
      values ($1, $2, $3, $4, $5, $6)
      on conflict (thread_id, checkpoint_ns, checkpoint_id) do update
      set checkpoint = excluded.checkpoint, metadata = excluded.metadata`;
    const stored = `insert into ${this.#schema}.checkpoint_blobs (thread_id, checkpoint_ns, channel, version,
      type, blob)
      values ${formatPlaceholders(blobs, values.length)}
      on conflict (thread_id, checkpoint_ns, channel, version) do nothing`;
    const statement = blobs.length === 0 ? insert : `with blobs as (${stored}) ${insert}`;
    await this.#write(`put ${blobs.length}`, statement, values.concat(blobs.flat()));
    return { configurable: { thread_id, checkpoint_ns, checkpoint_id: checkpoint.id } };
  }

  override async putWrites(...[config, writes, taskId]: PutWrites): Promise<void> {
    const { thread_id, checkpoint_ns = '', checkpoint_id } = config.configurable ?? {};
    const isAlone = this.#alone.get(thread_id) === checkpoint_id;
    // Errors and questions to a person are not followed by a checkpoint.
    if (isAlone && !writes.some(([channel]) => channel in WRITES_IDX_MAP)) return;
    const rows = await this._dumpWrites(thread_id, checkpoint_ns, checkpoint_id, taskId, writes);
    if (rows.length === 0) return;
    // Writes to LangGraph's own channels may be repeated with another value.
    const again = writes.every(([channel]) => channel in WRITES_IDX_MAP);
    const conflict = again
      ? 'do update set channel = excluded.channel, type = excluded.type, blob = excluded.blob'
      : 'do nothing';
    const insert = `insert into ${this.#schema}.checkpoint_writes
         (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, blob)
       values ${formatPlaceholders(rows, 0)}
       on conflict (thread_id, checkpoint_ns, checkpoint_id, task_id, idx) ${conflict}`;
    await this.#write(`put-writes ${rows.length} ${again}`, insert, rows.flat());
  }

  /**
   * Runs a statement. `name` tells apart the statements that differ in their text, so that the embedded
   * database, which has one session, plans each only once: planning takes two thirds of the time. Other
   * databases may be behind a pool of sessions, so they get no prepared statements.
   */
  async #write(name: string, text: string, values: unknown[]): Promise<void> {
    const prepared = this.#isPrepared ? { name: `checkpoint ${name}` } : {};
    await this.#pool.query({ ...prepared, text, values }).catch(throwStorageError);
  }

  override async getTuple(
    ...asked: Parameters<PostgresSaver['getTuple']>
  ): ReturnType<PostgresSaver['getTuple']> {
    return await super.getTuple(...asked).catch(throwStorageError);
  }

  override async deleteThread(threadId: string): Promise<void> {
    await super.deleteThread(threadId).catch(throwStorageError);
  }
}

function throwStorageError(error: unknown): never {
  throw toStorageError(error);
}

/**
 * Counts the nodes that run after a checkpoint: one for each edge that is taken, and those that a node
 * requested.
 */
function countNextTasks(channels: Readonly<Record<string, unknown>>): number {
  const sent = channels[TASKS];
  const edges = Object.keys(channels).filter((name) => name === START || name.startsWith('branch:to:'));
  return edges.length + (Array.isArray(sent) ? sent.length : 0);
}

/**
 * Formats placeholders such as "($1, $2), ($3, $4)" for all values, starting with the number after `used`.
 */
function formatPlaceholders(rows: readonly (readonly unknown[])[], used: number): string {
  let next = used;
  return rows.map((row) => `(${row.map(() => `$${++next}`).join(', ')})`).join(', ');
}
