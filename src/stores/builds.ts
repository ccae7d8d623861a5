import { z } from 'zod';
import { Build, type NewBuild, type TestResult, WHOLE_BUILD } from '../domain/build.ts';
import { createId } from '../domain/ids.ts';
import { Offer } from '../domain/offers.ts';
import type { Clock } from '../lib/time.ts';
import type { Database, Page, Sql } from '../ports/database.ts';
import { follow } from './flakiness.ts';
import {
  buildColumns,
  countOffers,
  escapeLike,
  inScope,
  insert,
  isoTime,
  queryAll,
  queryFirst,
  scopeValue,
  toBatches,
  toPageValues,
} from './sql.ts';

/** An own secret that was seen in logs. */
export const ShownSecret = z.object({
  /** The SHA-256 in hexadecimal. */
  digest: z.string(),
  /** The newest build whose logs contained it. */
  buildId: z.string(),
  repository: z.string(),
  pipeline: z.string(),
  number: z.string(),
  /** The name of the token in the database; null if it is another secret or no longer valid. */
  token: z.string().nullable(),
  builds: z.int(),
});
export type ShownSecret = z.infer<typeof ShownSecret>;

interface BuildFilter {
  readonly provider?: Build['provider'];
  readonly repository?: string;
  readonly pipeline?: string;
  /**
   * The CI's number of the build. All attempts, and builds of all repositories and pipelines with it, match.
   */
  readonly number?: string;
  /** The status; `ended` means passed or failed. */
  readonly status?: Build['status'] | 'ended';
  readonly branch?: string;
  /** The CI's number of the build, or its id of the run. */
  readonly run?: string;
  /** URLs of which one must match; at most a hundred are used. */
  readonly urls?: readonly string[];
  /** The job in which the build failed. */
  readonly job?: string;
  /** The time from which builds were received, and the time before which; ISO 8601. */
  readonly since?: string;
  readonly until?: string;
  /** The repositories to include: `owner/name`, or `owner/*`. */
  readonly repositories?: readonly string[];
}

interface RepositoryFilter {
  readonly words: string;
  readonly repositories?: readonly string[];
}

export type BuildStore = ReturnType<typeof createBuildStore>;

export function createBuildStore(db: Database, clock: Clock) {
  return {
    /**
     * Stores a build, or returns the known one: with the same (provider, repository, pipeline, number,
     * attempt), or the same (provider, repository, externalId, attempt) if it has an externalId. Two
     * simultaneous events of one run create one build. A known build only gains fields, and its status may
     * change from unknown. A number that equals the externalId, or stands for it, is provisional (job events
     * do not name the run's number): it and its pipeline are replaced by the real ones. With `past` (ISO
     * 8601), a new build is an import from that time. It is never published, and its triage waits behind
     * others.
     */
    upsert: async (build: NewBuild, sql?: Sql, past?: string) => {
      const upsert = (sql: Sql) =>
        upsertBuild(
          sql,
          build,
          past === undefined ? { at: clock.now() } : { at: Date.parse(past), isPast: true },
        );
      return sql === undefined ? await db.transaction(upsert) : await upsert(sql);
    },

    /**
     * Deletes uploads that were never stored completely: this one, or all of them if no other process can be
     * receiving one. Returns the ids of the deleted uploads.
     */
    withdrawUnfinished: async (buildId: string | null) =>
      (await db.query<{ id: string }>(WITHDRAW, [buildId])).map(({ id }) => id),

    find: async (id: string, sql: Sql = db) =>
      await queryFirst(sql, Build, `select ${buildColumns('b')} from builds b where b.id = $1`, [id]),

    /**
     * Finds the build with the provider's own run id: of the given attempt; otherwise of the attempt whose
     * `failedPart` is known; otherwise of the newest attempt.
     */
    findByExternalId: async (
      {
        provider,
        repository,
        externalId,
        attempt,
        failedPart,
      }: { provider: string; repository: string; externalId: string; attempt?: number; failedPart?: string },
      sql: Sql = db,
    ) =>
      await queryFirst(sql, Build, FIND_BY_EXTERNAL_ID, [
        provider,
        repository,
        externalId,
        attempt ?? null,
        failedPart ?? null,
      ]),

    list: async (asked: BuildFilter, page: Page) =>
      (await db.query(LIST, [...filterValues(asked), ...toPageValues(page)])).map((row) => Build.parse(row)),

    /** Counts the values of each field among the newest builds of a list, most frequent first. */
    offers: async (asked: BuildFilter) => await queryAll(db, Offer, OFFERS, filterValues(asked)),

    /** Lists at most `limit` repositories with builds whose names have these words. */
    repositories: async ({ words, repositories }: RepositoryFilter, limit: number) =>
      (
        await db.query<{ repository: string }>(REPOSITORIES, [
          `%${escapeLike(words)}%`,
          scopeValue(repositories),
          limit,
        ])
      ).map(({ repository }) => repository),

    saveTestResults: async (buildId: string, results: readonly TestResult[], sql?: Sql) => {
      const save = (sql: Sql) => saveTestResults(sql, buildId, results);
      await (sql === undefined ? db.transaction(save) : save(sql));
    },

    /** Records that the logs of a build contained own secrets, by their digests. */
    saveShownSecrets: async (buildId: string, digests: readonly string[]) => {
      await db.query(SAVE_SHOWN, [buildId, [...digests]]);
    },

    /** Lists each own secret in logs, with the newest build that contained it, newest first. */
    shownSecrets: async () => await queryAll(db, ShownSecret, SHOWN),

    /**
     * Records that the CI reported this part of the build as failed. Returns `true` if this is news: neither
     * this part nor `WHOLE_BUILD`, which is reported when the build has ended, was reported before.
     */
    addFailedPart: async (buildId: string, part: string, sql: Sql = db) =>
      (await sql.query(ADD_FAILED_PART, [buildId, part, WHOLE_BUILD])).length > 0,

    /** Returns the time at which retention deleted the texts of a build that is kept; null if it did not. */
    logsForgottenAt: async (buildId: string) => {
      const [row] = await db.query<{ at: string }>(LOGS_FORGOTTEN_AT, [buildId]);
      return row?.at ?? null;
    },
  };
}

