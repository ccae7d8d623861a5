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

/** A migrated embedded database in a temporary directory of its own. */
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
 * Puts a migrated, empty database into `dataDir` and returns it. Making one takes seconds, copying one a moment, so the
 * first is kept under node_modules/.cache for as long as the migrations and PGlite stay as they are.
 */
export async function copyTestDatabase(dataDir: string): Promise<string> {
  const template = join(ROOT, 'node_modules/.cache/faultline-test-database', await migrationsKey());
  if (!existsSync(template)) await makeTemplate(template);
  // A fifth of what the asynchronous copy costs.
  cpSync(template, dataDir, { recursive: true });
  return dataDir;
}

/** Changes whenever a migrated database would look different. */
export async function migrationsKey(): Promise<string> {
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
  // Somebody else may have been faster; theirs is as good.
  await rename(draft, template).catch(() => rm(draft, { recursive: true, force: true }));
}
