import { Notice } from '../domain/notice.ts';
import type { Database } from '../ports/database.ts';
import type { NoticePlace, NoticeRule, NoticeStore } from '../ports/notices.ts';
import { buildColumns, readBuild } from './build-rows.ts';
import { readSituation } from './situation.ts';

/** Notices of the channels whose rules are given; without rules nothing is ever wanted, and asking costs nothing. */
export function createNoticeStore(db: Database, rules: readonly NoticeRule[] = []): NoticeStore {
  const notices = async (text: string, values: readonly unknown[]) => (await db.query(text, values)).map((row) => Notice.parse(row));
  return {
    changed: async ({ buildId, delayMs }, sql = db) => {
      if (rules.length === 0) return false;
      const [row] = await sql.query<{ defaultBranch: string | null }>(BUILD, [buildId]);
      if (row === undefined) return false;
      const build = readBuild(row);
      const places = placesOf(rules, (rule) => rule.placeOf(build, { defaultBranch: row.defaultBranch }));
      let due = false;
      for (const { channel, key, about, opens } of places) {
        const rows = await sql.query(CHANGED, [key, channel, build.repository, about, build.id, delayMs, opens]);
        due ||= rows.length > 0;
      }
      return due;
    },
    take: async (channels, leaseMs) => (await notices(TAKE, [channels, leaseMs]))[0] ?? null,
    isCurrent: async ({ key, lease, wanted }) => (await db.query(IS_CURRENT, [key, lease, wanted])).length > 0,
    finish: async ({ key, lease, wanted }, { reference, hash, pauseMs }) =>
      (await db.query(FINISH, [key, lease, wanted, reference, hash, pauseMs])).length > 0,
    fail: async ({ key, lease, wanted }, error) => {
      await db.query(FAIL, [key, lease, wanted, error]);
    },
    release: async ({ key, lease }, error, delayMs) => {
      await db.query(RELEASE, [key, lease, error, delayMs]);
    },
    reclaim: async () => (await db.query(RECLAIM, [])).length,
    find: async (key) => (await notices(`select ${NOTICE} from notices where key = $1`, [key]))[0] ?? null,
    listFailed: async (limit) =>
      await notices(`select ${NOTICE} from notices where error is not null order by changed_at desc limit $1`, [limit]),
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

const IN = (parameter: string) => `clock_timestamp() + ${parameter}::float8 * interval '1 millisecond'`;

const BUILD = `
  select ${buildColumns('b')}, d.branch as "defaultBranch"
  from builds b left join default_branches d on d.provider = b.provider and d.repository = b.repository
  where b.id = $1`;

// What waits already is not hurried by a change that may be shown at once: it may be one that is taken back yet.
const CHANGED = `
  insert into notices as n (key, channel, repository, about, build_id, due_at)
  select $1, $2, $3, $4::jsonb, $5, ${IN('$6')} where $7::boolean or exists (select from notices where key = $1)
  on conflict (key) do update set
    wanted = n.wanted + 1, build_id = excluded.build_id, changed_at = clock_timestamp(),
    due_at = case when n.wanted > n.shown then greatest(n.due_at, excluded.due_at) else excluded.due_at end
  returning key`;

const TAKE = `
  update notices set held = true, lease = lease + 1, attempts = attempts + 1, free_at = ${IN('$2')}
  where key = (
    select key from notices
    where channel = any ($1::text[]) and wanted > shown and due_at <= clock_timestamp() and free_at <= clock_timestamp()
    order by due_at, key limit 1 for update skip locked
  )
  returning ${NOTICE}`;

const IS_CURRENT = 'select 1 from notices where key = $1 and lease = $2 and held and wanted = $3::int';

const FINISH = `
  update notices set held = false, shown = $3::int, reference = $4, hash = $5, free_at = ${IN('$6')},
    attempts = 0, retries = 0, error = null, changed_at = clock_timestamp()
  where key = $1 and lease = $2 and held returning key`;

const FAIL = `
  update notices set held = false, shown = $3::int, free_at = clock_timestamp(), attempts = 0, retries = 0, error = $4,
    changed_at = clock_timestamp()
  where key = $1 and lease = $2 and held`;

const RELEASE = `
  update notices set held = false, free_at = ${IN('$4')}, error = coalesce($3, error), attempts = greatest(attempts - 1, 0),
    retries = case when $4::float8 > 0 then retries + 1 else retries end, changed_at = clock_timestamp()
  where key = $1 and lease = $2 and held`;

const RECLAIM = 'update notices set held = false, free_at = clock_timestamp() where held returning key';
