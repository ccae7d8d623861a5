import { Build } from '../domain/build.ts';
import { Notice, OutboxEntry, outboxKey } from '../domain/notice.ts';
import type { Database } from '../ports/database.ts';
import type { NoticePlace, NoticeRule, NoticeStore, OutboxStore } from '../ports/notices.ts';
import { readSituation } from './situation.ts';
import { all, buildColumns, first, fromNow } from './sql.ts';

/** Leases are judged by the database's clock, so that processes with different clocks agree. */
export function createOutboxStore(db: Database): OutboxStore {
  return {
    owe: async ({ publishers, buildId, analysisId }, sql = db) => {
      if (publishers.length === 0) return;
      const keys = publishers.map((publisher) => outboxKey(publisher, analysisId));
      await sql.query(OWE, [keys, publishers, buildId, analysisId]);
    },
    take: async (publishers, leaseMs) => await first(db, OutboxEntry, TAKE_ENTRIES, [publishers, leaseMs]),
    obsolete: async ({ key }) => {
      const [row] = await db.query<{ why: string | null }>(OBSOLETE, [key]);
      return row?.why ?? null;
    },
    finish: async (act, end) => {
      const reference = end.state === 'done' ? end.reference : null;
      const error = end.state === 'done' ? null : end.error;
      return (await all(db, OutboxEntry, FINISH_ENTRIES, [act.key, act.lease, end.state, reference, error])).length > 0;
    },
    release: async (act, error, delayMs) => {
      await all(db, OutboxEntry, RELEASE_ENTRIES, [act.key, act.lease, error, delayMs]);
    },
    reclaim: async () => (await all(db, OutboxEntry, RECLAIM_ENTRIES, [])).length,
    listByBuild: async (buildId) =>
      await all(db, OutboxEntry, `select ${ACT} from outward_acts where build_id = $1 order by owed_at, key`, [buildId]),
  };
}

const ACT = `key, publisher, build_id as "buildId", analysis_id as "analysisId", state, attempts, retries, lease, reference, error`;

const OWE = `
  insert into outward_acts (key, publisher, build_id, analysis_id, state)
  select o.key, o.publisher, $3, $4, 'owed' from unnest($1::text[], $2::text[]) as o (key, publisher)
  where not exists (select from builds b where b.id = $3 and b.imported_at is not null)
  on conflict (key) do nothing`;

