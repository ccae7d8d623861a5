import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { getErrorMessage, TriageError } from '../../domain/errors.ts';
import { retryWithPolicy } from '../../lib/resilience.ts';
import { toStorable } from '../../lib/text.ts';
import type { Database, Sql } from '../../ports/database.ts';

/** A database over a pg pool. The pool is for libraries with SQL of their own, such as the checkpointer. */
export interface PgDatabase extends Database {
  readonly pool: pg.Pool;
}

export interface PoolDatabaseOptions {
  readonly driver: Database['driver'];
  readonly pool: pg.Pool;
  /**
   * The maximum number of callers that wait for a connection. Further ones are refused at once. Absent for no
   * limit.
   */
  readonly maxWaiting?: number;
  readonly migrate: Database['migrate'];
  /** Closes the pool and its driver. Called once. */
  readonly close: () => Promise<void>;
}

/** disk_full */
const DISK_FULL = '53100';
/** The number of retries, and their delays. */
const AGAIN = { retries: 2, backoff: { firstMs: 80 } };
/**
 * SQL that reserves some megabytes and frees them at once, because a disk that is too full for logs may have
 * room for a row.
 */
const TAKE_ROOM = `create temporary table room on commit drop as
  select i, repeat(md5(i::text), 30) as text from generate_series(1, 4000) as g (i)`;

/**
 * Creates the database interface over a pool, for PGlite and PostgreSQL. The work of a transaction is
 * repeated if the server rolled it back in favor of another one.
 */
