import type { Category } from '../domain/category.ts';
import { TriageError } from '../domain/errors.ts';
import { LibraryEntry, Rule } from '../domain/library.ts';
import { Offer } from '../domain/offers.ts';
import type { Database, Page, Sql } from '../ports/database.ts';
import {
  countOffers,
  insert,
  isoTime,
  listColumns,
  queryAll,
  queryFirst,
  scopeValue,
  toPageValues,
} from './sql.ts';

export interface LibraryFilter {
  /** The repositories to include: `owner/name`, or `owner/*`. */
  readonly repositories?: readonly string[];
  readonly repository?: string;
  readonly fingerprint?: string;
  readonly category?: Category;
  /** True to include withdrawn entries. */
  readonly withdrawn?: boolean;
  /**
   * True to include only entries whose lines also occur in passed builds and that no person has confirmed.
   */
  readonly flagged?: boolean;
}

interface RuleFilter {
  /** The repositories whose rules are included, in addition to general rules: `owner/name`, or `owner/*`. */
  readonly repositories?: readonly string[];
  /** True to include withdrawn versions. */
  readonly withdrawn?: boolean;
}

export type LibraryStore = ReturnType<typeof createLibraryStore>;

export function createLibraryStore(db: Database) {
  return {
    insert: async (entry: LibraryEntry, sql: Sql = db) => {
      const { fingerprint, withdrawn, flag, stays, ...own } = entry;
      await insert(sql, 'library_entries', {
        ...own,
        fingerprint: fingerprint.value,
        fingerprintAlgorithm: fingerprint.algorithm,
        fingerprintVersion: fingerprint.version,
        withdrawnAt: withdrawn?.at,
        withdrawnBy: withdrawn?.by,
        withdrawnReason: withdrawn?.reason,
        greenBuilds: flag?.builds ?? 0,
        greenSince: flag?.since,
        greenLast: flag?.last,
        staysBy: stays?.by,
        staysAt: stays?.at,
      });
    },
    find: async (id: string, sql: Sql = db) =>
      await queryFirst(sql, LibraryEntry, `select ${ENTRY} from library_entries where id = $1`, [id]),
    /**
     * Finds the newest entry in use that a person confirmed for this fingerprint in this repository. The
     * latest confirmation by a reviewer takes precedence.
     */
    recall: async (
      { fingerprint, repository }: { readonly fingerprint: string; readonly repository: string },
      sql: Sql = db,
    ) => await queryFirst(sql, LibraryEntry, RECALL, [fingerprint, repository]),
    /**
     * Locks teaching, withdrawing and restoring for this fingerprint in this repository until the transaction
     * ends. Only under this lock is it certain which entry was in use and which one is now.
     */
    alone: async (
      { fingerprint, repository }: { readonly fingerprint: string; readonly repository: string },
      sql: Sql,
    ) => {
      await sql.query(ALONE, [fingerprint, repository]);
    },
    /** Counts one more sighting and returns the new total. */
    seen: async (id: string, at: string, sql: Sql = db) => {
      const [row] = await sql.query<{ timesSeen: number }>(SEEN, [id, at]);
      if (row === undefined) throw new TriageError('not-found', `There is no library entry ${id}`);
      return row.timesSeen;
    },
    list: async (page: Page, filter: LibraryFilter = {}) =>
      await queryAll(db, LibraryEntry, LIST_LIBRARY, listValues(page, filter)),
    /** Counts the values of each field among the newest entries of a list, most frequent first. */
    offers: async (filter: LibraryFilter) =>
      await queryAll(db, Offer, LIBRARY_OFFERS, listValues({ limit: 1, offset: 0 }, filter)),
    /** Lists the entries that a decision made and that are not withdrawn. */
    ofDecision: async (decisionId: string, sql: Sql = db) =>
      await queryAll(sql, LibraryEntry, OF_DECISION, [decisionId]),
    /** Withdraws an entry. Returns null if it is already withdrawn or not stored. */
    withdraw: async (id: string, by: string, reason: string, sql: Sql = db) =>
      await queryFirst(sql, LibraryEntry, WITHDRAW_LIBRARY, [id, by, reason]),
    /** Restores an entry that this person withdrew. Returns null if they did not withdraw it. */
    restore: async (id: string, by: string, sql: Sql = db) =>
      await queryFirst(sql, LibraryEntry, RESTORE_LIBRARY, [id, by]),
    /** Keeps a flagged entry in use. Returns null if it is not stored, withdrawn or not flagged. */
    stay: async (id: string, by: string, sql: Sql = db) =>
      await queryFirst(sql, LibraryEntry, STAY, [id, by]),
    /**
     * Lists the entries of a repository that may be contradicted by a passed build, newest first: those that
     * are not withdrawn and that no person has confirmed.
     */
    listIdentifyingLines: async (repository: string, limit: number) =>
      await db.query<{ id: string; telling: string[] }>(IDENTIFYING_LINES, [repository, limit]),
    /**
     * Counts a passed build against entries, once for each build. Returns the entries that were not flagged
     * before.
     */
    flag: async (
      ids: readonly string[],
      { buildId, at }: { readonly buildId: string; readonly at: string },
      sql: Sql = db,
    ) => (ids.length === 0 ? [] : await queryAll(sql, LibraryEntry, FLAG, [ids, buildId, at])),
  };
}

