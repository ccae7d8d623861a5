import { z } from 'zod';
import type { Category } from '../domain/category.ts';
import {
  Cause,
  type CauseChange,
  CauseEvent,
  CauseList,
  MAX_COUNTED_FIXED,
  toOwnerKey,
} from '../domain/cause.ts';
import { listDays, type Period } from '../domain/insights.ts';
import { Offer } from '../domain/offers.ts';
import type { Database, Page, Sql } from '../ports/database.ts';
import {
  countOffers,
  escapeLike,
  inScope,
  listColumns,
  queryAll,
  queryFirst,
  scopeValue,
  toPageValues,
} from './sql.ts';

export interface CauseFilter {
  readonly list: CauseList;
  /** The person for whom the list `mine` is read. */
  readonly assignee: string;
  /**
   * The names of this person in CODEOWNERS and commits. Unassigned causes that these names own are included
   * in `mine`.
   */
  readonly owners?: readonly string[];
  readonly repository?: string;
  readonly category?: Category;
  /** An owner by CODEOWNERS or the last change, in any spelling of `toOwnerKey`. */
  readonly owner?: string;
  readonly assignedTo?: string;
  /** The time since which it was seen, in ISO 8601. */
  readonly since?: string;
  /** The words that the title must contain. */
  readonly words?: string;
  /** The repositories to include: `owner/name`, or `owner/*`. */
  readonly repositories?: readonly string[];
}

export interface CauseKey {
  readonly repository: string;
  readonly fingerprint: string;
}

const DAY_MS = 86_400_000;
const DEFAULT_MUTED_DAYS = 7;

/**
 * Creates the store of the states of causes. Builds change them through triggers (0034); changes by people go
 * through `change`.
 */
export function createCauseStore(db: Database) {
  const read = db.reader ?? db;
  return {
    /** Lists causes: those that are red on a default branch first, and then newest first. */
    list: async (filter: CauseFilter, page: Page) =>
      await queryAll(
        read,
        Cause,
        `${SELECT} where ${MEANT} and ${LISTS[filter.list]} ${toOrder(filter.list)} limit $10 offset $11`,
        [...toFilterValues(filter), ...toPageValues(page)],
      ),
    /** Lists the values of each field among the causes of a list, most frequent first. */
    offers: async (filter: CauseFilter) =>
      await queryAll(
        read,
        Offer,
        countOffers(toOffered(filter.list), OFFERED_FIELDS),
        toFilterValues(filter),
      ),
    /** Counts the causes of each list, and at most `MAX_COUNTED_FIXED` fixed ones. */
    counts: async (filter: Omit<CauseFilter, 'list'>) =>
      Counts.parse((await read.query(COUNTS, toFilterValues(filter)))[0]),
    /** Lists the cause in every repository, newest first; at most 20. */
    ofFingerprint: async (fingerprint: string, { repositories }: Pick<CauseFilter, 'repositories'> = {}) =>
      await queryAll(
        read,
        Cause,
        `${SELECT} where fingerprint = $1 and ($2::text[] is null or repository like any ($2))
          order by last_at desc limit 20`,
        [fingerprint, scopeValue(repositories)],
      ),
    /** Returns the newest cause of each test's failures, in the order of the tests; null if none is known. */
    ofTests: async ({ tests, repositories }: Tests) => {
      const rows = await queryAll(read, CauseOfTest, OF_TESTS, [
        tests.map(({ repository }) => repository),
        tests.map(({ name }) => name),
        scopeValue(repositories),
      ]);
      const found = new Map(rows.map(({ at, ...cause }) => [at, cause]));
      return tests.map((_, at): Cause | null => found.get(at + 1) ?? null);
    },
    /** Lists the causes that are merged into a cause. */
    listMerged: async ({ repository, fingerprint }: CauseKey) =>
      await queryAll(
        read,
        Cause,
        `${SELECT} where repository = $1 and merged_into = $2 order by last_at desc`,
        [repository, fingerprint],
      ),
    /**
     * Counts the failed builds of causes on each day of a period, oldest first, with what is merged into
     * them; in the order of the causes.
     */
    countPerDay: async ({ causes, until, days, repositories }: DaysOfCauses) => {
      const dates = listDays({ until, days });
      const rows = await queryAll(read, DayCount, PER_DAY, [
        causes.map(({ repository }) => repository),
        causes.map(({ fingerprint }) => fingerprint),
        dates[0],
        scopeValue(repositories),
      ]);
      const counts = new Map(rows.map(({ at, day, count }) => [`${at} ${day}`, count]));
      return causes.map((_, at) => dates.map((day) => counts.get(`${at + 1} ${day}`) ?? 0));
    },
    /** Lists the events of a cause, newest first. */
    events: async ({ repository, fingerprint }: CauseKey, limit: number) =>
      await queryAll(read, CauseEvent, EVENTS, [repository, fingerprint, limit]),
    /**
     * Changes a cause and records who did it. Returns null if there is no such cause or its version has
     * changed. `now` is in milliseconds since 1970.
     */
    change: async (
      key: CauseKey & { readonly version: number },
      change: CauseChange,
      by: string,
      now: number,
      sql?: Sql,
    ) => {
      const work = async (sql: Pick<Sql, 'query'>) => {
        const changed = await queryFirst(sql, Cause, CHANGE, toChangeValues(key, change, by, now));
        const parted = change.what === 'unmerged' ? (changed?.mergedInto ?? null) : null;
        if (changed === null || (change.what !== 'merged' && change.what !== 'unmerged')) return changed;
        const other = change.what === 'merged' ? change.into : parted;
        return await recount(sql, changed, other);
      };
      return sql === undefined ? await db.transaction(work) : await work(sql);
    },
    /**
     * Undoes the changes that a person made at that time, according to the events, unless something else has
     * changed the cause since. Returns the restored causes. Causes that were merged into a cause are restored
     * with it.
     */
    undo: async ({ by, at, repositories }: UndoRequest) =>
      await db.transaction(async (sql) => {
        const undone = await queryAll(sql, Undone, UNDO, [by, at, scopeValue(repositories)]);
        return await Promise.all(
          undone.map(async ({ other, ...cause }) =>
            other === null ? cause : await recount(sql, cause, other),
          ),
        );
      }),
  };
}

