import type { Config } from '../config/schema.ts';
import { systemClock } from '../lib/time.ts';
import type { MigrateOptions, MigrateResult } from '../ports/database.ts';
import { type Logger, silentLogger } from '../ports/telemetry.ts';
import { createStores } from '../stores/stores.ts';
import { createJobTurns } from '../stores/triages.ts';
import { openDatabase } from './open-adapters.ts';

export async function openTokens(config: Config) {
  return await openAlone(config, async ({ database }) => ({
    tokens: createStores(database, systemClock).tokens,
  }));
}

export async function openCalibrations(config: Config) {
  return await openAlone(config, async ({ database }) => ({
    calibrations: createStores(database, systemClock).calibrations,
  }));
}

/**
 * Opens the queue and the pending jobs in the database for inspection and repair; no job is processed. Throws
 * `locked` if a running service uses the embedded database.
 */
export async function openQueueAdmin(config: Config, logger: Logger) {
  const { close, ...opened } = await openAlone(config, async ({ database, jobQueue }) => {
    return { queue: await jobQueue(logger), turns: createJobTurns(database) };
  });
  return { ...opened, close: () => opened.queue.stop({ timeoutMs: 0 }).finally(close) };
}

type OpenedDatabase = Awaited<ReturnType<typeof openDatabase>>;

/** Opens a part of a database for it alone: neither queue nor archive need to be there. */
async function openAlone<Part>(config: Config, open: (opened: OpenedDatabase) => Promise<Part>) {
  const opened = await openDatabase(config);
  const close = () => opened.database.close();
  try {
    await opened.database.migrate();
    return { ...(await open(opened)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Brings every schema of the database up to date: ours, the checkpoints', and the queue's where it is on the
 * database. Opens nothing else.
 */
export async function migrateDatabase(config: Config, options: MigrateOptions): Promise<MigrateResult> {
  const { database, checkpointer, jobQueue } = await openDatabase(config);
  try {
    const result = await database.migrate(options);
    await checkpointer();
    if (config.jobQueue.driver === 'pg-boss') await (await jobQueue(silentLogger)).stop({ timeoutMs: 0 });
    return result;
  } finally {
    await database.close();
  }
}