/**
 * Saves test results. They come in several parts (upload, the CI's own data, reports). A part replaces the
 * earlier results of its tests and leaves the rest, so that a build that is read again after a crash has each
 * result once.
 */
async function saveTestResults(sql: Sql, buildId: string, results: readonly TestResult[]): Promise<void> {
  if (results.length === 0) return;
  await sql.query('select id from builds where id = $1 for update', [buildId]);
  const batches = toBatches(results);
  // All are deleted before the first is inserted, because a test may be in two batches.
  for (const batch of batches) await sql.query(FORGET_TEST_RESULTS, [buildId, { results: batch }]);
  for (const batch of batches) await sql.query(INSERT_TEST_RESULTS, [buildId, { results: batch }]);
  await follow(sql, buildId, results);
}

const SAVE_SHOWN = `
  insert into shown_secrets (build_id, digest) select $1, digest from unnest($2::text[]) as d (digest)
  on conflict do nothing`;

const SHOWN = `
  select * from (
    select distinct on (s.digest) s.digest, s.build_id as "buildId", b.repository, b.pipeline, b.number,
      t.name as token, s.seen_at,
      (count(*) over (partition by s.digest))::int as builds
    from shown_secrets s join builds b on b.id = s.build_id
    left join access_tokens t on t.digest = s.digest and t.revoked_at is null
      and (t.expires_at is null or t.expires_at > clock_timestamp())
    order by s.digest, s.seen_at desc) newest
  order by seen_at desc limit 1000`;

// An upload gets its status and triage in the transaction that completes it.
const WITHDRAW = `
  delete from builds b where provider = 'upload' and status = 'unknown' and ($1::text is null or id = $1)
    and not exists (select from work w where w.topic = 'triage' and w.key = b.id) returning id`;

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

function filterValues(asked: BuildFilter): unknown[] {
  const { provider, repository, pipeline, number, status, branch, job, since, until, run, repositories } =
    asked;
  const urls = asked.urls === undefined ? null : [...asked.urls];
  const given = [provider, repository, pipeline, number, status, branch, job, since, until, run, urls];
  return [...given.map((value) => value ?? null), scopeValue(repositories)];
}

const MATCHES = `($1::text is null or b.provider = $1) and ($2::text is null or b.repository = $2)
    and ($3::text is null or b.pipeline = $3) and ($4::text is null or b.number = $4)
    and ($5::text is null or b.status = $5 or $5 = 'ended' and b.status in ('passed', 'failed'))
    and ($6::text is null or b.branch = $6)
    and ($7::text is null or $7 in (select failed_jobs(b)))
    and ($8::timestamptz is null or b.received_at >= $8) and ($9::timestamptz is null or b.received_at < $9)
    and ($10::text is null or b.number = $10 or b.external_id = $10)
    and ($11::text[] is null or b.url = any($11))
    and ${inScope('b.repository', '$12')}`;

