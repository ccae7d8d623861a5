import { existsSync } from 'node:fs';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { TriageError } from '../../domain/errors.ts';
import { type DirectoryLock, lockDirectory } from './directory-lock.ts';
import { type PgliteThread, startPgliteThread } from './pglite-thread.ts';
import { createPoolDatabase, type PgDatabase } from './pool-database.ts';
import { MIGRATIONS_FOLDER, runMigrations } from './run-migrations.ts';
import { toStorageError } from './storage-error.ts';

/** How long a caller waits for the one connection before it is told to come back. */
const WAIT_FOR_CONNECTION_MS = 60_000;

/**
 * Opens the embedded database in a directory of its own, making it on first use: PGlite in a thread, behind pg's own pool of one connection, so
 * that everything in the process takes its turn. Not migrated yet: call `migrate()`.
 * Throws `locked` where another process has it, `invalid-config` where the directory holds something else.
 */
export async function openPglite(options: { readonly dataDir: string; readonly migrationsFolder?: string }): Promise<PgDatabase> {
  const lock = await lockDirectory(options.dataDir);
  try {
    const thread = await openDirectory(lock);
    const pool = new pg.Pool({ ...ONE_CONNECTION, stream: () => thread.connect() });
    const close = async () => {
      await pool.end();
      await thread.close();
      await lock.release();
    };
    return createPoolDatabase({
      driver: 'pglite',
      pool,
      migrate: () => migrateOn(pool, options.migrationsFolder ?? MIGRATIONS_FOLDER),
      close,
    });
  } catch (error) {
    await lock.release();
    throw toStorageError(error);
  }
}

async function migrateOn(pool: pg.Pool, folder: string): Promise<{ readonly applied: readonly string[] }> {
  const client = await pool.connect();
  try {
    return await runMigrations(client, folder);
  } finally {
    client.release();
  }
}

const ONE_CONNECTION = {
  user: 'postgres',
  database: 'postgres',
  max: 1,
  idleTimeoutMillis: 0,
  connectionTimeoutMillis: WAIT_FOR_CONNECTION_MS,
} satisfies pg.PoolConfig;

/**
 * A directory whose first initialisation was cut short holds half a database and nothing of anybody's: a marker beside it
 * says so, and it is made anew.
 */
async function openDirectory({ directory }: DirectoryLock): Promise<PgliteThread> {
  const marker = `${directory}.initializing`;
  const names = await readdir(directory);
  const cutShort = existsSync(marker);
  if (cutShort) await Promise.all(names.map((name) => rm(join(directory, name), { recursive: true, force: true })));
  const fresh = cutShort || names.length === 0;
  if (!fresh && !names.includes('PG_VERSION')) {
    throw new TriageError('invalid-config', `${directory} is not empty and contains no database. Use an empty or new data directory.`);
  }
  if (fresh) await writeFile(marker, '');
  const thread = await startPgliteThread(directory);
  if (fresh) await rm(marker, { force: true });
  return thread;
}
