import { TASKS, WRITES_IDX_MAP } from '@langchain/langgraph-checkpoint';
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';
import { messageOf, TriageError } from '../domain/errors.ts';
import type { Database } from '../ports/database.ts';

const SCHEMA = 'checkpoints';

type Pool = ConstructorParameters<typeof PostgresSaver>[0];

/**
 * The graph's memory of finished nodes, in a schema of its own on the same database, set up and ready. A thread is one
 * triage; `deleteThread` forgets it. Throws `storage-failed`.
 */
export async function createPostgresCheckpointer(db: { readonly pool: Pool }): Promise<PostgresSaver> {
  const saver = new BatchingSaver(db.pool, SCHEMA);
  try {
    await saver.setup();
  } catch (error) {
    throw new TriageError('storage-failed', `The checkpoints could not be set up: ${messageOf(error)}`, { cause: error });
  }
  return saver;
}

/**
 * Forgets the threads of all triages that are concluded or gone, and says how many: a process that died between concluding
 * and `deleteThread` left them. Needs the schema that `createPostgresCheckpointer` sets up.
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
 * LangGraph's saver, with one statement where it has a transaction of one statement a channel: a node of this graph writes some ten of them,
 * and each is a way to the database and back. What is stored is the same, as one statement it is stored whole or not at all.
 *
 * What a node wrote is stored before its checkpoint only where others run beside it: of a node that is alone in its step the checkpoint comes at
 * once, holds the same, and nobody's work is lost in between but its own.
 */
class BatchingSaver extends PostgresSaver {
  readonly #pool: BatchPool;
  readonly #schema: string;
  /** By thread the checkpoint after which one node runs alone. */
  readonly #alone = new Map<string, string>();

  constructor(pool: BatchPool, schema: string) {
    super(pool, undefined, { schema });
    this.#pool = pool;
    this.#schema = schema;
  }

  override async put(...[config, checkpoint, metadata, newVersions]: Put): ReturnType<PostgresSaver['put']> {
    const { thread_id, checkpoint_ns = '', checkpoint_id } = config.configurable ?? {};
    const [blobs, about] = await Promise.all([
      this._dumpBlobs(thread_id, checkpoint_ns, checkpoint.channel_values, newVersions),
      this._dumpMetadata(metadata),
    ]);
    if (nextTasks(checkpoint.channel_values) === 1) this.#alone.set(thread_id, checkpoint.id);
    else this.#alone.delete(thread_id);
    const own = [thread_id, checkpoint_ns, checkpoint.id, checkpoint_id, this._dumpCheckpoint(checkpoint), about];
    const insert = `insert into ${this.#schema}.checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, checkpoint, metadata)
      values ($1, $2, $3, $4, $5, $6)
      on conflict (thread_id, checkpoint_ns, checkpoint_id) do update set checkpoint = excluded.checkpoint, metadata = excluded.metadata`;
    const stored = `insert into ${this.#schema}.checkpoint_blobs (thread_id, checkpoint_ns, channel, version, type, blob)
      values ${placeholders(blobs, own.length)} on conflict (thread_id, checkpoint_ns, channel, version) do nothing`;
    await this.#pool.query(blobs.length === 0 ? insert : `with blobs as (${stored}) ${insert}`, [...own, ...blobs.flat()]);
    return { configurable: { thread_id, checkpoint_ns, checkpoint_id: checkpoint.id } };
  }

  override async putWrites(...[config, writes, taskId]: PutWrites): Promise<void> {
    const { thread_id, checkpoint_ns = '', checkpoint_id } = config.configurable ?? {};
    const isAlone = this.#alone.get(thread_id) === checkpoint_id;
    // Errors, and questions to a person, have no checkpoint to come.
    if (isAlone && !writes.some(([channel]) => channel in WRITES_IDX_MAP)) return;
    const rows = await this._dumpWrites(thread_id, checkpoint_ns, checkpoint_id, taskId, writes);
    if (rows.length === 0) return;
    // Writes to LangGraph's own channels may be made again with another value.
    const again = writes.every(([channel]) => channel in WRITES_IDX_MAP);
    const conflict = again ? 'do update set channel = excluded.channel, type = excluded.type, blob = excluded.blob' : 'do nothing';
    await this.#pool.query(
      `insert into ${this.#schema}.checkpoint_writes (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, blob)
       values ${placeholders(rows, 0)} on conflict (thread_id, checkpoint_ns, checkpoint_id, task_id, idx) ${conflict}`,
      rows.flat(),
    );
  }
}

/** How many nodes run after a checkpoint: one for each edge that was taken, and those that a node has sent for. */
function nextTasks(channels: Readonly<Record<string, unknown>>): number {
  const sent = channels[TASKS];
  const edges = Object.keys(channels).filter((name) => name === START || name.startsWith('branch:to:'));
  return edges.length + (Array.isArray(sent) ? sent.length : 0);
}

/** "($1, $2), ($3, $4)": as many as there are values, from the number after `used`. */
function placeholders(rows: readonly (readonly unknown[])[], used: number): string {
  let next = used;
  return rows.map((row) => `(${row.map(() => `$${++next}`).join(', ')})`).join(', ');
}
