import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';
import { messageOf, TriageError } from '../../domain/errors.ts';

const SCHEMA = 'checkpoints';

type Pool = ConstructorParameters<typeof PostgresSaver>[0];

/**
 * The graph's memory of finished nodes, in a schema of its own on the same database, set up and ready. A thread is one
 * triage; `deleteThread` forgets it. Throws `storage-failed`.
 */
export async function createPostgresCheckpointer(db: { readonly pool: Pool }): Promise<PostgresSaver> {
  const saver = new PostgresSaver(db.pool, undefined, { schema: SCHEMA });
  try {
    await saver.setup();
  } catch (error) {
    throw new TriageError('storage-failed', `The checkpoints could not be set up: ${messageOf(error)}`, { cause: error });
  }
  return saver;
}
