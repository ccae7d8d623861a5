import type { Job, Queue } from 'bullmq';
import { append } from '../../lib/lists.ts';
import type { JobQueue, QueueAdmin, RingState } from '../../ports/job-queue.ts';

export interface RingData {
  readonly jobId: string;
}

/** BullMQ takes what has no priority before what has one. */
export const PRIORITIES = { high: 0, normal: 10 } as const;

const LIVE = ['waiting', 'prioritized', 'active', 'delayed'] as const;
/** How many of the dead are looked through for one job. */
const MOST_DEAD = 1000;

type Ask = <Answer>(ask: () => Promise<Answer>) => Promise<Answer>;

export async function countRings(queue: Queue<RingData>): Promise<number> {
  const counts = await queue.getJobCounts(...LIVE);
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

/** The rings that Redis keeps. */
export function createBullmqAdmin(queue: Queue<RingData>, asked: Ask, enqueue: JobQueue['enqueue']): QueueAdmin {
  return {
    rings: async (limit) => {
      const rings: RingState[] = [];
      for (const [state, types] of [
        ['running', ['active']],
        ['waiting', ['waiting', 'prioritized']],
        ['later', ['delayed']],
      ] as const) {
        if (rings.length >= limit) break;
        const jobs = await asked(() => queue.getJobs([...types], 0, limit - rings.length - 1, true));
        append(
          rings,
          jobs.map((job) => ringOf(job, state)),
        );
      }
      return rings.slice(0, limit);
    },
    dead: async (limit) => (await asked(() => queue.getFailed(0, limit - 1))).map((job) => ringOf(job, 'dead')),
    requeue: async (jobId) => {
      const found = (await asked(() => queue.getFailed(0, MOST_DEAD - 1))).filter(({ data }) => data.jobId === jobId);
      if (found.length === 0) return false;
      await enqueue(jobId, { priority: 'high' });
      for (const job of found) await asked(() => job.remove());
      return true;
    },
  };
}

function ringOf(job: Job<RingData>, state: RingState['state']): RingState {
  const at = new Date((state === 'dead' ? job.finishedOn : undefined) ?? job.timestamp).toISOString();
  return { jobId: job.data.jobId, state, tries: job.attemptsMade, at, error: job.failedReason ?? null };
}
