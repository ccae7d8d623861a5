import { TRIAGE, type WorkItem } from '../../src/domain/work.ts';
import type { Stores } from '../../src/stores/stores.ts';

/** Creates the worker's operations on the triage of a build, by the id of the build. */
export function createTriageJobs({ triages, work }: Pick<Stores, 'triages' | 'work'>) {
  const find = async (buildId: string) => {
    const [job, item] = await Promise.all([triages.findByBuild(buildId), work.find(TRIAGE, buildId)]);
    return job === null || item === null ? null : { ...job, id: item.key, lease: item.lease };
  };
  return {
    find,
    /** Leases the triage if it is due. */
    lease: async (
      buildId: string,
      leaseMs = 600_000,
    ): Promise<(WorkItem & { readonly id: string }) | null> => {
      const [item] = await work.take({ topic: TRIAGE, keys: [buildId], limit: 1, leaseMs });
      return item === undefined ? null : { ...item, id: item.key };
    },
    finish: async (item: WorkItem, outcome: 'done' | 'failed', error: string | null = null) => {
      if (!(await work.finish(item, { outcome, ...(error === null ? {} : { error }) }))) return 'refused';
      return (await find(item.key))?.state === 'queued' ? 'requeued' : 'ended';
    },
    release: async (item: WorkItem, error: string, delayMs: number) =>
      await work.release(item, error, delayMs, true),
    renew: work.renew,
    progressed: work.progressed,
    holds: work.holds,
    reclaim: work.reclaim,
    /** Lists the builds whose triage is due. */
    pending: async (limit: number) => (await work.dueKeys(TRIAGE, limit)).map((id) => ({ id })),
  };
}
