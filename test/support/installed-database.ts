import { join } from 'node:path';
import { openPglite } from '../../src/stores/database/pglite.ts';
import type { PgDatabase } from '../../src/stores/database/pool-database.ts';
import { openPostgres } from '../../src/stores/database/postgres.ts';
import { copyTestDatabase } from './pglite.ts';
import { isServerShared, startPostgres } from './postgres.ts';

/** A migrated, empty database of an installation. */
export interface InstalledDatabase {
  /** The environment of a service that uses it and triages two builds at a time in its own process. */
  readonly environment: Readonly<Record<string, string>>;
  /** The database in a configuration. */
  readonly config: object;
  /** Opens it. If it is embedded, the service must have ended. */
  open(): Promise<PgDatabase>;
}

/**
 * Creates the database of an installation whose test does not depend on its kind: on the server of the run
 * or, without one, embedded in the installation's data directory.
 */
export async function installDatabase(dataDirectory: string): Promise<InstalledDatabase> {
  if (!isServerShared) {
    const dataDir = await copyTestDatabase(join(dataDirectory, 'database'));
    return { environment: {}, config: { driver: 'pglite', dataDir }, open: () => openPglite({ dataDir }) };
  }
  const url = await (await startPostgres()).createMigrated();
  return {
    environment: {
      FAULTLINE_DATABASE_URL: url,
      FAULTLINE_WORK_IN_SERVE: 'true',
      FAULTLINE_CONCURRENCY: '2',
    },
    config: { driver: 'postgres', url, readerUrl: null, ownerUrl: null, poolSize: 8 },
    open: () => openPostgres({ url, poolSize: 2 }),
  };
}
