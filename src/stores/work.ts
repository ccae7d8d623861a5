import { z } from 'zod';
import { type WorkEnd, WorkItem, type WorkRequest } from '../domain/work.ts';
import type { Database, Sql } from '../ports/database.ts';
import { fromNow, isoTime, listColumns, queryAll, queryFirst } from './sql.ts';

export interface WorkTake {
  readonly topic: string;
  readonly limit: number;
  readonly leaseMs: number;
  readonly newestFirst?: boolean;
  /** Keys of the items to take; any if absent. */
  readonly keys?: readonly string[];
  /** True if items are taken although they are not due yet. */
  readonly early?: boolean;
  /** External services whose items are left alone, by `payload.provider`. */
  readonly except?: readonly string[];
  /** The groups that this process served last, the oldest first; they yield to others. */
  readonly served?: readonly string[];
}

/** A pending item, and what decides when it is processed. */
const PendingWork = WorkItem.pick({
  topic: true,
  key: true,
  groupKey: true,
  attempts: true,
  retries: true,
  error: true,
  held: true,
}).extend({ dueAt: z.iso.datetime() });
export type PendingWork = z.infer<typeof PendingWork>;

/** An item that was given up. */
const FailedWork = WorkItem.pick({ topic: true, key: true, groupKey: true, error: true }).extend({
  at: z.iso.datetime(),
});
export type FailedWork = z.infer<typeof FailedWork>;

/** All work that outlives the transaction which asks for it. */
export type WorkStore = ReturnType<typeof createWorkStore>;

/** Leases and due times are judged by the database's clock, so that processes with different clocks agree. */
export function createWorkStore(db: Database) {
  return { ...createRequestMethods(db), ...createLeaseMethods(db), ...createOperatorMethods(db) };
}

function createRequestMethods(db: Database) {
  const add = async (text: string, requests: readonly WorkRequest[], sql: Sql) =>
    requests.length === 0 ? 0 : (await sql.query(text, [JSON.stringify(requests, clean)])).length;
  return {
    /** Requests the work, in the transaction of what causes it. Returns how many items are pending for it. */
    add: async (requests: readonly WorkRequest[], sql: Sql = db) => await add(ADD, requests, sql),
    /** Requests work that is done once for good: an item that exists already stays as it is. */
    addOnce: async (requests: readonly WorkRequest[], sql: Sql = db) =>
      void (await add(ADD_ONCE, requests, sql)),
    /** Returns those of the topics that have something due now. */
    due: async (topics: readonly string[]) =>
      (await db.query<{ topic: string }>(DUE, [topics])).map(({ topic }) => topic),
    find: async (topic: string, key: string) =>
      await queryFirst(db, WorkItem, `select ${ITEM} from work where topic = $1 and key = $2`, [topic, key]),
    /** Lists the pending external work for a build, oldest first. */
    listByBuild: async (buildId: string) =>
      await queryAll(
        db,
        WorkItem,
        `select ${ITEM} from work where build_id = $1 and topic <> 'triage' order by created_at, topic, key`,
        [buildId],
      ),
    /**
     * Counts the pending items of the topic. `since` is the due time of the oldest; null if none is pending.
     */
    waiting: async (topic: string) => Waiting.parse((await db.query(WAITING, [topic]))[0]),
  };
}

function createLeaseMethods(db: Database) {
  return {
    /**
     * Takes pending items without a lease: by priority, then those of groups with the fewest in work, then
     * the one that has been due longest. Concurrent callers get different items.
     */
    take: async (wanted: WorkTake) => {
      const { topic, leaseMs, limit, keys, except = [], served = [] } = wanted;
      const values = [topic, leaseMs, limit, except, served, keys ?? null];
      return await queryAll(db, WorkItem, createTake(wanted), values);
    },
    /** Checks that nothing has changed since the item was taken, and that it is still held. */
    isCurrent: async ({ topic, key, lease, version }: WorkItem) =>
      (await db.query(IS_CURRENT, [topic, key, lease, version])).length > 0,
    /**
     * Checks whether this lease is still the newest, and locks the item until the transaction of `sql` ends,
     * so that no other worker can take it. Call this first in every transaction that writes under the lease.
     */
    holds: async ({ topic, key, lease, buildId }: WorkItem, sql: Sql) => {
      if (buildId !== null) await sql.query(LOCK_BUILD, [buildId]);
      return (await sql.query(LOCK, [topic, key, lease])).length > 0;
    },
    /** Extends a held lease. Returns false if it was lost. */
    renew: async ({ topic, key, lease }: WorkItem, leaseMs: number) =>
      (await db.query(RENEW, [topic, key, lease, leaseMs])).length > 0,
    /** Records that a step is finished: attempts that crashed before it no longer count. */
    progressed: async ({ topic, key, lease }: WorkItem) => {
      await db.query(PROGRESSED, [topic, key, lease]);
    },
    /**
     * Finishes an item; work that was requested in the meantime stays pending. Returns `false` and changes
     * nothing if the lease is stale.
     */
    finish: async (
      { topic, key, lease, version }: WorkItem,
      { outcome, result, error, pauseMs, forget }: WorkEnd,
      sql: Sql = db,
    ) => {
      const parameters = [topic, key, lease, version];
      if (forget === true && (await sql.query(FORGET, parameters)).length > 0) return true;
      const kept = result === undefined ? null : JSON.stringify(result, clean);
      return (
        (await sql.query(FINISH, [...parameters, outcome, kept, error ?? null, pauseMs ?? 0])).length > 0
      );
    },
    /**
     * Gives an item back, to be left alone for `delayMs`; with 0, the attempt does not count. With
     * `newsRestarts`, an item that was requested in the meantime is due at once. A stale lease changes
     * nothing.
     */
    release: async (
      { topic, key, lease, version }: WorkItem,
      error: string | null,
      delayMs: number,
      newsRestarts = false,
    ) => {
      await db.query(RELEASE, [topic, key, lease, error, delayMs, newsRestarts ? version : null]);
    },
    /**
     * Gives back every held item and returns how many. Only for a database that no other process can have
     * open.
     */
    reclaim: async () => (await db.query(RECLAIM)).length,
  };
}

