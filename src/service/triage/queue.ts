import { setTimeout as sleep } from 'node:timers/promises';
import { getErrorMessage, isRetryable, TriageError } from '../../domain/errors.ts';
import type { TriageJob } from '../../domain/triage.ts';
import type { Sql } from '../../ports/database.ts';
import type { JobQueue } from '../../ports/job-queue.ts';
import type { Logger } from '../../ports/telemetry.ts';
import type { JobTurns, Turn } from '../../stores/triages.ts';

/** The data that a worker passes along with a build. */
export interface TriageRun {
  /** Aborted where the process stops, and where the lease was lost. */
  readonly signal: AbortSignal;
  /** True if the run must continue without anything that does not work now. */
  readonly lastTry: boolean;
  /**
   * Checks whether the worker still holds the build. Every transaction that stores an answer calls it first;
   * if it returns true, no other worker can take the build before that transaction ends.
   */
  readonly fence: (sql: Sql) => Promise<boolean>;
  /** The job, as it was when it was taken. */
  readonly job?: TriageJob;
  /**
   * The function that waits for a provider without occupying the job's slot; absent: the slot stays occupied
   * in the meantime.
   */
  readonly outside?: WaitOutside;
  /** Runs after each finished step, so that earlier crashed attempts no longer count. */
  readonly progressed?: () => void;
}

/**
 * Checks whether another attempt may get further: the run was interrupted, or the error may be temporary and
 * attempts remain.
 */
export function mayPass(error: unknown, run: Pick<TriageRun, 'signal' | 'lastTry'>): boolean {
  return run.signal.aborted || (isRetryable(error) && !run.lastTry);
}

/** Jobs that wait for one provider at once. */
const WAITING = 4;
/** Milliseconds within which an aborted job may end before it is abandoned. */
const ABORT_GRACE_MS = 2_000;

/**
 * A function that waits for an external service outside the queue's slots. If enough jobs already wait for
 * that provider, the job's signal is aborted; the job is queued again when one of them has finished waiting.
 */
export type WaitOutside = <Value>(provider: string, work: () => Promise<Value>) => Promise<Value>;

/**
 * A queue whose jobs give their slot back when they first wait for a provider, and then go on by themselves.
 * When it stops, who waits ends at once, and who goes on has as long as the others.
 */
export interface DetachableQueue extends JobQueue {
  work(
    handler: (jobId: string, signal: AbortSignal, outside: WaitOutside) => Promise<void>,
    options: { readonly concurrency: number },
  ): Promise<void>;
}

interface Lane {
  readonly waiting: Set<AbortController>;
  /** The jobs to queue as slots become free, first come, first served. */
  readonly turnedAway: Set<string>;
}

export function detachableQueue(queue: JobQueue, logger: Logger): DetachableQueue {
  const lanes = new Map<string, Lane>();
  const detached = new Map<AbortController, Promise<unknown>>();
  let stopping = false;

  const openLane = (provider: string) => {
    const lane = lanes.get(provider) ?? { waiting: new Set(), turnedAway: new Set() };
    lanes.set(provider, lane);
    return lane;
  };
  const enqueueNext = async ({ turnedAway }: Lane) => {
    const [next] = turnedAway;
    if (next === undefined || stopping) return;
    turnedAway.delete(next);
    await queue
      .enqueue(next)
      .catch((error: unknown) => logger.debug({ jobId: next, error }, 'the sweeper will queue this job'));
  };
  const waiting = (jobId: string, own: AbortController, leave: () => void): WaitOutside => {
    return async (provider, work) => {
      const lane = openLane(provider);
      if (lane.waiting.size >= WAITING) {
        lane.turnedAway.add(jobId);
        own.abort(
          new TriageError(
            'cancelled',
            `${WAITING} other builds are waiting for ${provider}; this one is next.`,
            { retryable: true },
          ),
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
        void enqueueNext(lane);
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
            if (detached.has(own))
              logger.warn(
                { jobId, error: getErrorMessage(error) },
                'a job failed outside the queue; it stays pending',
              );
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

async function drain(
  detached: ReadonlyMap<AbortController, Promise<unknown>>,
  timeoutMs: number,
): Promise<void> {
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

/**
 * The maximum age of a snapshot of the waiting jobs, in milliseconds: two queries per second for any number
 * of jobs.
 */
const FRESH_MS = 500;
/** Jobs seen at one look: one of each repository after another, so that this many repositories are seen. */
const SEEN = 100;

interface FairQueueDeps {
  readonly turns: Pick<JobTurns, 'next' | 'place'>;
  readonly logger: Logger;
}

/**
 * Wraps the queue so that a repository with many running jobs yields. A message stands for work, not for one
 * particular job: if another repository has a waiting job and fewer running jobs, or as many but was not
 * served last, its job is taken for this message, and the original job is queued again. An urgent job yields
 * only to urgent jobs. No slot stays empty: a single repository may use all of them.
 */
export function fairQueue(queue: JobQueue, { turns, logger }: FairQueueDeps): JobQueue {
  const choose = createChooser(turns);
  return {
    ...queue,
    work: (handler, options) =>
      queue.work(async (jobId, signal) => {
        const other = await choose(jobId).catch((error: unknown) => {
          logger.debug({ jobId, error }, 'the next repository could not be determined');
          return null;
        });
        if (other === null) return await handler(jobId, signal);
        await queue.enqueue(jobId, { priority: other.isUrgent ? 'high' : 'normal' });
        return await handler(other.instead, signal);
      }, options),
  };
}

interface Choice {
  readonly instead: string;
  /** True if the job that yields is urgent. */
  readonly isUrgent: boolean;
}

/** Returns which job to run instead of the one whose message arrived, or null if that one may run. */
function createChooser(turns: FairQueueDeps['turns']): (jobId: string) => Promise<Choice | null> {
  let seen: {
    readonly at: number;
    readonly waiting: Map<string, Turn>;
    readonly working: Map<string, number>;
  } | null = null;
  let last: string | null = null;

  const look = async () => {
    const now = performance.now();
    if (seen !== null && now - seen.at < FRESH_MS) return seen;
    const pending = await turns.next(SEEN);
    const waiting = new Map(pending.map((turn) => [turn.id, turn]));
    seen = {
      at: now,
      waiting,
      working: new Map(pending.map(({ repository, working }) => [repository, working])),
    };
    return seen;
  };

  return async (jobId) => {
    const { waiting, working } = await look();
    // If only one repository has jobs, there is nothing to yield to and no need for another query.
    if (working.size < 2) return null;
    const here = waiting.get(jobId) ?? (await turns.place(jobId));
    if (here === null) return null;
    const inWork = (repository: string) => working.get(repository) ?? 0;
    const limit = inWork(here.repository) + (last === here.repository ? 1 : 0);
    const other = [...waiting.values()]
      .filter(
        (turn) =>
          turn.repository !== here.repository &&
          inWork(turn.repository) < limit &&
          (turn.urgent || !here.urgent),
      )
      .toSorted((left, right) => inWork(left.repository) - inWork(right.repository))[0];
    const taken = other ?? here;
    // It is taken now, and not a second time at this look.
    waiting.delete(other?.id ?? jobId);
    working.set(taken.repository, inWork(taken.repository) + 1);
    last = taken.repository;
    return other === undefined ? null : { instead: other.id, isUrgent: here.urgent };
  };
}