interface DaysOfCauses extends Pick<Period, 'until' | 'days' | 'repositories'> {
  readonly causes: readonly CauseKey[];
}

interface Tests {
  readonly tests: readonly { readonly repository: string; readonly name: string }[];
  readonly repositories?: readonly string[];
}

interface UndoRequest {
  readonly by: string;
  /** The time of the change, in ISO 8601. */
  readonly at: string;
  readonly repositories?: readonly string[];
}

/** Recounts a cause, and the cause that it was merged into or separated from. Returns the first one. */
async function recount(sql: Pick<Sql, 'query'>, cause: Cause, other: string | null): Promise<Cause> {
  for (const fingerprint of [cause.fingerprint, ...(other === null ? [] : [other])])
    await sql.query('select recount_cause($1, $2)', [cause.repository, fingerprint]);
  const key = [cause.repository, cause.fingerprint];
  return (await queryFirst(sql, Cause, `${SELECT} where repository = $1 and fingerprint = $2`, key)) ?? cause;
}

/** A person's decision takes precedence over the newest answer. */
const COLUMNS = listColumns(Cause, null, { category: 'coalesce(decided_category, category)' });
const SELECT = `select ${COLUMNS} from causes`;

/** Returns SQL for the order of a list, which an index has. No fixed cause is red. */
function toOrder(list: CauseList): string {
  const first = list === 'fixed' ? '' : "red_pipelines <> '{}' desc, ";
  return `order by ${first}last_at desc, repository, fingerprint`;
}

const MEANT = `merged_into is null
  and ($1::text is null or repository = $1) and ${inScope('repository', '$2')}
  and ($3::text is not null) and ($4::text[] is not null)
  and ($5::text is null or coalesce(decided_category, category) = $5)
  and ($6::text is null or owner_keys && array[$6]) and ($7::text is null or assignee = $7)
  and ($8::timestamptz is null or last_at >= $8) and ($9::text is null or title ilike $9)`;

function toFilterValues({
  repository,
  repositories,
  assignee,
  owners = [],
  ...more
}: Omit<CauseFilter, 'list'>) {
  const { category, owner, assignedTo, since, words } = more;
  return [
    repository ?? null,
    scopeValue(repositories),
    assignee,
    [...owners].map(toOwnerKey),
    category ?? null,
    owner === undefined ? null : toOwnerKey(owner),
    assignedTo ?? null,
    since ?? null,
    words === undefined ? null : `%${escapeLike(words)}%`,
  ];
}

