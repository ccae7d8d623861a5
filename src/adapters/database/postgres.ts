import pg from 'pg';
import { TriageError } from '../../domain/errors.ts';
import { createPoolDatabase, type PgDatabase } from './pool-database.ts';
import { MIGRATIONS_FOLDER, runMigrations } from './run-migrations.ts';
import { serverAddress } from './server-address.ts';
import { LIMITS, LINE_PER_CONNECTION, MIGRATION_LIMITS } from './session-limits.ts';
import { toStorageError } from './storage-error.ts';

export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`, with `?sslmode=verify-full&sslrootcert=/path` for TLS. */
  readonly url: string;
  readonly poolSize: number;
  /** Of a role that owns the tables; only `migrate()` uses it. */
  readonly ownerUrl?: string | null;
  /** Of a role that may only read. Null: the same role as ever. Either way `reader` is sessions in which nothing can be written. */
  readonly readerUrl?: string | null;
  readonly migrationsFolder?: string;
  /** Milliseconds; for tests. */
  readonly limits?: { readonly [Name in keyof typeof LIMITS]?: number };
}

/** Sessions of the history tools; they are few and short. */
const READERS = 4;

/**
 * Connects to a PostgreSQL server; 13 or newer, with the extensions vector and pg_trgm at hand for `migrate()`. Throws
 * `storage-failed` where it does not answer, `invalid-config` where the address names files that are not there.
 */
export async function openPostgres(options: PostgresOptions): Promise<PgDatabase> {
  const { url, poolSize, migrationsFolder = MIGRATIONS_FOLDER } = options;
  const limits = { ...LIMITS, ...options.limits };
  const common = { application_name: 'faultline', keepAlive: true, ...limits };
  const pool = new pg.Pool({ ...common, connectionString: serverAddress(url), max: poolSize });
  const readers = new pg.Pool({
    ...common,
    connectionString: serverAddress(options.readerUrl ?? url),
    application_name: 'faultline reader',
    max: Math.min(READERS, poolSize),
    options: '-c default_transaction_read_only=on',
  });
  const reader = createPoolDatabase({ ...toDatabase(readers), migrate: refuseMigration, close: () => readers.end() });
  const database = createPoolDatabase({
    ...toDatabase(pool),
    migrate: () => migrateAs(options.ownerUrl ?? url, migrationsFolder),
    close: async () => {
      await Promise.all([pool.end(), readers.end()]);
    },
  });
  try {
    await database.query('select 1');
    return { ...database, reader };
  } catch (error) {
    await database.close();
    throw toStorageError(error);
  }
}

function toDatabase(pool: pg.Pool) {
  return { driver: 'postgres', pool, maxWaiting: pool.options.max * LINE_PER_CONNECTION } as const;
}

/** On a connection of its own: as the owner of the tables, and with time. */
async function migrateAs(url: string, folder: string): Promise<{ readonly applied: readonly string[] }> {
  const client = new pg.Client({ ...MIGRATION_LIMITS, connectionString: serverAddress(url), application_name: 'faultline migrate' });
  client.on('error', () => undefined);
  try {
    await client.connect();
    // The server notices within a second that this process is gone, and undoes; releases before 14 notice when they next answer.
    await client.query(`select set_config(name, '1000', false) from pg_settings where name = 'client_connection_check_interval'`);
    return await runMigrations(client, folder);
  } catch (error) {
    throw toStorageError(error);
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function refuseMigration(): Promise<never> {
  throw new TriageError('internal', 'A database opened for reading is not migrated');
}
