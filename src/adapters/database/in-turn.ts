import type { PgDatabase } from './pool-database.ts';
import { toStorageError } from './storage-error.ts';

/** Any number that nobody else locks. */
const KEY = 4_600_015;

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
    await client.query('select pg_advisory_lock($1)', [KEY]).catch((error: unknown) => {
      throw toStorageError(error);
    });
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
