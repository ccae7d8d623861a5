import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../../domain/errors.ts';
import type { JobQueue } from '../../ports/job-queue.ts';
import type { Logger } from '../../ports/telemetry.ts';

/** Rings that the queue has not answered yet. A queue that hangs is not asked further: the sweeper rings once it is back. */
const MAX_OUTSTANDING = 200;

/** Rings for work that the database already knows is owed; nobody waits for the queue. */
export interface JobNotifier {
  /** `urgent`: before others that wait. */
  notify(jobId: string, how: { readonly urgent: boolean }): void;
  /** Resolves when the queue has answered every ring, or after the time. */
  settle(timeoutMs: number): Promise<void>;
}

/** A queue that fails or hangs fails and delays nobody: the job is owed in the database, and the sweeper rings again. */
export function createJobNotifier({
  jobQueue,
  logger,
}: {
  readonly jobQueue: Pick<JobQueue, 'enqueue'>;
  readonly logger: Logger;
}): JobNotifier {
  const outstanding = new Set<Promise<void>>();
  let silenced = 0;
  return {
    notify: (jobId, { urgent }) => {
      if (outstanding.size >= MAX_OUTSTANDING) {
        silenced += 1;
        // One line for a queue that hangs, not one for each job.
        if (silenced === 1) logger.warn({ jobId, outstanding: outstanding.size }, 'the queue does not answer; jobs stay owed');
        return;
      }
      silenced = 0;
      const ringing = enqueue(jobId, urgent ? 'high' : 'normal');
      outstanding.add(ringing);
      void ringing.finally(() => outstanding.delete(ringing));
    },
    settle: async (timeoutMs) => {
      const timer = new AbortController();
      const late = delay(timeoutMs, undefined, { signal: timer.signal, ref: false }).catch(() => undefined);
      await Promise.race([Promise.all(outstanding), late]);
      timer.abort();
    },
  };

  async function enqueue(jobId: string, priority: 'high' | 'normal'): Promise<void> {
    try {
      await jobQueue.enqueue(jobId, { priority });
    } catch (error) {
      logger.warn({ jobId, error: messageOf(error) }, 'the queue did not take the job; it stays owed');
    }
  }
}
