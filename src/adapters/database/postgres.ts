import pg from 'pg';
import { createPoolDatabase, type PgDatabase } from './pool-database.ts';
import { MIGRATIONS_FOLDER } from './run-migrations.ts';
import { toStorageError } from './storage-error.ts';

/** Limits so that no statement, lock or forgotten transaction holds others up for ever, in milliseconds. */
const LIMITS = {
  connectionTimeoutMillis: 10_000,
  idleTimeoutMillis: 30_000,
  statement_timeout: 60_000,
  lock_timeout: 20_000,
  idle_in_transaction_session_timeout: 60_000,
} satisfies pg.PoolConfig;

export interface PostgresOptions {
  /** `postgres://user:password@host:port/database` */
  readonly url: string;
  readonly poolSize: number;
  readonly migrationsFolder?: string;
}

/**
 * Connects to a PostgreSQL server; 13 or newer, with the extensions vector and pg_trgm at hand for `migrate()`. Throws
 * `storage-failed` where it does not answer.
 */
export async function openPostgres({ url, poolSize, migrationsFolder = MIGRATIONS_FOLDER }: PostgresOptions): Promise<PgDatabase> {
  const pool = new pg.Pool({ connectionString: url, max: poolSize, application_name: 'faultline', keepAlive: true, ...LIMITS });
  const database = createPoolDatabase({ driver: 'postgres', pool, migrationsFolder, close: () => pool.end() });
  try {
    await database.query('select 1');
    return database;
  } catch (error) {
    await database.close();
    throw toStorageError(error);
  }
}
