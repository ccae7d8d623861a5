import { z } from 'zod';
import { Build, type NewBuild, type TestResult, WHOLE_BUILD } from '../domain/build.ts';
import { newId } from '../domain/ids.ts';
import type { Clock } from '../lib/time.ts';
import type { Database, Page, Sql } from '../ports/database.ts';
import { follow } from './flakiness.ts';
import { all, buildColumns, first, fromNow, inScope, insert, isoTime, pageValues, scopeValue } from './sql.ts';

/** An own secret that was seen in logs. */
export const ShownSecret = z.object({
  /** SHA-256, in hexadecimal. */
  digest: z.string(),
  /** The newest build whose logs showed it. */
  buildId: z.string(),
  repository: z.string(),
  pipeline: z.string(),
  number: z.string(),
  /** Name of the token in the database; null where it is another secret, or no longer valid. */
  token: z.string().nullable(),
  builds: z.int(),
});
export type ShownSecret = z.infer<typeof ShownSecret>;

interface BuildFilter {
  readonly provider?: Build['provider'];
  readonly repository?: string;
  readonly pipeline?: string;
  /** The CI's own number; with several attempts, repositories or pipelines, each that has it is listed. */
  readonly number?: string;
  /** `ended`: passed or failed. */
  readonly status?: Build['status'] | 'ended';
  readonly branch?: string;
  /** The CI's own number, or its own id of the run. */
  readonly run?: string;
  /** One of these addresses; at most a hundred are asked for. */
  readonly urls?: readonly string[];
  /** In which it failed. */
  readonly job?: string;
  /** Received from then on, and before then; ISO 8601. */
  readonly since?: string;
  readonly until?: string;
  /** Only of these: `owner/name`, or `owner/*`. */
  readonly repositories?: readonly string[];
}

/** A delivery by its sender and the sender's id. */
export interface DeliveryKey {
  readonly source: string;
  readonly deliveryId: string;
}

/** `landed`: durable, and waiting for the processor. `recorded`: its build is kept. `refused`: set aside after too many tries, for people. */
export type DeliveryState = 'landed' | 'recorded' | 'refused';

/** A delivery on its way in. */
export interface ReceivedDelivery extends DeliveryKey {
  readonly event: string;
  readonly bodySha256: string;
  /** What it says, in the shape of its route; JSON. Kept until it is recorded. */
  readonly intake: object;
}

/** A delivery that the processor has taken. */
export interface LandedDelivery extends DeliveryKey {
  readonly event: string;
  readonly intake: unknown;
  /** Tries that failed with something that does not pass by itself. */
  readonly attempts: number;
}

export interface KeptDelivery {
  readonly event: string;
  readonly bodySha256: string;
  readonly buildId: string | null;
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly receivedAt: string;
}

/** What the processor has still to do, and what it could not do. */
export interface DeliveryBacklog {
  readonly landed: number;
  /** How long the oldest landed one has waited, in milliseconds; null where none waits. */
  readonly oldestMs: number | null;
  readonly refused: number;
  /** Why the newest refused one was set aside. */
  readonly refusal: string | null;
}

export type BuildStore = ReturnType<typeof createBuildStore>;

