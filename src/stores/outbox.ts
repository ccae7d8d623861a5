import { z } from 'zod';
import { Build } from '../domain/build.ts';
import { type NewOutboxEntry, type NoticeAbout, type OutboxEnd, OutboxEntry } from '../domain/outbox.ts';
import type { Database, Sql } from '../ports/database.ts';
import type { NoticePlace, NoticeRule } from '../ports/notices.ts';
import { readSituation } from './situation.ts';
import { all, buildColumns, columnsFor, first, fromNow, isoTime } from './sql.ts';

export interface OutboxTake {
  readonly topic: string;
  readonly limit: number;
  readonly leaseMs: number;
  readonly newestFirst?: boolean;
  /** Keys of the entries to take, whether or not they are due; absent: all entries that are due. */
  readonly keys?: readonly string[];
}

/**
 * Work that outlives the transaction which asks for it. Leases and due times are judged by the database's
 * clock.
 */
export type OutboxStore = ReturnType<typeof createOutboxStore>;

/** Leases are judged by the database's clock, so that processes with different clocks agree. */
export function createOutboxStore(db: Database) {
  const add = async (text: string, entries: readonly NewOutboxEntry[], sql: Sql) =>
    entries.length === 0 ? 0 : (await sql.query(text, [JSON.stringify(entries, clean)])).length;
  return {
    /**
     * Requests the work, in the transaction of what causes it. Returns how many entries are pending for it.
     */
    add: async (entries: readonly NewOutboxEntry[], sql: Sql = db) => await add(ADD, entries, sql),
    /** Requests work that is done once for good: an entry that exists already stays as it is. */
    addOnce: async (entries: readonly NewOutboxEntry[], sql: Sql = db) =>
      void (await add(ADD_ONCE, entries, sql)),
    /** Returns those of the topics that have something due now. */
    due: async (topics: readonly string[]) =>
      (await db.query<{ topic: string }>(DUE, [topics])).map(({ topic }) => topic),
    /**
     * Takes pending entries without a lease; the entry that has been due longest comes first. Concurrent
     * callers get different entries.
     */
    take: async ({ topic, limit, leaseMs, newestFirst, keys }: OutboxTake) =>
      keys === undefined
        ? await all(db, OutboxEntry, take(IS_DUE, newestFirst === true ? 'desc' : 'asc'), [
            topic,
            leaseMs,
            limit,
          ])
        : await all(db, OutboxEntry, take(IS_NAMED, 'asc'), [topic, leaseMs, limit, keys]),
    /** Checks that nothing has changed since the entry was taken, and that it is still held. */
    isCurrent: async ({ topic, key, lease, version }: OutboxEntry) =>
      (await db.query(IS_CURRENT, [topic, key, lease, version])).length > 0,
    /**
     * Finishes an entry; work that was requested in the meantime stays pending. Returns `false` and changes
     * nothing if the lease is stale.
     */
    finish: async (
      { topic, key, lease, version }: OutboxEntry,
      { outcome, result, error, pauseMs, forget }: OutboxEnd,
      sql: Sql = db,
    ) => {
      const held = [topic, key, lease, version];
      if (forget === true && (await sql.query(FORGET, held)).length > 0) return true;
      const end = [
        outcome,
        result === undefined ? null : JSON.stringify(result, clean),
        error ?? null,
        pauseMs ?? 0,
      ];
      return (await sql.query(FINISH, [...held, ...end])).length > 0;
    },
    /**
     * Gives an entry back, to be left alone for `delayMs`; with 0, the attempt does not count. A stale lease
     * changes nothing.
     */
    release: async ({ topic, key, lease }: OutboxEntry, error: string | null, delayMs: number) => {
      await db.query(RELEASE, [topic, key, lease, error, delayMs]);
    },
    /**
     * Gives back every held entry and returns how many. Only for a database that no other process can have
     * open.
     */
    reclaim: async () => (await db.query(RECLAIM)).length,
    find: async (topic: string, key: string) =>
      await first(db, OutboxEntry, `select ${ENTRY} from outbox where topic = $1 and key = $2`, [topic, key]),
    /** Lists the entries of a build, oldest first. */
    listByBuild: async (buildId: string) =>
      await all(
        db,
        OutboxEntry,
        `select ${ENTRY} from outbox where build_id = $1 order by created_at, topic, key`,
        [buildId],
      ),
    /**
     * Counts the pending entries of the topic. `since` is the due time of the oldest; null if none is
     * pending.
     */
    waiting: async (topic: string) => Waiting.parse((await db.query(WAITING, [topic]))[0]),
  };
}

