import type { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';
import { messageOf, TriageError } from '../../domain/errors.ts';
import type { Database } from '../../ports/database.ts';
import { BatchingSaver } from './batching-saver.ts';

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
