import type { Config } from '../config/schema.ts';
import type { Database } from '../ports/database.ts';
import type { JobQueue } from '../ports/job-queue.ts';
import type { Logger } from '../ports/logger.ts';
import type { VectorIndex } from '../ports/vector-index.ts';

interface Backends {
  readonly database: Database;
  readonly jobQueue: JobQueue;
  readonly vectorIndex: VectorIndex;
  readonly logger: Logger;
}

/** What each backend says of itself; `ok` where all that is needed to accept builds works. */
export async function readinessOf(app: Backends, config: Config): Promise<{ ok: boolean; backends: Record<string, string> }> {
  const backends: Record<string, string> = {};
  const ask = async (name: string, question: () => Promise<string>): Promise<boolean> => {
    try {
      backends[name] = await question();
      return true;
    } catch (error) {
      app.logger.warn({ backend: name, error }, 'a backend is not ready');
      backends[name] = error instanceof Error ? error.message : String(error);
      return false;
    }
  };
  const database = await ask(`database (${app.database.driver})`, async () => {
    await app.database.query('select 1');
    return 'ok';
  });
  const queue = await ask(`job queue (${app.jobQueue.driver})`, async () => `ok, ${await app.jobQueue.depth()} waiting or running`);
  await ask(`knowledge (${app.vectorIndex.driver})`, async () => `ok, ${await app.vectorIndex.count('knowledge')} entries`);
  await ask('analyst', async () => config.analyst.driver);
  return { ok: database && queue, backends };
}
