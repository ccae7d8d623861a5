import { z } from 'zod';
import { indexEntry, REMOVE_LOGS } from '../domain/outbox.ts';
import type { ForgetScope, RetentionStore } from '../ports/build-archive.ts';
import type { Database, Sql } from '../ports/database.ts';
import type { OutboxStore } from '../ports/outbox.ts';
import { fromNow } from './sql.ts';

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

/** Ages are judged by when the service received a build, offices by the database's clock. */
export function createRetentionStore(db: Database, outbox: Pick<OutboxStore, 'add'>): RetentionStore {
  return {
    hold: async (office, holder, holdMs) => (await db.query(HOLD, [office, holder, holdMs])).length > 0,
    leave: async (office, holder) => {
      await db.query('delete from keepers where name = $1 and holder = $2', [office, holder]);
    },
    count: async (scope) => {
      const [row] = await db.query(COUNT, valuesOf(scope));
      return Counts.parse(row);
    },
    forgetBuilds: async (scope, limit) => await db.transaction((sql) => forgetBuilds(sql, outbox, scope, limit)),
    forgetLogs: async (scope, limit) => (await db.query(FORGET_LOGS, [...valuesOf(scope), limit])).length,
    forgetLibrary: async (scope, limit) =>
      await db.transaction(async (sql) => {
        const rows = await sql.query<{ id: string }>(FORGET_LIBRARY, [scope.repository, scope.before, limit]);
        const ids = rows.map(({ id }) => id);
        await outbox.add(
          ids.map((id) => indexEntry('error_library', id, null)),
          sql,
        );
        return ids;
      }),
    forgetRepository: async ({ repository, before }) => {
      await db.transaction(async (sql) => {
        await sql.query('delete from tool_cache where repository = $1 and stored_at < $2', [repository, before]);
        await sql.query(FORGET_RULES, [repository, before]);
        await sql.query(FORGET_DELIVERIES, [repository, before]);
        await sql.query(FORGET_BRANCH, [repository]);
      });
    },
  };
}

async function forgetBuilds(sql: Sql, outbox: Pick<OutboxStore, 'add'>, scope: ForgetScope, limit: number): Promise<number> {
  const ids = (await sql.query<{ id: string }>(BUILDS, [...valuesOf(scope), limit])).map(({ id }) => id);
  if (ids.length === 0) return 0;
  const told = await sql.query<{ id: string }>(TOLD, [ids]);
  await outbox.add(
    ids.map((key) => ({ topic: REMOVE_LOGS, key })),
    sql,
  );
  await sql.query('delete from deliveries where build_id = any($1::text[])', [ids]);
  await sql.query('delete from builds where id = any($1::text[])', [ids]);
  const names = told.map(({ id }) => id);
  await sql.query(`update review_events set details = '{"forgotten": true}' where review_id = any($1::text[])`, [names]);
  return ids.length;
}

function valuesOf({ repository, except, before, settledOnly }: ForgetScope): unknown[] {
  return [repository, [...except], before, settledOnly];
}

const HOLD = `
  insert into keepers (name, holder, held_until) values ($1, $2, ${fromNow('$3')})
  on conflict (name) do update set holder = excluded.holder, held_until = excluded.held_until
    where keepers.holder = excluded.holder or keepers.held_until <= clock_timestamp()
  returning name`;

const MEANT = `
  ($1::text is null or b.repository = $1) and b.repository <> all($2::text[]) and b.received_at < $3::timestamptz
    and (not $4::boolean or not exists (
      select from triage_jobs j where j.build_id = b.id and j.state in ('queued', 'running')))`;

// Two processes that delete at once take different builds.
const BUILDS = `select b.id from builds b where ${MEANT} order by b.received_at, b.id limit $5 for update skip locked`;

const COUNT = `
  with meant as (select b.id from builds b where ${MEANT})
  select (select count(*) from meant) as builds,
    (select count(*) from failures where build_id in (select id from meant)) as failures,
    (select count(*) from analyses where build_id in (select id from meant)) as analyses,
    (select count(*) from reviews where build_id in (select id from meant)) as reviews,
    (select count(*) from conversations where build_id in (select id from meant)) as conversations,
    (select count(*) from library_entries
      where repository = $1 and confirmed_at < $3::timestamptz and last_seen_at < $3::timestamptz) as "libraryEntries",
    (select count(*) from tool_cache where repository = $1 and stored_at < $3::timestamptz) as "cachedAnswers"`;

/** What the audit trail calls the reviews and questions of builds. */
const TOLD = `
  select id from reviews where build_id = any($1::text[])
  union all select id from reviewer_questions where build_id = any($1::text[])`;

const FORGET_LOGS = `
  with meant as (
    select b.id from builds b where ${MEANT} and not exists (select from forgotten_logs f where f.build_id = b.id)
    order by b.received_at, b.id limit $5
  ), queued as (
    insert into outbox (topic, key) select '${REMOVE_LOGS}', id from meant on conflict do nothing
  )
  insert into forgotten_logs (build_id) select id from meant on conflict do nothing returning build_id`;

const FORGET_LIBRARY = `
  delete from library_entries where id in (
    select id from library_entries where repository = $1 and confirmed_at < $2::timestamptz and last_seen_at < $2::timestamptz
    order by id limit $3
  ) returning id`;

const FORGET_RULES = `
  delete from rules where repository = $1 and created_at < $2::timestamptz and coalesce(last_used_at, created_at) < $2::timestamptz`;

const FORGET_DELIVERIES = `
  delete from deliveries where state <> 'recorded' and intake->'build'->>'repository' = $1 and received_at < $2::timestamptz`;

const FORGET_BRANCH = `
  delete from default_branches d where d.repository = $1 and not exists (select from builds b where b.repository = $1)`;
