import { messageOf, TriageError } from '../domain/errors.ts';
import type { TriageJob } from '../domain/triage.ts';
import type { Failpoint } from '../ports/failpoint.ts';
import type { JobQueue } from '../ports/job-queue.ts';
import type { Logger } from '../ports/logger.ts';
import type { TriageStore } from '../ports/stores.ts';
import { keepLease } from './keep-lease.ts';
import { MAX_RETRIES, retryDelay } from './retries.ts';
import { mayPass, type TriageRun } from './run.ts';
import { createSolitude, type Solitude } from './run-alone.ts';

export interface WorkerDeps {
  readonly jobQueue: JobQueue;
  readonly triages: TriageStore;
  readonly logger: Logger;
  readonly leaseMs: number;
  readonly concurrency: number;
  /** Tries that did not end, in a row and without a finished step, after which a person is asked. */
  readonly maxCrashes: number;
  /** Answers one build; may be called again for the same build. */
  readonly triage: (buildId: string, run: TriageRun) => Promise<unknown>;
  /** Gives the unanswered failures of a build that cannot be triaged to a person. */
  readonly giveUp: (buildId: string, error: unknown, run: TriageRun) => Promise<void>;
  readonly failpoint?: Failpoint;
}

/** Takes ringing jobs. The lease in the database decides who works on what; the queue only rings. */
export async function startWorker(deps: WorkerDeps): Promise<void> {
  const solitude = createSolitude();
  await deps.jobQueue.work((jobId, signal) => runJob(jobId, deps, signal, solitude), { concurrency: deps.concurrency });
}

/**
 * Runs one job under a lease that is renewed while it works, and once more for as long as news of its build came meanwhile.
 * A job that is given back to be tried later is rung for by the sweeper. Throws where the database cannot be asked. `solitude` is shared
 * by all jobs of the process: a job that a process died with runs alone.
 */
export async function runJob(jobId: string, deps: WorkerDeps, signal: AbortSignal, solitude: Solitude = createSolitude()): Promise<void> {
  while ((await runOnce(jobId, deps, signal, solitude)) === 'owed-again' && !signal.aborted);
}

type End = Awaited<ReturnType<TriageStore['finish']>> | 'released';

async function runOnce(jobId: string, deps: WorkerDeps, signal: AbortSignal, solitude: Solitude): Promise<End> {
  const end = await solitude.together(() => runLeased(jobId, deps, signal, 'in company'));
  if (end !== 'suspect') return end;
  return await solitude.alone(async () => (signal.aborted ? 'released' : await runLeased(jobId, deps, signal, 'alone')));
}

async function runLeased(jobId: string, deps: WorkerDeps, signal: AbortSignal, how: 'alone'): Promise<End>;
async function runLeased(jobId: string, deps: WorkerDeps, signal: AbortSignal, how: 'in company'): Promise<End | 'suspect'>;
async function runLeased(jobId: string, deps: WorkerDeps, signal: AbortSignal, how: 'alone' | 'in company'): Promise<End | 'suspect'> {
  const job = await deps.triages.lease(jobId, deps.leaseMs);
  if (job === null) return 'refused';
  if (how === 'in company' && job.attempts > 1 && job.attempts <= deps.maxCrashes) {
    // Not counted: what dies beside it meanwhile is not its doing.
    await deps.triages.release(job, 'The process died during the last try; it is tried alone.', 0);
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
    deps.logger.error({ error, again, attempts: job.attempts, retries: job.retries }, 'triage failed');
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
    await deps.giveUp(job.buildId, error, run);
  }
}

async function setAside(job: TriageJob, deps: WorkerDeps, run: TriageRun): Promise<void> {
  const reason = new TriageError('internal', `Set aside after ${deps.maxCrashes} tries that did not end, as when the process dies.`);
  // The lease before this one was for saying so, and did not end either.
  if (job.attempts > deps.maxCrashes + 1) throw reason;
  deps.logger.error({ attempts: job.attempts }, 'triage job set aside');
  await deps.giveUp(job.buildId, reason, run);
}

function once(act: () => void): () => void {
  let done = false;
  return () => {
    if (done) return;
    done = true;
    act();
  };
}
