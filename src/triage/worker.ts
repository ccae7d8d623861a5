import { messageOf, TriageError } from '../domain/errors.ts';
import type { TriageJob } from '../domain/triage.ts';
import type { Failpoint } from '../ports/database.ts';
import type { TriageStore } from '../ports/stores.ts';
import type { Logger } from '../ports/telemetry.ts';
import { type CrashIsolation, createCrashIsolation, type StepOut } from './crash-isolation.ts';
import type { DetachableQueue, WaitOutside } from './detachable-queue.ts';
import { keepLease } from './keep-lease.ts';
import { MAX_RETRIES, retryDelay } from './retries.ts';
import { mayPass, type TriageRun } from './run.ts';

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

/** Takes ringing jobs. The lease in the database decides who works on what; the queue only rings. What waits for a CI takes no place. */
export async function startWorker(deps: WorkerDeps): Promise<void> {
  const crashIsolation = createCrashIsolation(deps.concurrency);
  await deps.jobQueue.work((jobId, signal, outside) => runJob(jobId, deps, signal, { crashIsolation, outside }), {
    concurrency: deps.concurrency,
  });
}

/**
 * Runs one job under a lease that is renewed while it works, and once more for as long as news of its build came meanwhile.
 * A job that is given back to be tried later is rung for by the sweeper. Throws where the database cannot be asked.
 */
export async function runJob(
  jobId: string,
  deps: WorkerDeps,
  signal: AbortSignal,
  places: Places = { crashIsolation: createCrashIsolation() },
): Promise<void> {
  while ((await runOnce(jobId, deps, signal, places)) === 'owed-again' && !signal.aborted);
}

export interface Places {
  /** Shared by all jobs of the process: a job that a process died with runs alone. */
  readonly crashIsolation: CrashIsolation;
  readonly outside?: WaitOutside;
}

type End = Awaited<ReturnType<TriageStore['finish']>> | 'released';

async function runOnce(jobId: string, deps: WorkerDeps, signal: AbortSignal, { crashIsolation, outside }: Places): Promise<End> {
  const waiting = (stepOut: StepOut): { outside?: WaitOutside } =>
    outside === undefined ? {} : { outside: (provider, work) => outside(provider, () => stepOut(work)) };
  const end = await crashIsolation.together((stepOut) => runLeased(jobId, deps, signal, { how: 'in company', ...waiting(stepOut) }));
  if (end !== 'suspect') return end;
  return await crashIsolation.alone(async (stepOut) => {
    const alone = signal.aborted ? 'released' : await runLeased(jobId, deps, signal, { how: 'alone', ...waiting(stepOut) });
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
    // Not counted: what dies beside it meanwhile is not its doing.
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
      deps.triages.progressed(job).catch((error: unknown) => logger.warn({ error }, 'progress could not be noted'));
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
    const level = aborted && reason instanceof TriageError && reason.code === 'cancelled' ? 'debug' : 'error';
    deps.logger[level]({ error, again, attempts: job.attempts, retries: job.retries }, 'triage failed');
    if (!again) return deps.triages.finish(job, 'failed', messageOf(error));
    await deps.triages.release(job, messageOf(error), run.signal.aborted ? 0 : retryDelay(job.retries, error));
    return 'released';
  }
  const end = await deps.triages.finish(job, 'done', null);
  deps.failpoint?.('finished', job.buildId);
  if (end === 'refused') deps.logger.warn({}, 'triage job was taken over before it ended');
  if (end === 'owed-again') deps.logger.info({}, 'more of the build failed meanwhile; it is triaged again');
  return end;
}

/** Triages the build; where that fails for good, or took the process down too often, a person is asked instead. */
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
