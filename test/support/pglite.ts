import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openPglite, type PgliteDatabase } from '../../src/adapters/database/pglite.ts';

export interface TestDatabase extends PgliteDatabase {
  readonly dataDir: string;
  /** Closes the database and deletes its directory. */
  dispose(): Promise<void>;
}

/** A migrated embedded database in a temporary directory of its own. */
export async function openTestDatabase(): Promise<TestDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'faultline-test-'));
  const dataDir = join(folder, 'database');
  const database = await openPglite({ dataDir });
  await database.migrate();
  const dispose = async () => {
    await database.close();
    await rm(folder, { recursive: true, force: true });
  };
  return { ...database, dataDir, dispose };
}
