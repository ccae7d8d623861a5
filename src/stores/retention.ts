import { z } from 'zod';
import { indexEntry, REMOVE_LOGS } from '../domain/work.ts';
import type { Database, Sql } from '../ports/database.ts';
import { DROP_UNUSED_PARTS } from './environments.ts';
import { fromNow } from './sql.ts';
import type { WorkStore } from './work.ts';

/** The builds to delete, together with the data that belongs to them. */
export interface ForgetScope {
  /** The repository; null for every repository except those in `except`. */
  readonly repository: string | null;
  readonly except: readonly string[];
  /** The time before which they were received, or last seen (ISO 8601). */
  readonly before: string;
  /** True to leave out builds whose triage is pending or running. */
  readonly settledOnly: boolean;
}

/** The numbers of rows by table, with names for people. */
export type RowCounts = Readonly<
  Record<
    'builds' | 'failures' | 'analyses' | 'reviews' | 'conversations' | 'libraryEntries' | 'cachedAnswers',
    number
  >
>;

const Count = z.coerce.number();
const Counts = z.object({
  builds: Count,
  failures: Count,
  analyses: Count,
  reviews: Count,
  conversations: Count,
  libraryEntries: Count,
  cachedAnswers: Count,
});

/**
 * The store that deletes in batches. Each batch is one transaction, so a process may crash between any two.
 */
export type RetentionStore = ReturnType<typeof createRetentionStore>;

/**
 * Creates the store for retention. Ages are judged by when the service received a build, leases by the
 * database's clock.
 */
export function createRetentionStore(db: Database, work: Pick<WorkStore, 'add'>) {
  return {
    /**
     * Acquires the lease for `holdMs`, or renews it if this holder already has it. Returns `false` if another
     * process holds it.
     */
    hold: async (lease: string, holder: string, holdMs: number) =>
      (await db.query(HOLD, [lease, holder, holdMs])).length > 0,
    /** Releases the lease. */
    leave: async (lease: string, holder: string) => {
      await db.query('delete from keepers where name = $1 and holder = $2', [lease, holder]);
    },
    /** Counts what `forgetBuilds` and `forgetRepository` would delete. */
    count: async (scope: ForgetScope) => {
      const [row] = await db.query(COUNT, toScopeValues(scope));
      return Counts.parse(row);
    },
    /**
     * Deletes at most `limit` builds, oldest first, with everything that depends on them, and requests the
     * deletion of their texts. The audit trail is kept. Returns the number of deleted builds.
     */
    forgetBuilds: async (scope: ForgetScope, limit: number) =>
      await db.transaction((sql) => forgetBuilds(sql, work, scope, limit)),
    /** Deletes the questions about repositories that were last continued before the time. */
    forgetQuestions: async ({ repository, except, before }: ForgetScope) => {
      await db.query(FORGET_QUESTIONS, [repository, [...except], before]);
    },
    /** Deletes parts of environments that no build uses any more. */
    dropUnusedParts: async () => {
      await db.query(DROP_UNUSED_PARTS);
    },
    /** Requests the deletion of the texts of at most `limit` builds that are kept. Returns their number. */
    forgetLogs: async (scope: ForgetScope, limit: number) =>
      (await db.query(FORGET_LOGS, [...toScopeValues(scope), limit])).length,
    /**
     * Deletes at most `limit` entries of the repository's library, requests their deletion from the index,
     * and returns their ids.
     */
    forgetLibrary: async (scope: ForgetScope & { readonly repository: string }, limit: number) =>
      await db.transaction(async (sql) => {
        const rows = await sql.query<{ id: string }>(FORGET_LIBRARY, [scope.repository, scope.before, limit]);
        const ids = rows.map(({ id }) => id);
        await work.add(
          ids.map((id) => indexEntry('error_library', id, null)),
          sql,
        );
        return ids;
      }),
    /**
     * Deletes everything else that is stored for the repository: cached tool results, deliveries without a
     * build, its default branch, deployments, questions about it.
     */
    forgetRepository: async ({ repository, before }: ForgetScope & { readonly repository: string }) => {
      await db.transaction(async (sql) => {
        await sql.query('delete from tool_cache where repository = $1 and stored_at < $2', [
          repository,
          before,
        ]);
        await sql.query(FORGET_RULES, [repository, before]);
        await sql.query(FORGET_QUESTIONS, [repository, [], before]);
        await sql.query(FORGET_DELIVERIES, [repository, before]);
        await sql.query(FORGET_BRANCH, [repository]);
        await sql.query('delete from deployments where repository = $1 and at < $2', [repository, before]);
      });
    },
  };
}

