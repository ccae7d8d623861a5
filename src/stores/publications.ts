import type { Database, Sql } from '../ports/database.ts';
import type { WorkStore } from './work.ts';

/** The store of answers that are to be published. */
export type PublicationStore = ReturnType<typeof createPublicationStore>;

export function createPublicationStore(db: Database, work: Pick<WorkStore, 'addOnce'>) {
  return {
    /**
     * Requests that each of these publishers publishes the analysis once. Must be called in the transaction
     * that saves the analysis.
     */
    add: async (
      {
        publishers,
        buildId,
        analysisId,
      }: { readonly publishers: readonly string[]; readonly buildId: string; readonly analysisId: string },
      sql: Sql = db,
    ) => {
      if (publishers.length === 0 || (await sql.query(IS_IMPORTED, [buildId])).length > 0) return;
      await work.addOnce(
        publishers.map((publisher) => ({
          topic: `publish:${publisher}`,
          key: `${publisher}:${analysisId}`,
          buildId,
          payload: { analysisId },
        })),
        sql,
      );
    },
    /**
     * Returns the reason why the analysis must no longer be published: a person has since decided otherwise,
     * or the build has passed. Returns null if it may be published.
     */
    obsolete: async (analysisId: string) =>
      (await db.query<{ why: string | null }>(OBSOLETE, [analysisId]))[0]?.why ?? null,
  };
}

/** SQL that finds the build if it was imported. */
export const IS_IMPORTED = 'select 1 from builds where id = $1 and imported_at is not null';

/** SQL for the condition that `n` is a later attempt of the same run, as its CI counts them. */
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
  from analyses a join builds b on b.id = a.build_id
  where a.id = $1`;
