import type pg from 'pg';
import { z } from 'zod';
import { getErrorMessage, TriageError } from '../../domain/errors.ts';
import type { MigrateOptions, MigrateResult, Sql } from '../../ports/database.ts';
import {
  compareMigrations,
  MIGRATIONS_TABLE,
  RENAMED,
  readApplied,
  refuseChanged,
  refuseNewer,
} from './applied-migrations.ts';
import { type MigrationFile, readMigrationFiles } from './migration-files.ts';
import { toStorageError } from './pool-database.ts';
import { readExpectedSchema, repairSchema, verifySchema } from './verify-schema.ts';

/**
 * The key of the lock under which one process at a time checks its rights and migrates. Older releases use
 * the same key.
 */
const LOCK = 7_241_865_325_823_964;

/** The extensions that the migrations create unless they exist. */
const EXTENSIONS = ['vector', 'pg_trgm'] as const;
/** The packages that contain the extensions. */
const EXTENSION_PACKAGES =
  'pgvector is the package postgresql-<release>-pgvector (Debian and Ubuntu: ' +
  'apt.postgresql.org) or pgvector_<release> (RPM); pg_trgm is in postgresql-contrib; ' +
  'RDS, Cloud SQL and Azure have both';

/**
 * Applies the new SQL files in order, in one transaction under an advisory lock, and records the checksum of
 * each. Throws `storage-failed` with everything rolled back. Throws `invalid-config` without changes if the
 * database is newer than the files, was migrated with different files, or the role lacks a right.
 */
export async function runMigrations(
  client: pg.ClientBase,
  folder: string,
  { repair = false }: MigrateOptions = {},
): Promise<MigrateResult> {
  const files = await readMigrationFiles(folder);
  const rights = await readRights(client);
  if (!rights.mayRead) throw createNotOwnerError(rights);
  const status = compareMigrations(files, await readApplied(toSql(client)));
  refuseNewer(status);
  if (!repair) refuseChanged(status);
  if (!repair && status.pending.length === 0 && status.unverified.length === 0) return { applied: [] };
  await requireRights(client, rights);
  try {
    await client.query('begin');
    const result = await migrateUnderLock(client, files, repair);
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw toStorageError(error);
  }
}

async function migrateUnderLock(
  client: pg.ClientBase,
  files: readonly MigrationFile[],
  repair: boolean,
): Promise<MigrateResult> {
  await client.query('select pg_advisory_xact_lock($1)', [LOCK]);
  await prepareTable(client);
  // Another process may have migrated in the meantime.
  const status = compareMigrations(files, await readApplied(toSql(client)));
  refuseNewer(status);
  if (!repair) refuseChanged(status);
  const expected = repair || status.unverified.length > 0 ? await readExpectedSchema(client, files) : null;
  for (const file of status.pending) await applyMigration(client, file);
  const repaired = expected !== null && repair ? await repairSchema(client, expected, files) : [];
  if (expected !== null) await verifySchema(client, expected, files);
  for (const { name, checksum } of [...status.unverified, ...status.changed.map(({ file }) => file)])
    await client.query(`update ${MIGRATIONS_TABLE} set checksum = $2 where name = $1`, [name, checksum]);
  const applied = status.pending.map(({ name }) => name);
  return repair ? { applied, repaired } : { applied };
}

async function prepareTable(client: pg.ClientBase): Promise<void> {
  await client.query(
    `create table if not exists ${MIGRATIONS_TABLE} (id serial primary key, name varchar(255) not null,
      run_on timestamp not null)`,
  );
  await client.query(`alter table ${MIGRATIONS_TABLE} add column if not exists checksum text`);
  for (const [before, now] of RENAMED)
    await client.query(`update ${MIGRATIONS_TABLE} set name = $2 where name = $1`, [before, now]);
}

async function applyMigration(client: pg.ClientBase, { name, text, checksum }: MigrationFile): Promise<void> {
  try {
    await client.query(text);
  } catch (error) {
    const { message, retryable, details } = toStorageError(error);
    throw new TriageError(
      'storage-failed',
      `The migration ${name} failed, and nothing was changed. ${message}`,
      {
        retryable,
        details,
        cause: error,
      },
    );
  }
  await client.query(`insert into ${MIGRATIONS_TABLE} (name, run_on, checksum) values ($1, now(), $2)`, [
    name,
    checksum,
  ]);
}

function toSql(client: pg.ClientBase): Sql {
  return {
    query: async <Row extends object>(text: string) => {
      try {
        return (await client.query<Row & pg.QueryResultRow>(text)).rows;
      } catch (error) {
        throw toStorageError(error);
      }
    },
  };
}

const Rights = z.object({
  role: z.string(),
  database: z.string(),
  /** True if the role may read which migrations were applied. */
  mayRead: z.boolean(),
  /**
   * True if the role may create tables and change existing ones: the role is their owner or a member of it.
   */
  mayChange: z.boolean(),
  available: z.array(z.string()),
  installed: z.array(z.string()),
});
type Rights = z.infer<typeof Rights>;

const RIGHTS = `
  select current_user::text as role, current_database()::text as database,
    coalesce(has_table_privilege(to_regclass('${MIGRATIONS_TABLE}'), 'select'), true) as "mayRead",
    coalesce(has_schema_privilege(current_schema(), 'create'), false)
      and coalesce((select pg_has_role(relowner, 'usage') from pg_class
        where oid = to_regclass('${MIGRATIONS_TABLE}')), true) as "mayChange",
    array(select name::text from pg_available_extensions where name = any($1::text[])) as available,
    array(select extname::text from pg_extension where extname = any($1::text[])) as installed`;

async function readRights(client: pg.ClientBase): Promise<Rights> {
  try {
    return Rights.parse((await client.query(RIGHTS, [EXTENSIONS])).rows[0]);
  } catch (error) {
    throw toStorageError(error);
  }
}

function createNotOwnerError({ role, database }: Rights): TriageError {
  return new TriageError(
    'invalid-config',
    `The role "${role}" may not change the tables of the database "${database}". ` +
      'Set FAULTLINE_DATABASE_OWNER_URL to the same database with the role that owns it, and run ' +
      '"faultline migrate" again',
  );
}

/**
 * Throws `invalid-config`, with the command that fixes the problem, if pending migrations would fail.
 * Extensions are tried in a transaction that is rolled back.
 */
export async function requireRights(client: pg.ClientBase, known?: Rights): Promise<void> {
  const rights = known ?? (await readRights(client));
  const { role, database, available, installed } = rights;
  const missing = EXTENSIONS.filter((name) => !installed.includes(name));
  const absent = missing.filter((name) => !available.includes(name));
  if (absent.length > 0)
    throw new TriageError(
      'invalid-config',
      `The server does not have ${absent.join(' and ')}. Install it there: ${EXTENSION_PACKAGES}`,
    );
  if (!rights.mayChange) throw createNotOwnerError(rights);
  if (missing.length === 0) return;
  const create = missing.map((name) => `create extension if not exists ${name};`).join(' ');
  try {
    // If another process is creating them, this one waits for it.
    await client.query(`begin; select pg_advisory_xact_lock(${LOCK}); ${create}`);
  } catch (error) {
    throw new TriageError(
      'invalid-config',
      `The role "${role}" may not create the extensions that Faultline needs ` +
        `(${getErrorMessage(error)}). As a superuser, run once in the database ` +
        `"${database}": ${create} Then run "faultline migrate" again`,
      { cause: error },
    );
  } finally {
    await client.query('rollback');
  }
}