export function createBuildStore(db: Database, clock: Clock) {
  return {
    /**
     * Stores a build, or returns the known one: with the same (provider, repository, pipeline, number, attempt), or the same
     * (provider, repository, externalId, attempt) where it has an externalId; two events of one run that come at once make one
     * build. A known build only gains fields and its status may change from unknown. A number that equals the externalId, or
     * is its `provisionalNumber`, is provisional (job events do not name the run's number): it and its pipeline give way to the real ones.
     * `past`: a new one is imported from then, in ISO 8601. It is never published, and its triage waits behind others.
     */
    upsert: async (build: NewBuild, sql?: Sql, past?: string) => {
      const upsert = (own: Sql) =>
        upsertBuild(own, build, past === undefined ? { at: clock.now() } : { at: Date.parse(past), isPast: true });
      return sql === undefined ? await db.transaction(upsert) : await upsert(sql);
    },

    /**
     * Deletes uploads that were never kept whole: this one, or all of them where no other process can be receiving one. Returns the ids of what
     * was deleted.
     */
    withdrawUnfinished: async (buildId: string | null) => (await db.query<{ id: string }>(WITHDRAW, [buildId])).map(({ id }) => id),

    find: async (id: string, sql: Sql = db) => await first(sql, Build, `select ${buildColumns('b')} from builds b where b.id = $1`, [id]),

    /** The build of the provider's own run id: of that attempt; else of the attempt whose `failedPart` is known; else of the newest. */
    findByExternalId: async (
      {
        provider,
        repository,
        externalId,
        attempt,
        failedPart,
      }: { provider: string; repository: string; externalId: string; attempt?: number; failedPart?: string },
      sql: Sql = db,
    ) => await first(sql, Build, FIND_BY_EXTERNAL_ID, [provider, repository, externalId, attempt ?? null, failedPart ?? null]),

    list: async (asked: BuildFilter, page: Page) => {
      const { provider, repository, pipeline, number, status, branch, job, since, until, run, repositories } = asked;
      const urls = asked.urls === undefined ? null : [...asked.urls];
      const filter = [provider, repository, pipeline, number, status, branch, job, since, until, run, urls].map((value) => value ?? null);
      return (await db.query(LIST, [...filter, scopeValue(repositories), ...pageValues(page)])).map((row) => Build.parse(row));
    },

    saveTestResults: async (buildId: string, results: readonly TestResult[], sql?: Sql) => {
      const save = (own: Sql) => saveTestResults(own, buildId, results);
      await (sql === undefined ? db.transaction(save) : save(sql));
    },

    /** Keeps that the logs of a build showed own secrets, by their digests. */
    saveShownSecrets: async (buildId: string, digests: readonly string[]) => {
      await db.query(SAVE_SHOWN, [buildId, [...digests]]);
    },

    /** Lists each own secret that logs showed, with the newest build that did, newest first. `token`: of a token that is still valid. */
    shownSecrets: async () => await all(db, ShownSecret, SHOWN),

    /**
     * Keeps that the CI said this part of the build failed. `true` where that is news: neither this part nor `WHOLE_BUILD`,
     * which is reported when the build has ended, was reported before.
     */
    addFailedPart: async (buildId: string, part: string, sql: Sql = db) =>
      (await sql.query(ADD_FAILED_PART, [buildId, part, WHOLE_BUILD])).length > 0,

    /** When retention deleted the texts of a build that stays; null where it did not. */
    logsForgottenAt: async (buildId: string) => {
      const [row] = await db.query<{ at: string }>(LOGS_FORGOTTEN_AT, [buildId]);
      return row?.at ?? null;
    },
  };
}

/**
 * Results come in several parts (upload, the CI's own data, reports). A part replaces what was known of its tests and
 * leaves the rest, so that a build that is read again after a crash has each result once.
 */
async function saveTestResults(sql: Sql, buildId: string, results: readonly TestResult[]): Promise<void> {
  if (results.length === 0) return;
  await sql.query('select id from builds where id = $1 for update', [buildId]);
  const batches = Array.from({ length: Math.ceil(results.length / BATCH) }, (_, at) => results.slice(at * BATCH, (at + 1) * BATCH));
  // All are forgotten before the first is inserted: a test may be in two batches.
  for (const batch of batches) await sql.query(FORGET_TEST_RESULTS, [buildId, { results: batch }]);
  for (const batch of batches) await sql.query(INSERT_TEST_RESULTS, [buildId, { results: batch }]);
  await follow(sql, buildId, results);
}

/** Results that one statement takes: more would hold the event loop while they are written as JSON. */
const BATCH = 2_000;

const SAVE_SHOWN = `
  insert into shown_secrets (build_id, digest) select $1, digest from unnest($2::text[]) as d (digest) on conflict do nothing`;

const SHOWN = `
  select * from (
    select distinct on (s.digest) s.digest, s.build_id as "buildId", b.repository, b.pipeline, b.number, t.name as token, s.seen_at,
      (count(*) over (partition by s.digest))::int as builds
    from shown_secrets s join builds b on b.id = s.build_id
    left join access_tokens t on t.digest = s.digest and t.revoked_at is null
      and (t.expires_at is null or t.expires_at > clock_timestamp())
    order by s.digest, s.seen_at desc) newest
  order by seen_at desc limit 1000`;

