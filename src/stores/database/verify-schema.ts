import type pg from 'pg';
import { getErrorMessage, TriageError } from '../../domain/errors.ts';
import { REPAIR } from './applied-migrations.ts';
import type { MigrationFile } from './migration-files.ts';
import { findDifferences, readSchemaObjects, type SchemaObject } from './schema-objects.ts';

/** The name of a temporary schema; it exists only within a transaction that is rolled back. */
const SCRATCH = 'faultline_expected';
const NOT_ALLOWED = '42501';
/** The maximum number of differences in a message. The others are counted. */
const NAMED = 8;

/**
 * Reads the objects that the migrations create on this server, by applying them to an empty schema and
 * rolling back. Must be called in a transaction without changes. Throws `invalid-config` if the role may not
 * create a schema.
 */
export async function readExpectedSchema(
  client: pg.ClientBase,
  files: readonly MigrationFile[],
): Promise<readonly SchemaObject[]> {
  await client.query('savepoint expected');
  await client.query(`create schema ${SCRATCH}`).catch(explainRefusal);
  await client.query(
    `select set_config('search_path', '${SCRATCH}, ' || current_setting('search_path'), true)`,
  );
  await client.query('create table schema_migrations (name text, run_on timestamp, checksum text)');
  for (const { text } of files) await client.query(text);
  const objects = await readSchemaObjects(client);
  await client.query('rollback to savepoint expected');
  return objects;
}

function explainRefusal(error: unknown): never {
  if (Reflect.get(Object(error), 'code') !== NOT_ALLOWED) throw error;
  throw new TriageError(
    'invalid-config',
    'The role may not create a schema, which the schema is once compared with ' +
      `(${getErrorMessage(error)}). Run deploy/postgres-roles.sql again as a superuser, or there: ` +
      'grant create on database … to that role. Then run "faultline migrate" again',
    { cause: error },
  );
}

/** Verifies the schema. Throws `invalid-config` with the migrations and objects that differ. */
export async function verifySchema(
  client: pg.ClientBase,
  expected: readonly SchemaObject[],
  files: readonly MigrationFile[],
): Promise<void> {
  const differences = findDifferences(expected, await readSchemaObjects(client));
  if (differences.length === 0) return;
  throw new TriageError(
    'invalid-config',
    `The schema is not what the migrations of this version create: ${describe(differences, files)}. ` +
      `To change that, ${REPAIR}.`,
  );
}

/**
 * Creates missing objects and replaces different ones, without dropping anything that contains rows. Throws
 * `invalid-config` if differences remain.
 */
export async function repairSchema(
  client: pg.ClientBase,
  expected: readonly SchemaObject[],
  files: readonly MigrationFile[],
): Promise<readonly string[]> {
  const differences = findDifferences(expected, await readSchemaObjects(client));
  for (const { kind, name, sql } of differences) {
    await client.query(sql).catch((error: unknown) => {
      throw new TriageError(
        'invalid-config',
        `The ${kind} ${name} cannot be repaired (${getErrorMessage(error)}). Nothing was changed; ` +
          'restore a backup',
        {
          cause: error,
        },
      );
    });
  }
  const left = findDifferences(expected, await readSchemaObjects(client));
  if (left.length === 0) return differences.map(nameObject);
  throw new TriageError(
    'invalid-config',
    `The schema cannot be repaired without losing rows: ${describe(left, files)}. ` +
      'Nothing was changed. Restore a backup, or change by ' +
      `hand: ${left.map(({ definition }) => definition).join('; ')}`,
  );
}

function describe(differences: readonly SchemaObject[], files: readonly MigrationFile[]): string {
  const named = differences.slice(0, NAMED).map((each) => `${nameObject(each)} (${findSource(each, files)})`);
  const more = differences.length - named.length;
  return `${named.join(', ')}${more > 0 ? `, and ${more} more` : ''} missing or different`;
}

function nameObject({ kind, table, name }: SchemaObject): string {
  return kind === 'column' || kind === 'trigger' ? `${kind} ${table}.${name}` : `${kind} ${name}`;
}

/**
 * Returns the migration that probably created an object: the first one that mentions it. The server chose the
 * names of most constraints.
 */
function findSource({ kind, table, name }: SchemaObject, files: readonly MigrationFile[]): string {
  const words = [table, kind === 'constraint' ? null : name].filter((word) => word !== null);
  return files.find(({ text }) => words.every((word) => text.includes(word)))?.name ?? 'of no one migration';
}