export function createPoolDatabase({
  driver,
  pool,
  maxWaiting = Number.POSITIVE_INFINITY,
  migrate,
  close,
}: PoolDatabaseOptions): PgDatabase {
  const openTransaction = new AsyncLocalStorage<{ open: boolean }>();
  // A broken connection, idle or in use, must not stop the process. The next query reports the failure.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));

  function refuseInsideTransaction(): void {
    if (!openTransaction.getStore()?.open) return;
    throw new TriageError(
      'internal',
      'Inside a transaction, use only the Sql passed in: the outer database would wait forever',
    );
  }

  function refuseLine(): void {
    if (pool.waitingCount < maxWaiting) return;
    throw new TriageError(
      'storage-failed',
      `All ${pool.options.max} database connections are busy, and many requests are waiting for one`,
      { retryable: true, details: { busy: true } },
    );
  }

  async function transact<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result> {
    refuseInsideTransaction();
    return await noteFullDisk(retryWithPolicy({ ...AGAIN, mayHelp: isRolledBack }, () => transactOnce(work)));
  }

  let wasFull = false;
  async function noteFullDisk<Result>(work: Promise<Result>): Promise<Result> {
    return await work.catch((error: unknown) => {
      if (error instanceof TriageError && error.details.state === DISK_FULL) wasFull = true;
      throw error;
    });
  }

  async function transactOnce<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result> {
    refuseLine();
    const client = await pool.connect().catch(throwStorageFailed);
    const state = { open: true };
    try {
      const result = await openTransaction.run(state, () => runTransaction(client, state, work));
      client.release();
      return result;
    } catch (error) {
      client.release(await rollBack(client));
      throw error;
    } finally {
      state.open = false;
    }
  }

  let closing: Promise<void> | null = null;
  return {
    driver,
    exclusive: driver === 'pglite',
    pool,
    transaction: transact,
    checkRoom: async () => {
      if (!wasFull) return;
      await transact((sql) => sql.query(TAKE_ROOM));
      wasFull = false;
    },
    query: async (text, values) => {
      refuseInsideTransaction();
      // Statements that only read are also retried after a broken connection.
      const mayHelp = (error: unknown) => isRolledBack(error) || (READS.test(text) && isBroken(error));
      return await noteFullDisk(
        retryWithPolicy({ ...AGAIN, mayHelp }, async () => {
          refuseLine();
          return await runQuery(pool, text, values);
        }),
      );
    },
    migrate: async (options) => {
      refuseInsideTransaction();
      return await migrate(options);
    },
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

async function runTransaction<Result>(
  client: pg.PoolClient,
  state: { readonly open: boolean },
  work: (sql: Sql) => Promise<Result>,
): Promise<Result> {
  const sql: Sql = {
    query: async (text, values) => {
      if (!state.open)
        throw new TriageError('internal', 'The transaction has ended: its Sql must no longer be used');
      return await runQuery(client, text, values);
    },
  };
  await sql.query('BEGIN');
  const result = await work(sql);
  await commit(client);
  return result;
}

/**
 * Commits a transaction. PostgreSQL answers COMMIT with ROLLBACK if a statement had failed, even if the
 * caller swallowed that error, so this case throws.
 */
async function commit(client: pg.PoolClient): Promise<void> {
  const { command } = await client.query('COMMIT').catch(throwStorageFailed);
  if (command === 'COMMIT') return;
  throw new TriageError(
    'storage-failed',
    'The transaction was rolled back: one of its statements had failed',
  );
}

/**
 * Rolls a transaction back. Returns undefined if the connection can be used again, or else the error for
 * which it must be discarded.
 */
async function rollBack(client: pg.PoolClient): Promise<Error | undefined> {
  return await client.query('ROLLBACK').then(() => undefined, toStorageError);
}

async function runQuery<Row extends object>(
  runner: pg.Pool | pg.PoolClient,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  try {
    const result = await runner.query<Row & pg.QueryResultRow>({ text, values: values.map(cleanParameter) });
    readColumns(result.fields, result.rows);
    return result.rows;
  } catch (error) {
    throw toStorageError(error);
  }
}

/** The key of the advisory lock: an arbitrary number that no other code uses. */
const KEY = 4_600_015;

/**
 * The maximum number of milliseconds that a process waits for the lock. Ten processes that start together on
 * a new and busy database need far less.
 */
const WAIT_MS = 300_000;
const LOOK_MS = 100;

/**
 * Runs set-up work of a library in one process at a time, because several processes that start together on a
 * new database would conflict. An embedded database has only one process.
 */
export async function runInTurn<Result>(
  db: Pick<PgDatabase, 'driver' | 'pool'>,
  work: () => Promise<Result>,
): Promise<Result> {
  if (db.driver === 'pglite') return await work();
  const client = await db.pool.connect().catch(throwStorageFailed);
  try {
    await takeTurn(client);
    return await work();
  } finally {
    // If the lock cannot be released, the connection is discarded.
    const failed = await client.query('select pg_advisory_unlock_all()').then(
      () => false,
      () => true,
    );
    client.release(failed);
  }
}

/**
 * Waits for the advisory lock by polling, because the server's lock timeout, which is meant for rows, would
 * end a blocking wait. Throws `storage-failed`, retryable.
 */
async function takeTurn(client: pg.PoolClient): Promise<void> {
  const end = performance.now() + WAIT_MS;
  for (;;) {
    const { rows } = await client
      .query<{ mine: boolean }>('select pg_try_advisory_lock($1) as mine', [KEY])
      .catch(throwStorageFailed);
    if (rows[0]?.mine === true) return;
    if (performance.now() > end) {
      throw new TriageError(
        'storage-failed',
        `Another process has been setting up the database for more than ${WAIT_MS / 60_000} minutes.`,
        { retryable: true },
      );
    }
    await delay(LOOK_MS);
  }
}

/** Serialization failure and deadlock. The server has rolled everything back, so a retry is always safe. */
const ROLLED_BACK = /^40(001|P01)$/;

/**
 * The pattern of statements that only read. `for update` takes locks, but outside a transaction it holds them
 * only for the statement.
 */
const READS = /^\s*select\b/i;

/** Returns true if the server rolled the transaction back to let another one proceed. */
function isRolledBack(error: unknown): boolean {
  return error instanceof TriageError && ROLLED_BACK.test(String(error.details.state));
}

/**
 * Returns true if the connection failed and another try may succeed. A pool without a free connection does
 * not count, because more queries would not free one.
 */
function isBroken(error: unknown): boolean {
  return (
    error instanceof TriageError &&
    error.code === 'storage-failed' &&
    error.retryable &&
    error.details.busy !== true
  );
}

/**
 * Converts a parameter for PostgreSQL: removes NUL and lone surrogates, which it refuses, from text, and
 * converts plain objects to JSON. Arrays become SQL arrays, so a jsonb column must always be given an object.
 */
function cleanParameter(value: unknown): unknown {
  if (typeof value === 'string') return toStorable(value);
  if (Array.isArray(value)) return value.map(cleanParameter);
  if (value === null || typeof value !== 'object' || value instanceof Date || ArrayBuffer.isView(value))
    return value;
  return JSON.stringify(cleanJson(value));
}

function cleanJson(value: unknown): unknown {
  if (typeof value === 'string') return toStorable(value);
  if (Array.isArray(value)) return value.map(cleanJson);
  if (value === null || typeof value !== 'object' || value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [toStorable(key), cleanJson(item)]));
}

const { INT8, TIMESTAMPTZ } = pg.types.builtins;

/**
 * Makes rows read as our own queries expect them: int8 (counts) as numbers, timestamptz as ISO 8601 in UTC
 * with milliseconds. Done per result rather than by parsers set on the driver: the checkpointer shares
 * the pool and expects pg's own rules. (Parsers given with a query do not work either: PGlite's
 * connection takes them for parameter types.)
 */
function readColumns(fields: readonly pg.FieldDef[], rows: readonly pg.QueryResultRow[]): void {
  for (const { name, dataTypeID } of fields) {
    if (dataTypeID === INT8) for (const row of rows) row[name] = toNumber(row[name]);
    else if (dataTypeID === TIMESTAMPTZ) for (const row of rows) row[name] = toIsoTime(row[name]);
  }
}

function toNumber(value: unknown): unknown {
  return typeof value === 'string' ? Number(value) : value;
}

function toIsoTime(value: unknown): unknown {
  return value instanceof Date ? value.toISOString() : value;
}

/**
 * SQLSTATEs after which the same call may succeed: class 08 (connection), 57P (shutdown, restart),
 * serialization failure, deadlock, a full disk, a server that has no connection left, a transaction that
 * idled too long (as in a frozen process), and our own limits of a statement and of a lock.
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const RETRYABLE_STATE = /^(08|57P|40001$|40P01$|53[13]00$|25P03$|57014$|55P03$)/;

/**
 * SQLSTATEs of a statement or lock that reached its time limit, as while another release migrates. It is
 * retried later, not at once.
 */
const TOO_LONG = /^(57014|55P03)$/;

/** Messages of sockets and of pg's client for a lost connection; these errors carry no SQLSTATE. */
const CONNECTION_LOST = new RegExp(
  '^(ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENOTFOUND|EAI_AGAIN)|Connection terminated|' +
    'not queryable|trying to connect|Query read timeout',
);

/** The pool's message that no connection is free. An immediate retry would only lengthen the queue. */
const NONE_FREE = /timeout exceeded when trying to connect/;

/**
 * Converts an error of the driver into `storage-failed`. A TriageError is returned unchanged. Details contain
 * the SQLSTATE, never values.
 */
export function toStorageError(error: unknown): TriageError {
  if (error instanceof TriageError) return error;
  const state = findTextField(error, 'code');
  const isSqlState = state !== null && /^[0-9A-Z]{5}$/.test(state);
  const retryable = isSqlState
    ? RETRYABLE_STATE.test(state)
    : CONNECTION_LOST.test(state ?? getErrorMessage(error));
  const busy = state === null ? NONE_FREE.test(getErrorMessage(error)) : TOO_LONG.test(state);
  const details = {
    state,
    constraint: findTextField(error, 'constraint'),
    table: findTextField(error, 'table'),
    ...(busy ? { busy } : {}),
  };
  return new TriageError('storage-failed', `The database request failed: ${getErrorMessage(error)}`, {
    retryable,
    cause: error,
    details,
  });
}

/** Throws an error of the driver as `storage-failed`. */
function throwStorageFailed(error: unknown): never {
  throw toStorageError(error);
}

function findTextField(error: unknown, name: string): string | null {
  const value: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, name) : null;
  return typeof value === 'string' ? value : null;
}