/** The maximum number of causes of a list whose values are counted, the first ones. */
const MOST_OFFERED = 2_000;

function toOffered(list: CauseList): string {
  return `select repository, coalesce(decided_category, category) as category,
      owner->'names'->>0 as owner, assignee
    from causes where ${MEANT} and ${LISTS[list]} ${toOrder(list)} limit ${MOST_OFFERED}`;
}

const OFFERED_FIELDS = ['repository', 'category', 'owner', 'assignee'];

const MUTED = '(muted_until > now() or muted_left is not null)';
const LIVE = `state <> 'fixed' and ${MUTED} is not true`;
const LISTS: Readonly<Record<CauseList, string>> = {
  open: LIVE,
  mine: `${LIVE} and (assignee = $3 or ltrim(lower(assignee), '@') = any($4)
    or (assignee is null and owner_keys && $4))`,
  unassigned: `${LIVE} and assignee is null`,
  red: `${LIVE} and red_pipelines <> '{}'`,
  muted: `state <> 'fixed' and ${MUTED}`,
  fixed: `state = 'fixed'`,
};

const Counts = z.record(CauseList, z.int());
const COUNTED = CauseList.options.filter((name) => name !== 'fixed');
const COUNTS = `
  select ${COUNTED.map((name) => `count(*) filter (where ${LISTS[name]})::int as "${name}"`).join(', ')}, (
    select count(*)::int from (
      select from causes where ${MEANT} and ${LISTS.fixed} limit ${MAX_COUNTED_FIXED}
    ) as counted
  ) as fixed
  from causes where ${MEANT} and state <> 'fixed'`;

const CauseOfTest = Cause.extend({ at: z.int() });

const OF_TESTS = `
  select n.at::int as at, ${listColumns(Cause, 'c', { category: 'coalesce(c.decided_category, c.category)' })}
  from unnest($1::text[], $2::text[]) with ordinality as n (repository, name, at)
  cross join lateral (
    select f.fingerprint from failure_facts f where f.test_name = n.name and f.repository = n.repository
    order by f.seen_at desc limit 1
  ) as newest
  join causes own on own.repository = n.repository and own.fingerprint = newest.fingerprint
  join causes c on c.repository = own.repository
    and c.fingerprint = coalesce(own.merged_into, own.fingerprint)
  where ${inScope('n.repository', '$3')}`;

const DayCount = z.object({ at: z.int(), day: z.string(), count: z.int() });

const PER_DAY = `
  select n.at::int as at, to_char(f.day, 'YYYY-MM-DD') as day, count(*)::int as count
  from unnest($1::text[], $2::text[]) with ordinality as n (repository, fingerprint, at)
  cross join lateral unnest(list_merged(n.repository, n.fingerprint)) as own (fingerprint)
  join answer_facts f on f.cause_key = hashtextextended(own.fingerprint, 0)
    and f.fingerprint = own.fingerprint and f.repository = n.repository and f.day >= $3::date
  where ${inScope('n.repository', '$4')}
  group by 1, 2`;

const EVENTS = `
  select at, by, what, detail, build_id as "buildId", before is not null and by is not null
    and version = (select c.version from causes c where c.repository = $1 and c.fingerprint = $2) as "canUndo"
  from cause_events where repository = $1 and fingerprint = $2 order by id desc limit $3`;

/** The columns of a cause that a person can change. */
const CHANGED = ['state', 'assignee', 'muted_until', 'muted_left', 'ticket', 'fixed_from', 'merged_into'];