function listValues(
  page: Page,
  { repositories, repository, fingerprint, withdrawn, flagged, category }: LibraryFilter,
): unknown[] {
  return [
    ...toPageValues(page),
    scopeValue(repositories),
    repository ?? null,
    fingerprint ?? null,
    withdrawn ?? false,
    flagged ?? false,
    category ?? null,
  ];
}

const WITHDRAWN = `case when withdrawn_at is not null
    then jsonb_build_object('by', withdrawn_by, 'at', ${isoTime('withdrawn_at')}, 'reason',
      withdrawn_reason) end`;

const ENTRY = listColumns(LibraryEntry, null, {
  fingerprint: `jsonb_build_object('algorithm', fingerprint_algorithm, 'version', fingerprint_version,
    'value', fingerprint)`,
  withdrawn: WITHDRAWN,
  flag: `case when green_builds > 0
    then jsonb_build_object('builds', green_builds, 'since', ${isoTime('green_since')}, 'last',
      green_last) end`,
  stays: `case when stays_at is not null then jsonb_build_object('by', stays_by, 'at',
    ${isoTime('stays_at')}) end`,
});

/** See `answers` of the domain. */
const ANSWERS = `withdrawn_at is null and (green_builds = 0 or stays_at is not null)`;

const RECALL = `
  select ${ENTRY} from library_entries where fingerprint = $1 and repository = $2 and ${ANSWERS}
  order by confirmed_at desc, id desc limit 1`;

// Two keys with the same hash wait for each other unnecessarily, which is harmless.
const ALONE = `select pg_advisory_xact_lock(hashtextextended('library ' || $2::text || ' ' || $1::text,
  0))::text`;

const SEEN = `
  update library_entries set times_seen = times_seen + 1,
    last_seen_at = greatest(last_seen_at, $2::timestamptz)
  where id = $1 returning times_seen as "timesSeen"`;

const LISTED = `($3::text[] is null or repository like any($3)) and ($4::text is null or repository = $4)
    and ($5::text is null or fingerprint = $5) and ($6::boolean or withdrawn_at is null)
    and (not $7::boolean or (green_builds > 0 and stays_at is null))
    and ($8::text is null or category = $8)`;

/** The maximum number of entries whose values are counted, newest first. */
const MOST_OFFERED = 2_000;
const LIBRARY_OFFERS = countOffers(
  `select repository, category from library_entries where ${LISTED} and $1::int > 0 and $2::int >= 0
    order by confirmed_at desc limit ${MOST_OFFERED}`,
  ['repository', 'category'],
);

const LIST_LIBRARY = `
  select ${ENTRY} from library_entries where ${LISTED}
  order by confirmed_at desc, id desc limit $1 offset $2`;

const OF_DECISION = `select ${ENTRY} from library_entries where decision_id = $1 and withdrawn_at is null
  order by id`;

const WITHDRAW_LIBRARY = `
  update library_entries set withdrawn_at = clock_timestamp(), withdrawn_by = $2, withdrawn_reason = $3
  where id = $1 and withdrawn_at is null returning ${ENTRY}`;

const RESTORED = `withdrawn_at = null, withdrawn_by = null, withdrawn_reason = null
  where id = $1 and withdrawn_at is not null and withdrawn_by = $2`;
