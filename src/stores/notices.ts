import { z } from 'zod';
import { Build } from '../domain/build.ts';
import type { NoticeAbout } from '../domain/notice.ts';
import type { Database, Sql } from '../ports/database.ts';
import type { NoticePlace, NoticeRule } from '../ports/notices.ts';
import { readSituation } from './situation.ts';
import { buildColumns, queryAll } from './sql.ts';
import type { WorkStore } from './work.ts';

/** The store of the notices that should be shown outside. The work table records which ones were. */
export type NoticeStore = ReturnType<typeof createNoticeStore>;

/**
 * Creates the store of notices of the channels with the given rules. Without rules there are no notices, and
 * calls cost nothing.
 */
export function createNoticeStore(
  db: Database,
  work: Pick<WorkStore, 'add'>,
  rules: readonly NoticeRule[] = [],
) {
  return {
    /**
     * Records that what should be said of this build has changed. Call this in the transaction of the change.
     * The change is shown after `delayMs`. A change that waits already is not hurried: both are shown when
     * the later one is due. Returns `true` if there is something to show.
     */
    changed: async (
      { buildId, delayMs }: { readonly buildId: string; readonly delayMs: number },
      sql: Sql = db,
    ) => {
      if (rules.length === 0) return false;
      const [row] = await sql.query<{ defaultBranch: string | null }>(BUILD, [buildId]);
      if (row === undefined) return false;
      const build = Build.parse(row);
      const places = findPlaces(rules, (rule) => rule.findPlace(build, { defaultBranch: row.defaultBranch }));
      const entries = places.map(({ channel, key, about, opens }) => ({
        topic: `notice:${channel}`,
        key,
        buildId,
        delayMs,
        opens,
        payload: { repository: build.repository, about },
      }));
      return (await work.add(entries, sql)) > 0;
    },
    /** Returns the addresses of the notices that are posted outside about this build. */
    pages: async (build: Build) => {
      const known = rules.flatMap((rule) => {
        const place =
          rule.getPageAddress === undefined ? null : rule.findPlace(build, { defaultBranch: null });
        return place === null ? [] : [{ rule, topic: `notice:${rule.channel}`, key: place.key }];
      });
      if (known.length === 0) return [];
      const posted = await queryAll(db, Posted, POSTED, [
        known.map(({ topic }) => topic),
        known.map(({ key }) => key),
      ]);
      return posted.flatMap(
        ({ topic, reference }) =>
          known.find((notice) => notice.topic === topic)?.rule.getPageAddress?.(build, reference) ?? [],
      );
    },
    /** Reads the current facts about the subject of a notice. */
    situation: async (about: NoticeAbout) => await readSituation(db, about),
  };
}

const Posted = z.object({ topic: z.string(), reference: z.string() });

const POSTED = `
  select o.topic, o.result->>'reference' as reference
  from unnest($1::text[], $2::text[]) as w (topic, key) join work o on o.topic = w.topic and o.key = w.key
  where o.result->>'reference' is not null order by o.topic`;

/**
 * Returns the places of a build's notices, sorted by key. The fixed order prevents deadlocks between
 * transactions.
 */
function findPlaces(rules: readonly NoticeRule[], ask: (rule: NoticeRule) => NoticePlace | null) {
  const places = rules.flatMap((rule) => {
    const place = ask(rule);
    return place === null ? [] : [{ ...place, channel: rule.channel }];
  });
  return places.toSorted((a, b) => (a.key < b.key ? -1 : 1));
}

const BUILD = `
  select ${buildColumns('b')}, d.branch as "defaultBranch"
  from builds b left join default_branches d on d.provider = b.provider and d.repository = b.repository
  where b.id = $1 and b.imported_at is null`;