// An upload gets its status, and its triage job, in the transaction that ends it.
const WITHDRAW = `
  delete from builds b where provider = 'upload' and status = 'unknown' and ($1::text is null or id = $1)
    and not exists (select from triage_jobs j where j.build_id = b.id) returning id`;

const FIND_BY_EXTERNAL_ID = `
  select ${buildColumns('b')} from builds b
  where b.provider = $1 and b.repository = $2 and b.external_id = $3 and ($4::int is null or b.attempt = $4)
  order by exists (select from failed_parts p where p.build_id = b.id and p.part = $5) desc, b.attempt desc
  limit 1`;

const LOGS_FORGOTTEN_AT = `
  select ${isoTime('at')} as at from forgotten_logs where build_id = $1`;

const ADD_FAILED_PART = `
  insert into failed_parts (build_id, part)
  select $1, $2::text where not exists (select from failed_parts where build_id = $1 and part = $3)
  on conflict (build_id, part) do nothing returning part`;

const LIST = `
  select ${buildColumns('b')} from builds b
  where ($1::text is null or b.provider = $1) and ($2::text is null or b.repository = $2)
    and ($3::text is null or b.pipeline = $3) and ($4::text is null or b.number = $4)
    and ($5::text is null or b.status = $5 or $5 = 'ended' and b.status in ('passed', 'failed')) and ($6::text is null or b.branch = $6)
    and ($7::text is null or $7 in (select failed_jobs(b)))
    and ($8::timestamptz is null or b.received_at >= $8) and ($9::timestamptz is null or b.received_at < $9)
    and ($10::text is null or b.number = $10 or b.external_id = $10) and ($11::text[] is null or b.url = any($11))
    and ${inScope('b.repository', '$12')}
  order by b.received_at desc, b.id desc
  limit $13 offset $14`;

const FORGET_TEST_RESULTS = `
  delete from test_results t using (
    select distinct r->>'name' as name, r->>'suite' as suite from jsonb_array_elements($2::jsonb->'results') as r
  ) n
  where t.build_id = $1 and t.name = n.name and t.suite is not distinct from n.suite`;

const INSERT_TEST_RESULTS = `
  insert into test_results (build_id, position, name, suite, file, status, duration_ms)
  select $1, r.position + (select coalesce(max(position), 0) from test_results where build_id = $1),
    r.result->>'name', r.result->>'suite', r.result->>'file', r.result->>'status', (r.result->>'durationMs')::float8
  from jsonb_array_elements($2::jsonb->'results') with ordinality as r (result, position)`;

/**
 * Stores a build or adds to the known one; `BuildStore.upsert` says which is which. Two events of one run may carry
 * different keys, so no unique index alone can make them one: the callers of one repository take turns. Needs a transaction.
 */
async function upsertBuild(
  sql: Sql,
  build: NewBuild,
  { at, isPast = false }: Receipt,
): Promise<{ readonly build: Build; readonly created: boolean }> {
  await sql.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`build ${build.provider} ${build.repository}`]);
  const [known] = await sql.query<{ id: string }>(FIND_KNOWN, [
    ...[build.provider, build.repository, build.attempt, build.pipeline, build.number, build.externalId],
  ]);
  if (known === undefined) {
    const fresh = Build.parse({ ...build, id: newId('bld', at), receivedAt: new Date(at).toISOString() });
    const [row] = await insert(sql, 'builds as b', fresh, `returning ${buildColumns('b')}`);
    if (isPast) await sql.query('update builds set imported_at = clock_timestamp() where id = $1', [fresh.id]);
    return { build: Build.parse(row), created: true };
  }
  const [row] = await sql.query(ADD_FIELDS, [
    ...[known.id, build.pipeline, build.number, build.externalId, build.job, build.branch, build.commit, build.author],
    ...[build.pullRequest, build.url, build.status, build.startedAt, build.finishedAt, build.queuedSeconds ?? null],
  ]);
  return { build: Build.parse(row), created: false };
}

