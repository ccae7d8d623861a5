import { createHash } from 'node:crypto';
import { cpSync, existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openPglite } from '../../src/stores/database/pglite.ts';
import type { PgDatabase } from '../../src/stores/database/pool-database.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface EmbeddedDatabase extends PgDatabase {
  readonly dataDir: string;
  /** Closes the database and deletes its directory. */
  dispose(): Promise<void>;
}

/** Opens a migrated embedded database in a temporary directory of its own. */
export async function openEmbeddedDatabase(): Promise<EmbeddedDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'faultline-test-'));
  const dataDir = await copyTestDatabase(join(folder, 'database'));
  const database = await openPglite({ dataDir });
  await database.migrate();
  const dispose = async () => {
    await database.close();
    await rm(folder, { recursive: true, force: true });
  };
  return { ...database, dataDir, dispose };
}

/**
 * Copies a migrated, empty database to `dataDir`, and returns its path. Creating one takes seconds, but
 * copying takes a moment. The original is stored under node_modules/.cache until the migrations or PGlite
 * change.
 */
export async function copyTestDatabase(dataDir: string): Promise<string> {
  const template = join(ROOT, 'node_modules/.cache/faultline-test-database', await computeMigrationsKey());
  if (!existsSync(template)) await makeTemplate(template);
  // The synchronous copy takes a fifth of the time of the asynchronous one.
  cpSync(template, dataDir, { recursive: true });
  return dataDir;
}

/** Returns a key that changes when a migrated database would be different. */
export async function computeMigrationsKey(): Promise<string> {
  const hash = createHash('sha256').update(
    await readFile(join(ROOT, 'node_modules/@electric-sql/pglite/package.json')),
  );
  const folder = join(ROOT, 'migrations');
  for (const name of (await readdir(folder)).toSorted())
    hash.update(name).update(await readFile(join(folder, name)));
  return hash.digest('hex').slice(0, 16);
}

async function makeTemplate(template: string): Promise<void> {
  const draft = `${template}.${process.pid}`;
  await mkdir(draft, { recursive: true });
  const database = await openPglite({ dataDir: draft });
  await database.migrate();
  await database.close();
  // Another process may have been faster. Its result is the same.
  await rename(draft, template).catch(() => rm(draft, { recursive: true, force: true }));
}