const LIST = `
  select ${buildColumns('b')} from builds b where ${MATCHES}
  order by b.received_at desc, b.id desc
  limit $13 offset $14`;

/** The maximum number of builds whose values are counted, newest first. */
const MOST_OFFERED = 2_000;
const OFFERS = countOffers(
  `select b.repository, b.branch, b.pipeline, b.status from builds b where ${MATCHES}
    order by b.received_at desc limit ${MOST_OFFERED}`,
  ['repository', 'branch', 'pipeline', 'status'],
);

// One index lookup for each repository, however many days it has.
const REPOSITORIES = `
  with recursive known as (
    (select repository from build_days order by repository limit 1)
    union all
    select (
      select d.repository from build_days d where d.repository > k.repository order by d.repository limit 1
    )
    from known k where k.repository is not null
  )
  select repository from known
  where repository is not null and repository ilike $1 and ${inScope('repository', '$2')} limit $3`;

const FORGET_TEST_RESULTS = `
  delete from test_results t using (
    select distinct r->>'name' as name, r->>'suite' as suite
    from jsonb_array_elements($2::jsonb->'results') as r
  ) n
  where t.build_id = $1 and t.name = n.name and t.suite is not distinct from n.suite`;

const INSERT_TEST_RESULTS = `
  insert into test_results (build_id, position, name, suite, file, status, duration_ms)
  select $1, r.position + (select coalesce(max(position), 0) from test_results where build_id = $1),
    r.result->>'name', r.result->>'suite', r.result->>'file', r.result->>'status',
    (r.result->>'durationMs')::float8
  from jsonb_array_elements($2::jsonb->'results') with ordinality as r (result, position)`;

/**
 * Stores a build or adds to the known one; `BuildStore.upsert` says which is which. Two events of one run may
 * carry different keys, so no unique index alone can make them one: the callers of one repository take turns.
 * Needs a transaction.
 */
async function upsertBuild(
  sql: Sql,
  build: NewBuild,
  { at, isPast = false }: Receipt,
): Promise<{ readonly build: Build; readonly created: boolean }> {
  await sql.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [
    `build ${build.provider} ${build.repository}`,
  ]);
  const [known] = await sql.query<{ id: string }>(FIND_KNOWN, [
    build.provider,
    build.repository,
    build.attempt,
    build.pipeline,
    build.number,
    build.externalId,
  ]);
  if (known === undefined) {
    const fresh = Build.parse({ ...build, id: createId('bld', at), receivedAt: new Date(at).toISOString() });
    const [row] = await insert(sql, 'builds as b', fresh, `returning ${buildColumns('b')}`);
    if (isPast)
      await sql.query('update builds set imported_at = clock_timestamp() where id = $1', [fresh.id]);
    return { build: Build.parse(row), created: true };
  }
  const [row] = await sql.query(ADD_FIELDS, [
    known.id,
    build.pipeline,
    build.number,
    build.externalId,
    build.job,
    build.branch,
    build.commit,
    build.author,
    build.pullRequest,
    build.url,
    build.status,
    build.startedAt,
    build.finishedAt,
    build.queuedSeconds ?? null,
  ]);
  return { build: Build.parse(row), created: false };
}

/** The time when a build was received, in milliseconds, and whether it was looked up rather than sent. */
interface Receipt {
  readonly at: number;
  readonly isPast?: boolean;
}

// If both keys find a build and these differ, the one with the CI's number takes precedence.
const FIND_KNOWN = `
  select id from builds
  where provider = $1 and repository = $2 and attempt = $3
    and ((pipeline = $4 and number = $5) or external_id = $6)
  order by (pipeline = $4 and number = $5) desc
  limit 1`;

/**
 * The stored number stands for the run id, alone (GitHub's job events) or as `createProvisionalNumber` writes
 * it, until the CI's number is known.
 */
const PROVISIONAL = `($4 = b.external_id and $3 <> b.number
    and (b.number = 'run ' || b.external_id or (b.number = b.external_id and $3 <> 'run ' || $4)))`;

const ADD_FIELDS = `
  update builds b set
    pipeline = case when ${PROVISIONAL} then $2 else b.pipeline end,
    number = case when ${PROVISIONAL} then $3 else b.number end,
    external_id = coalesce(b.external_id, (
      select $4::text where not exists (
        select from builds o where o.provider = b.provider and o.repository = b.repository
          and o.external_id = $4 and o.attempt = b.attempt
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
