import { z } from 'zod';
import { GreenBuild, Templates } from '../domain/build.ts';
import type { WorkItem } from '../domain/work.ts';
import type { Database, Sql } from '../ports/database.ts';
import { buildOrder, IS_DEFAULT, isBefore, isSamePipeline } from './sql.ts';
import type { WorkStore } from './work.ts';

/** The templates of one log of a passed build. `log` is the key of the same log in other builds. */
export interface PassingLog {
  readonly log: string;
  readonly templates: Templates;
}

/** The templates of one log of one passed build, chosen for a failed build. */
export interface ChosenPassingLog extends PassingLog {
  readonly build: GreenBuild;
}

export type PassingBuildStore = ReturnType<typeof createPassingBuildStore>;

export function createPassingBuildStore(db: Database, work: Pick<WorkStore, 'finish'>) {
  return {
    /** Stores the name of the repository's default branch, as reported by the CI. */
    saveDefaultBranch: async (
      {
        provider,
        repository,
        branch,
      }: { readonly provider: string; readonly repository: string; readonly branch: string },
      sql: Sql = db,
    ) => {
      await sql.query(SAVE_DEFAULT_BRANCH, [provider, repository, branch]);
    },
    /**
     * Checks whether the build's templates would survive pruning by age: fewer than `builds` newer builds of
     * its pipeline and branch have templates.
     */
    isWanted: async (buildId: string, builds: number) => {
      const [row] = await db.query<{ newer: number }>(NEWER, [buildId]);
      return (row?.newer ?? 0) < builds;
    },
    /**
     * Stores the templates and finishes the item of work. Then deletes old templates: those of the newest
     * `builds` builds per branch and log stay, up to `MAX_LOGS` per pipeline. Templates chosen for a build
     * whose triage is queued or running stay, too. Returns `false` and changes nothing if the lease is stale.
     */
    keep: async (entry: WorkItem, logs: readonly PassingLog[], builds: number) =>
      await db.transaction(async (sql) => {
        if (!(await work.finish(entry, { outcome: 'done' }, sql))) return false;
        await sql.query('delete from green_templates where build_id = $1', [entry.key]);
        for (const { log, templates } of logs) await sql.query(INSERT, [entry.key, log, templates]);
        await sql.query(PRUNE, [entry.key, builds, MAX_LOGS]);
        return true;
      }),
    /**
     * Chooses the templates with which each of these logs of a failed build is compared, newest first. They
     * come from the newest `builds` green builds of the same pipeline before it: of the same branch, or else
     * of the default branch. The choice for a log is made once, even if it is to use none. Logs without
     * templates are left out of the result.
     */
    choose: async (buildId: string, logs: readonly string[], builds: number) =>
      await db.transaction(async (sql) => {
        await sql.query(CHOOSE, [buildId, logs, builds]);
        return (await sql.query(CHOSEN, [buildId, logs])).map(readChosen);
      }),
    /**
     * Lists the templates of a repository's green builds, or of all repositories if it is null, most recently
     * stored first; at most `limit` logs.
     */
    newest: async (repository: string | null, limit: number) =>
      (await db.query(NEWEST, [repository, limit])).map((row) => ({
        ...readChosen(row),
        seenAt: Seen.parse(row).seenAt,
      })),
  };
}

const Chosen = GreenBuild.extend({ log: z.string(), body: Templates });

const Seen = z.object({ seenAt: z.iso.datetime() });

function readChosen(row: unknown): ChosenPassingLog {
  const { log, body, ...build } = Chosen.parse(row);
  return { log, templates: body, build };
}

/**
 * The maximum number of logs per pipeline whose templates are kept: once for the default branch, and once for
 * all other branches together.
 */
const MAX_LOGS = 200;

const SAVE_DEFAULT_BRANCH = `
  insert into default_branches (provider, repository, branch) values ($1, $2, $3)
  on conflict (provider, repository) do update set branch = excluded.branch
  where default_branches.branch <> excluded.branch`;

const NEWER = `
  select count(*)::int as newer from builds base
  join builds b on ${isSamePipeline('b', 'base')} and b.branch is not distinct from base.branch
    and ${isBefore('base', 'b')}
  where base.id = $1 and exists (select from green_templates t where t.build_id = b.id)`;

const INSERT = 'insert into green_templates (build_id, log, body) values ($1, $2, $3)';

// Deleted branches leave templates behind. `side` limits them: it counts separately over the default branch
// and over all other branches.
const PRUNE = `
  with ranked as (
    select t.build_id, t.log,
      row_number() over (partition by b.branch, t.log order by ${buildOrder('b')} desc) as nth,
      row_number() over (partition by ${IS_DEFAULT('b')} order by ${buildOrder('b')} desc, t.log) as side
    from builds base
    join builds b on ${isSamePipeline('b', 'base')}
    join green_templates t on t.build_id = b.id
    where base.id = $1
  )
  delete from green_templates t using ranked r
  where t.build_id = r.build_id and t.log = r.log and (r.nth > $2 or r.side > $3)
    and not exists (
      select from green_choices c join work w on w.topic = 'triage' and w.key = c.build_id
      where c.green_build_id = t.build_id and c.log = t.log and w.version > w.settled
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
    join builds b on ${isSamePipeline('b', 'base')} and b.status = 'passed' and ${isBefore('b', 'base')}
      and (b.branch is not distinct from base.branch or ${IS_DEFAULT('b')})
    join green_templates t on t.build_id = b.id
    join wanted w on w.log = t.log
  ),
  nearest as (
    select g.* from green g where g.nth <= $3
      and (g.same or not exists (select from green o where o.log = g.log and o.same))
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