/** When a build came, in milliseconds, and whether it was looked up rather than sent. */
interface Receipt {
  readonly at: number;
  readonly isPast?: boolean;
}

// Where both keys name a build and they differ, the one with the CI's own number goes first.
const FIND_KNOWN = `
  select id from builds
  where provider = $1 and repository = $2 and attempt = $3 and ((pipeline = $4 and number = $5) or external_id = $6)
  order by (pipeline = $4 and number = $5) desc
  limit 1`;

/** The stored number represents the run id, alone (GitHub's job events) or as `provisionalNumber` writes it, until the CI's own is known. */
const PROVISIONAL = `($4 = b.external_id and $3 <> b.number
    and (b.number = 'run ' || b.external_id or (b.number = b.external_id and $3 <> 'run ' || $4)))`;

const ADD_FIELDS = `
  update builds b set
    pipeline = case when ${PROVISIONAL} then $2 else b.pipeline end,
    number = case when ${PROVISIONAL} then $3 else b.number end,
    external_id = coalesce(b.external_id, (
      select $4::text where not exists (
        select from builds o where o.provider = b.provider and o.repository = b.repository and o.external_id = $4 and o.attempt = b.attempt
      )
    )),
    job = coalesce(b.job, $5),
    branch = case when ${PROVISIONAL} then coalesce($6, b.branch) else coalesce(b.branch, $6) end,
    commit = coalesce(b.commit, $7),
    author = coalesce(b.author, $8),
    pull_request = coalesce(b.pull_request, $9),
    url = coalesce(b.url, $10),
    status = case when b.status = 'unknown' then $11 else b.status end,
    started_at = coalesce(b.started_at, $12),
    finished_at = coalesce(b.finished_at, $13),
    queued_seconds = coalesce(b.queued_seconds, $14)
  where b.id = $1
  returning ${buildColumns('b')}`;

export type DeliveryStore = ReturnType<typeof createDeliveryStore>;

export function createDeliveryStore(db: Database) {
  return {
    /** Keeps a delivery, with its build or none, by the sender's id. `false`: this id was already kept (nothing changes). */
    insertOnce: async (
      {
        source,
        deliveryId,
        event,
        bodySha256,
        buildId,
      }: { source: string; deliveryId: string; event: string; bodySha256: string; buildId: string | null },
      sql: Sql = db,
    ) => {
      const kept = await sql.query(
        `insert into deliveries (source, delivery_id, event, body_sha256, build_id) values ($1, $2, $3, $4, $5)
         on conflict (source, delivery_id) do nothing returning delivery_id`,
        [source, deliveryId, event, bodySha256, buildId],
      );
      return kept.length > 0;
    },
    /** What was kept under the sender's id, so that a second delivery gets the first one's answer. */
    find: async (source: string, deliveryId: string, sql: Sql = db) =>
      (await sql.query<KeptDelivery>(FIND, [source, deliveryId]))[0] ?? null,
    ...inboxMethods(db),
    backlog: async () => {
      const [row] = await db.query<DeliveryBacklog>(BACKLOG);
      return row ?? { landed: 0, oldestMs: null, refused: 0, refusal: null };
    },
  };
}

