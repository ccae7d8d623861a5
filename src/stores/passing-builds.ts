import { z } from 'zod';
import { GreenBuild, Templates } from '../domain/build.ts';
import type { Database, Sql } from '../ports/database.ts';
import { type ChosenPassingLog, PassingBuildJob, type PassingBuildStore } from '../ports/stores.ts';
import { buildOrder, first, fromNow, IS_DEFAULT } from './sql.ts';

/** Leases are judged by the database's clock, so that processes with different clocks agree. */
export function createPassingBuildStore(db: Database): PassingBuildStore {
  return { ...jobMethods(db), ...templateMethods(db) };
}

type TemplateMethods = Pick<PassingBuildStore, 'isWanted' | 'keep' | 'choose' | 'newest'>;

function jobMethods(db: Database): Omit<PassingBuildStore, keyof TemplateMethods> {
  return {
    owe: async (buildId, sql = db) => {
      await sql.query(`insert into green_jobs (build_id, state) values ($1, 'queued') on conflict do nothing`, [buildId]);
    },
    saveDefaultBranch: async ({ provider, repository, branch }, sql = db) => {
      await sql.query(SAVE_DEFAULT_BRANCH, [provider, repository, branch]);
    },
    take: async (leaseMs) => await first(db, PassingBuildJob, TAKE, [leaseMs]),
    drop: async (job, state, error) => {
      await db.query(END, [job.buildId, job.lease, state, error]);
    },
    release: async (job, error, delayMs) => {
      await db.query(RELEASE, [job.buildId, job.lease, error, delayMs]);
    },
    reclaim: async () => (await db.query(RECLAIM)).length,
  };
}

function templateMethods(db: Database): TemplateMethods {
  return {
    isWanted: async (buildId, builds) => {
      const [row] = await db.query<{ newer: number }>(NEWER, [buildId]);
      return (row?.newer ?? 0) < builds;
    },
    keep: async (job, logs, builds) =>
      await db.transaction(async (sql) => {
        if (!(await end(sql, job))) return false;
        await sql.query('delete from green_templates where build_id = $1', [job.buildId]);
        for (const { log, templates } of logs) await sql.query(INSERT, [job.buildId, log, templates]);
        await sql.query(PRUNE, [job.buildId, builds, MAX_LOGS]);
        return true;
      }),
    choose: async (buildId, logs, builds) =>
      await db.transaction(async (sql) => {
        await sql.query(CHOOSE, [buildId, logs, builds]);
        return (await sql.query(CHOSEN, [buildId, logs])).map(readChosen);
      }),
    newest: async (repository, limit) =>
      (await db.query(NEWEST, [repository, limit])).map((row) => ({ ...readChosen(row), seenAt: Seen.parse(row).seenAt })),
  };
}

async function end(sql: Sql, job: PassingBuildJob): Promise<boolean> {
  return (await sql.query(END, [job.buildId, job.lease, 'done', null])).length > 0;
}

const Chosen = GreenBuild.extend({ log: z.string(), body: Templates });

const Seen = z.object({ seenAt: z.iso.datetime() });

function readChosen(row: unknown): ChosenPassingLog {
  const { log, body, ...build } = Chosen.parse(row);
  return { log, templates: body, build };
}

/** Logs of one pipeline whose templates are kept at most, on its default branch and on all others together. */
const MAX_LOGS = 200;

/** Both are builds of one pipeline. */
const SAME_PIPELINE = (one: string, other: string) =>
  `${one}.provider = ${other}.provider and ${one}.repository = ${other}.repository and ${one}.pipeline = ${other}.pipeline`;

/** A build came before another of its pipeline; where the other's number is its run id for now, time alone tells. */
const BEFORE = (one: string, other: string) => `case
  when ${one}.number = ${other}.number then ${one}.attempt < ${other}.attempt
  when ${other}.number = ${other}.external_id
    then coalesce(${one}.started_at, ${one}.received_at) < coalesce(${other}.started_at, ${other}.received_at)
  else ${buildOrder(one)} < ${buildOrder(other)} end`;

const SAVE_DEFAULT_BRANCH = `
  insert into default_branches (provider, repository, branch) values ($1, $2, $3)
  on conflict (provider, repository) do update set branch = excluded.branch where default_branches.branch <> excluded.branch`;

