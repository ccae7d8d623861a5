import { setTimeout as sleep } from 'node:timers/promises';
import { isRetryable, messageOf, TriageError } from '../../domain/errors.ts';
import type { TriageJob } from '../../domain/triage.ts';
import type { Sql } from '../../ports/database.ts';
import type { JobQueue } from '../../ports/job-queue.ts';
import type { Logger } from '../../ports/telemetry.ts';
import type { JobTurns, Turn } from '../../stores/triages.ts';

/** What a worker gives along with a build. */
export interface TriageRun {
  /** Aborted where the process stops, and where the lease was lost. */
  readonly signal: AbortSignal;
  /** What does not work now will not be waited for any longer. */
  readonly lastTry: boolean;
  /**
   * Whether the worker still holds the build. Asked first in every transaction that stores an answer; where it says yes,
   * nobody else can take the build before that transaction ends.
   */
  readonly fence: (sql: Sql) => Promise<boolean>;
  /** The job, as it was when it was taken. */
  readonly job?: TriageJob;
  /** Waits for a provider without the place where the build is worked on; absent: it is kept meanwhile. */
  readonly outside?: WaitOutside;
  /** Told of each finished step, so that the tries that died before it count no more. */
  readonly progressed?: () => void;
}

/** Whether another try may get further: the run was cut off, or what went wrong may pass and there are tries left. */
export function mayPass(error: unknown, run: Pick<TriageRun, 'signal' | 'lastTry'>): boolean {
  return run.signal.aborted || (isRetryable(error) && !run.lastTry);
}

/** Jobs that wait for one provider at once. */
const WAITING = 4;
/** How long an aborted job may take to end before it is left behind, in milliseconds. */
const ABORT_GRACE_MS = 2_000;

/**
 * Waits for somebody else's service outside the queue's slots. Where enough jobs wait for that provider already the job's signal ends; it is
 * queued again when one of them has what it waits for.
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
  /** To be queued as places become free, first come, first served. */
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
  const enqueueNext = async ({ turnedAway }: Lane) => {
    const [next] = turnedAway;
    if (next === undefined || stopping) return;
    turnedAway.delete(next);
    await queue.enqueue(next).catch((error: unknown) => logger.debug({ jobId: next, error }, 'the sweeper will queue this job'));
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
            if (detached.has(own)) logger.warn({ jobId, error: messageOf(error) }, 'a job failed outside the queue; it stays pending');
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

/** How old a look at what waits may be, in milliseconds: two looks a second, however many jobs there are. */
const FRESH_MS = 500;
/** Jobs seen at one look: one of each repository after another, so that this many repositories are seen. */
const SEEN = 100;

interface FairQueueDeps {
  readonly turns: Pick<JobTurns, 'next' | 'place'>;
  readonly logger: Logger;
}

/**
 * The same queue, in which a repository with much in work yields. A message is for work, not for one job: where another
 * repository has a job waiting and less in work, or as much but was not served last, its job is taken for this message, and the
 * one whose message came is queued anew. An urgent job yields to urgent ones only. Nobody's place stays empty: a repository
 * that is alone may use them all.
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
  /** Whether the job that yields is. */
  readonly isUrgent: boolean;
}

/** Answers which job to take instead of the one whose message came, or null where it is its turn. */
function createChooser(turns: FairQueueDeps['turns']): (jobId: string) => Promise<Choice | null> {
  let seen: { readonly at: number; readonly waiting: Map<string, Turn>; readonly working: Map<string, number> } | null = null;
  let last: string | null = null;

  const look = async () => {
    const now = performance.now();
    if (seen !== null && now - seen.at < FRESH_MS) return seen;
    const pending = await turns.next(SEEN);
    const waiting = new Map(pending.map((turn) => [turn.id, turn]));
    seen = { at: now, waiting, working: new Map(pending.map(({ repository, working }) => [repository, working])) };
    return seen;
  };

  return async (jobId) => {
    const { waiting, working } = await look();
    // Where one repository is all that waits there is nobody to give way to, and nothing more to ask.
    if (working.size < 2) return null;
    const here = waiting.get(jobId) ?? (await turns.place(jobId));
    if (here === null) return null;
    const inWork = (repository: string) => working.get(repository) ?? 0;
    const limit = inWork(here.repository) + (last === here.repository ? 1 : 0);
    const other = [...waiting.values()]
      .filter((turn) => turn.repository !== here.repository && inWork(turn.repository) < limit && (turn.urgent || !here.urgent))
      .toSorted((left, right) => inWork(left.repository) - inWork(right.repository))[0];
    const taken = other ?? here;
    // It is taken now, and not a second time at this look.
    waiting.delete(other?.id ?? jobId);
    working.set(taken.repository, inWork(taken.repository) + 1);
    last = taken.repository;
    return other === undefined ? null : { instead: other.id, isUrgent: here.urgent };
  };
}