function createOperatorMethods(db: Database) {
  return {
    /** Lists pending items in the order in which they are processed; those in work come first. */
    pending: async (topic: string | null, limit: number) =>
      await queryAll(db, PendingWork, PENDING, [topic, limit]),
    /** Returns the keys of items that are due, in the order in which they are processed. */
    dueKeys: async (topic: string, limit: number) =>
      (await db.query<{ key: string }>(DUE_KEYS, [topic, limit])).map(({ key }) => key),
    /** Returns the place of an item among those of its group, behind all items of a higher priority. */
    rank: async (topic: string, key: string) =>
      (await db.query<{ rank: number }>(RANK, [topic, key]))[0]?.rank ?? 0,
    /** Lists items that were given up, newest first. */
    failed: async (topic: string | null, limit: number) =>
      await queryAll(db, FailedWork, FAILED, [topic, limit]),
    /**
     * Requests work of this key again that was given up or waits for its next try, as if it were new. Returns
     * the items of the key: `pending` ones are requested, `in-work` and `done` ones are as they were.
     */
    retry: async (key: string, topic: string | null) =>
      z.array(Retried).parse(await db.query(RETRY, [key, topic])),
  };
}

const Waiting = z.object({ count: z.int(), since: z.string().nullable() });

const Retried = z.object({ topic: z.string(), outcome: z.enum(['pending', 'in-work', 'done']) });

/** Removes NUL and lone surrogates, which PostgreSQL refuses in jsonb. */
function clean(_name: string, value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '') : value;
}

const ITEM = listColumns(WorkItem);

const NEW = `
  insert into work as o (topic, key, build_id, payload, due_at)
  select e->>'topic', e->>'key', e->>'buildId', coalesce(e->'payload', '{}'),
    ${fromNow(`coalesce(e->>'delayMs', '0')`)}
  from jsonb_array_elements($1::jsonb) as e
  where coalesce((e->>'opens')::boolean, true)
    or exists (select from work known where known.topic = e->>'topic' and known.key = e->>'key')
  on conflict (topic, key)`;

// What waits already is not hurried by a change that is due at once: it may be one that is taken back yet.
const ADD = `${NEW} do update set
  version = o.version + 1, build_id = excluded.build_id, payload = excluded.payload,
  changed_at = clock_timestamp(),
  attempts = case when o.version > o.settled then o.attempts else 0 end,
  retries = case when o.version > o.settled then o.retries else 0 end,
  due_at = case when o.version > o.settled then greatest(o.due_at, excluded.due_at) else excluded.due_at end
  returning key`;

const ADD_ONCE = `${NEW} do nothing`;

/**
 * Returns SQL that requests an item once more as if it were new: it is due at once, and earlier attempts no
 * longer count. A running attempt continues, and counts from then on.
 */
export const REQUEST_AGAIN = (table: string) => `
  version = ${table}.version + 1, attempts = 0, retries = 0, error = null,
  due_at = clock_timestamp(), changed_at = clock_timestamp(),
  free_at = case when ${table}.held then ${table}.free_at else clock_timestamp() end`;

const FREE = 'due_at <= clock_timestamp() and free_at <= clock_timestamp()';

const DUE = `
  select t.topic from unnest($1::text[]) as t (topic)
  where exists (select from work o where o.topic = t.topic and o.version > o.settled and ${FREE})`;

