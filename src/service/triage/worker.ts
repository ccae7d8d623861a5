import { computeRetryDelay, getErrorMessage, TriageError } from '../../domain/errors.ts';
import type { TriageJob } from '../../domain/triage.ts';
import { lookRegularly } from '../../lib/time.ts';
import type { Database, Failpoint } from '../../ports/database.ts';
import type { JobQueue } from '../../ports/job-queue.ts';
import type { Logger } from '../../ports/telemetry.ts';
import type { QuestionStore } from '../../stores/conversations.ts';
import type { NoticeStore } from '../../stores/outbox.ts';
import type { JobTurns, TriageStore } from '../../stores/triages.ts';
import { type DetachableQueue, mayPass, type TriageRun, type WaitOutside } from './queue.ts';

export interface WorkerDeps {
  readonly jobQueue: DetachableQueue;
  readonly triages: TriageStore;
  readonly logger: Logger;
  readonly leaseMs: number;
  readonly concurrency: number;
  /** Tries that did not end, in a row and without a finished step, after which a person is asked. */
  readonly maxCrashes: number;
  /** Answers one build; may be called again for the same build. */
  readonly triage: (buildId: string, run: TriageRun) => Promise<unknown>;
  /** Gives the unanswered failures of a build that cannot be triaged to a person. */
  readonly escalateToReviewer: (buildId: string, error: unknown, run: TriageRun) => Promise<void>;
  readonly failpoint?: Failpoint;
}

/**
 * Takes queued jobs. The lease in the database decides who works on what; the queue only notifies. What waits
 * for a CI takes no place.
 */
export async function startWorker(deps: WorkerDeps): Promise<void> {
  const crashIsolation = createCrashIsolation(deps.concurrency);
  await deps.jobQueue.work(
    (jobId, signal, outside) => runJob(jobId, deps, signal, { crashIsolation, outside }),
    {
      concurrency: deps.concurrency,
    },
  );
}

/**
 * Runs one job under a lease that is renewed while it works, and repeats it as long as news of its build
 * arrived in the meantime. A job that is released for a later retry is queued by the sweeper. Throws if the
 * database cannot be reached.
 */
export async function runJob(
  jobId: string,
  deps: WorkerDeps,
  signal: AbortSignal,
  places: Places = { crashIsolation: createCrashIsolation() },
): Promise<void> {
  while ((await runOnce(jobId, deps, signal, places)) === 'requeued' && !signal.aborted);
}

interface Places {
  /** Shared by all jobs of the process: a job that a process died with runs alone. */
  readonly crashIsolation: CrashIsolation;
  readonly outside?: WaitOutside;
}

type End = Awaited<ReturnType<TriageStore['finish']>> | 'released';

async function runOnce(
  jobId: string,
  deps: WorkerDeps,
  signal: AbortSignal,
  { crashIsolation, outside }: Places,
): Promise<End> {
  const waiting = (stepOut: StepOut): { outside?: WaitOutside } =>
    outside === undefined ? {} : { outside: (provider, work) => outside(provider, () => stepOut(work)) };
  const end = await crashIsolation.together((stepOut) =>
    runLeased(jobId, deps, signal, { how: 'in company', ...waiting(stepOut) }),
  );
  if (end !== 'suspect') return end;
  return await crashIsolation.alone(async (stepOut) => {
    const alone = signal.aborted
      ? 'released'
      : await runLeased(jobId, deps, signal, { how: 'alone', ...waiting(stepOut) });
    return alone === 'suspect' ? 'released' : alone;
  });
}

async function runLeased(
  jobId: string,
  deps: WorkerDeps,
  signal: AbortSignal,
  { how, ...waiting }: { readonly how: 'alone' | 'in company'; readonly outside?: WaitOutside },
): Promise<End | 'suspect'> {
  const job = await deps.triages.lease(jobId, deps.leaseMs);
  if (job === null) return 'refused';
  if (how === 'in company' && job.attempts > 1 && job.attempts <= deps.maxCrashes) {
    // This release is not counted as an attempt: crashes of jobs running at the same time are not charged to
    // it.
    await deps.triages.release(job, 'The process died during the last attempt; it is retried alone.', 0);
    return 'suspect';
  }
  deps.failpoint?.('claimed', job.buildId);
  const logger = deps.logger.child({ jobId, buildId: job.buildId });
  const lease = keepLease(job, { ...deps, logger });
  const run: TriageRun = {
    signal: AbortSignal.any([signal, lease.lost]),
    lastTry: job.retries >= MAX_RETRIES,
    fence: (sql) => deps.triages.holds(job, sql),
    job,
    ...waiting,
    progressed: once(() => {
      deps.triages
        .progressed(job)
        .catch((error: unknown) => logger.warn({ error }, 'progress could not be recorded'));
    }),
  };
  try {
    return await settle(job, { ...deps, logger }, run);
  } finally {
    lease.stop();
  }
}

