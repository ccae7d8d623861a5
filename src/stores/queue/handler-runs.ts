import { setTimeout as delay } from 'node:timers/promises';
import { TriageError } from '../../domain/errors.ts';
import type { JobQueue } from '../../ports/job-queue.ts';
import type { Logger } from '../../ports/telemetry.ts';

type Handler = Parameters<JobQueue['work']>[0];

export type HandlerRuns = ReturnType<typeof createHandlerRuns>;

/** Limits the number of concurrent runs of the handler, independent of the caller. */
export function createHandlerRuns(handler: Handler, concurrency: number, logger: Logger) {
  const controllers = new Set<AbortController>();
  const turns: (() => void)[] = [];
  const idle: (() => void)[] = [];
  let taken = 0;
  let draining = false;

  const take = async () => {
    if (taken < concurrency) taken += 1;
    // A run that ends passes its slot directly to the next in line, so that no other caller can take it.
    else await new Promise<void>((turn) => turns.push(turn));
  };
  const giveBack = () => {
    const next = turns.shift();
    if (next !== undefined) return next();
    taken -= 1;
    if (taken === 0) for (const resolve of idle.splice(0)) resolve();
  };

  const call = async (jobId: string) => {
    if (draining) throw new TriageError('cancelled', 'The queue is stopping', { retryable: true });
    const controller = new AbortController();
    controllers.add(controller);
    try {
      await handler(jobId, controller.signal);
    } catch (error) {
      logger.warn({ jobId, error }, 'job failed and will be tried again');
      throw error;
    } finally {
      controllers.delete(controller);
    }
  };

  return {
    /**
     * Waits for a free slot, then runs the handler. Throws the handler's errors, or `cancelled` if the queue
     * stopped before a slot was free.
     */
    run: async (jobId: string) => {
      await take();
      await call(jobId).finally(giveBack);
    },
    concurrency,
    /** Starts no further runs. Resolves when none is left. */
    drain: async () => {
      draining = true;
      if (taken > 0) await new Promise<void>((resolve) => idle.push(resolve));
    },
    /** Tells every run to end. */
    abort: (reason: Error) => {
      for (const controller of controllers) controller.abort(reason);
    },
  };
}

/** Returns true if the work ended within the time, successfully or not. */
export async function settlesWithin(work: Promise<unknown>, milliseconds: number): Promise<boolean> {
  const timer = new AbortController();
  const settled = work.then(
    () => true,
    () => true,
  );
  const late = delay(milliseconds, false, { signal: timer.signal }).catch(() => false);
  const result = await Promise.race([settled, late]);
  timer.abort();
  return result;
}