async function forgetBuilds(
  sql: Sql,
  work: Pick<WorkStore, 'add'>,
  scope: ForgetScope,
  limit: number,
): Promise<number> {
  const ids = (await sql.query<{ id: string }>(BUILDS, [...toScopeValues(scope), limit])).map(({ id }) => id);
  if (ids.length === 0) return 0;
  const named = await sql.query<{ id: string }>(AUDITED, [ids]);
  await work.add(
    ids.map((key) => ({ topic: REMOVE_LOGS, key })),
    sql,
  );
  await sql.query('delete from deliveries where build_id = any($1::text[])', [ids]);
  await sql.query('delete from builds where id = any($1::text[])', [ids]);
  const names = named.map(({ id }) => id);
  await sql.query(
    `update review_events set details = '{"forgotten": true}' where review_id = any($1::text[])`,
    [names],
  );
  return ids.length;
}

function toScopeValues({ repository, except, before, settledOnly }: ForgetScope): unknown[] {
  return [repository, [...except], before, settledOnly];
}

const HOLD = `
  insert into keepers (name, holder, held_until) values ($1, $2, ${fromNow('$3')})
  on conflict (name) do update set holder = excluded.holder, held_until = excluded.held_until
    where keepers.holder = excluded.holder or keepers.held_until <= clock_timestamp()
  returning name`;

const MEANT = `
  ($1::text is null or b.repository = $1) and b.repository <> all($2::text[])
    and b.received_at < $3::timestamptz
    and (not $4::boolean or not exists (
      select from work w where w.topic = 'triage' and w.key = b.id and w.version > w.settled))`;

// Two processes that delete concurrently select different builds.
const BUILDS = `select b.id from builds b where ${MEANT} order by b.received_at, b.id limit $5
  for update skip locked`;

const COUNT = `
  with meant as (select b.id from builds b where ${MEANT})
  select (select count(*) from meant) as builds,
    (select count(*) from failures where build_id in (select id from meant)) as failures,
    (select count(*) from analyses where build_id in (select id from meant)) as analyses,
    (select count(*) from reviews where build_id in (select id from meant)) as reviews,
    (select count(*) from conversations where build_id in (select id from meant)) as conversations,
    (select count(*) from library_entries
      where repository = $1 and confirmed_at < $3::timestamptz
        and last_seen_at < $3::timestamptz) as "libraryEntries",
    (select count(*) from tool_cache where repository = $1
      and stored_at < $3::timestamptz) as "cachedAnswers"`;

/** SQL for the ids under which the audit trail records the reviews and questions of builds. */
const AUDITED = `
  select id from reviews where build_id = any($1::text[])
  union all select id from reviewer_questions where build_id = any($1::text[])`;

const FORGET_LOGS = `
  with meant as (
    select b.id from builds b where ${MEANT} and not exists (select from forgotten_logs f
      where f.build_id = b.id)
    order by b.received_at, b.id limit $5
  ), queued as (
    insert into work (topic, key) select '${REMOVE_LOGS}', id from meant on conflict do nothing
  )
  insert into forgotten_logs (build_id) select id from meant on conflict do nothing returning build_id`;

const FORGET_LIBRARY = `
  delete from library_entries where id in (
    select id from library_entries where repository = $1 and confirmed_at < $2::timestamptz
      and last_seen_at < $2::timestamptz
    order by id limit $3
  ) returning id`;

const FORGET_RULES = `
  delete from rules where repository = $1 and created_at < $2::timestamptz
    and coalesce(last_used_at, created_at) < $2::timestamptz`;

const FORGET_QUESTIONS = `
  delete from repository_threads where ($1::text is null or repository = $1)
    and repository <> all($2::text[]) and last_asked_at < $3::timestamptz`;

const FORGET_DELIVERIES = `
  delete from deliveries where state <> 'recorded' and intake->'build'->>'repository' = $1
    and received_at < $2::timestamptz`;

const FORGET_BRANCH = `
  delete from default_branches d where d.repository = $1
    and not exists (select from builds b where b.repository = $1)`;
