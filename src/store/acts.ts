import { actKey, OutwardAct } from '../domain/notice.ts';
import type { Database } from '../ports/database.ts';
import type { ActStore } from '../ports/notices.ts';

/** Leases are judged by the database's clock, so that processes with different clocks agree. */
export function createActStore(db: Database): ActStore {
  const acts = async (text: string, values: readonly unknown[]) => (await db.query(text, values)).map((row) => OutwardAct.parse(row));
  return {
    owe: async ({ publishers, buildId, analysisId }, sql = db) => {
      if (publishers.length === 0) return;
      const keys = publishers.map((publisher) => actKey(publisher, analysisId));
      await sql.query(OWE, [keys, publishers, buildId, analysisId]);
    },
    take: async (publishers, leaseMs) => (await acts(TAKE, [publishers, leaseMs]))[0] ?? null,
    obsolete: async ({ key }) => {
      const [row] = await db.query<{ why: string | null }>(OBSOLETE, [key]);
      return row?.why ?? null;
    },
    finish: async (act, end) => {
      const reference = end.state === 'done' ? end.reference : null;
      const error = end.state === 'done' ? null : end.error;
      return (await acts(FINISH, [act.key, act.lease, end.state, reference, error])).length > 0;
    },
    release: async (act, error, delayMs) => {
      await acts(RELEASE, [act.key, act.lease, error, delayMs]);
    },
    reclaim: async () => (await acts(RECLAIM, [])).length,
    listByBuild: async (buildId) => await acts(`select ${ACT} from outward_acts where build_id = $1 order by owed_at, key`, [buildId]),
  };
}

const ACT = `key, publisher, build_id as "buildId", analysis_id as "analysisId", state, attempts, retries, lease, reference, error`;

const IN = (parameter: string) => `clock_timestamp() + ${parameter}::float8 * interval '1 millisecond'`;

const OWE = `
  insert into outward_acts (key, publisher, build_id, analysis_id, state)
  select o.key, o.publisher, $3, $4, 'owed' from unnest($1::text[], $2::text[]) as o (key, publisher)
  on conflict (key) do nothing`;

const TAKE = `
  update outward_acts set state = 'started', attempts = attempts + 1, lease = lease + 1, error = null,
    free_at = ${IN('$2')}, updated_at = clock_timestamp()
  where key = (
    select key from outward_acts
    where state in ('owed', 'started') and free_at <= clock_timestamp() and publisher = any ($1::text[])
    order by free_at, key limit 1 for update skip locked
  )
  returning ${ACT}`;

/** Another attempt of the same run, as its CI counts them. */
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
  from outward_acts o join analyses a on a.id = o.analysis_id join builds b on b.id = o.build_id
  where o.key = $1`;

const FINISH = `
  update outward_acts set state = $3, reference = $4, error = $5, updated_at = clock_timestamp()
  where key = $1 and lease = $2 and state = 'started' returning ${ACT}`;

const RELEASE = `
  update outward_acts set state = 'owed', error = $3, free_at = ${IN('$4')}, updated_at = clock_timestamp(),
    attempts = greatest(attempts - 1, 0), retries = case when $4::float8 > 0 then retries + 1 else retries end
  where key = $1 and lease = $2 and state = 'started' returning ${ACT}`;

const RECLAIM = `
  update outward_acts set state = 'owed', free_at = clock_timestamp(), updated_at = clock_timestamp()
  where state = 'started' returning ${ACT}`;
