import { describe, expect, it } from 'vitest';
import { TriageError } from '../../src/domain/errors.ts';
import type { TriageJob } from '../../src/domain/triage.ts';
import { silentLogger } from '../../src/ports/logger.ts';
import type { TriageStore } from '../../src/ports/stores.ts';
import { runJob, type WorkerDeps } from '../../src/triage/worker.ts';

const job: TriageJob = {
  id: 'job_1',
  buildId: 'bld_1',
  state: 'running',
  attempts: 1,
  owed: 1,
  fetched: 0,
  dirty: false,
  lease: 1,
  leaseExpiresAt: null,
  error: null,
  createdAt: '2026-01-05T10:00:00.000Z',
  updatedAt: '2026-01-05T10:00:00.000Z',
};

/** A store with one job, that remembers how it ended. News of its build comes during its first `news` runs. */
function desk(attempts: number, triage: WorkerDeps['triage'], news = 0) {
  let runs = 0;
  const events: string[] = [];
  const triages: Pick<TriageStore, 'lease' | 'renew' | 'finish' | 'release'> = {
    lease: async () => {
      runs += 1;
      return { ...job, attempts };
    },
    renew: async () => true,
    finish: async (_job, state, error) => {
      events.push(`${state}${error === null ? '' : `: ${error}`}`);
      return runs <= news ? 'owed-again' : 'ended';
    },
    release: async (_job, error) => {
      events.push(`released: ${error}`);
    },
  };
  const deps: Pick<WorkerDeps, 'logger' | 'leaseMs' | 'concurrency' | 'triage'> = {
    logger: silentLogger,
    leaseMs: 3_000,
    concurrency: 1,
    triage,
  };
  // Only what runJob touches is played; the other methods would be a mistake.
  return { events, deps: { ...deps, triages, jobQueue: {} } as unknown as WorkerDeps };
}

const never = new AbortController().signal;

describe('runJob', () => {
  it('ends a job that was answered', async () => {
    const { events, deps } = desk(1, async () => undefined);
    await runJob('job_1', deps, never);
    expect(events).toEqual(['done']);
  });
  it('gives a job back when trying again may help, and lets the queue ring again', async () => {
    const { events, deps } = desk(1, async () => {
      throw new TriageError('upstream-failed', 'GitHub did not answer', { retryable: true });
    });
    await expect(runJob('job_1', deps, never)).rejects.toThrow('GitHub');
    expect(events).toEqual(['released: GitHub did not answer']);
  });
  it('ends a job that can never succeed', async () => {
    const { events, deps } = desk(1, async () => {
      throw new TriageError('invalid-input', 'no');
    });
    await runJob('job_1', deps, never);
    expect(events).toEqual(['failed: no']);
  });
  it('runs a job once more when more of its build failed while it ran', async () => {
    const runs: string[] = [];
    const { events, deps } = desk(1, async (buildId) => runs.push(buildId), 2);
    await runJob('job_1', deps, never);
    expect(runs).toEqual(['bld_1', 'bld_1', 'bld_1']);
    expect(events).toEqual(['done', 'done', 'done']);
  });
  it('runs a job once more that could not succeed with what was known before', async () => {
    let runs = 0;
    const triage = async () => {
      runs += 1;
      if (runs === 1) throw new TriageError('not-found', 'no log yet');
    };
    const { events, deps } = desk(1, triage, 1);
    await runJob('job_1', deps, never);
    expect(events).toEqual(['failed: no log yet', 'done']);
  });
  it('leaves the second run to the next process when it is stopping', async () => {
    const stopping = new AbortController();
    const { events, deps } = desk(1, async () => stopping.abort(), 1);
    await runJob('job_1', deps, stopping.signal);
    expect(events).toEqual(['done']);
  });
  it('tells the last try that it is the last', async () => {
    const tries: boolean[] = [];
    const { deps } = desk(10, async (_build, _signal, lastTry) => tries.push(lastTry));
    await runJob('job_1', deps, never);
    expect(tries).toEqual([true]);
  });
  it('sets a job aside that keeps killing its worker', async () => {
    const { events, deps } = desk(11, async () => {
      throw new Error('must not be run again');
    });
    await runJob('job_1', deps, never);
    expect(events[0]).toContain('set aside');
  });
});