const RESTORE_LIBRARY = `update library_entries set ${RESTORED} returning ${ENTRY}`;

const STAY = `
  update library_entries set stays_at = clock_timestamp(), stays_by = $2
  where id = $1 and withdrawn_at is null and green_builds > 0 and stays_at is null returning ${ENTRY}`;

const IDENTIFYING_LINES = `
  select id, telling from library_entries
  where repository = $1 and withdrawn_at is null and stays_at is null and cardinality(telling) > 0
  order by confirmed_at desc, id desc limit $2`;

// `returning` returns the row after the change: 1 is the first passed build that contradicts it.
const FLAG = `
  with flagged as (
    update library_entries set green_builds = green_builds + 1,
      green_since = coalesce(green_since, $3::timestamptz), green_last = $2
    where id = any($1::text[]) and withdrawn_at is null and stays_at is null
      and green_last is distinct from $2
    returning *
  )
  select ${ENTRY} from flagged where green_builds = 1 order by id`;

export type RuleStore = ReturnType<typeof createRuleStore>;

export function createRuleStore(db: Database) {
  return {
    /** Stores a version of a rule. */
    add: async (rule: Rule, sql: Sql = db) => {
      const { withdrawn: _withdrawn, ...own } = rule;
      await insert(sql, 'rules', own);
    },
    /** Finds the newest version of a rule, withdrawn or not. */
    find: async (id: string, sql: Sql = db) => await queryFirst(sql, Rule, FIND, [id]),
    /** Lists rules, newest first. */
    list: async (page: Page, { repositories, withdrawn }: RuleFilter = {}) =>
      await queryAll(db, Rule, LIST_RULES, [
        ...toPageValues(page),
        scopeValue(repositories),
        withdrawn ?? false,
      ]),
    /**
     * Lists the rules that apply to a repository: its own before general ones, newest first; at most `limit`.
     */
    active: async (repository: string, limit: number) =>
      await queryAll(db, Rule, ACTIVE, [repository, limit]),
    countActive: async (sql: Sql = db) => {
      const [row] = await sql.query<{ count: number }>(
        'select count(*)::int as count from rules where withdrawn_at is null',
      );
      return row?.count ?? 0;
    },
    /** Withdraws the active version of a rule. Returns null if there is none. */
    withdraw: async (id: string, by: string, reason: string, sql: Sql = db) =>
      await queryFirst(sql, Rule, WITHDRAW_RULES, [id, by, reason]),
    /** Restores a rule whose newest version this person withdrew. Returns null if they did not. */
    restore: async (id: string, by: string, sql: Sql = db) =>
      await queryFirst(sql, Rule, RESTORE_RULES, [id, by]),
    /** Counts one more answer and returns the new total. */
    used: async ({ id, version }: Pick<Rule, 'id' | 'version'>, at: string, sql: Sql = db) => {
      const [row] = await sql.query<{ timesUsed: number }>(USED, [id, version, at]);
      if (row === undefined) throw new TriageError('not-found', `There is no rule ${id}`);
      return row.timesUsed;
    },
  };
}

const RULE = listColumns(Rule, null, { withdrawn: WITHDRAWN });

const FIND = `select ${RULE} from rules where id = $1 order by version desc limit 1`;

const LIST_RULES = `
  select ${RULE} from rules
  where ($4::boolean or withdrawn_at is null)
    and ($3::text[] is null or repository is null or repository like any($3))
  order by created_at desc, id desc, version desc limit $1 offset $2`;

const ACTIVE = `
  select ${RULE} from rules where withdrawn_at is null and (repository = $1 or repository is null)
  order by repository is null, created_at desc, id desc limit $2::int`;

const WITHDRAW_RULES = `
  update rules set withdrawn_at = clock_timestamp(), withdrawn_by = $2, withdrawn_reason = $3
  where id = $1 and withdrawn_at is null returning ${RULE}`;

const RESTORE_RULES = `
  update rules set ${RESTORED} and version = (select max(version) from rules where id = $1)
  returning ${RULE}`;

const USED = `
  update rules set times_used = times_used + 1, last_used_at = greatest(last_used_at, $3::timestamptz)
  where id = $1 and version = $2 returning times_used as "timesUsed"`;
