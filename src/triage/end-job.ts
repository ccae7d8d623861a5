import type { Database } from '../ports/database.ts';
import type { NoticeStore } from '../ports/notices.ts';
import type { TriageStore } from '../ports/stores.ts';

export interface EndJobDeps {
  readonly database: Pick<Database, 'transaction'>;
  readonly stores: { readonly triages: Pick<TriageStore, 'holds' | 'finish'>; readonly notices: Pick<NoticeStore, 'changed'> };
}

/**
 * Ends a job like `TriageStore.finish`, and in the same transaction wants the build's notices anew: some speak only once nothing more is
 * looked at, and the last answer was concluded before that.
 */
export function endJob({ database, stores: { triages, notices } }: EndJobDeps): TriageStore['finish'] {
  return async (job, state, error) =>
    await database.transaction(async (sql) => {
      // Locks the build's row before the job's, as everybody else does.
      await triages.holds(job, sql);
      const end = await triages.finish(job, state, error, sql);
      if (end === 'ended') await notices.changed({ buildId: job.buildId, delayMs: 0 }, sql);
      return end;
    });
}