const TAKE = `
  update green_jobs set state = 'running', attempts = attempts + 1, lease = lease + 1, error = null,
    free_at = ${fromNow('$1')}, updated_at = clock_timestamp()
  where build_id = (
    select build_id from green_jobs where state in ('queued', 'running') and free_at <= clock_timestamp()
    order by owed_at desc, build_id desc limit 1 for update skip locked
  )
  returning build_id as "buildId", attempts, lease`;

const END = `
  update green_jobs set state = $3, error = $4, updated_at = clock_timestamp()
  where build_id = $1 and lease = $2 and state = 'running' returning build_id`;

const RELEASE = `
  update green_jobs set state = 'queued', error = $3, free_at = ${fromNow('$4')}, updated_at = clock_timestamp(),
    attempts = case when $4::float8 > 0 then attempts else greatest(attempts - 1, 0) end
  where build_id = $1 and lease = $2 and state = 'running'`;

const RECLAIM = `
  update green_jobs set state = 'queued', free_at = clock_timestamp(), updated_at = clock_timestamp()
  where state = 'running' returning build_id`;

const NEWER = `
  select count(*)::int as newer from builds base
  join builds b on ${SAME_PIPELINE('b', 'base')} and b.branch is not distinct from base.branch and ${BEFORE('base', 'b')}
  where base.id = $1 and exists (select from green_templates t where t.build_id = b.id)`;

const INSERT = 'insert into green_templates (build_id, log, body) values ($1, $2, $3)';

// A branch that is gone leaves its templates behind: `side` bounds what all of them together may keep.
const PRUNE = `
  with ranked as (
    select t.build_id, t.log,
      row_number() over (partition by b.branch, t.log order by ${buildOrder('b')} desc) as nth,
      row_number() over (partition by ${IS_DEFAULT('b')} order by ${buildOrder('b')} desc, t.log) as side
    from builds base
    join builds b on ${SAME_PIPELINE('b', 'base')}
    join green_templates t on t.build_id = b.id
    where base.id = $1
  )
  delete from green_templates t using ranked r
  where t.build_id = r.build_id and t.log = r.log and (r.nth > $2 or r.side > $3)
    and not exists (
      select from green_choices c join triage_jobs j on j.build_id = c.build_id
      where c.green_build_id = t.build_id and c.log = t.log and j.state in ('queued', 'running')
    )`;

const CHOOSE = `
  with base as (select * from builds where id = $1),
  wanted as (
    select asked.log from unnest($2::text[]) as asked (log)
    where not exists (select from green_choices c where c.build_id = $1 and c.log = asked.log)
  ),
  green as (
    select w.log, b.id, b.branch is not distinct from base.branch as same,
      row_number() over (partition by w.log, b.branch is not distinct from base.branch
        order by ${buildOrder('b')} desc, b.attempt desc) as nth
    from base
    join builds b on ${SAME_PIPELINE('b', 'base')} and b.status = 'passed' and ${BEFORE('b', 'base')}
      and (b.branch is not distinct from base.branch or ${IS_DEFAULT('b')})
    join green_templates t on t.build_id = b.id
    join wanted w on w.log = t.log
  ),
  nearest as (
    select g.* from green g where g.nth <= $3 and (g.same or not exists (select from green o where o.log = g.log and o.same))
  )
  insert into green_choices (build_id, log, position, green_build_id)
  select $1, w.log, coalesce(n.nth, 0), n.id from wanted w left join nearest n on n.log = w.log
  on conflict do nothing`;

const CHOSEN = `
  select c.log, t.body, b.id as "buildId", b.number, b.url
  from green_choices c
  join builds b on b.id = c.green_build_id
  join green_templates t on t.build_id = c.green_build_id and t.log = c.log
  where c.build_id = $1 and c.log = any($2::text[])
  order by c.log, c.position`;

const NEWEST = `
  select t.log, t.body, b.id as "buildId", b.number, b.url, b.received_at as "seenAt"
  from green_templates t join builds b on b.id = t.build_id
  where $1::text is null or b.repository = $1
  order by t.stored_at desc, t.build_id, t.log limit $2::int`;
