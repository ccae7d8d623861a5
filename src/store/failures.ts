import { z } from 'zod';
import { TriageError } from '../domain/errors.ts';
import { Failure, Fingerprint } from '../domain/failure.ts';
import type { FailureGroup } from '../domain/reading.ts';
import type { Database, Sql } from '../ports/database.ts';
import type { FailureFilter, FailureStore } from '../ports/stores.ts';
import { FAILURE_ROW, FAILURE_ROW_FROM, readFailureRow } from './failure-rows.ts';
import { pageValues } from './page.ts';

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

/** The row lock on the build lets one of two callers save; the other finds the mark and reads. */
async function saveGroups(sql: Sql, buildId: string, groups: readonly FailureGroup[]): Promise<FailureGroup[]> {
  const marked = await sql.query(
    'update builds set failures_saved_at = clock_timestamp() where id = $1 and failures_saved_at is null returning id',
    [buildId],
  );
  if (marked.length > 0) {
    const rows = groups.flatMap(({ fingerprint, generic, failures }, group) =>
      failures.map((failure, position) => ({ group, position, fingerprint, generic, failure: { ...failure, buildId } })),
    );
    await sql.query(INSERT, [buildId, { rows }]);
  } else if ((await sql.query('select id from builds where id = $1', [buildId])).length === 0) {
    throw new TriageError('not-found', `There is no build ${buildId}`);
  }
  return await storedGroups(sql, buildId);
}

const StoredRow = z.object({ group: z.int(), fingerprint: Fingerprint, generic: z.boolean(), failure: Failure });

async function storedGroups(sql: Sql, buildId: string): Promise<FailureGroup[]> {
  const rows = z.array(StoredRow).parse(await sql.query(STORED, [buildId]));
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
  if (filter.category !== undefined) add((parameter) => `coalesce(d.category, a.category) = ${parameter}`, filter.category);
  if (filter.fingerprint !== undefined) add((parameter) => `f.fingerprint = ${parameter}`, filter.fingerprint);
  if (filter.test !== undefined) add((parameter) => `f.test_name = ${parameter}`, filter.test);
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
  select group_number as group, generic, body as failure,
    jsonb_build_object('algorithm', fingerprint_algorithm, 'version', fingerprint_version, 'value', fingerprint) as fingerprint
  from failures where build_id = $1 order by group_number, position`;
