import type { Config } from '../config/schema.ts';
import type { JobQueue, JobTurns, QueueAdmin } from '../ports/job-queue.ts';
import type { Logger } from '../ports/telemetry.ts';
import { createJobTurns } from '../store/triages.ts';
import { openDatabase } from './open-adapters.ts';

/** The queue and what the database owes, for looking and mending; nothing is worked on. */
export interface OpenedQueue {
  readonly queue: JobQueue & QueueAdmin;
  readonly turns: JobTurns;
  close(): Promise<void>;
}

/** Throws `locked` where an embedded database is in use by a running service. */
export async function openQueueAdmin(config: Config, logger: Logger): Promise<OpenedQueue> {
  const { database, jobQueue } = await openDatabase(config);
  try {
    await database.migrate();
    const queue = await jobQueue(logger);
    const close = async () => {
      await queue.stop({ timeoutMs: 0 });
      await database.close();
    };
    return { queue, turns: createJobTurns(database), close };
  } catch (error) {
    await database.close();
    throw error;
  }
}
