import { TriageError } from '../../domain/errors.ts';
import type { Sql } from '../../ports/database.ts';
import type { MigrationFile } from './migration-files.ts';

/**
 * The table with one row for each applied migration. Releases before the checksums created it without that
 * column.
 */
export const MIGRATIONS_TABLE = 'schema_migrations';

/** The end of a sentence that advises how to repair a schema. */
export const REPAIR =
  'back up, then run "faultline migrate --repair": it compares the schema with the migrations and repairs it';

export interface AppliedMigration {
  readonly name: string;
  /** The checksum of the file when it was applied; null if the release that applied it recorded none. */
  readonly checksum: string | null;
}

/** Lists the applied migrations in order. Returns an empty list if the database has no schema yet. */
export async function readApplied(sql: Sql): Promise<readonly AppliedMigration[]> {
  const [table] = await sql.query<{ found: boolean }>(
    `select to_regclass('${MIGRATIONS_TABLE}') is not null as found`,
  );
  if (!table?.found) return [];
  // The column may be missing, and only the owner may add it.
  return await sql.query<{ name: string; checksum: string | null }>(
    `select name, to_jsonb(applied) ->> 'checksum' as checksum from ${MIGRATIONS_TABLE} as applied
      order by id`,
  );
}

/** The differences between the migration files of this version and the migrations of a database. */
export interface MigrationStatus {
  readonly pending: readonly MigrationFile[];
  /** The names of migrations that only a newer version has. */
  readonly newer: readonly string[];
  /** The migrations whose file has changed since they were applied. */
  readonly changed: readonly { readonly file: MigrationFile; readonly applied: string }[];
  /** Applied migrations without a recorded checksum, so their applied form is unknown. */
  readonly unverified: readonly MigrationFile[];
}

/** Compares the migration files of this version with the applied migrations. */
export function compareMigrations(
  files: readonly MigrationFile[],
  applied: readonly AppliedMigration[],
): MigrationStatus {
  const checksums = new Map(applied.map(({ name, checksum }) => [RENAMED.get(name) ?? name, checksum]));
  const known = new Set(files.map(({ name }) => name));
  return {
    pending: files.filter(({ name }) => !checksums.has(name)),
    newer: [...checksums.keys()].filter((name) => !known.has(name)),
    changed: files.flatMap((file) => {
      const recorded = checksums.get(file.name) ?? file.checksum;
      return recorded === file.checksum ? [] : [{ file, applied: recorded }];
    }),
    unverified: files.filter(({ name }) => checksums.get(name) === null),
  };
}

/** The current names of renamed migration files, by their earlier names. Their text is unchanged. */
export const RENAMED: ReadonlyMap<string, string> = new Map([['0042_outside', '0043_links']]);

/** Throws `invalid-config` if the database has migrations of a newer version. */
export function refuseNewer({ newer }: MigrationStatus): void {
  if (newer.length === 0) return;
  throw new TriageError(
    'invalid-config',
    `The database was created by a newer Faultline: it has ${newer.join(', ')}, which this version ` +
      'does not know. Use that version or newer.',
  );
}

/** Throws `invalid-config` if the file of an applied migration has changed. */
export function refuseChanged(status: MigrationStatus): void {
  const says = describeChanged(status);
  if (says !== null)
    throw new TriageError(
      'invalid-config',
      `${says}. If the file was changed here, restore it. Otherwise ${REPAIR}.`,
    );
}

/**
 * Describes the migrations whose files have changed since they were applied. Returns null if there are none.
 */
export function describeChanged({ changed }: MigrationStatus): string | null {
  if (changed.length === 0) return null;
  const each = changed.map(
    ({ file, applied }) =>
      `${file.name} (checksum ${applied.slice(0, 12)}…, the file has ${file.checksum.slice(0, 12)}…)`,
  );
  return `The database was migrated with another form of ${each.join(', ')} than this version has`;
}
