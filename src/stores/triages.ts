import { z } from 'zod';
import { Step } from '../domain/analysis.ts';
import { TriageError } from '../domain/errors.ts';
import { newId } from '../domain/ids.ts';
import { Triage, TriageJob } from '../domain/triage.ts';
import type { Clock } from '../lib/time.ts';
import type { Database, Sql } from '../ports/database.ts';
import type { Reading } from '../ports/telemetry.ts';
import { all, columnsFor, first, fromNow, IS_DEFAULT } from './sql.ts';

/** A pending triage job without a lease, and the facts that decide when it is processed. */
export const Turn = z.object({
  id: z.string(),
  repository: z.string(),
  /** It is of the branch that everybody works from. */
  urgent: z.boolean(),
  /** Jobs of its repository that are in work now, anywhere. */
  working: z.int(),
});
export type Turn = z.infer<typeof Turn>;

/** A triage job that ended without an answer that could be stored. */
export const FailedJob = z.object({
  id: z.string(),
  buildId: z.string(),
  repository: z.string(),
  error: z.string().nullable(),
  at: z.iso.datetime(),
});
export type FailedJob = z.infer<typeof FailedJob>;

/** A finished step of a run that goes on; `position` rises with each, and may skip numbers. */
export const RunStep = z.object({ position: z.int(), step: Step });
export type RunStep = z.infer<typeof RunStep>;

/** Something about a build changed, or, without one, about its repository. */
export const Change = z.object({ id: z.int(), repository: z.string(), buildId: z.string().nullable() });
export type Change = z.infer<typeof Change>;

export type TriageStore = ReturnType<typeof createTriageStore>;

/** Leases are judged by the database's clock, so that processes with different clocks agree. */
export function createTriageStore(db: Database, clock: Clock, traceparent: Traceparent = () => null) {
  return { ...jobMethods(db, clock, traceparent), ...triageMethods(db, clock) };
}

/**
 * A function that returns the traceparent of the span that is open when work is queued; null if tracing is
 * off.
 */
export type Traceparent = () => string | null;

function jobMethods(db: Database, clock: Clock, traceparent: Traceparent) {
  return {
    /**
     * Requests a triage of a build: one job per build. Each call says that there is news: a job that has
     * ended is queued again, a running one is marked `dirty`, one that waits need not wait any longer. Call
     * inside the transaction that stores the build.
     */
    request: async (buildId: string, sql: Sql = db) => {
      const [job] = await all(sql, TriageJob, REQUEST, [newId('job', clock.now()), buildId, traceparent()]);
      if (job === undefined)
        throw new TriageError('internal', 'The triage job of a build disappeared while it was being stored');
      return job;
    },
    /**
     * Leases the job for `leaseMs`. Returns null if it is done, failed permanently, postponed, or leased by
     * another worker.
     */
    lease: async (jobId: string, leaseMs: number) => await first(db, TriageJob, LEASE, [jobId, leaseMs]),
    /** Extends a held lease. Returns false if it was lost. */
    renew: async (job: TriageJob, leaseMs: number) =>
      (await all(db, TriageJob, RENEW, [job.id, job.lease, leaseMs])).length > 0,
    /**
     * Checks whether this lease is still the newest, and locks the job until the transaction of `sql` ends,
     * so that no other worker can take it. Call this first in every transaction that writes under the lease.
     */
    holds: async (job: TriageJob, sql: Sql) => {
      await sql.query(HOLD_BUILD, [job.buildId]);
      return (await sql.query(HOLD, [job.id, job.lease])).length > 0;
    },
    /** Ends the job, or queues it again if it is dirty. Returns `refused` if the lease number is stale. */
    finish: async (job: TriageJob, state: 'done' | 'failed', error: string | null, sql: Sql = db) => {
      const [ended] = await all(sql, TriageJob, FINISH, [job.id, job.lease, state, error]);
      if (ended === undefined) return 'refused';
      return ended.state === 'queued' ? 'requeued' : 'ended';
    },
    /**
     * Records that the stored logs cover what was requested when `job` was read. What was requested since
     * must still be fetched.
     */
    markFetched: async (job: TriageJob, sql: Sql = db) => {
      await sql.query(MARK_FETCHED, [job.id, job.requested]);
    },
    /**
     * Gives a job back, to be left alone for `delayMs`, and takes the try off `attempts`. With a delay, the
     * try counts among the `retries`. Without one, as when the process stops, it does not count at all. A
     * stale lease changes nothing.
     */
    release: async (job: TriageJob, error: string, delayMs: number) => {
      await all(db, TriageJob, RELEASE, [job.id, job.lease, error, delayMs]);
    },
    /**
     * Records that a step of the work is finished. The tries that died before it no longer count, only the
     * current one.
     */
    progressed: async (job: TriageJob) => {
      await all(db, TriageJob, PROGRESSED, [job.id, job.lease]);
    },
    /**
     * Gives back every running job and returns how many. Only for a database that no other process can have
     * open.
     */
    reclaim: async () => (await all(db, TriageJob, RECLAIM, [])).length,
    find: async (jobId: string) =>
      await first(db, TriageJob, `select ${JOB} from triage_jobs where id = $1`, [jobId]),
    findByBuild: async (buildId: string, sql: Sql = db) =>
      await first(sql, TriageJob, FIND_BY_BUILD, [buildId]),
    /**
     * Lists jobs that are pending now without a lease: queued and not postponed, or running with an expired
     * lease.
     */
    pending: async (limit: number) => await all(db, TriageJob, PENDING, [limit]),
  };
}

