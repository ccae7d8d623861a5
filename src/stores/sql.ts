import type { z } from 'zod';
import { Build } from '../domain/build.ts';
import type { InsightsFilter, Period } from '../domain/insights.ts';
import type { Page, Sql } from '../ports/database.ts';

const MAX_LIMIT = 200;

/** Returns `[limit, offset]` for SQL, clamped to the allowed range. */
export function toPageValues(page: Page): [number, number] {
  return [Math.min(Math.max(Math.trunc(page.limit), 1), MAX_LIMIT), Math.max(Math.trunc(page.offset), 0)];
}

/** The character in scopes that contain patterns. */
const PATTERNS = '*';

/**
 * Returns LIKE patterns for repositories such as `owner/name` and `owner/*`, or null for all. The result is
 * one SQL value.
 */
export function scopeValue(repositories: readonly string[] | null | undefined): string[] | null {
  if (repositories === null || repositories === undefined) return null;
  const patterns = repositories.map((repository) =>
    repository.endsWith('/*') ? `${escapeLike(repository.slice(0, -1))}%` : escapeLike(repository),
  );
  return patterns.every((pattern, at) => pattern === repositories[at]) ? patterns : [...patterns, PATTERNS];
}

/** Returns SQL for the condition that a repository is in a scope. Plain names can use an index. */
export const inScope = (repository: string, scope: string) => `(${scope}::text[] is null
  or case when ${scope}::text[] @> array['${PATTERNS}'] then ${repository} like any(${scope})
    else ${repository} = any(${scope}) end)`;

/** Returns `[$1, $2]` of every query: the repositories to include. */
export function filterValues({ repository, repositories }: InsightsFilter): unknown[] {
  return [repository ?? null, scopeValue(repositories)];
}

/** Returns `[$1, $2, $3, $4]`: the repositories, and the start and end of the period. */
export function toPeriodValues(period: Period): unknown[] {
  const until = Date.parse(period.until);
  return [...filterValues(period), new Date(until - period.days * 86_400_000).toISOString(), period.until];
}

/** Escapes a text so that LIKE matches it literally. */
export function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}

/** Returns all rows, parsed with the schema. */
export async function queryAll<Row>(
  sql: Pick<Sql, 'query'>,
  schema: z.ZodType<Row>,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  return (await sql.query(text, values)).map((row) => schema.parse(row));
}

/** Returns the first row, parsed with the schema, or null. */
export async function queryFirst<Row>(
  sql: Pick<Sql, 'query'>,
  schema: z.ZodType<Row>,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row | null> {
  const [row] = await sql.query(text, values);
  return row === undefined ? null : schema.parse(row);
}

/**
 * Returns SQL for a time this many milliseconds from now, by the database's clock, so that processes with
 * different clocks agree.
 */
export const fromNow = (milliseconds: string) =>
  `clock_timestamp() + ${milliseconds}::float8 * interval '1 millisecond'`;

/** Returns SQL that formats a time in the text form that the domain reads. */
export const isoTime = (column: string) =>
  `to_char(${column} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** Converts a field name to a column name: `receivedAt` → `received_at`. */
export const toColumn = (field: string) => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/**
 * Returns a select list for the schema: each field from the column of its name (`receivedAt` from
 * received_at), or from the SQL given for it; `table` is the alias.
 */
export function listColumns(
  schema: z.ZodObject,
  table: string | null = null,
  given: Readonly<Record<string, string>> = {},
): string {
  const column = (field: string) => `${table === null ? '' : `${table}.`}${toColumn(field)}`;
  return Object.keys(schema.shape)
    .map((field) => `${given[field] ?? column(field)} as "${field}"`)
    .join(', ');
}

/** Inserts a row, each field into the column of its name; `more` follows the values. */
export async function insert(
  sql: Pick<Sql, 'query'>,
  table: string,
  row: object,
  more = '',
): Promise<Record<string, unknown>[]> {
  const columns = Object.keys(row).map(toColumn);
  const places = columns.map((_, at) => `$${at + 1}`);
  return await sql.query(
    `insert into ${table} (${columns.join(', ')}) values (${places.join(', ')}) ${more}`,
    Object.values(row),
  );
}

/** Returns a select list for `Build`; `table` is the alias of the columns. */
export const buildColumns = (table: string) => listColumns(Build, table);

/**
 * Returns a row expression that orders the builds of one pipeline, oldest first; `table` is the alias of the
 * columns.
 */
export function buildOrder(table: string): string {
  return `(coalesce(${table}.number_order, -1), coalesce(${table}.started_at, ${table}.received_at),
    ${table}.id)`;
}

/** Returns SQL for the condition that both builds belong to one pipeline. */
export const isSamePipeline = (left: string, right: string) =>
  `${left}.provider = ${right}.provider and ${left}.repository = ${right}.repository
    and ${left}.pipeline = ${right}.pipeline`;

/** SQL with the usual names of a default branch, for repositories whose CI has not reported it. */
export const USUAL_NAMES = `'main', 'master', 'trunk', 'default'`;

/** Returns SQL for the condition that the branch of a build is its repository's default branch. */
export const IS_DEFAULT = (table: string) => `coalesce(
  ${table}.branch = (select d.branch from default_branches d
    where d.provider = ${table}.provider and d.repository = ${table}.repository),
  ${table}.branch in (${USUAL_NAMES}), false)`;

/**
 * Returns SQL for the condition that one build came before another of its pipeline. If both have the same
 * number, the attempt decides. If the later one's number is only a placeholder (its run id), the start time
 * decides, otherwise the number and then the time.
 */
export const isBefore = (earlier: string, later: string) => `case
  when ${earlier}.number = ${later}.number then ${earlier}.attempt < ${later}.attempt
  when ${later}.number = ${later}.external_id
    then coalesce(${earlier}.started_at, ${earlier}.received_at)
      < coalesce(${later}.started_at, ${later}.received_at)
  else ${buildOrder(earlier)} < ${buildOrder(later)} end`;

/** The maximum number of rows in one statement. Writing more as JSON would block the event loop. */
const IN_ONE_STATEMENT = 2_000;

/** Splits rows into batches for one statement each. */
export function toBatches<Row>(rows: readonly Row[]): Row[][] {
  return Array.from({ length: Math.ceil(rows.length / IN_ONE_STATEMENT) }, (_, at) =>
    rows.slice(at * IN_ONE_STATEMENT, (at + 1) * IN_ONE_STATEMENT),
  );
}

/** The maximum number of values that are offered for each field. */
const MOST_OFFERS = 30;

/**
 * Returns SQL that counts the values of each field among the rows of a query, most frequent first, as rows of
 * `Offer`.
 */
export function countOffers(rows: string, fields: readonly string[]): string {
  const values = fields.map((field) => `('${field}', ${field}::text)`).join(', ');
  return `
    with these as materialized (${rows}), counted as (
      select field, value, count(*)::int as count, row_number() over (partition by field
        order by count(*) desc, value) as rank
      from these cross join lateral (values ${values}) as one (field, value)
      where value is not null group by field, value
    )
    select field, value, count from counted where rank <= ${MOST_OFFERS} order by field, rank`;
}
