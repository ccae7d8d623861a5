import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { TriageError } from '../../domain/errors.ts';
import type { PgDatabase } from './pool-database.ts';
import { toStorageError } from './storage-error.ts';

/** Any number that nobody else locks. */
const KEY = 4_600_015;

/** How long a process waits for its turn: ten that start on a new and busy database are through in far less. */
const WAIT_MS = 300_000;
const LOOK_MS = 100;

/**
 * Lets one process at a time set something up in the database, for libraries that do not see to that themselves: several that start
 * together on a new database would trip over each other. An embedded database has one process only.
 */
export async function inTurn<Result>(db: Pick<PgDatabase, 'driver' | 'pool'>, work: () => Promise<Result>): Promise<Result> {
  if (db.driver === 'pglite') return await work();
  const client = await db.pool.connect().catch((error: unknown) => {
    throw toStorageError(error);
  });
  try {
    await takeTurn(client);
    return await work();
  } finally {
    // A lock that cannot be given back goes with its connection.
    const failed = await client.query('select pg_advisory_unlock_all()').then(
      () => false,
      () => true,
    );
    client.release(failed);
  }
}

/** Asked for again and again: a wait in the server would be ended by the limit that is meant for rows. Throws `storage-failed`, retryable. */
async function takeTurn(client: pg.PoolClient): Promise<void> {
  const end = performance.now() + WAIT_MS;
  for (;;) {
    const { rows } = await client.query<{ mine: boolean }>('select pg_try_advisory_lock($1) as mine', [KEY]).catch((error: unknown) => {
      throw toStorageError(error);
    });
    if (rows[0]?.mine === true) return;
    if (performance.now() > end) {
      throw new TriageError(
        'storage-failed',
        `Another process has been setting up the database for more than ${WAIT_MS / 60_000} minutes.`,
        {
          retryable: true,
        },
      );
    }
    await delay(LOOK_MS);
  }
}