function triageMethods(db: Database, clock: Clock) {
  return {
    /** Returns the triage of one failure group, and creates it on the first call. */
    open: async (buildId: string, fingerprint: string, sql: Sql = db) => {
      const [created] = await sql.query(OPEN, [newId('tri', clock.now()), buildId, fingerprint]);
      const [row] = created === undefined ? await sql.query(FIND_TRIAGE, [buildId, fingerprint]) : [created];
      return Triage.parse(row);
    },
    conclude: async (triageId: string, analysisId: string, sql: Sql) => {
      await sql.query(`update triages set state = 'concluded', analysis_id = $2 where id = $1`, [
        triageId,
        analysisId,
      ]);
    },
  };
}

/** SQL for the condition that news came since the newest lease was taken. */
const NEWS = '(owed > taken)';

const JOB = columnsFor(TriageJob, null, {
  requested: 'owed',
  dirty: `(state = 'running' and ${NEWS})`,
  requestedAt: 'owed_at',
});

const TRIAGE = columnsFor(Triage);

/** SQL that resets the counts if news came, because earlier tries say nothing about later ones. */
const COUNTED_ANEW = `attempts = case when ${NEWS} then 0 else attempts end, retries = case when ${NEWS} then 0 else retries end`;

/** SQL for the condition that no worker holds the job, and that it is not postponed, or no longer. */
const FREE = `(j.not_before is null or j.not_before <= clock_timestamp())
  and (j.state = 'queued' or (j.state = 'running' and j.lease_expires_at <= clock_timestamp()))`;

const REQUEST = `
  insert into triage_jobs (id, build_id, state, traceparent) values ($1, $2, 'queued', $3)
  on conflict (build_id) do update set
    owed = triage_jobs.owed + 1,
    owed_at = clock_timestamp(), traceparent = coalesce(excluded.traceparent, triage_jobs.traceparent),
    state = case when triage_jobs.state = 'running' then 'running' else 'queued' end,
    attempts = case when triage_jobs.state = 'running' then triage_jobs.attempts else 0 end,
    retries = case when triage_jobs.state = 'running' then triage_jobs.retries else 0 end,
    not_before = null, error = null, updated_at = clock_timestamp()
  returning ${JOB}`;

const FIND_BY_BUILD = `select ${JOB} from triage_jobs where build_id = $1`;

const PROGRESSED = `
  update triage_jobs set attempts = 1, updated_at = clock_timestamp()
  where id = $1 and lease = $2 and state = 'running' returning ${JOB}`;

const LEASE = `
  update triage_jobs j set state = 'running', lease = lease + 1, attempts = case when ${NEWS} then 1 else attempts + 1 end,
    retries = case when ${NEWS} then 0 else retries end, not_before = null, taken = owed, error = null, lease_expires_at = ${fromNow('$2')}, updated_at = clock_timestamp()
  where id = $1 and ${FREE} returning ${JOB}`;

