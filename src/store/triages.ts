import { TriageError } from '../domain/errors.ts';
import { newId } from '../domain/ids.ts';
import { Triage, TriageJob } from '../domain/triage.ts';
import type { Clock } from '../lib/time.ts';
import type { Database, Sql } from '../ports/database.ts';
import type { TriageStore } from '../ports/stores.ts';

/** Leases are judged by the database's clock, so that processes with different clocks agree. */
export function createTriageStore(db: Database, clock: Clock, traceparent: Traceparent = () => null): TriageStore {
  return { ...jobMethods(db, clock, traceparent), ...triageMethods(db, clock) };
}

/** Of the span that is open while work is owed; null where nobody traces. */
export type Traceparent = () => string | null;

type JobMethods = Omit<TriageStore, 'open' | 'conclude'>;

function jobMethods(db: Database, clock: Clock, traceparent: Traceparent): JobMethods {
  const jobs = async (sql: Sql, text: string, values: readonly unknown[]) =>
    (await sql.query(text, values)).map((row) => TriageJob.parse(row));

  return {
    owe: async (buildId, sql = db) => {
      const [job] = await jobs(sql, OWE, [newId('job', clock.now()), buildId, traceparent()]);
      if (job === undefined) throw new TriageError('internal', 'The triage job of a build disappeared while it was being stored');
      return job;
    },
    lease: async (jobId, leaseMs) => (await jobs(db, LEASE, [jobId, leaseMs]))[0] ?? null,
    renew: async (job, leaseMs) => (await jobs(db, RENEW, [job.id, job.lease, leaseMs])).length > 0,
    holds: async (job, sql) => {
      await sql.query(HOLD_BUILD, [job.buildId]);
      return (await sql.query(HOLD, [job.id, job.lease])).length > 0;
    },
    finish: async (job, state, error, sql = db) => {
      const [ended] = await jobs(sql, FINISH, [job.id, job.lease, state, error]);
      if (ended === undefined) return 'refused';
      return ended.state === 'queued' ? 'owed-again' : 'ended';
    },
    markFetched: async (job) => {
      await db.query(MARK_FETCHED, [job.id, job.owed]);
    },
    release: async (job, error, delayMs) => {
      await jobs(db, RELEASE, [job.id, job.lease, error, delayMs]);
    },
    progressed: async (job) => {
      await jobs(db, PROGRESSED, [job.id, job.lease]);
    },
    reclaim: async () => (await jobs(db, RECLAIM, [])).length,
    find: async (jobId) => (await jobs(db, `select ${JOB} from triage_jobs where id = $1`, [jobId]))[0] ?? null,
    findByBuild: async (buildId, sql = db) => (await jobs(sql, FIND_BY_BUILD, [buildId]))[0] ?? null,
    owed: async (limit) => await jobs(db, OWED, [limit]),
  };
}

function triageMethods(db: Database, clock: Clock): Pick<TriageStore, 'open' | 'conclude'> {
  return {
    open: async (buildId, fingerprint, sql = db) => {
      const [created] = await sql.query(OPEN, [newId('tri', clock.now()), buildId, fingerprint]);
      const [row] = created === undefined ? await sql.query(FIND_TRIAGE, [buildId, fingerprint]) : [created];
      return Triage.parse(row);
    },
    conclude: async (triageId, analysisId, sql) => {
      await sql.query(`update triages set state = 'concluded', analysis_id = $2 where id = $1`, [triageId, analysisId]);
    },
  };
}

/** News came since the newest lease was taken. */
const NEWS = '(owed > taken)';

const JOB = `id, build_id as "buildId", state, attempts, retries, not_before as "notBefore", owed, fetched, (state = 'running' and ${NEWS}) as dirty,
  lease, lease_expires_at as "leaseExpiresAt", error, traceparent, owed_at as "owedAt", created_at as "createdAt", updated_at as "updatedAt"`;

const TRIAGE = `id, build_id as "buildId", fingerprint, state, analysis_id as "analysisId"`;

/** News came: what happened before says nothing about the tries to come. */
const COUNTED_ANEW = `attempts = case when ${NEWS} then 0 else attempts end, retries = case when ${NEWS} then 0 else retries end`;

/** It is not, or no longer, to be left alone. */
const DUE = '(not_before is null or not_before <= clock_timestamp())';

const EXPIRES = (parameter: string) => `clock_timestamp() + ${parameter}::float8 * interval '1 millisecond'`;

const OWE = `
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
  update triage_jobs set state = 'running', lease = lease + 1, attempts = case when ${NEWS} then 1 else attempts + 1 end,
    retries = case when ${NEWS} then 0 else retries end, not_before = null, taken = owed, error = null, lease_expires_at = ${EXPIRES('$2')}, updated_at = clock_timestamp()
  where id = $1 and ${DUE} and (state = 'queued' or (state = 'running' and lease_expires_at <= clock_timestamp()))
  returning ${JOB}`;

// Of a lease that ran out unnoticed but that nobody took: the number is still the newest, so it is still held.
const RENEW = `
  update triage_jobs set lease_expires_at = ${EXPIRES('$3')}, updated_at = clock_timestamp()
  where id = $1 and lease = $2 and state = 'running' returning ${JOB}`;

// Whoever stores a build locks its row before the job's: in the other order the two would wait for each other.
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
    not_before = case when ${NEWS} or $4::float8 <= 0 then null else ${EXPIRES('$4')} end
  where id = $1 and lease = $2 and state = 'running' returning ${JOB}`;

const RECLAIM = `
  update triage_jobs set state = 'queued', ${COUNTED_ANEW}, lease_expires_at = null, updated_at = clock_timestamp()
  where state = 'running' returning ${JOB}`;

const OWED = `
  select ${JOB} from triage_jobs
  where ${DUE} and (state = 'queued' or (state = 'running' and lease_expires_at <= clock_timestamp()))
  order by created_at, id limit $1`;

const OPEN = `
  insert into triages (id, build_id, fingerprint, state) values ($1, $2, $3, 'open')
  on conflict (build_id, fingerprint) do nothing returning ${TRIAGE}`;

const FIND_TRIAGE = `select ${TRIAGE} from triages where build_id = $1 and fingerprint = $2`;