// A field that the change does not name is kept. A cause that another user changed in the meantime is not
// changed, and neither is one that would be merged into itself, or into one that is merged or unknown. Causes
// that were merged into a cause move with it.
const CHANGE = `
  with known as (
    select * from causes where repository = $1 and fingerprint = $2 and version = $3 and ($4::text <> 'merged'
      or ($5 <> fingerprint and exists (select from causes into_one where into_one.repository = $1
        and into_one.fingerprint = $5 and into_one.merged_into is null)))
    for update
  ), changed as (
    update causes c set
      state = case $4::text
        when 'acknowledged' then 'acknowledged' when 'fixed' then 'fixed' when 'assigned' then 'assigned'
        when 'fixed-in-next-build' then 'fixed'
        when 'unassigned' then 'acknowledged' when 'reopened' then 'acknowledged' else c.state end,
      fixed_from = case $4 when 'fixed-in-next-build' then $8::timestamptz when 'fixed' then null
        when 'reopened' then null else c.fixed_from end,
      assignee = case $4 when 'assigned' then $5::text when 'unassigned' then null else c.assignee end,
      muted_until = case $4 when 'muted' then $6::timestamptz when 'unmuted' then null else c.muted_until end,
      muted_left = case $4 when 'muted' then $9::integer when 'unmuted' then null else c.muted_left end,
      ticket = case $4 when 'linked' then $5 when 'unlinked' then null else c.ticket end,
      merged_into = case $4 when 'merged' then $5 when 'unmerged' then null else c.merged_into end,
      version = c.version + 1
    from known where c.repository = known.repository and c.fingerprint = known.fingerprint
    returning c.*
  ), followed as (
    update causes c set merged_into = $5 from changed
    where $4 = 'merged' and c.repository = changed.repository and c.merged_into = changed.fingerprint
    returning c.fingerprint
  ), noted as (
    insert into cause_events (repository, fingerprint, at, by, what, detail, before, version)
    select c.repository, c.fingerprint, $8::timestamptz, $7::text, $4, $10::text,
      jsonb_build_object(${CHANGED.map((name) => `'${name}', known.${name}`).join(', ')},
        'followed', (select coalesce(jsonb_agg(fingerprint), '[]') from followed)), c.version
    from changed c cross join known
  )
  select ${listColumns(Cause, 'changed', {
    category: 'coalesce(changed.decided_category, changed.category)',
    mergedInto: 'coalesce(changed.merged_into, known.merged_into)',
  })} from changed cross join known`;

const Undone = Cause.extend({ other: z.string().nullable() });

const UNDO = `
  with last as (
    select e.* from cause_events e join causes c on c.repository = e.repository
      and c.fingerprint = e.fingerprint and c.version = e.version
    where e.by = $1 and e.at = $2::timestamptz and e.before is not null and ${inScope('e.repository', '$3')}
  ), undone as (
    update causes c set ${CHANGED.map((name) => `${name} = was.${name}`).join(', ')}, version = c.version + 1
    from last l, jsonb_populate_record(null::causes, l.before) as was
    where c.repository = l.repository and c.fingerprint = l.fingerprint
    returning c.*, case when l.what in ('merged', 'unmerged') then coalesce(
      l.before->>'merged_into', l.detail) end as other
  ), parted as (
    update causes c set merged_into = l.fingerprint
    from last l, jsonb_array_elements_text(coalesce(l.before->'followed', '[]')) as gone
    where l.what = 'merged' and c.repository = l.repository and c.fingerprint = gone
      and c.merged_into = l.detail
  ), noted as (
    insert into cause_events (repository, fingerprint, at, by, what, detail)
    select u.repository, u.fingerprint, clock_timestamp(), $1, 'undone', l.what
    from undone u join last l on l.repository = u.repository and l.fingerprint = u.fingerprint
  )
  select ${COLUMNS}, other from undone`;

function toChangeValues(
  { repository, fingerprint, version }: CauseKey & { readonly version: number },
  change: CauseChange,
  by: string,
  now: number,
): unknown[] {
  const times = change.what === 'muted' ? (change.occurrences ?? null) : null;
  const days = change.what === 'muted' && times === null ? (change.days ?? DEFAULT_MUTED_DAYS) : null;
  const until = days === null ? null : new Date(now + days * DAY_MS).toISOString();
  return [
    repository,
    fingerprint,
    version,
    change.what,
    readValue(change),
    until,
    by,
    new Date(now).toISOString(),
    times,
    describeChange(change, until),
  ];
}

/** Reads the text that a change puts into a field of the cause. */
function readValue(change: CauseChange): string | null {
  if (change.what === 'assigned') return change.assignee;
  if (change.what === 'linked') return change.ticket;
  return change.what === 'merged' ? change.into : null;
}

/** Describes the detail of a change that the history shows next to its name. */
function describeChange(change: CauseChange, until: string | null): string | null {
  if (change.what !== 'muted') return readValue(change);
  const end = until === null ? `seen ${change.occurrences} times more` : until.slice(0, 10);
  return `${end}: ${change.reason}`;
}
