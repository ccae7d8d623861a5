import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { TriageError } from '../../domain/errors.ts';
import { toStorageError } from './pool-database.ts';

/** The numbered SQL files that ship with Faultline. */
export const MIGRATIONS_FOLDER = fileURLToPath(new URL('../../../migrations', import.meta.url));

const TABLE = 'schema_migrations';

/**
 * Applies the SQL files that the database has not seen, in order, in one transaction under an advisory lock. Returns
 * their names. Throws `storage-failed` with everything rolled back, or `invalid-config` where the database is newer than
 * the files.
 */
export async function runMigrations(client: pg.ClientBase, folder: string): Promise<{ readonly applied: readonly string[] }> {
  const known = (await readdir(folder)).filter((name) => name.endsWith('.sql')).map((name) => name.slice(0, -'.sql'.length));
  const applied = await appliedNames(client);
  refuseNewerDatabase(applied, known);
  if (known.every((name) => applied.includes(name))) return { applied: [] };

  // Loaded only when there is work: it takes longer to load than an up-to-date database takes to start.
  const { runner } = await import('node-pg-migrate');
  const quiet = () => undefined;
  try {
    const done = await runner({
      dbClient: client,
      dir: folder,
      ignorePattern: '(?!.*\\.sql$).*',
      direction: 'up',
      migrationsTable: TABLE,
      advisoryLockMode: 'wait',
      logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
      singleTransaction: true,
    });
    return { applied: done.map((migration) => migration.name) };
  } catch (error) {
    throw toStorageError(error);
  }
}

async function appliedNames(client: pg.ClientBase): Promise<string[]> {
  try {
    const table = await client.query<{ found: boolean }>(`select to_regclass('${TABLE}') is not null as found`);
    if (!table.rows[0]?.found) return [];
    const names = await client.query<{ name: string }>(`select name from ${TABLE} order by id`);
    return names.rows.map((row) => row.name);
  } catch (error) {
    throw toStorageError(error);
  }
}

function refuseNewerDatabase(applied: readonly string[], known: readonly string[]): void {
  const unknown = applied.filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  throw new TriageError(
    'invalid-config',
    `The database was created by a newer Faultline: it has ${unknown.join(', ')}, which this version does not know. Use that version or newer.`,
  );
}
