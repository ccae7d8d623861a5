import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf, TriageError } from '../domain/errors.ts';
import type { JobQueue } from '../ports/job-queue.ts';
import type { Logger } from '../ports/telemetry.ts';

/** Jobs that wait for one provider at once. */
const WAITING = 4;
/** How long an aborted job may take to end before it is left behind, in milliseconds. */
const ABORT_GRACE_MS = 2_000;

/**
 * Waits for somebody else's service outside the queue's slots. Where enough jobs wait for that provider already the job's signal ends; it is
 * rung for when one of them has what it waits for.
 */
export type WaitOutside = <Value>(provider: string, work: () => Promise<Value>) => Promise<Value>;

/**
 * A queue whose jobs give their slot back when they first wait for a provider, and then go on by themselves. When it stops, who waits ends at
 * once, and who goes on has as long as the others.
 */
export interface DetachableQueue extends JobQueue {
  work(
    handler: (jobId: string, signal: AbortSignal, outside: WaitOutside) => Promise<void>,
    options: { readonly concurrency: number },
  ): Promise<void>;
}

interface Lane {
  readonly waiting: Set<AbortController>;
  /** To be rung for as places become free, first come, first served. */
  readonly turnedAway: Set<string>;
}

export function detachableQueue(queue: JobQueue, logger: Logger): DetachableQueue {
  const lanes = new Map<string, Lane>();
  const detached = new Map<AbortController, Promise<unknown>>();
  let stopping = false;

  const laneOf = (provider: string) => {
    const lane = lanes.get(provider) ?? { waiting: new Set(), turnedAway: new Set() };
    lanes.set(provider, lane);
    return lane;
  };
  const ringNext = async ({ turnedAway }: Lane) => {
    const [next] = turnedAway;
    if (next === undefined || stopping) return;
    turnedAway.delete(next);
    await queue.enqueue(next).catch((error: unknown) => logger.debug({ jobId: next, error }, 'the sweeper will ring for this job'));
  };
  const waiting = (jobId: string, own: AbortController, leave: () => void): WaitOutside => {
    return async (provider, work) => {
      const lane = laneOf(provider);
      if (lane.waiting.size >= WAITING) {
        lane.turnedAway.add(jobId);
        own.abort(
          new TriageError('cancelled', `${WAITING} other builds are waiting for ${provider}; this one is next.`, { retryable: true }),
        );
      }
      if (stopping) own.abort(stopped());
      own.signal.throwIfAborted();
      lane.turnedAway.delete(jobId);
      lane.waiting.add(own);
      leave();
      try {
        return await work();
      } finally {
        lane.waiting.delete(own);
        void ringNext(lane);
      }
    };
  };

  return {
    ...queue,
    work: (handler, options) =>
      queue.work(async (jobId, slot) => {
        const own = new AbortController();
        const left = Promise.withResolvers<void>();
        const leave = () => {
          detached.set(own, ended);
          left.resolve();
        };
        const run = async () => {
          try {
            // Not in this turn: `ended` is to be known when the job leaves.
            await Promise.resolve();
            await handler(jobId, AbortSignal.any([slot, own.signal]), waiting(jobId, own, leave));
          } catch (error) {
            if (detached.has(own)) logger.warn({ jobId, error: messageOf(error) }, 'a job failed outside the queue; it stays owed');
            throw error;
          } finally {
            detached.delete(own);
          }
        };
        const ended = run();
        await Promise.race([ended, left.promise]);
      }, options),
    depth: async () => (await queue.depth()) + detached.size,
    stop: async ({ timeoutMs }) => {
      stopping = true;
      for (const lane of lanes.values()) for (const own of lane.waiting) own.abort(stopped());
      await Promise.all([queue.stop({ timeoutMs }), drain(detached, timeoutMs)]);
    },
  };
}

async function drain(detached: ReadonlyMap<AbortController, Promise<unknown>>, timeoutMs: number): Promise<void> {
  const timer = new AbortController();
  const all = Promise.allSettled(detached.values());
  const late = async () => {
    await sleep(timeoutMs, undefined, timer);
    for (const own of detached.keys()) own.abort(stopped());
    await sleep(ABORT_GRACE_MS, undefined, timer);
  };
  await Promise.race([all, late().catch(() => undefined)]);
  timer.abort();
}

function stopped(): TriageError {
  return new TriageError('cancelled', 'The queue is stopping', { retryable: true });
}
