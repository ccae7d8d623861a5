import { z } from 'zod';
import { TriageError } from '../domain/errors.ts';
import { Failure, Fingerprint } from '../domain/failure.ts';
import type { FailureGroup } from '../domain/reading.ts';
import { append, maxOf } from '../lib/lists.ts';
import type { Database, Sql } from '../ports/database.ts';
import type { FailureFilter, FailureStore } from '../ports/stores.ts';
import { FAILURE_ROW, FAILURE_ROW_FROM, JUDGED_CATEGORY, readFailureRow } from './failure-rows.ts';
import { pageValues } from './page.ts';
import { scopeValue } from './scope.ts';

export function createFailureStore(db: Database): FailureStore {
  return {
    saveGroups: async (buildId, groups, sql) =>
      sql === undefined ? await db.transaction((own) => saveGroups(own, buildId, groups)) : await saveGroups(sql, buildId, groups),

    listByBuild: async (buildId) => (await storedGroups(db, buildId)).flatMap((group) => group.failures),

    search: async (filter, page) => {
      const { conditions, values } = searchConditions(filter);
      const where = conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`;
      const [limit, offset] = [`$${values.length + 1}`, `$${values.length + 2}`];
      const rows = await db.query(
        `select ${FAILURE_ROW} from ${FAILURE_ROW_FROM} ${where} order by f.seen_at desc, f.id desc limit ${limit} offset ${offset}`,
        [...values, ...pageValues(page)],
      );
      return rows.map(readFailureRow);
    },
  };
}

/** The row lock on the build makes callers take turns: the second finds what the first has saved. */
async function saveGroups(sql: Sql, buildId: string, groups: readonly FailureGroup[]): Promise<FailureGroup[]> {
  if ((await sql.query('select id from builds where id = $1 for update', [buildId])).length === 0) {
    throw new TriageError('not-found', `There is no build ${buildId}`);
  }
  const rows = newRows(buildId, groups, await storedRows(sql, buildId));
  if (rows.length > 0) await sql.query(INSERT, [buildId, { rows }]);
  return await storedGroups(sql, buildId);
}

const StoredRow = z.object({ group: z.int(), position: z.int(), fingerprint: Fingerprint, generic: z.boolean(), failure: Failure });
type StoredRow = z.infer<typeof StoredRow>;

function newRows(buildId: string, groups: readonly FailureGroup[], stored: readonly StoredRow[]): StoredRow[] {
  const rows = [...stored];
  for (const group of groups) {
    const number =
      rows.find((row) => isOfGroup(row, group))?.group ??
      maxOf(
        rows.map((row) => row.group),
        -1,
      ) + 1;
    const known = new Set(stored.filter((row) => row.group === number).map((row) => failureKey(row.failure)));
    // A group keeps the fingerprint it was first saved with: its triage goes by that.
    const { fingerprint, generic } = rows.find((row) => row.group === number) ?? group;
    const from = rows.filter((row) => row.group === number).length;
    const fresh = group.failures.filter((one) => !known.has(failureKey(one)));
    append(
      rows,
      fresh.map((failure, at) => ({ group: number, position: from + at, fingerprint, generic, failure: { ...failure, buildId } })),
    );
  }
  return rows.slice(stored.length);
}

function isOfGroup(row: StoredRow, group: FailureGroup): boolean {
  const { algorithm, version, value } = row.fingerprint;
  return algorithm === group.fingerprint.algorithm && version === group.fingerprint.version && value === group.fingerprint.value;
}

function failureKey({ test, message }: Failure): string {
  return JSON.stringify(test === null ? [message] : [test.suite, test.name]);
}

async function storedRows(sql: Sql, buildId: string): Promise<StoredRow[]> {
  return z.array(StoredRow).parse(await sql.query(STORED, [buildId]));
}

async function storedGroups(sql: Sql, buildId: string): Promise<FailureGroup[]> {
  const rows = await storedRows(sql, buildId);
  const byNumber = Map.groupBy(rows, (row) => row.group);
  return [...byNumber.values()].flatMap((members) => {
    const [first] = members;
    if (first === undefined) return [];
    return [{ fingerprint: first.fingerprint, generic: first.generic, failures: members.map((member) => member.failure) }];
  });
}

/** `repository`, `fingerprint` and `test` must be equal; each word of `text` must occur in the message, in any case. */
function searchConditions(filter: FailureFilter): { conditions: string[]; values: unknown[] } {
  const conditions: string[] = [];
  const values: unknown[] = [];
  const add = (condition: (parameter: string) => string, value: unknown) => {
    values.push(value);
    conditions.push(condition(`$${values.length}`));
  };
  if (filter.repository !== undefined) add((parameter) => `f.repository = ${parameter}`, filter.repository);
  if (filter.category !== undefined) add((parameter) => `coalesce(d.category, ${JUDGED_CATEGORY}) = ${parameter}`, filter.category);
  if (filter.fingerprint !== undefined) add((parameter) => `f.fingerprint = ${parameter}`, filter.fingerprint);
  if (filter.test !== undefined) add((parameter) => `f.test_name = ${parameter}`, filter.test);
  if (filter.repositories !== undefined) add((parameter) => `f.repository like any(${parameter}::text[])`, scopeValue(filter.repositories));
  if (filter.since !== undefined) add((parameter) => `f.seen_at >= ${parameter}::timestamptz`, filter.since);
  for (const word of filter.text?.split(/\s+/).filter((part) => part !== '') ?? []) {
    add((parameter) => `f.message ilike ${parameter}`, `%${word.replace(/[\\%_]/g, '\\$&')}%`);
  }
  return { conditions, values };
}

const INSERT = `
  insert into failures (id, build_id, repository, group_number, position, fingerprint_algorithm, fingerprint_version, fingerprint,
    generic, test_name, message, body, seen_at)
  select r->'failure'->>'id', b.id, b.repository, (r->>'group')::int, (r->>'position')::int, r->'fingerprint'->>'algorithm',
    (r->'fingerprint'->>'version')::int, r->'fingerprint'->>'value', (r->>'generic')::boolean, r->'failure'->'test'->>'name',
    r->'failure'->>'message', r->'failure', b.received_at
  from builds b, jsonb_array_elements($2::jsonb->'rows') as r
  where b.id = $1`;

const STORED = `
  select group_number as group, position, generic, body as failure,
    jsonb_build_object('algorithm', fingerprint_algorithm, 'version', fingerprint_version, 'value', fingerprint) as fingerprint
  from failures where build_id = $1 order by group_number, position`;