const Waiting = z.object({ count: z.int(), since: z.string().nullable() });

/** Removes NUL and lone surrogates, which PostgreSQL refuses in jsonb. */
function clean(_name: string, value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '') : value;
}

const ENTRY = columnsFor(OutboxEntry);

const NEW = `
  insert into outbox as o (topic, key, build_id, payload, due_at)
  select e->>'topic', e->>'key', e->>'buildId', coalesce(e->'payload', '{}'), ${fromNow(`coalesce(e->>'delayMs', '0')`)}
  from jsonb_array_elements($1::jsonb) as e
  where coalesce((e->>'opens')::boolean, true)
    or exists (select from outbox known where known.topic = e->>'topic' and known.key = e->>'key')
  on conflict (topic, key)`;

// What waits already is not hurried by a change that is due at once: it may be one that is taken back yet.
const ADD = `${NEW} do update set
  version = o.version + 1, build_id = excluded.build_id, payload = excluded.payload, changed_at = clock_timestamp(),
  due_at = case when o.version > o.settled then greatest(o.due_at, excluded.due_at) else excluded.due_at end
  returning key`;

const ADD_ONCE = `${NEW} do nothing`;

const IS_DUE = 'due_at <= clock_timestamp() and free_at <= clock_timestamp()';
const IS_NAMED = 'key = any ($4::text[]) and (not held or free_at <= clock_timestamp())';

const DUE = `
  select t.topic from unnest($1::text[]) as t (topic)
  where exists (select from outbox o where o.topic = t.topic and o.version > o.settled and ${IS_DUE})`;

const take = (which: string, order: 'asc' | 'desc') => `
  with due as materialized (
    select key from outbox where topic = $1 and version > settled and ${which}
    order by due_at ${order}, key limit $3 for update skip locked
  )
  update outbox o set held = true, lease = o.lease + 1, attempts = o.attempts + 1, free_at = ${fromNow('$2')}
  from due where o.topic = $1 and o.key = due.key
  returning ${columnsFor(OutboxEntry, 'o')}`;

const HELD = 'topic = $1 and key = $2 and lease = $3 and held';

const IS_CURRENT = `select 1 from outbox where ${HELD} and version = $4`;

const FORGET = `delete from outbox where ${HELD} and version = $4 returning key`;

const FINISH = `
  update outbox set held = false, settled = $4, outcome = $5, result = coalesce($6::jsonb, result), error = $7, free_at = ${fromNow('$8')},
    attempts = 0, retries = 0, changed_at = clock_timestamp()
  where ${HELD} returning key`;

const RELEASE = `
  update outbox set held = false, error = coalesce($4, error), free_at = ${fromNow('$5')}, attempts = greatest(attempts - 1, 0),
    retries = case when $5::float8 > 0 then retries + 1 else retries end, changed_at = clock_timestamp()
  where ${HELD}`;

const RECLAIM = 'update outbox set held = false, free_at = clock_timestamp() where held returning key';

const WAITING = `
  select count(*)::int as count, ${isoTime('min(due_at)')} as since from outbox where topic = $1 and version > settled`;

/** The store of answers that are to be published. */
export type PublicationStore = ReturnType<typeof createPublicationStore>;

export function createPublicationStore(db: Database, outbox: Pick<OutboxStore, 'addOnce'>) {
  return {
    /**
     * Has each of these publishers publish the analysis, once each. Call inside the transaction that saves
     * the analysis.
     */
    add: async (
      {
        publishers,
        buildId,
        analysisId,
      }: { readonly publishers: readonly string[]; readonly buildId: string; readonly analysisId: string },
      sql: Sql = db,
    ) => {
      if (publishers.length === 0 || (await sql.query(IS_IMPORTED, [buildId])).length > 0) return;
      await outbox.addOnce(
        publishers.map((publisher) => ({
          ...{ topic: `publish:${publisher}`, key: `${publisher}:${analysisId}` },
          ...{ buildId, payload: { analysisId } },
        })),
        sql,
      );
    },
    /**
     * Returns the reason why the analysis must no longer be published: a person has since decided otherwise,
     * or the build has passed. Returns null if it may be published.
     */
    obsolete: async (analysisId: string) =>
      (await db.query<{ why: string | null }>(OBSOLETE, [analysisId]))[0]?.why ?? null,
  };
}

