import { accessSync, constants } from 'node:fs';
import pg from 'pg';
import { getErrorMessage, TriageError } from '../../domain/errors.ts';
import { listenOn } from './listen.ts';
import { MIGRATIONS_FOLDER } from './migration-files.ts';
import { createPoolDatabase, type PgDatabase, toStorageError } from './pool-database.ts';
import { requireRights, runMigrations } from './run-migrations.ts';

interface PostgresOptions {
  /**
   * The URL `postgres://user:password@host:port/database`, with `?sslmode=verify-full&sslrootcert=/path` for
   * TLS.
   */
  readonly url: string;
  readonly poolSize: number;
  /** The URL with a role that owns the tables. Only `migrate()` uses it. */
  readonly ownerUrl?: string | null;
  /**
   * The URL with a read-only role; null to use the usual role. In both cases, sessions of `reader` cannot
   * write.
   */
  readonly readerUrl?: string | null;
  readonly migrationsFolder?: string;
  /** Time limits in milliseconds that replace the usual ones in tests. */
  readonly limits?: { readonly [Name in keyof typeof LIMITS]?: number };
}

/** The maximum number of sessions of the history tools, which are few and short. */
const READERS = 4;

/**
 * Connects to a PostgreSQL server, version 13 or newer, on which the extensions vector and pg_trgm are
 * available for `migrate()`. Throws `storage-failed` if it does not answer, and `invalid-config` if the URL
 * names files that do not exist.
 */
export async function openPostgres(options: PostgresOptions): Promise<PgDatabase> {
  const { url, poolSize, migrationsFolder = MIGRATIONS_FOLDER } = options;
  const limits = { ...LIMITS, ...options.limits };
  const common = { application_name: 'faultline', keepAlive: true, ...limits };
  const pool = new pg.Pool({ ...common, connectionString: getServerAddress(url), max: poolSize });
  const listening = {
    application_name: 'faultline listener',
    keepAlive: true,
    connectionTimeoutMillis: limits.connectionTimeoutMillis,
    connectionString: getServerAddress(url),
  };
  const readers = new pg.Pool({
    ...common,
    connectionString: getServerAddress(options.readerUrl ?? url),
    application_name: 'faultline reader',
    max: Math.min(READERS, poolSize),
    options: '-c default_transaction_read_only=on',
  });
  const reader = createPoolDatabase({
    ...toDatabase(readers),
    migrate: refuseMigration,
    close: () => readers.end(),
  });
  const database = createPoolDatabase({
    ...toDatabase(pool),
    migrate: (how) =>
      runAsOwner(options.ownerUrl ?? url, (client) => runMigrations(client, migrationsFolder, how)),
    close: async () => {
      await Promise.all([pool.end(), readers.end()]);
    },
  });
  try {
    await database.query('select 1');
    return { ...database, reader, listen: (channel, hear) => listenOn(listening, channel, hear) };
  } catch (error) {
    await database.close();
    throw toStorageError(error);
  }
}

function toDatabase(pool: pg.Pool) {
  return { driver: 'postgres', pool, maxWaiting: pool.options.max * LINE_PER_CONNECTION } as const;
}

/**
 * Checks that pending migrations can be applied, without changing anything. Throws `invalid-config` with the
 * command that fixes the problem.
 */
export function rehearseMigrations(url: string): Promise<void> {
  return runAsOwner(url, (client) => requireRights(client));
}

/** Runs `work` on its own connection as the owner of the tables, with longer time limits. */
async function runAsOwner<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({
    ...MIGRATION_LIMITS,
    connectionString: getServerAddress(url),
    application_name: 'faultline migrate',
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    // The server notices within a second that this process has ended, and rolls back. Versions before 14
    // notice at the next reply.
    await client.query(
      `select set_config(name, '1000', false) from pg_settings
        where name = 'client_connection_check_interval'`,
    );
    return await work(client);
  } catch (error) {
    throw toStorageError(error);
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function refuseMigration(): Promise<never> {
  throw new TriageError('internal', 'A database opened for reading is not migrated');
}

const FILES = ['sslrootcert', 'sslcert', 'sslkey'];

/**
 * Returns the address for pg, in which `sslmode` has the same meaning as for PostgreSQL's own clients
 * (require encrypts and accepts any certificate unless `sslrootcert` is given; verify-full also checks the
 * name). Throws `invalid-config` if a file it names cannot be read; the message contains no password.
 */
export function getServerAddress(text: string): string {
  let url: URL;
  try {
    url = new URL(text);
  } catch (error) {
    throw new TriageError(
      'invalid-config',
      'The database URL is invalid; use postgres://user:password@host:port/database',
      {
        cause: error,
      },
    );
  }
  for (const name of FILES) {
    const file = url.searchParams.get(name);
    if (file !== null) checkReadable(name, file);
  }
  if (url.searchParams.get('sslmode') === 'verify-ca' && !url.searchParams.has('sslrootcert')) {
    throw new TriageError(
      'invalid-config',
      'sslmode=verify-ca in the database URL needs sslrootcert, a CA file',
    );
  }
  if (url.searchParams.has('sslmode') && !url.searchParams.has('uselibpqcompat'))
    url.searchParams.set('uselibpqcompat', 'true');
  return url.href;
}

function checkReadable(name: string, file: string): void {
  try {
    accessSync(file, constants.R_OK);
  } catch (error) {
    throw new TriageError('invalid-config', `${name} in the database URL: ${getErrorMessage(error)}`, {
      cause: error,
    });
  }
}

/**
 * Limits in milliseconds, so that no statement, lock, forgotten transaction or unresponsive server blocks
 * others forever. A caller waits at most `connectionTimeoutMillis` for a connection of a busy pool, and then
 * gets a retryable error.
 */
export const LIMITS = {
  connectionTimeoutMillis: 5_000,
  idleTimeoutMillis: 30_000,
  statement_timeout: 60_000,
  // The client's limit, for an unresponsive server. A live server reaches its own limit first.
  query_timeout: 65_000,
  lock_timeout: 20_000,
  idle_in_transaction_session_timeout: 60_000,
} satisfies pg.PoolConfig;

/**
 * The limits of migrations, which may be slow and wait for those of another process. No requests are served
 * on their connection.
 */
const MIGRATION_LIMITS = {
  connectionTimeoutMillis: 10_000,
  statement_timeout: 0,
  lock_timeout: 300_000,
  keepAlive: true,
} satisfies pg.ClientConfig;

/** The maximum number of waiting callers for each connection of the pool. */
const LINE_PER_CONNECTION = 50;
