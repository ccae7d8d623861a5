import { isRetryable, messageOf } from '../domain/errors.ts';
import type { TriageJob } from '../domain/triage.ts';
import type { JobQueue } from '../ports/job-queue.ts';
import type { Logger } from '../ports/logger.ts';
import type { TriageStore } from '../ports/stores.ts';

/** A job that took its worker down this often is set aside so that others proceed. */
const MAX_ATTEMPTS = 10;

export interface WorkerDeps {
  readonly jobQueue: JobQueue;
  readonly triages: TriageStore;
  readonly logger: Logger;
  readonly leaseMs: number;
  readonly concurrency: number;
  /** Answers one build; may be called again for the same build. */
  readonly triage: (buildId: string, signal: AbortSignal, lastTry: boolean) => Promise<unknown>;
}

/** Takes ringing jobs. The lease in the database decides who works on what; the queue only rings. */
export async function startWorker(deps: WorkerDeps): Promise<void> {
  await deps.jobQueue.work((jobId, signal) => runJob(jobId, deps, signal), { concurrency: deps.concurrency });
}

/**
 * Runs one job under a lease that is renewed while it works, and once more for as long as news of its build came meanwhile.
 * Throws where the queue should ring again later.
 */
export async function runJob(jobId: string, deps: WorkerDeps, signal: AbortSignal): Promise<void> {
  while ((await runOnce(jobId, deps, signal)) === 'owed-again' && !signal.aborted);
}

type End = Awaited<ReturnType<TriageStore['finish']>>;

async function runOnce(jobId: string, deps: WorkerDeps, signal: AbortSignal): Promise<End> {
  const job = await deps.triages.lease(jobId, deps.leaseMs);
  if (job === null) return 'refused';
  const logger = deps.logger.child({ jobId, buildId: job.buildId });
  if (job.attempts > MAX_ATTEMPTS) {
    logger.error({ attempts: job.attempts }, 'triage job set aside');
    return deps.triages.finish(
      job,
      'failed',
      `set aside after ${MAX_ATTEMPTS} attempts that did not end: ${job.error ?? 'no error was recorded'}`,
    );
  }
  const lease = keepLease(job, deps);
  try {
    await deps.triage(job.buildId, AbortSignal.any([signal, lease.lost]), job.attempts >= MAX_ATTEMPTS);
    const end = await deps.triages.finish(job, 'done', null);
    if (end === 'refused') logger.warn({}, 'triage job was taken over before it ended');
    if (end === 'owed-again') logger.info({}, 'more of the build failed meanwhile; it is triaged again');
    return end;
  } catch (error) {
    return await settleFailure(job, error, deps, logger, signal);
  } finally {
    lease.stop();
  }
}

async function settleFailure(job: TriageJob, error: unknown, deps: WorkerDeps, logger: Logger, signal: AbortSignal): Promise<End> {
  const again = signal.aborted || isRetryable(error);
  logger.error({ error, again, attempts: job.attempts }, 'triage failed');
  if (!again) return deps.triages.finish(job, 'failed', messageOf(error));
  await deps.triages.release(job, messageOf(error));
  throw error;
}

/** Renews the lease at a third of its length; tells when it was lost, so that a stale holder stops writing. */
function keepLease(job: TriageJob, deps: WorkerDeps): { readonly lost: AbortSignal; stop(): void } {
  const lost = new AbortController();
  const timer = setInterval(() => {
    deps.triages.renew(job, deps.leaseMs).then(
      (held) => (held ? undefined : lost.abort(new Error('the lease was taken over'))),
      (error: unknown) => deps.logger.warn({ jobId: job.id, error }, 'lease could not be renewed'),
    );
  }, deps.leaseMs / 3);
  return { lost: lost.signal, stop: () => clearInterval(timer) };
}
