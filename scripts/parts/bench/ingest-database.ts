import { openPglite } from '../../../src/stores/database/pglite.ts';
import type { PgDatabase } from '../../../src/stores/database/pool-database.ts';
import { openPostgres } from '../../../src/stores/database/postgres.ts';

/** Connections of one process: what the server preset has. */
const POOL = 10;

/** The database and the pool that both sides of the ingest figures run on. */
export async function openBenchDatabase(place: string): Promise<PgDatabase> {
  const database = place.startsWith('postgres')
    ? await openPostgres({ url: place, poolSize: POOL })
    : await openPglite({ dataDir: place });
  await database.migrate();
  return database;
}
