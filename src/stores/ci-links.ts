import { z } from 'zod';
import type { SourceText } from '../domain/build.ts';
import type { Database } from '../ports/database.ts';
import { queryAll } from './sql.ts';

/** A request to the CI to rerun the failed jobs of a build. */
export const Rerun = z.object({
  by: z.string(),
  at: z.iso.datetime(),
  outcome: z.enum(['asked', 'done', 'failed']),
  /** The reason for its failure. */
  error: z.string().nullable(),
});
export type Rerun = z.infer<typeof Rerun>;

const LogPage = z.object({ name: z.string(), url: z.string() });

/** Creates the store of links to the CI that ran a build, and of requests sent to it. */
export function createCiLinkStore(db: Database) {
  return {
    /** Stores the URLs of logs that have one. */
    saveLogPages: async (buildId: string, sources: readonly Pick<SourceText, 'name' | 'url'>[]) => {
      const known = sources.flatMap(({ name, url }) => (url === undefined ? [] : [{ name, url }]));
      if (known.length === 0) return;
      await db.query(SAVE_PAGES, [buildId, known.map(({ name }) => name), known.map(({ url }) => url)]);
    },
    /** Returns the URLs of a build's logs by the names of the logs. */
    logPages: async (buildId: string): Promise<ReadonlyMap<string, string>> =>
      new Map(
        (await queryAll(db, LogPage, 'select name, url from log_pages where build_id = $1', [buildId])).map(
          ({ name, url }) => [name, url],
        ),
      ),
    /**
     * Records a rerun before it is requested. Returns null if a request is in progress, or one was accepted
     * within the last minute.
     */
    beginRerun: async (buildId: string, by: string) => {
      await db.query(GIVE_UP, [buildId]);
      const [row] = await db.query(BEGIN_RERUN, [buildId, by]);
      return row === undefined ? null : z.object({ id: z.int() }).parse(row).id;
    },
    /** Records the result of a rerun. `error` is null if the request was accepted. */
    endRerun: async (id: number, error: string | null) => {
      const outcome = error === null ? 'done' : 'failed';
      await db.query('update reruns set outcome = $2, error = $3 where id = $1', [id, outcome, error]);
    },
    /** Lists the newest ten reruns, newest first. */
    reruns: async (buildId: string) => await queryAll(db, Rerun, RERUNS, [buildId]),
  };
}

const SAVE_PAGES = `
  insert into log_pages (build_id, name, url) select $1, name, url
  from unnest($2::text[], $3::text[]) as p (name, url)
  on conflict (build_id, name) do update set url = excluded.url`;

// A call takes less than a minute, so the process of such a request ended during it.
const GIVE_UP = `
  update reruns set outcome = 'failed', error = 'The service stopped while it asked.'
  where build_id = $1 and outcome = 'asked' and at < clock_timestamp() - interval '1 minute'`;

const BEGIN_RERUN = `
  insert into reruns (build_id, by) select $1::text, $2::text
  where not exists (select from reruns where build_id = $1 and outcome = 'done'
    and at > clock_timestamp() - interval '1 minute')
  on conflict do nothing returning id`;

const RERUNS = 'select by, at, outcome, error from reruns where build_id = $1 order by id desc limit 10';