const BUSY = `
  busy as (
    select group_key, count(*)::int as running from work
    where topic = $1 and held and free_at > clock_timestamp() and group_key is not null group by group_key
  )`;

function createTake({ newestFirst = false, early = false }: WorkTake): string {
  return `
  with ${BUSY}, due as materialized (
    select c.key from work c left join busy b on b.group_key = c.group_key
    where c.topic = $1 and c.version > c.settled and ($6::text[] is null or c.key = any ($6))
      and ${early ? '(not c.held or c.free_at <= clock_timestamp())' : FREE}
      and coalesce(c.payload->>'provider', '') <> all ($4::text[])
    order by c.priority, coalesce(b.running, 0), coalesce(array_position($5::text[], c.group_key), 0),
      c.due_at ${newestFirst ? 'desc' : 'asc'}, c.key
    limit $3 for update of c skip locked
  )
  update work o set held = true, lease = o.lease + 1, attempts = o.attempts + 1, free_at = ${fromNow('$2')},
    changed_at = clock_timestamp()
  from due where o.topic = $1 and o.key = due.key
  returning ${listColumns(WorkItem, 'o')}`;
}

const HELD = 'topic = $1 and key = $2 and lease = $3 and held';

const IS_CURRENT = `select 1 from work where ${HELD} and version = $4`;

// Storing a build locks its row before that of its work. Locking in the other order could deadlock.
const LOCK_BUILD = 'select 1 from builds where id = $1 for key share';

const LOCK = `select 1 from work where ${HELD} for update`;

// A lease that expired without being taken by another worker is still held, because its number is still the
// newest.
const RENEW = `update work set free_at = ${fromNow('$4')} where ${HELD} returning key`;

const PROGRESSED = `update work set attempts = least(attempts, 1) where ${HELD}`;

const FORGET = `delete from work where ${HELD} and version = $4 returning key`;

const FINISH = `
  update work set held = false, settled = $4, outcome = $5, result = coalesce($6::jsonb, result),
    error = case when version > $4 then null else $7 end, free_at = ${fromNow('$8')},
    attempts = case when version > $4 then 0 else attempts end,
    retries = case when version > $4 then 0 else retries end, changed_at = clock_timestamp()
  where ${HELD} returning key`;

const RELEASE = `
  update work set held = false, error = coalesce($4, error), attempts = greatest(attempts - 1, 0),
    changed_at = clock_timestamp(),
    retries = case when version > $6::int then 0 when $5::float8 > 0 then retries + 1 else retries end,
    free_at = case when version > $6::int then clock_timestamp() else ${fromNow('$5')} end
  where ${HELD}`;

const RECLAIM = 'update work set held = false, free_at = clock_timestamp() where held returning key';

const WAITING = `
  select count(*)::int as count, ${isoTime('min(due_at)')} as since
  from work where topic = $1 and version > settled`;

const PENDING = `
  select ${listColumns(PendingWork, 'w')} from work w
  where w.version > w.settled and ($1::text is null or w.topic = $1)
  order by w.held desc, w.topic <> 'triage', w.priority, greatest(w.due_at, w.free_at), w.topic, w.key
  limit $2`;

const DUE_KEYS = `
  with ${BUSY}, waiting as (
    select w.key, w.priority, w.due_at, coalesce(b.running, 0)
      + row_number() over (partition by w.group_key order by w.priority, w.due_at, w.key) as turn
    from work w left join busy b on b.group_key = w.group_key
    where w.topic = $1 and w.version > w.settled and ${FREE}
  )
  select key from waiting order by priority, turn, due_at, key limit $2`;

/** Far enough apart that no number of waiting items reaches the next priority. */
const RANK = `
  select (w.priority * 100000 + (
    select count(*) from (
      select from work o where o.topic = w.topic and o.group_key = w.group_key and o.version > o.settled
        and (o.held or (o.priority, o.due_at, o.key) <= (w.priority, w.due_at, w.key)) limit 10000
    ) as before
  ))::int as rank
  from work w where w.topic = $1 and w.key = $2`;

const FAILED = `
  select ${listColumns(FailedWork, 'w', { at: 'w.changed_at' })} from work w
  where w.outcome = 'failed' and w.version = w.settled and ($1::text is null or w.topic = $1)
  order by w.changed_at desc, w.topic, w.key limit $2`;

const RETRY = `
  with known as (
    select topic, key, version > settled or outcome = 'failed' as is_open,
      held and free_at > clock_timestamp() as is_held
    from work where key = $1 and ($2::text is null or topic = $2) for update
  ), again as (
    update work w set ${REQUEST_AGAIN('w')}
    from known k where w.topic = k.topic and w.key = k.key and k.is_open and not k.is_held
  )
  select topic, case when is_held then 'in-work' when is_open then 'pending' else 'done' end as outcome
  from known order by topic`;