const TAKE_ENTRIES = `
  update outward_acts set state = 'started', attempts = attempts + 1, lease = lease + 1, error = null,
    free_at = ${fromNow('$2')}, updated_at = clock_timestamp()
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

const FINISH_ENTRIES = `
  update outward_acts set state = $3, reference = $4, error = $5, updated_at = clock_timestamp()
  where key = $1 and lease = $2 and state = 'started' returning ${ACT}`;

const RELEASE_ENTRIES = `
  update outward_acts set state = 'owed', error = $3, free_at = ${fromNow('$4')}, updated_at = clock_timestamp(),
    attempts = greatest(attempts - 1, 0), retries = case when $4::float8 > 0 then retries + 1 else retries end
  where key = $1 and lease = $2 and state = 'started' returning ${ACT}`;

const RECLAIM_ENTRIES = `
  update outward_acts set state = 'owed', free_at = clock_timestamp(), updated_at = clock_timestamp()
  where state = 'started' returning ${ACT}`;

/** Notices of the channels whose rules are given; without rules nothing is ever wanted, and asking costs nothing. */
export function createNoticeStore(db: Database, rules: readonly NoticeRule[] = []): NoticeStore {
  return {
    changed: async ({ buildId, delayMs }, sql = db) => {
      if (rules.length === 0) return false;
      const [row] = await sql.query<{ defaultBranch: string | null }>(BUILD, [buildId]);
      if (row === undefined) return false;
      const build = Build.parse(row);
      const places = placesOf(rules, (rule) => rule.placeOf(build, { defaultBranch: row.defaultBranch }));
      let due = false;
      for (const { channel, key, about, opens } of places) {
        const rows = await sql.query(CHANGED, [key, channel, build.repository, about, build.id, delayMs, opens]);
        due ||= rows.length > 0;
      }
      return due;
    },
    take: async (channels, leaseMs) => await first(db, Notice, TAKE_NOTICES, [channels, leaseMs]),
    isCurrent: async ({ key, lease, wanted }) => (await db.query(IS_CURRENT, [key, lease, wanted])).length > 0,
    finish: async ({ key, lease, wanted }, { reference, hash, pauseMs }) =>
      (await db.query(FINISH_NOTICES, [key, lease, wanted, reference, hash, pauseMs])).length > 0,
    fail: async ({ key, lease, wanted }, error) => {
      await db.query(FAIL, [key, lease, wanted, error]);
    },
    release: async ({ key, lease }, error, delayMs) => {
      await db.query(RELEASE_NOTICES, [key, lease, error, delayMs]);
    },
    reclaim: async () => (await db.query(RECLAIM_NOTICES, [])).length,
    find: async (key) => await first(db, Notice, `select ${NOTICE} from notices where key = $1`, [key]),
    listFailed: async (limit) =>
      await all(db, Notice, `select ${NOTICE} from notices where error is not null order by changed_at desc limit $1`, [limit]),
    situation: async (about) => await readSituation(db, about),
  };
}

/** In one order, so that two transactions that change the same notices wait for each other and do not meet crosswise. */
function placesOf(rules: readonly NoticeRule[], ask: (rule: NoticeRule) => NoticePlace | null) {
  const places = rules.flatMap((rule) => {
    const place = ask(rule);
    return place === null ? [] : [{ ...place, channel: rule.channel }];
  });
  return places.toSorted((a, b) => (a.key < b.key ? -1 : 1));
}

const NOTICE = `key, channel, repository, about, wanted, shown, lease, attempts, retries, reference, hash, error`;

const BUILD = `
  select ${buildColumns('b')}, d.branch as "defaultBranch"
  from builds b left join default_branches d on d.provider = b.provider and d.repository = b.repository
  where b.id = $1 and b.imported_at is null`;

// What waits already is not hurried by a change that may be shown at once: it may be one that is taken back yet.
const CHANGED = `
  insert into notices as n (key, channel, repository, about, build_id, due_at)
  select $1, $2, $3, $4::jsonb, $5, ${fromNow('$6')} where $7::boolean or exists (select from notices where key = $1)
  on conflict (key) do update set
    wanted = n.wanted + 1, build_id = excluded.build_id, changed_at = clock_timestamp(),
    due_at = case when n.wanted > n.shown then greatest(n.due_at, excluded.due_at) else excluded.due_at end
  returning key`;

const TAKE_NOTICES = `
  update notices set held = true, lease = lease + 1, attempts = attempts + 1, free_at = ${fromNow('$2')}
  where key = (
    select key from notices
    where channel = any ($1::text[]) and wanted > shown and due_at <= clock_timestamp() and free_at <= clock_timestamp()
    order by due_at, key limit 1 for update skip locked
  )
  returning ${NOTICE}`;

const IS_CURRENT = 'select 1 from notices where key = $1 and lease = $2 and held and wanted = $3::int';

const FINISH_NOTICES = `
  update notices set held = false, shown = $3::int, reference = $4, hash = $5, free_at = ${fromNow('$6')},
    attempts = 0, retries = 0, error = null, changed_at = clock_timestamp()
  where key = $1 and lease = $2 and held returning key`;

const FAIL = `
  update notices set held = false, shown = $3::int, free_at = clock_timestamp(), attempts = 0, retries = 0, error = $4,
    changed_at = clock_timestamp()
  where key = $1 and lease = $2 and held`;

const RELEASE_NOTICES = `
  update notices set held = false, free_at = ${fromNow('$4')}, error = coalesce($3, error), attempts = greatest(attempts - 1, 0),
    retries = case when $4::float8 > 0 then retries + 1 else retries end, changed_at = clock_timestamp()
  where key = $1 and lease = $2 and held`;

const RECLAIM_NOTICES = 'update notices set held = false, free_at = clock_timestamp() where held returning key';
