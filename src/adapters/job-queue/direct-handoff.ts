import type { Logger } from '../../ports/telemetry.ts';
import type { HandlerRuns } from './handler-runs.ts';

/** Where jobs are handed in while the queue is broken: straight to the handler of this process. */
export interface DirectHandoff {
  /** Hands a job in; one that is here already and has not begun is not handed in twice. */
  take(jobId: string): void;
  /** Jobs that wait or run here. */
  readonly depth: number;
  /** Forgets what waits: it is still owed, and somebody else will find it. */
  close(): void;
}

export function createDirectHandoff(runs: HandlerRuns, logger: Logger): DirectHandoff {
  const waiting = new Set<string>();
  let running = 0;
  let pumping = 0;
  const begin = async (jobId: string) => {
    waiting.delete(jobId);
    running += 1;
    // What it failed with is logged by the runs; the job stays owed, and the sweeper hands it in again.
    await runs.run(jobId).catch((error: unknown) => logger.debug({ jobId, error }, 'job handed in directly failed'));
    running -= 1;
  };
  const pump = async () => {
    pumping += 1;
    for (const jobId of waiting) await begin(jobId);
    pumping -= 1;
  };
  return {
    take: (jobId) => {
      waiting.add(jobId);
      if (pumping < runs.concurrency) void pump();
    },
    get depth() {
      return waiting.size + running;
    },
    close: () => waiting.clear(),
  };
}
