import type { Config } from '../config/schema.ts';
import { systemClock } from '../lib/time.ts';
import type { JobQueue, QueueAdmin } from '../ports/job-queue.ts';
import { type Logger, silentLogger } from '../ports/telemetry.ts';
import type { TokenStore } from '../stores/access.ts';
import type { CalibrationStore } from '../stores/measurements.ts';
import { createStores } from '../stores/stores.ts';
import { createJobTurns, type JobTurns } from '../stores/triages.ts';
import { openDatabase } from './open-adapters.ts';

/** The tokens of a database, which is opened for them alone: neither queue nor archive need to be there. */
export async function openTokens(config: Config): Promise<{ readonly tokens: TokenStore; close(): Promise<void> }> {
  const { database } = await openDatabase(config);
  try {
    await database.migrate();
    return { tokens: createStores(database, systemClock).tokens, close: () => database.close() };
  } catch (error) {
    await database.close();
    throw error;
  }
}

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

/** The queue and what the database has pending, for looking and mending; nothing is worked on. */
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

/** The calibrations of a database, which is opened for them alone: neither queue nor archive need to be there. */
export async function openCalibrations(config: Config): Promise<{ readonly calibrations: CalibrationStore; close(): Promise<void> }> {
  const { database } = await openDatabase(config);
  try {
    await database.migrate();
    return { calibrations: createStores(database, systemClock).calibrations, close: () => database.close() };
  } catch (error) {
    await database.close();
    throw error;
  }
}
