import type { Config } from '../config/schema.ts';
import { silentLogger } from '../ports/telemetry.ts';
import { openDatabase } from './open-adapters.ts';

/** Brings every schema of the database up to date: ours, the checkpoints', and the queue's where it rings on the database. Opens nothing else. */
export async function migrateDatabase(config: Config): Promise<{ readonly applied: readonly string[] }> {
  const { database, checkpointer, jobQueue } = await openDatabase(config);
  try {
    const { applied } = await database.migrate();
    await checkpointer();
    if (config.jobQueue.driver === 'pg-boss') await (await jobQueue(silentLogger)).stop({ timeoutMs: 0 });
    return { applied };
  } finally {
    await database.close();
  }
}
