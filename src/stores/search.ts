import { z } from 'zod';
import { TriageError } from '../domain/errors.ts';
import { FailureRow } from '../domain/failure.ts';
import type { Comparison, FailureFilter, SearchFlag } from '../domain/search.ts';
import type { Database, Page, Sql } from '../ports/database.ts';
import { escapeLike, inScope, queryAll, scopeValue, toPageValues } from './sql.ts';

/** The SQLSTATE of a statement that reached its time limit. */
const TOO_LONG = '57014';

/** Time limit of a search in milliseconds; after that, the user is asked to narrow it. */
const LIMIT_MS = 3_000;

/**
 * Searches failures among narrow rows, newest first, and reads their shown fields with the SQL `rowsOf`, in
 * which FOUND stands for the query that finds them. Rare words are looked up first; frequent words are found
 * quickly by going back in time.
 */
export async function searchFailures(
  db: Database,
  filter: FailureFilter,
  page: Page,
  rowsOf: string,
): Promise<FailureRow[]> {
  const from = db.reader ?? db;
  return await from
    .transaction(async (sql) => {
      await sql.query(`set local statement_timeout = ${LIMIT_MS}`);
      const { conditions, values } = await buildConditions(sql, filter);
      const where = conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`;
      const [limit, offset] = [`$${values.length + 1}`, `$${values.length + 2}`];
      const found = `select s.failure_id, s.seen_at from failure_facts s ${where}
        order by s.seen_at desc, s.failure_id desc limit ${limit} offset ${offset}`;
      return await queryAll(
        sql,
        FailureRow,
        rowsOf.replace('FOUND', () => found),
        [...values, ...toPageValues(page)],
      );
    })
    .catch((error: unknown) => {
      if (!(error instanceof TriageError) || error.details.state !== TOO_LONG) throw error;
      const message =
        `The search took longer than ${LIMIT_MS / 1000} s. Narrow it: ` +
        'name a repository, a shorter time or more words.';
      throw new TriageError('timeout', message, { cause: error });
    });
}

interface Conditions {
  readonly conditions: string[];
  readonly values: unknown[];
}

async function buildConditions(sql: Sql, filter: FailureFilter): Promise<Conditions> {
  const conditions: string[] = [];
  const values: unknown[] = [];
  const place = (value: unknown) => `$${values.push(value)}`;
  const add = (condition: (parameter: string) => string, value: unknown) =>
    conditions.push(condition(place(value)));
  for (const [field, column] of EQUAL)
    if (filter[field] !== undefined) add((parameter) => `s.${column} = ${parameter}`, filter[field]);
  if (filter.repository !== undefined) {
    if (filter.repository.endsWith('/*'))
      add((parameter) => `s.repository like any(${parameter}::text[])`, scopeValue([filter.repository]));
    else add((parameter) => `s.repository = ${parameter}`, filter.repository);
  }
  if (filter.repositories !== undefined)
    add((parameter) => inScope('s.repository', parameter), scopeValue(filter.repositories));
  if (filter.since !== undefined) add((parameter) => `s.seen_at >= ${parameter}::timestamptz`, filter.since);
  if (filter.until !== undefined) add((parameter) => `s.seen_at < ${parameter}::timestamptz`, filter.until);
  if (filter.commit !== undefined)
    add((parameter) => `s.commit like ${parameter}`, `${escapeLike(filter.commit)}%`);
  if (filter.id !== undefined) {
    values.push(filter.id, `${escapeLike(filter.id)}%`);
    conditions.push(`(s.fingerprint = $${values.length - 1} or s.commit like $${values.length})`);
  }
  if (filter.owners !== undefined) add(OWNED, filter.owners);
  if (filter.testPart !== undefined)
    add((parameter) => `s.test_name ilike ${parameter}`, toLikePattern(filter.testPart));
  for (const flag of filter.flags ?? []) conditions.push(FLAGS[flag]);
  if (filter.states !== undefined) add(IN_STATE, filter.states);
  const { confidence } = filter;
  if (confidence !== undefined) add((parameter) => AS_SURE(confidence.is, parameter), confidence.than);
  if (filter.alerting === true) conditions.push(ALERTING);
  const parts = [filter.testPart, filter.file].filter((part) => part !== undefined);
  if (parts.length > 0) conditions.push(await buildTextCondition(sql, parts, false, place));
  if (filter.words !== undefined && filter.words.length > 0)
    conditions.push(await buildTextCondition(sql, filter.words, true, place));
  return { conditions, values };
}

const EQUAL = [
  ['category', 'category'],
  ['branch', 'branch'],
  ['author', 'author'],
  ['build', 'number'],
  ['fingerprint', 'fingerprint'],
  ['test', 'test_name'],
  ['buildId', 'build_id'],
] as const;

const OWNED = (parameter: string) =>
  `(s.repository, s.fingerprint) in (select c.repository, c.fingerprint from causes c
    where c.owner_keys && ${parameter}::text[] or ltrim(lower(c.assignee), '@') = any(${parameter}))`;

const IN_STATE = (parameter: string) =>
  `(s.repository, s.fingerprint) in (select c.repository, c.fingerprint from causes c
    where c.state = any(${parameter}::text[]))`;

const AS_SURE = (is: Comparison, parameter: string) =>
  `exists (select from answer_facts a where a.build_id = s.build_id and a.fingerprint = s.fingerprint
    and a.confidence ${is} ${parameter}::float8)`;

// This is the same condition as `isMuted` in the situation of a build.
const ALERTING = `
  not exists (select from causes own join causes c on c.repository = own.repository
      and c.fingerprint = coalesce(own.merged_into, own.fingerprint)
    where own.repository = s.repository and own.fingerprint = s.fingerprint
      and (c.muted_until > clock_timestamp() or c.muted_left is not null))
  and not exists (
    select from followed_tests q join failures f on f.id = s.failure_id
    where q.repository = s.repository and md5(q.name) = md5(s.test_name) and q.name = s.test_name
      and q.suite is not distinct from f.body->'test'->>'suite' and q.quarantined_until > clock_timestamp())`;

const FLAGS: Readonly<Record<SearchFlag, string>> = {
  flaky:
    '(s.repository, s.test_name) in (select t.repository, t.name from followed_tests t where t.flakes > 0)',
  decided: 's.decided',
  undecided: 's.category is not null and not s.decided',
  waiting: 's.reviewed and not s.decided',
  unanswered: 's.category is null',
};

function toLikePattern(part: string): string {
  return `%${escapeLike(part)}%`;
}

/** The number of texts above which a pattern counts as common. */
const FEW = 1_500;

const Key = z.object({ key: z.string() });
type Key = z.infer<typeof Key>;
// One condition for each pattern, because an index cannot be used for `all (…)`.
const holdAll = (column: string, patterns: readonly string[]) =>
  patterns.map((_, at) => `${column} ilike $${at + 1}`).join(' and ');
const keysQuery = (patterns: readonly string[]) =>
  `select key from failure_texts where ${holdAll('text', patterns)} limit ${FEW + 1}`;
const titlesQuery = (patterns: readonly string[]) => `
  select distinct fingerprint as key from (select fingerprint from answer_facts
    where ${holdAll('title', patterns)} limit ${10 * FEW + 1}) as titled
  limit ${FEW + 1}`;

/**
 * Builds the condition that one text of the failure contains all parts or, with `titles`, that the title of
 * its cause contains all of them.
 */
async function buildTextCondition(
  sql: Sql,
  parts: readonly string[],
  titles: boolean,
  place: (value: unknown) => string,
): Promise<string> {
  const patterns = parts.map(toLikePattern);
  const keys = await queryAll(sql, Key, keysQuery(patterns), patterns);
  const causes = titles ? await queryAll(sql, Key, titlesQuery(patterns), patterns) : [];
  const formatAny = (found: readonly Key[]) => `any(${place(found.map(({ key }) => key))}::text[])`;
  const text = keys.length > FEW ? SAYS(place(patterns)) : `s.text_key = ${formatAny(keys)}`;
  if (causes.length === 0) return text;
  return `(${text}
    or ${causes.length > FEW ? IS_TITLED(place(patterns)) : `s.fingerprint = ${formatAny(causes)}`})`;
}

// Separate queries of one row each, so that the database does not scan all texts because some match soon.
const SAYS = (patterns: string) =>
  `(select t.text ilike all(${patterns}::text[]) from failure_texts t where t.key = s.text_key)`;
const IS_TITLED = (patterns: string) =>
  `(select bool_or(a.title ilike all(${patterns}::text[])) from answer_facts a
    where a.build_id = s.build_id and a.fingerprint = s.fingerprint)`;