// A lease that expired without being taken by another worker is still held, because its number is still the
// newest.
const RENEW = `
  update triage_jobs set lease_expires_at = ${fromNow('$3')}, updated_at = clock_timestamp()
  where id = $1 and lease = $2 and state = 'running' returning ${JOB}`;

// Storing a build locks its row before the job's row. Locking in the other order could deadlock.
const HOLD_BUILD = 'select 1 from builds where id = $1 for key share';

const HOLD = `select 1 from triage_jobs where id = $1 and lease = $2 and state = 'running' for update`;

const FINISH = `
  update triage_jobs set
    state = case when ${NEWS} then 'queued' else $3 end,
    ${COUNTED_ANEW},
    error = case when ${NEWS} then null else $4 end,
    lease_expires_at = null, updated_at = clock_timestamp()
  where id = $1 and lease = $2 and state = 'running' returning ${JOB}`;

const MARK_FETCHED = 'update triage_jobs set fetched = greatest(fetched, $2::int) where id = $1';

const RELEASE = `
  update triage_jobs set state = 'queued', error = $3, lease_expires_at = null, updated_at = clock_timestamp(),
    attempts = case when ${NEWS} then 0 else greatest(attempts - 1, 0) end,
    retries = case when ${NEWS} then 0 when $4::float8 > 0 then retries + 1 else retries end,
    not_before = case when ${NEWS} or $4::float8 <= 0 then null else ${fromNow('$4')} end
  where id = $1 and lease = $2 and state = 'running' returning ${JOB}`;

const RECLAIM = `
  update triage_jobs set state = 'queued', ${COUNTED_ANEW}, lease_expires_at = null, updated_at = clock_timestamp()
  where state = 'running' returning ${JOB}`;

const PENDING = `select ${JOB} from triage_jobs j where ${FREE} order by created_at, id limit $1`;

const OPEN = `
  insert into triages (id, build_id, fingerprint, state) values ($1, $2, $3, 'open')
  on conflict (build_id, fingerprint) do nothing returning ${TRIAGE}`;

const FIND_TRIAGE = `select ${TRIAGE} from triages where build_id = $1 and fingerprint = $2`;

const Place = Turn.pick({ repository: true, urgent: true });
const Outcome = z.object({ outcome: z.enum(['pending', 'in-work', 'done']) });

/**
 * The order of jobs, which keeps one noisy repository from starving the others. The lease decides who
 * actually gets a job.
 */
export type JobTurns = ReturnType<typeof createJobTurns>;

export function createJobTurns(db: Database) {
  return {
    /** Lists one job of each repository after another, with each repository's urgent jobs first. */
    next: async (limit: number) => z.array(Turn).parse(await db.query(NEXT, [limit])),
    /** Returns the repository of a job and whether the job is urgent; null if the job is unknown. */
    place: async (jobId: string) => await first(db, Place, PLACE, [jobId]),
    /** Lists jobs that failed permanently, newest first. */
    failed: async (limit: number) => z.array(FailedJob).parse(await db.query(FAILED, [limit])),
    /**
     * Queues a job again that failed permanently or waits for its next try, as if there were news of its
     * build. Returns `done` or `in-work` if nothing was changed, and null if the job is unknown.
     */
    requeue: async (jobId: string) => {
      const [row] = await db.query(REQUEST_AGAIN, [jobId]);
      return row === undefined ? null : Outcome.parse(row).outcome;
    },
  };
}

const NEXT = `
  with working as (
    select b.repository, count(*)::int as jobs from triage_jobs j join builds b on b.id = j.build_id
    where j.state = 'running' and j.lease_expires_at > clock_timestamp() group by b.repository
  ), waiting as (
    select j.id, j.created_at, b.repository, ${IS_DEFAULT('b')} and b.imported_at is null as urgent, b.imported_at is not null as imported
    from triage_jobs j join builds b on b.id = j.build_id where ${FREE}
  ), turns as (
    select *, row_number() over (partition by repository order by imported, urgent desc, created_at, id) as turn from waiting
  )
  select t.id, t.repository, t.urgent, coalesce(w.jobs, 0) as working
  from turns t left join working w using (repository)
  order by t.imported, t.turn, t.urgent desc, t.created_at, t.id limit $1`;

const PLACE = `
  select b.repository, ${IS_DEFAULT('b')} as urgent from triage_jobs j join builds b on b.id = j.build_id where j.id = $1`;

