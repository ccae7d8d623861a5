import type { Sql } from '../../../src/ports/database.ts';
import type { VectorIndex, VectorItem } from '../../../src/ports/vector-index.ts';

export interface StoreSize {
  readonly failures: number;
  /** The number of entries of the error library. As many reviews are decided, and a hundred wait. */
  readonly library: number;
  /** The number of failures that are answered, newest first. All if absent. */
  readonly answers?: number;
}

const WAITING = 100;

/** Messages of failures of many teams. They have the same form and differ in names and numbers. */
export const FORMS = [
  'AssertionError: expected %1$s to equal %4$s, in %2$s.%3$s (tests/%1$s_%2$s.py:%5$s)',
  'TypeError: Cannot read properties of undefined (reading "%2$s") at %1$s.%3$s (src/%1$s/%3$s.ts:%5$s:17)',
  'java.lang.NullPointerException: Cannot invoke "%1$s.%2$s()" because "%3$s" is null at com.acme.%1$s.%2$s(%3$s.java:%5$s)',
  'error[E0308]: mismatched types: expected `%1$s`, found `%2$s` --> src/%3$s.rs:%5$s:9',
  'npm error code ERESOLVE could not resolve dependency: peer %1$s@"^%4$s" from %2$s@%5$s, conflicting with %3$s',
  'E: Unable to fetch package %1$s-%2$s: Temporary failure resolving "%3$s.mirror.example"',
  'Timeout: %1$s did not become ready within %5$s ms while waiting for %2$s to answer on port %4$s (%3$s)',
  'panic: runtime error: index out of range [%5$s] with length %4$s, goroutine %5$s [running]: %1$s.%2$s(...) /src/%3$s.go',
  'fatal error: %1$s/%2$s.h: No such file or directory, compilation of %3$s.cpp terminated at line %5$s',
  'Connection refused: %1$s-%2$s:%4$s, the service %3$s has not started after %5$s attempts',
].join('|');

export const WORDS =
  'cart checkout invoice ledger payment refund session token account profile search index catalog price stock order basket ' +
  'shipment address parcel courier label coupon discount tax currency exchange wallet transfer payout balance report export import ' +
  'schedule worker queue bucket stream socket channel broker topic cursor snapshot replica shard cluster gateway router proxy ' +
  'template widget layout canvas palette sprite avatar gallery thumbnail upload download archive manifest bundle plugin adapter ' +
  'parser lexer grammar compiler linker loader kernel driver sensor meter gauge alarm notifier mailer digest feed comment thread ' +
  'forum badge ranking season match player team league ticket venue seat booking flight hotel itinerary visa passport';

const PATTERN = {
  number: (seed: string, below: number) => `(abs(hashtextextended(${seed}, 7)) % ${below})`,
  word: (seed: string) =>
    `(string_to_array($2, ' '))[1 + (abs(hashtextextended(${seed}, 3)) % cardinality(string_to_array($2, ' ')))::int]`,
};

/** SQL for a message that depends only on the number. */
export const MESSAGE = `format((string_to_array($3, '|'))[1 + (${PATTERN.number(`'form' || n`, 10)})::int],
  ${PATTERN.word(`'a' || n`)}, ${PATTERN.word(`'b' || n`)}, ${PATTERN.word(`'c' || n`)},
  ${PATTERN.number(`'d' || n`, 40)}, ${PATTERN.number(`'e' || n`, 3000)})`;

/**
 * Fills an empty, migrated database with the data of a few years at a company: five failures a build, 200
 * repositories, each failure analyzed, every message seen about ten times, the newest reviews pending.
 */
export async function fillStore(
  sql: Sql,
  { failures, library, answers = failures }: StoreSize,
): Promise<void> {
  const builds = Math.ceil(failures / 5);
  await sql.query(BUILDS, [builds]);
  await sql.query(FAILURES, [failures, WORDS, FORMS]);
  await sql.query(TRIAGES, [answers]);
  await sql.query(ANALYSES, [{ recalled: null }]);
  await sql.query(REVIEWS, [library + WAITING, library]);
  await sql.query(DECISIONS);
  await sql.query(LIBRARY, [library, WORDS, FORMS]);
  for (const table of [
    'builds',
    'failures',
    'failure_messages',
    'triages',
    'analyses',
    'reviews',
    'decisions',
    'library_entries',
  ])
    await sql.query(`analyze ${table}`);
}

/** Adds the library's entries to the index, as the service does. */
export async function fillIndex(sql: Sql, index: VectorIndex): Promise<void> {
  const entries = await sql.query<{ id: string; message: string; repository: string }>(
    'select id, message, repository from library_entries',
  );
  const items = entries.map(
    ({ id, message, repository }): VectorItem => ({ id, text: message, metadata: { repository } }),
  );
  await index.upsert('error_library', items);
  await sql.query('analyze vector_items');
}