async function settle(job: TriageJob, deps: WorkerDeps, run: TriageRun): Promise<End> {
  try {
    await answer(job, deps, run);
  } catch (error) {
    const again = mayPass(error, run);
    // A stop, or other builds that wait for the same provider: it is given back, and nothing is wrong.
    const { aborted, reason } = run.signal;
    const isStopped = aborted && reason instanceof TriageError && reason.code === 'cancelled';
    const level = again ? 'warn' : 'error';
    deps.logger[isStopped ? 'debug' : level](
      { error, again, attempts: job.attempts, retries: job.retries },
      'triage failed',
    );
    if (!again) return deps.triages.finish(job, 'failed', getErrorMessage(error));
    await deps.triages.release(
      job,
      getErrorMessage(error),
      run.signal.aborted ? 0 : retryDelay(job.retries, error),
    );
    return 'released';
  }
  const end = await deps.triages.finish(job, 'done', null);
  deps.failpoint?.('finished', job.buildId);
  if (end === 'refused') deps.logger.warn({}, 'triage job was taken over before it ended');
  if (end === 'requeued') deps.logger.info({}, 'more of the build failed meanwhile; it is triaged again');
  return end;
}

/**
 * Triages the build; where that fails for good, or took the process down too often, a person is asked
 * instead.
 */
async function answer(job: TriageJob, deps: WorkerDeps, run: TriageRun): Promise<void> {
  if (job.attempts > deps.maxCrashes) return await setAside(job, deps, run);
  try {
    await deps.triage(job.buildId, run);
  } catch (error) {
    if (mayPass(error, run)) throw error;
    await deps.escalateToReviewer(job.buildId, error, run);
  }
}

async function setAside(job: TriageJob, deps: WorkerDeps, run: TriageRun): Promise<void> {
  const reason = new TriageError(
    'internal',
    `Stopped after ${deps.maxCrashes} attempts that did not finish, for example because the process died.`,
  );
  // The lease before this one was for saying so, and did not end either.
  if (job.attempts > deps.maxCrashes + 1) throw reason;
  deps.logger.error({ attempts: job.attempts }, 'triage job set aside');
  await deps.escalateToReviewer(job.buildId, reason, run);
}

function once(act: () => void): () => void {
  let done = false;
  return () => {
    if (done) return;
    done = true;
    act();
  };
}

/** Steps out of a place for as long as `wait` takes; then comes back as it came, also where that throws. */
type StepOut = <Value>(wait: () => Promise<Value>) => Promise<Value>;

type CrashIsolation = ReturnType<typeof createCrashIsolation>;

/**
 * Isolates jobs during which a process died, so that a crash cannot be blamed on another job. Exclusive jobs
 * go first, so that a steady stream of others does not delay them. `places` is the number of jobs that run
 * concurrently.
 */
export function createCrashIsolation(places = Number.POSITIVE_INFINITY) {
  let shared = 0;
  let exclusive = false;
  let queue: { readonly mustBeAlone: boolean; readonly start: () => void }[] = [];

  const admit = () => {
    for (;;) {
      const next = queue.find(({ mustBeAlone }) => mustBeAlone) ?? queue[0];
      if (next === undefined || exclusive || shared >= (next.mustBeAlone ? 1 : places)) return;
      queue = queue.filter((one) => one !== next);
      if (next.mustBeAlone) exclusive = true;
      else shared += 1;
      next.start();
    }
  };
  const enter = (mustBeAlone: boolean) =>
    new Promise<void>((start) => {
      queue.push({ mustBeAlone, start });
      admit();
    });
  const leave = (mustBeAlone: boolean) => {
    if (mustBeAlone) exclusive = false;
    else shared -= 1;
    admit();
  };
  const within = async <Result>(
    mustBeAlone: boolean,
    work: (stepOut: StepOut) => Promise<Result>,
  ): Promise<Result> => {
    await enter(mustBeAlone);
    try {
      return await work(async (wait) => {
        leave(mustBeAlone);
        try {
          return await wait();
        } finally {
          await enter(mustBeAlone);
        }
      });
    } finally {
      leave(mustBeAlone);
    }
  };

  return {
    /** Runs with other shared work, once there is a free slot and no exclusive job runs or waits. */
    together: <Result>(work: (stepOut: StepOut) => Promise<Result>) => within(false, work),
    /** Waits for running work to end, and keeps all other work out in the meantime. */
    alone: <Result>(work: (stepOut: StepOut) => Promise<Result>) => within(true, work),
  };
}

