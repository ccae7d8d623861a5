import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../../domain/errors.ts';
import type { JobQueue } from '../../ports/job-queue.ts';
import type { Logger } from '../../ports/telemetry.ts';

/** Messages that the queue has not accepted yet. A queue that hangs is not asked further: the sweeper queues the jobs once it is back. */
const MAX_OUTSTANDING = 200;

/** Queues jobs that stand in the database; nobody waits for the queue. */
export interface JobNotifier {
  /** `urgent`: before others that wait. */
  notify(jobId: string, how: { readonly urgent: boolean }): void;
  /** Resolves when the queue has accepted every message, or after the time. */
  settle(timeoutMs: number): Promise<void>;
}

/** A queue that fails or hangs fails and delays nobody: the job is pending in the database, and the sweeper queues it again. */
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
        if (silenced === 1) logger.warn({ jobId, outstanding: outstanding.size }, 'the queue does not answer; jobs stay pending');
        return;
      }
      silenced = 0;
      const sending = enqueue(jobId, urgent ? 'high' : 'normal');
      outstanding.add(sending);
      void sending.finally(() => outstanding.delete(sending));
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
      logger.warn({ jobId, error: messageOf(error) }, 'the queue did not take the job; it stays pending');
    }
  }
}
