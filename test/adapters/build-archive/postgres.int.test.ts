import { createPostgresArchive } from '../../../src/adapters/build-archive/postgres.ts';
import { buildArchiveContract } from '../../contract/build-archive-contract.ts';
import { openTestDatabase } from '../../support/pglite.ts';

buildArchiveContract('postgres on pglite', async () => {
  const db = await openTestDatabase();
  return { archive: createPostgresArchive(db), dispose: db.dispose };
});
