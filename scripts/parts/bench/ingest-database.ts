import { openPglite } from '../../../src/stores/database/pglite.ts';
import type { PgDatabase } from '../../../src/stores/database/pool-database.ts';
import { openPostgres } from '../../../src/stores/database/postgres.ts';

/** The number of connections of one process, as in the server preset. */
const POOL = 10;

/** Opens the database and the pool for both sides of the ingest figures. */
export async function openBenchDatabase(place: string): Promise<PgDatabase> {
  const database = place.startsWith('postgres')
    ? await openPostgres({ url: place, poolSize: POOL })
    : await openPglite({ dataDir: place });
  await database.migrate();
  return database;
}
