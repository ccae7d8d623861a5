import { z } from 'zod';
import { Cause, type CauseChange, CauseEvent, CauseList, ownerKey } from '../domain/cause.ts';
import type { Database, Page, Sql } from '../ports/database.ts';
import { all, columnsFor, first, inScope, pageValues, scopeValue } from './sql.ts';

export interface CauseFilter {
  readonly list: CauseList;
  /** The person for whom the list `mine` is read. */
  readonly assignee: string;
  /**
   * The names by which CODEOWNERS and commits refer to this person. Unassigned causes that these names own
   * count as theirs too.
   */
  readonly owners?: readonly string[];
  readonly repository?: string;
  /** The repositories to include: `owner/name`, or `owner/*`. */
  readonly repositories?: readonly string[];
}

export interface CauseKey {
  readonly repository: string;
  readonly fingerprint: string;
}

const DAY_MS = 86_400_000;

/**
 * Creates the store of the states of causes. Builds change them through triggers (0034); changes by people go
 * through `change`.
 */
export function createCauseStore(db: Database) {
  const read = db.reader ?? db;
  return {
    /** Lists causes: those that are red on a default branch first, then the newest. */
    list: async (filter: CauseFilter, page: Page) =>
      await all(
        read,
        Cause,
        `${SELECT} where ${MEANT} and ${LISTS[filter.list]} ${ORDER} limit $5 offset $6`,
        [...meant(filter), ...pageValues(page)],
      ),
    counts: async (filter: Omit<CauseFilter, 'list'>) =>
      Counts.parse((await read.query(COUNTS, meant(filter)))[0]),
    /** Lists the cause in every repository, newest first; at most 20. */
    ofFingerprint: async (fingerprint: string, { repositories }: Pick<CauseFilter, 'repositories'> = {}) =>
      await all(
        read,
        Cause,
        `${SELECT} where fingerprint = $1 and ($2::text[] is null or repository like any ($2))
          order by last_at desc limit 20`,
        [fingerprint, scopeValue(repositories)],
      ),
    /** Lists the events of a cause, newest first. */
    events: async ({ repository, fingerprint }: CauseKey, limit: number) =>
      await all(read, CauseEvent, EVENTS, [repository, fingerprint, limit]),
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
      const work = async (own: Pick<Database, 'query'>) =>
        await first(own, Cause, CHANGE, toChangeValues(key, change, by, now));
      return sql === undefined ? await db.transaction(work) : await work(sql);
    },
  };
}

const COLUMNS = columnsFor(Cause);
/** A person's word goes before the newest answer's. */
const SELECT = `
  select ${columnsFor(Cause.omit({ category: true }))}, coalesce((
    select coalesce(f.decided_category, f.category) from answer_facts f
    where f.fingerprint = causes.fingerprint and f.repository = causes.repository
      and f.decision in ('accept', 'correct')
    order by f.decided_at desc limit 1
  ), category) as category from causes`;
const ORDER = `order by red_pipelines <> '{}' desc, last_at desc, repository, fingerprint`;

const MEANT = `($1::text is null or repository = $1) and ${inScope('repository', '$2')}
  and ($3::text is not null) and ($4::text[] is not null)`;

function meant({ repository, repositories, assignee, owners = [] }: Omit<CauseFilter, 'list'>): unknown[] {
  return [repository ?? null, scopeValue(repositories), assignee, [...owners].map(ownerKey)];
}

const LIVE = `state <> 'fixed' and (muted_until is null or muted_until <= now())`;
const LISTS: Readonly<Record<CauseList, string>> = {
  open: LIVE,
  mine: `${LIVE} and (assignee = $3 or ltrim(lower(assignee), '@') = any($4)
    or (assignee is null and owner_keys && $4))`,
  unassigned: `${LIVE} and assignee is null`,
  red: `${LIVE} and red_pipelines <> '{}'`,
  muted: `state <> 'fixed' and muted_until > now()`,
  fixed: `state = 'fixed'`,
};

const Counts = z.record(CauseList, z.int());
const COUNTS = `select ${CauseList.options
  .map((name) => `count(*) filter (where ${LISTS[name]})::int as "${name}"`)
  .join(', ')} from causes where ${MEANT}`;

const EVENTS = `
  select at, by, what, detail, build_id as "buildId" from cause_events
  where repository = $1 and fingerprint = $2 order by id desc limit $3`;

// A field that the change does not name stays as it is. A cause that another user changed in the meantime is
// left unchanged.
const CHANGE = `
  with changed as (
    update causes set
      state = case $4::text
        when 'acknowledged' then 'acknowledged' when 'fixed' then 'fixed' when 'assigned' then 'assigned'
        when 'unassigned' then 'acknowledged' when 'reopened' then 'acknowledged' else state end,
      assignee = case $4 when 'assigned' then $5::text when 'unassigned' then null else assignee end,
      muted_until = case $4 when 'muted' then $6::timestamptz when 'unmuted' then null else muted_until end,
      ticket = case $4 when 'linked' then $5 when 'unlinked' then null else ticket end,
      version = version + 1
    where repository = $1 and fingerprint = $2 and version = $3 returning *
  ), noted as (
    insert into cause_events (repository, fingerprint, at, by, what, detail)
    select repository, fingerprint, $8::timestamptz, $7::text, $4, $5 from changed
  )
  select ${COLUMNS} from changed`;

function toChangeValues(
  { repository, fingerprint, version }: CauseKey & { readonly version: number },
  change: CauseChange,
  by: string,
  now: number,
): unknown[] {
  const until = change.what === 'muted' ? new Date(now + change.days * DAY_MS).toISOString() : null;
  return [
    repository,
    fingerprint,
    version,
    change.what,
    describeChange(change, until),
    until,
    by,
    new Date(now).toISOString(),
  ];
}

/** Describes the detail of a change that the history shows next to its name. */
function describeChange(change: CauseChange, until: string | null): string | null {
  if (change.what === 'assigned') return change.assignee;
  if (change.what === 'linked') return change.ticket;
  return change.what === 'muted' ? `${until?.slice(0, 10)}: ${change.reason}` : null;
}