/** Returns messages that resemble those of failure `n`, but belong to no stored failure. */
export async function createMessages(sql: Sql, first: number, count: number): Promise<string[]> {
  const rows = await sql.query<{ message: string }>(
    `select ${MESSAGE} as message from generate_series($1::int, $4::int) as n`,
    [first, WORDS, FORMS, first + count - 1],
  );
  return rows.map((row) => row.message);
}

const TIME = (n: string) => `timestamptz '2025-01-01' + ${n} * interval '3 minutes'`;

const BUILDS = `
  insert into builds (id, provider, repository, pipeline, number, attempt, branch, status, received_at)
  select 'bld_' || n, 'github', 'acme/service-' || n % 200, 'CI', (n / 200)::text, 1, case when n % 3 = 0 then 'main' else 'topic-' || n % 40 end,
    'failed', ${TIME('n')}
  from generate_series(1, $1::int) as n`;

const FAILURES = `
  insert into failures (id, build_id, repository, group_number, position, fingerprint_algorithm, fingerprint_version, fingerprint,
    generic, test_name, message, body, seen_at)
  select 'fal_' || f, b.id, b.repository, f % 5, 0, 'message', 1, 'fp_' || n, false, 'test_' || n % 5000, message,
    jsonb_build_object('id', 'fal_' || f, 'buildId', b.id, 'test', null, 'message', message, 'frames', '[]'::jsonb, 'excerpt', null,
      'fingerprint', jsonb_build_object('algorithm', 'message', 'version', 1, 'value', 'fp_' || n), 'generic', false), b.received_at
  from (
    select f, n, ${MESSAGE} as message from (
      -- five different messages a build, each message in some ten builds
      select f, (f / 5 % greatest($1 / 50, 1)) * 5 + f % 5 as n from generate_series(5, $1::int + 4) as f
    ) as numbered
  ) as told join builds b on b.id = 'bld_' || f / 5`;

const TRIAGES = `
  insert into triages (id, build_id, fingerprint, state, analysis_id, opened_at)
  select replace(id, 'fal', 'tri'), build_id, fingerprint, 'concluded', replace(id, 'fal', 'ana'), seen_at from failures order by seen_at desc limit $1`;

const ANALYSES = `
  insert into analyses (id, triage_id, build_id, fingerprint, category, kind, confidence, action, analyst, body, created_at)
  select t.analysis_id, t.id, t.build_id, t.fingerprint,
    (array['CODE_ERROR', 'INFRA_ERROR', 'TEST_FAILURE', 'DEPENDENCY_ERROR', 'CONFIG_ERROR'])[1 + abs(hashtext(t.id)) % 5],
    'assertion', 0.8, 'human_review', 'rules',
    $1::jsonb || jsonb_build_object('answer', jsonb_build_object('title', left(f.message, 90)), 'failureIds', jsonb_build_array(f.id)), t.opened_at
  from triages t join failures f on f.id = replace(t.id, 'tri', 'fal')`;

// The oldest reviews are decided, and the newest wait.
const REVIEWS = `
  insert into reviews (id, analysis_id, build_id, repository, title, category, confidence, why, state, opened_at)
  select 'rev_' || at, a.id, a.build_id, b.repository, 'The cart loses an item', a.category, a.confidence, array['0.80 is below 0.85'],
    case when at <= $2::int then 'decided' else 'waiting' end, a.created_at
  from (select *, row_number() over (order by created_at, id) as at from analyses) as a join builds b on b.id = a.build_id
  where at <= $1::int`;

const DECISIONS = `
  insert into decisions (id, review_id, analysis_id, type, category, reviewer, body, decided_at)
  select replace(id, 'rev', 'dec'), id, analysis_id, 'accept', null, 'ada',
    jsonb_build_object('id', replace(id, 'rev', 'dec'), 'reviewId', id, 'analysisId', analysis_id, 'reviewer', 'ada', 'type', 'accept', 'decidedAt', '2026-01-01T00:00:00.000Z'),
    opened_at + interval '1 hour'
  from reviews where state = 'decided'`;

const LIBRARY = `
  insert into library_entries (id, fingerprint_algorithm, fingerprint_version, fingerprint, message, repository, category, kind, title, root_cause,
    fix_recommendation, analysis_id, confirmed_by, confirmed_at, times_seen, last_seen_at)
  select 'lib_' || n, 'message', 1, 'fp_' || n, ${MESSAGE}, 'acme/service-' || n % 200, 'CODE_ERROR', 'assertion', 'The cart loses an item',
    'add() overwrites the last item', 'Append', 'ana_' || n, 'ada', ${TIME('n')}, 1, ${TIME('n')}
  from generate_series(1, $1::int) as n`;
