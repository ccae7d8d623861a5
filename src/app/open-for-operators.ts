import type { Config } from '../config/schema.ts';
import { systemClock } from '../lib/time.ts';
import type { MigrateOptions, MigrateResult } from '../ports/database.ts';
import { createStores } from '../stores/stores.ts';
import { createWorkStore } from '../stores/work.ts';
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
 * Opens pending and failed work for inspection and repair. Nothing is processed. Throws `locked` if a running
 * service uses the embedded database.
 */
export async function openWork(config: Config) {
  return await openAlone(config, async ({ database }) => ({ work: createWorkStore(database) }));
}

type OpenedDatabase = Awaited<ReturnType<typeof openDatabase>>;

/** Opens a part of a database without the archive, which need not be available. */
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

/** Migrates every schema of the database: ours and that of the checkpoints. Opens nothing else. */
export async function migrateDatabase(config: Config, options: MigrateOptions): Promise<MigrateResult> {
  const { database, checkpointer } = await openDatabase(config);
  try {
    const result = await database.migrate(options);
    await checkpointer();
    return result;
  } finally {
    await database.close();
  }
}