/**
 * The number of times that a job is retried, counted since the last news of its build.
 *
 * - An execution that failed with a temporary (retryable) error releases its job and counts as a retry. The
 *   n-th retry waits 2ⁿ seconds, at most five minutes, or longer if the server requested it (Retry-After, at
 *   most an hour). After 19 of them, which is at least an hour, comes the last one: it continues without what
 *   it cannot get.
 * - An execution that ends because the process stops is not counted.
 * - An execution that never released its job, for example because the process died, counts as an attempt.
 *   After the configured number of them in a row (`triage.maxCrashes`) in which no step of the graph was
 *   finished, the job is set aside so that others proceed. A long run may outlive many processes, since each
 *   continues from the last finished step, but a failure that crashes its process each time must not block
 *   the rest. After the first such attempt a job runs alone in its process, so that no other job is blamed.
 * - A job that is set aside, or that fails permanently, is given to a person with a failed analysis. The job
 *   itself ends as `failed` only if that cannot be stored.
 */
const MAX_RETRIES = 19;

/** Computes the delay before a job that was retried `retries` times is tried again, in milliseconds. */
function retryDelay(retries: number, error: unknown): number {
  return computeRetryDelay(retries, error, { longestMs: 300_000, longestAskedMs: 3_600_000, random: 1 });
}

interface LeaseDeps {
  readonly triages: Pick<TriageStore, 'renew'>;
  readonly logger: Logger;
  readonly leaseMs: number;
}

/**
 * Renews the lease at a third of its length. `lost` aborts the work of the holder: the lease was taken over,
 * or could not be renewed during its whole length, so that another process may hold it by now.
 */
function keepLease(job: TriageJob, deps: LeaseDeps): { readonly lost: AbortSignal; stop(): void } {
  const lost = new AbortController();
  let heldAt = performance.now();
  let waiting = 0;
  const giveUpIfExpired = () => {
    if (performance.now() - heldAt >= deps.leaseMs) lost.abort(new Error('the lease could not be renewed'));
  };
  const timer = setInterval(() => {
    // A renewal that does not answer is as good as one that fails.
    if (waiting > 0) giveUpIfExpired();
    const askedAt = performance.now();
    waiting += 1;
    deps.triages
      .renew(job, deps.leaseMs)
      .then(
        (held) => {
          if (held) heldAt = askedAt;
          else lost.abort(new Error('the lease was taken over'));
        },
        (error: unknown) => {
          deps.logger.warn({ jobId: job.id, error }, 'lease could not be renewed');
          giveUpIfExpired();
        },
      )
      .finally(() => {
        waiting -= 1;
      });
  }, deps.leaseMs / 3);
  return { lost: lost.signal, stop: () => clearInterval(timer) };
}

interface EndJobDeps {
  readonly database: Pick<Database, 'transaction'>;
  readonly stores: {
    readonly triages: Pick<TriageStore, 'holds' | 'finish'>;
    readonly notices: Pick<NoticeStore, 'changed'>;
  };
}

/**
 * Ends a job like `TriageStore.finish`, and in the same transaction requests an update of the build's
 * notices. Some of them appear only when no work on the build remains, and the last answer was concluded
 * before that.
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

const BATCH = 100;

interface SweeperDeps {
  readonly jobQueue: JobQueue;
  readonly turns: Pick<JobTurns, 'next'>;
  /** The store of runs that wait for people. Expired questions are closed, and their runs continue. */
  readonly questions?: Pick<QuestionStore, 'expire'>;
  readonly logger: Logger;
  readonly intervalMs: number;
}

/**
 * Queues every pending job again that no worker holds: the queue may lose messages, the database does not.
 */
export function startSweeper(deps: SweeperDeps): { stop(): Promise<void> } {
  return lookRegularly(deps.intervalMs, () => sweep(deps));
}

async function sweep(deps: SweeperDeps): Promise<void> {
  try {
    await deps.questions?.expire();
    for (const { id, urgent } of await deps.turns.next(BATCH))
      await deps.jobQueue.enqueue(id, { priority: urgent ? 'high' : 'normal' });
  } catch (error) {
    deps.logger.warn({ error }, 'sweep failed; will retry');
  }
}
