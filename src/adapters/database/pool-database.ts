import { AsyncLocalStorage } from 'node:async_hooks';
import type pg from 'pg';
import { TriageError } from '../../domain/errors.ts';
import type { Database, Sql } from '../../ports/database.ts';
import { againWhereRolledBack, askAgain } from './again.ts';
import { cleanParameters } from './parameters.ts';
import { readColumns } from './row-types.ts';
import { toStorageError } from './storage-error.ts';

/** A database over a pg pool. The pool is for libraries that bring their own SQL: the queue and the checkpointer. */
export interface PgDatabase extends Database {
  readonly pool: pg.Pool;
}

export interface PoolDatabaseOptions {
  readonly driver: Database['driver'];
  readonly pool: pg.Pool;
  /** Callers in line for a connection before the next one is refused at once; none where it is left out. */
  readonly maxWaiting?: number;
  readonly migrate: () => ReturnType<Database['migrate']>;
  /** Closes the pool and what is behind it; called once. */
  readonly close: () => Promise<void>;
}

/** The part that PGlite and PostgreSQL share. The work of a transaction is run again where the server rolled it back for another's sake. */
export function createPoolDatabase({
  driver,
  pool,
  maxWaiting = Number.POSITIVE_INFINITY,
  migrate,
  close,
}: PoolDatabaseOptions): PgDatabase {
  const openTransaction = new AsyncLocalStorage<{ open: boolean }>();
  // A connection that breaks, idle or in use, must not stop the process: whoever queries next meets the failure.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));

  function refuseInsideTransaction(): void {
    if (!openTransaction.getStore()?.open) return;
    throw new TriageError('internal', 'Inside a transaction, use only the Sql passed in: the outer database would wait forever');
  }

  function refuseLine(): void {
    if (pool.waitingCount < maxWaiting) return;
    throw new TriageError(
      'storage-failed',
      `All ${pool.options.max} database connections are busy, and many requests are waiting for one`,
      {
        retryable: true,
        details: { busy: true },
      },
    );
  }

  async function transaction<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result> {
    refuseInsideTransaction();
    return await againWhereRolledBack(() => transactOnce(work));
  }

  async function transactOnce<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result> {
    refuseLine();
    const client = await connect(pool);
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
    transaction,
    query: async (text, values) => {
      refuseInsideTransaction();
      return await askAgain(text, async () => {
        refuseLine();
        return await runQuery(pool, text, values);
      });
    },
    migrate: async () => {
      refuseInsideTransaction();
      return await migrate();
    },
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

async function connect(pool: pg.Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect();
  } catch (error) {
    throw toStorageError(error);
  }
}

async function runTransaction<Result>(
  client: pg.PoolClient,
  state: { readonly open: boolean },
  work: (sql: Sql) => Promise<Result>,
): Promise<Result> {
  const sql: Sql = {
    query: async (text, values) => {
      if (!state.open) throw new TriageError('internal', 'The transaction has ended: its Sql must no longer be used');
      return await runQuery(client, text, values);
    },
  };
  await sql.query('BEGIN');
  const result = await work(sql);
  await commit(client);
  return result;
}

/** PostgreSQL answers COMMIT with ROLLBACK where a statement had failed, even if the caller swallowed that failure. */
async function commit(client: pg.PoolClient): Promise<void> {
  let command: string;
  try {
    command = (await client.query('COMMIT')).command;
  } catch (error) {
    throw toStorageError(error);
  }
  if (command === 'COMMIT') return;
  throw new TriageError('storage-failed', 'The transaction was rolled back: one of its statements had failed');
}

/** Undefined where the connection is clean again; otherwise why it must be thrown away. */
async function rollBack(client: pg.PoolClient): Promise<Error | undefined> {
  try {
    await client.query('ROLLBACK');
    return undefined;
  } catch (error) {
    return toStorageError(error);
  }
}

async function runQuery<Row extends object>(
  runner: pg.Pool | pg.PoolClient,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  try {
    const result = await runner.query<Row & pg.QueryResultRow>({ text, values: cleanParameters(values) });
    readColumns(result.fields, result.rows);
    return result.rows;
  } catch (error) {
    throw toStorageError(error);
  }
}