const IS_IMPORTED = 'select 1 from builds where id = $1 and imported_at is not null';

/** SQL for the condition that `n` is a later attempt of the same run, as its CI counts them. */
const AGAIN = `n.provider = b.provider and n.repository = b.repository and n.attempt > b.attempt
  and ((n.pipeline = b.pipeline and n.number = b.number) or n.external_id = b.external_id)`;

const OBSOLETE = `
  select case
    when exists (select from decisions d where d.analysis_id = a.id and d.type in ('correct', 'reject'))
      then 'A person has corrected or rejected this answer.'
    when exists (
      select from library_entries l
      where l.repository = b.repository and l.fingerprint = a.fingerprint and l.confirmed_at > a.created_at
        and l.withdrawn_at is null and (l.green_builds = 0 or l.stays_at is not null)
        and (l.category <> a.category or l.root_cause <> a.body -> 'answer' ->> 'rootCause')
    ) then 'A person has named another cause of this failure since.'
    when b.status = 'passed' or exists (select from builds n where ${AGAIN} and n.status = 'passed') then 'The build has passed since.'
  end as why
  from analyses a join builds b on b.id = a.build_id
  where a.id = $1`;

/** The store of notices that should be shown outside; the outbox records which ones were. */
export type NoticeStore = ReturnType<typeof createNoticeStore>;

/**
 * Creates the store of notices of the channels whose rules are given. Without rules, no notice is ever
 * wanted, and asking costs nothing.
 */
export function createNoticeStore(
  db: Database,
  outbox: Pick<OutboxStore, 'add'>,
  rules: readonly NoticeRule[] = [],
) {
  return {
    /**
     * Records that what should be said of this build has changed. Call this in the transaction of the change.
     * The change is shown after `delayMs`. A change that waits already is not hurried: both are shown when
     * the later one is due. Returns `true` if there is something to show.
     */
    changed: async (
      { buildId, delayMs }: { readonly buildId: string; readonly delayMs: number },
      sql: Sql = db,
    ) => {
      if (rules.length === 0) return false;
      const [row] = await sql.query<{ defaultBranch: string | null }>(BUILD, [buildId]);
      if (row === undefined) return false;
      const build = Build.parse(row);
      const places = findPlaces(rules, (rule) => rule.findPlace(build, { defaultBranch: row.defaultBranch }));
      const entries = places.map(({ channel, key, about, opens }) => ({
        ...{ topic: `notice:${channel}`, key, buildId, delayMs, opens },
        payload: { repository: build.repository, about },
      }));
      return (await outbox.add(entries, sql)) > 0;
    },
    /** Returns the addresses of what is posted outside about this build. */
    pages: async (build: Build) => {
      const known = rules.flatMap((rule) => {
        const place =
          rule.getPageAddress === undefined ? null : rule.findPlace(build, { defaultBranch: null });
        return place === null ? [] : [{ rule, topic: `notice:${rule.channel}`, key: place.key }];
      });
      if (known.length === 0) return [];
      const posted = await all(db, Posted, POSTED, [
        known.map(({ topic }) => topic),
        known.map(({ key }) => key),
      ]);
      return posted.flatMap(
        ({ topic, reference }) =>
          known.find((one) => one.topic === topic)?.rule.getPageAddress?.(build, reference) ?? [],
      );
    },
    /** Reads what is known now of the subject of a notice. */
    situation: async (about: NoticeAbout) => await readSituation(db, about),
  };
}

const Posted = z.object({ topic: z.string(), reference: z.string() });

const POSTED = `
  select o.topic, o.result->>'reference' as reference
  from unnest($1::text[], $2::text[]) as w (topic, key) join outbox o on o.topic = w.topic and o.key = w.key
  where o.result->>'reference' is not null order by o.topic`;

/**
 * Returns the places of a build's notices, sorted by key: a fixed order prevents deadlocks between
 * transactions that change the same notices.
 */
function findPlaces(rules: readonly NoticeRule[], ask: (rule: NoticeRule) => NoticePlace | null) {
  const places = rules.flatMap((rule) => {
    const place = ask(rule);
    return place === null ? [] : [{ ...place, channel: rule.channel }];
  });
  return places.toSorted((a, b) => (a.key < b.key ? -1 : 1));
}

const BUILD = `
  select ${buildColumns('b')}, d.branch as "defaultBranch"
  from builds b left join default_branches d on d.provider = b.provider and d.repository = b.repository
  where b.id = $1 and b.imported_at is null`;