function inboxMethods(db: Database) {
  return {
    /**
     * Keeps deliveries as landed, all of them in one statement. Says of each, in their order, whether it is new; `false`: its
     * id was already kept (nothing changes). No two may bear the same id. One that the database refuses fails all.
     */
    land: async (deliveries: readonly ReceivedDelivery[]) => {
      const rows = deliveries.map((one) => ({
        ...{ source: one.source, delivery_id: one.deliveryId, event: one.event, body_sha256: one.bodySha256, intake: one.intake },
      }));
      // Two processes that land the same ids at once wait for each other in one order.
      rows.sort((left, right) => compare(left.source, right.source) || compare(left.delivery_id, right.delivery_id));
      const kept = await db.query<DeliveryKey>(LAND, [{ deliveries: rows }]);
      const fresh = new Set(kept.map(keyOf));
      return deliveries.map((one) => fresh.has(keyOf(one)));
    },
    /** Lands a refused delivery once more; `false` where it is not refused. */
    landAgain: async ({ source, deliveryId, intake }: ReceivedDelivery) =>
      (await db.query(LAND_AGAIN, [source, deliveryId, intake])).length > 0,
    /** Landed deliveries that are due and came `olderThanMs` ago or earlier; oldest first. */
    landed: async (olderThanMs: number, limit: number) => await db.query<DeliveryKey>(LANDED, [olderThanMs, limit]),
    /** Takes a landed delivery until the transaction of `sql` ends; null where it is not due, not landed, or somebody else's. */
    takeLanded: async ({ source, deliveryId }: DeliveryKey, sql: Sql) =>
      (await sql.query<LandedDelivery>(TAKE, [source, deliveryId]))[0] ?? null,
    /** Ends a taken delivery with its build, in the transaction that took it; `false` where it is not landed any more. */
    markRecorded: async ({ source, deliveryId }: DeliveryKey, buildId: string, sql: Sql) =>
      (await sql.query(MARK_RECORDED, [source, deliveryId, buildId])).length > 0,
    /** Leaves a landed delivery alone for `delayMs`, or sets it aside for good; changes nothing where others have tried more often. */
    putOff: async (
      { source, deliveryId }: DeliveryKey,
      {
        error,
        delayMs,
        attempts,
        refuse,
      }: { readonly error: string; readonly delayMs: number; readonly attempts: number; readonly refuse: boolean },
    ) => {
      const values = [source, deliveryId, error, delayMs, attempts, refuse ? 'refused' : 'landed'];
      return (await db.query(PUT_OFF, values)).length > 0;
    },
  };
}

function keyOf({ source, deliveryId }: DeliveryKey): string {
  return `${source} ${deliveryId}`;
}

function compare(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

const FIND = `
  select event, body_sha256 as "bodySha256", build_id as "buildId", state, attempts, received_at as "receivedAt"
  from deliveries where source = $1 and delivery_id = $2`;

const LAND = `
  insert into deliveries (source, delivery_id, event, body_sha256, intake, state)
  select d.source, d.delivery_id, d.event, d.body_sha256, d.intake, 'landed'
  from jsonb_to_recordset($1::jsonb -> 'deliveries') as d (source text, delivery_id text, event text, body_sha256 text, intake jsonb)
  on conflict (source, delivery_id) do nothing
  returning source, delivery_id as "deliveryId"`;

const LAND_AGAIN = `
  update deliveries set state = 'landed', intake = $3::jsonb, attempts = 0, not_before = null, error = null
  where source = $1 and delivery_id = $2 and state = 'refused' returning source`;

/** It is not, or no longer, to be left alone. */
const DUE = '(not_before is null or not_before <= clock_timestamp())';

const LANDED = `
  select source, delivery_id as "deliveryId" from deliveries
  where state = 'landed' and ${DUE} and received_at <= clock_timestamp() - $1::float8 * interval '1 millisecond'
  order by received_at limit $2`;

const TAKE = `
  select source, delivery_id as "deliveryId", event, intake, attempts from deliveries
  where source = $1 and delivery_id = $2 and state = 'landed' and ${DUE} for update skip locked`;

const MARK_RECORDED = `
  update deliveries set state = 'recorded', build_id = $3, intake = null, not_before = null, error = null
  where source = $1 and delivery_id = $2 and state = 'landed' returning source`;

// Whoever tried meanwhile counted on: the count is the fence.
const PUT_OFF = `
  update deliveries set state = $6, attempts = $5::int, error = $3, not_before = ${fromNow('$4')}
  where source = $1 and delivery_id = $2 and state = 'landed' and attempts <= $5::int returning source`;

const BACKLOG = `
  select
    (select count(*)::int from deliveries where state = 'landed') as landed,
    (select extract(epoch from clock_timestamp() - min(received_at))::float8 * 1000 from deliveries where state = 'landed') as "oldestMs",
    (select count(*)::int from deliveries where state = 'refused') as refused,
    (select error from deliveries where state = 'refused' order by received_at desc limit 1) as refusal`;