const FAILED = `
  select j.id, j.build_id as "buildId", b.repository, j.error, j.updated_at as at
  from triage_jobs j join builds b on b.id = j.build_id where j.state = 'failed'
  order by j.updated_at desc, j.id limit $1`;

// The job is treated as if there were news of the build: earlier tries say nothing about later ones.
const REQUEST_AGAIN = `
  with known as (select id, state, lease_expires_at from triage_jobs where id = $1 for update),
  anew as (
    update triage_jobs j set state = 'queued', owed = j.owed + 1, attempts = 0, retries = 0, not_before = null, error = null,
      updated_at = clock_timestamp()
    from known k
    where j.id = k.id and (k.state in ('queued', 'failed') or (k.state = 'running' and k.lease_expires_at <= clock_timestamp()))
    returning j.id
  )
  select case when exists (select 1 from anew) then 'pending' when state = 'done' then 'done' else 'in-work' end as outcome from known`;

/**
 * Creates the store of the steps of running triages, from all processes. The steps are only for display, so
 * losing them is harmless. Steps of runs that died are swept when another run ends or restarts.
 */
export function createRunStepStore(db: Database) {
  return {
    add: async (buildId: string, step: Step) => {
      await db.query('insert into run_steps (build_id, step) values ($1, $2::jsonb)', [buildId, step]);
    },
    /** Lists the steps of this build after a position, in order; at most 300. */
    after: async (buildId: string, position: number) =>
      await all(
        db,
        RunStep,
        'select position, step from run_steps where build_id = $1 and position > $2 order by position limit 300',
        [buildId, position],
      ),
    /** Deletes the steps of a build whose triage starts over or has ended. */
    forget: async (buildId: string) => {
      await db.query(
        `delete from run_steps where build_id = $1 or stored_at < clock_timestamp() - interval '1 day'`,
        [buildId],
      );
    },
  };
}

export type ChangeStore = ReturnType<typeof createChangeStore>;

/**
 * Creates the store of recent changes in all repositories. Triggers record them and keep them for a minute.
 */
export function createChangeStore(db: Pick<Sql, 'query'>) {
  return {
    /**
     * Lists the newest 2,000 changes of the last `milliseconds`. A change is dated before its transaction
     * ends, which may be seconds later.
     */
    recent: async (milliseconds: number) => await all(db, Change, RECENT, [-milliseconds]),
  };
}

const RECENT = `select id, repository, build_id as "buildId" from changes where at > ${fromNow('$1')} order by at desc limit 2000`;

interface BacklogRow {
  readonly queued: number;
  readonly running: number;
  readonly oldest: number;
  readonly landed: number;
  readonly publications: number;
  readonly reviews: number;
}

/**
 * Reads the amount of pending work from the database: one statement over partial indexes, whose cost depends
 * on what is pending and not on what is stored.
 */
export async function readBacklog(sql: Sql): Promise<readonly Reading[]> {
  const [row] = await sql.query<BacklogRow>(BACKLOG);
  if (row === undefined) return [];
  return [
    { name: 'faultline_queue_depth', labels: { state: 'queued' }, value: row.queued },
    { name: 'faultline_queue_depth', labels: { state: 'running' }, value: row.running },
    { name: 'faultline_queue_oldest_seconds', labels: {}, value: Math.max(0, row.oldest) },
    { name: 'faultline_deliveries_landed', labels: {}, value: row.landed },
    { name: 'faultline_publications_pending', labels: {}, value: row.publications },
    { name: 'faultline_review_pending', labels: {}, value: row.reviews },
  ];
}

const BACKLOG = `
  select jobs.queued, jobs.running, jobs.oldest,
    (select count(*)::int from deliveries where state = 'landed') as landed,
    (select count(*)::int from outbox where (topic like 'publish:%' or topic like 'message:%') and version > settled) as publications,
    (select count(*)::int from reviews where state in ('waiting', 'claimed')) as reviews
  from (
    select count(*) filter (where state = 'queued')::int as queued, count(*) filter (where state = 'running')::int as running,
      coalesce(extract(epoch from clock_timestamp() - min(owed_at) filter (where state = 'queued')), 0)::float8 as oldest
    from triage_jobs where state in ('queued', 'running')
  ) as jobs`;
