import { z } from 'zod';
import type { Database } from '../ports/database.ts';
import type { JobTurns } from '../ports/job-queue.ts';
import { IS_DEFAULT } from './greens.ts';

const OwedTurn = z.object({ id: z.string(), repository: z.string(), urgent: z.boolean(), working: z.int() });
const Place = OwedTurn.pick({ repository: true, urgent: true });
const Failed = z.object({
  id: z.string(),
  buildId: z.string(),
  repository: z.string(),
  error: z.string().nullable(),
  at: z.iso.datetime(),
});
const Outcome = z.object({ outcome: z.enum(['owed', 'in-work', 'done']) });

export function createJobTurns(db: Database): JobTurns {
  return {
    next: async (limit) => z.array(OwedTurn).parse(await db.query(NEXT, [limit])),
    place: async (jobId) => {
      const [row] = await db.query(PLACE, [jobId]);
      return row === undefined ? null : Place.parse(row);
    },
    failed: async (limit) => z.array(Failed).parse(await db.query(FAILED, [limit])),
    oweAnew: async (jobId) => {
      const [row] = await db.query(OWE_ANEW, [jobId]);
      return row === undefined ? null : Outcome.parse(row).outcome;
    },
  };
}

/** Held by nobody, and not, or no longer, to be left alone. */
const FREE = `(j.not_before is null or j.not_before <= clock_timestamp())
  and (j.state = 'queued' or (j.state = 'running' and j.lease_expires_at <= clock_timestamp()))`;

const NEXT = `
  with working as (
    select b.repository, count(*)::int as jobs from triage_jobs j join builds b on b.id = j.build_id
    where j.state = 'running' and j.lease_expires_at > clock_timestamp() group by b.repository
  ), waiting as (
    select j.id, j.created_at, b.repository, ${IS_DEFAULT('b')} as urgent
    from triage_jobs j join builds b on b.id = j.build_id where ${FREE}
  ), turns as (
    select *, row_number() over (partition by repository order by urgent desc, created_at, id) as turn from waiting
  )
  select t.id, t.repository, t.urgent, coalesce(w.jobs, 0) as working
  from turns t left join working w using (repository)
  order by t.turn, t.urgent desc, t.created_at, t.id limit $1`;

const PLACE = `
  select b.repository, ${IS_DEFAULT('b')} as urgent from triage_jobs j join builds b on b.id = j.build_id where j.id = $1`;

const FAILED = `
  select j.id, j.build_id as "buildId", b.repository, j.error, j.updated_at as at
  from triage_jobs j join builds b on b.id = j.build_id where j.state = 'failed'
  order by j.updated_at desc, j.id limit $1`;

// As if there were news of the build: the tries before say nothing about those to come.
const OWE_ANEW = `
  with known as (select id, state, lease_expires_at from triage_jobs where id = $1 for update),
  anew as (
    update triage_jobs j set state = 'queued', owed = j.owed + 1, attempts = 0, retries = 0, not_before = null, error = null,
      updated_at = clock_timestamp()
    from known k
    where j.id = k.id and (k.state in ('queued', 'failed') or (k.state = 'running' and k.lease_expires_at <= clock_timestamp()))
    returning j.id
  )
  select case when exists (select 1 from anew) then 'owed' when state = 'done' then 'done' else 'in-work' end as outcome from known`;
