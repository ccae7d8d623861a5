import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { z } from 'zod';
import { messageOf, TriageError } from '../../domain/errors.ts';
import { toStorageError } from './pool-database.ts';

/** The numbered SQL files that ship with Faultline. */
export const MIGRATIONS_FOLDER = fileURLToPath(new URL('../../../migrations', import.meta.url));

const TABLE = 'schema_migrations';
/** The advisory lock of node-pg-migrate: one process at a time tries its rights and migrates. */
const LOCK = 7_241_865_325_823_964;

/** What the migrations create, if a superuser has not. */
const EXTENSIONS = ['vector', 'pg_trgm'] as const;
/** Where the package of an extension comes from. */
const EXTENSION_PACKAGES =
  'pgvector is the package postgresql-<release>-pgvector (Debian and Ubuntu: apt.postgresql.org) or pgvector_<release> (RPM); pg_trgm is in postgresql-contrib; RDS, Cloud SQL and Azure have both';

/**
 * Applies the SQL files that the database has not seen, in order, in one transaction under an advisory lock. Returns
 * their names. Throws `storage-failed` with everything rolled back, or `invalid-config` where the database is newer than
 * the files, or the role lacks a right; nothing is left behind then.
 */
export async function runMigrations(client: pg.ClientBase, folder: string): Promise<{ readonly applied: readonly string[] }> {
  const known = (await readdir(folder)).filter((name) => name.endsWith('.sql')).map((name) => name.slice(0, -'.sql'.length));
  const rights = await rightsOf(client);
  if (!rights.mayRead) throw notTheOwner(rights);
  const applied = await appliedNames(client);
  refuseNewerDatabase(applied, known);
  if (known.every((name) => applied.includes(name))) return { applied: [] };
  await requireRights(client, rights);

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

const Rights = z.object({
  role: z.string(),
  database: z.string(),
  /** Which migrations were applied. */
  mayRead: z.boolean(),
  /** Create tables, and change those that are there: the role is their owner or a member of it. */
  mayChange: z.boolean(),
  available: z.array(z.string()),
  installed: z.array(z.string()),
});
type Rights = z.infer<typeof Rights>;

const RIGHTS = `
  select current_user::text as role, current_database()::text as database,
    coalesce(has_table_privilege(to_regclass('${TABLE}'), 'select'), true) as "mayRead",
    coalesce(has_schema_privilege(current_schema(), 'create'), false)
      and coalesce((select pg_has_role(relowner, 'usage') from pg_class where oid = to_regclass('${TABLE}')), true) as "mayChange",
    array(select name::text from pg_available_extensions where name = any($1::text[])) as available,
    array(select extname::text from pg_extension where extname = any($1::text[])) as installed`;

async function rightsOf(client: pg.ClientBase): Promise<Rights> {
  try {
    return Rights.parse((await client.query(RIGHTS, [EXTENSIONS])).rows[0]);
  } catch (error) {
    throw toStorageError(error);
  }
}

function notTheOwner({ role, database }: Rights): TriageError {
  return new TriageError(
    'invalid-config',
    `The role "${role}" may not change the tables of the database "${database}". Set FAULTLINE_DATABASE_OWNER_URL to the same database with the role that owns it, and run "faultline migrate" again`,
  );
}

/** Throws `invalid-config` with the command that mends it where pending migrations would fail. Extensions are tried in a transaction that is rolled back. */
export async function requireRights(client: pg.ClientBase, known?: Rights): Promise<void> {
  const rights = known ?? (await rightsOf(client));
  const { role, database, available, installed } = rights;
  const missing = EXTENSIONS.filter((name) => !installed.includes(name));
  const absent = missing.filter((name) => !available.includes(name));
  if (absent.length > 0)
    throw new TriageError('invalid-config', `The server does not have ${absent.join(' and ')}. Install it there: ${EXTENSION_PACKAGES}`);
  if (!rights.mayChange) throw notTheOwner(rights);
  if (missing.length === 0) return;
  const create = missing.map((name) => `create extension if not exists ${name};`).join(' ');
  try {
    // where another process is creating them, that one comes first
    await client.query(`begin; select pg_advisory_xact_lock(${LOCK}); ${create}`);
  } catch (error) {
    throw new TriageError(
      'invalid-config',
      `The role "${role}" may not create the extensions that Faultline needs (${messageOf(error)}). As a superuser, run once in the database "${database}": ${create} Then run "faultline migrate" again`,
      { cause: error },
    );
  } finally {
    await client.query('rollback');
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
