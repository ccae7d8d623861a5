import { existsSync } from 'node:fs';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm';
import { createPgConfig } from '@electric-sql/pglite/node-postgres';
import { vector } from '@electric-sql/pglite-pgvector';
import pg from 'pg';
import { TriageError } from '../../domain/errors.ts';
import { type DirectoryLock, lockDirectory } from './directory-lock.ts';
import { createPoolDatabase, type PgDatabase } from './pool-database.ts';
import { MIGRATIONS_FOLDER, runMigrations } from './run-migrations.ts';
import { toStorageError } from './storage-error.ts';

/** How long a caller waits for the one connection before it is told to come back. */
const WAIT_FOR_CONNECTION_MS = 60_000;

/** PGlite behind pg's own pool of one connection: everything in the process takes its turn. */
export interface PgliteDatabase extends PgDatabase {
  readonly lite: PGlite;
}

/**
 * Opens the embedded database in a directory of its own, making it on first use. Not migrated yet: call `migrate()`.
 * Throws `locked` where another process has it, `invalid-config` where the directory holds something else.
 */
export async function openPglite(options: { readonly dataDir: string; readonly migrationsFolder?: string }): Promise<PgliteDatabase> {
  const lock = await lockDirectory(options.dataDir);
  try {
    const lite = await openDirectory(lock);
    const config = createPgConfig(lite);
    const poolConfig: PglitePoolConfig = { ...config, ...ONE_CONNECTION, connection: config.connection };
    const pool = keepClientOnError(new pg.Pool(poolConfig));
    const close = async () => {
      await pool.end();
      await lite.close();
      await lock.release();
    };
    const database = createPoolDatabase({
      driver: 'pglite',
      pool,
      migrate: () => migrateOn(pool, options.migrationsFolder ?? MIGRATIONS_FOLDER),
      close,
    });
    return { ...database, lite };
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

/** pg hands unknown fields on to its client, which takes a ready-made connection; its types do not say so. */
type PglitePoolConfig = pg.PoolConfig & { readonly connection: object };

const ONE_CONNECTION = { max: 1, idleTimeoutMillis: 0, connectionTimeoutMillis: WAIT_FOR_CONNECTION_MS } satisfies pg.PoolConfig;

/**
 * `pool.query` throws a client away after any failed statement. Here the next client would get the same connection, and
 * with it the end of the one before: an innocent query would be told that its connection terminated. A failed statement
 * leaves this connection usable, so the client is kept. For promises only; nobody here passes callbacks.
 */
function keepClientOnError(pool: pg.Pool): pg.Pool {
  Reflect.set(pool, 'query', async (...parameters: unknown[]) => {
    const client = await pool.connect();
    try {
      return await Reflect.apply(client.query, client, parameters);
    } finally {
      client.release();
    }
  });
  return pool;
}

/**
 * A directory whose first initialisation was cut short holds half a database and nothing of anybody's: a marker beside it
 * says so, and it is made anew.
 */
async function openDirectory({ directory }: DirectoryLock): Promise<PGlite> {
  const marker = `${directory}.initializing`;
  const names = await readdir(directory);
  const cutShort = existsSync(marker);
  if (cutShort) await Promise.all(names.map((name) => rm(join(directory, name), { recursive: true, force: true })));
  const fresh = cutShort || names.length === 0;
  if (!fresh && !names.includes('PG_VERSION')) {
    throw new TriageError('invalid-config', `${directory} is not empty and contains no database. Use an empty or new data directory.`);
  }
  if (fresh) await writeFile(marker, '');
  const lite = await PGlite.create({ dataDir: directory, extensions: { vector, pg_trgm } });
  if (fresh) await rm(marker, { force: true });
  return lite;
}
