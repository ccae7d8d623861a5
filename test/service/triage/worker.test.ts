import { describe, expect, it } from 'vitest';
import { TriageError } from '../../../src/domain/errors.ts';
import type { TriageJob } from '../../../src/domain/triage.ts';
import { silentLogger } from '../../../src/ports/telemetry.ts';
import { createCrashIsolation, runJob, type WorkerDeps } from '../../../src/service/triage/worker.ts';
import type { TriageStore } from '../../../src/stores/triages.ts';

const fresh: TriageJob = {
  id: 'job_1',
  buildId: 'bld_1',
  state: 'running',
  attempts: 1,
  retries: 0,
  notBefore: null,
  requested: 1,
  fetched: 0,
  dirty: false,
  lease: 1,
  leaseExpiresAt: null,
  error: null,
  createdAt: '2026-01-05T10:00:00.000Z',
  updatedAt: '2026-01-05T10:00:00.000Z',
};

interface ReviewWorld {
  /** The job as it is leased. */
  readonly job?: Partial<TriageJob>;
  readonly escalateToReviewer?: WorkerDeps['escalateToReviewer'];
  /** News of the build comes during the first so many runs. */
  readonly news?: number;
  readonly renew?: TriageStore['renew'];
  readonly leaseMs?: number;
}

/** A store with one job, that remembers how it ended. */
function client(
  triage: WorkerDeps['triage'],
  { job = {}, escalateToReviewer, news = 0, renew, leaseMs = 3_000 }: ReviewWorld = {},
) {
  let runs = 0;
  const events: string[] = [];
  const triages: Pick<TriageStore, 'lease' | 'renew' | 'finish' | 'release' | 'holds' | 'progressed'> = {
    lease: async () => {
      runs += 1;
      return { ...fresh, ...job };
    },
    renew: renew ?? (async () => true),
    progressed: async () => void events.push('progressed'),
    holds: async ({ lease }) => lease === fresh.lease,
    finish: async (_job, state, error) => {
      events.push(`${state}${error === null ? '' : `: ${error}`}`);
      return runs <= news ? 'requeued' : 'ended';
    },
    release: async (_job, error, delayMs) => {
      events.push(`released for ${delayMs}: ${error}`);
    },
  };
  const askPerson: WorkerDeps['escalateToReviewer'] = async (_build, error) =>
    void events.push(`given to a person: ${String(error)}`);
  const deps = {
    logger: silentLogger,
    leaseMs,
    concurrency: 1,
    maxCrashes: 3,
    triage,
    escalateToReviewer: escalateToReviewer ?? askPerson,
  };
  // Only what runJob touches is played; the other methods would be a mistake.
  return { events, deps: { ...deps, triages, jobQueue: {} } as unknown as WorkerDeps };
}

const never = new AbortController().signal;

function failing(error: unknown): () => Promise<never> {
  return async () => {
    throw error;
  };
}

/** Runs until it is told to stop. */
const endless: WorkerDeps['triage'] = (_build, { signal }) =>
  new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason));
  });

const away = (retryAfterMs?: number) =>
  new TriageError('upstream-failed', 'GitHub did not answer', {
    retryable: true,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });

describe('runJob', () => {
  it('ends a job that was answered', async () => {
    const { events, deps } = client(async () => undefined);
    await runJob('job_1', deps, never);
    expect(events).toEqual(['done']);
  });
  it('runs a job once more when more of its build failed while it ran', async () => {
    const runs: string[] = [];
    const { events, deps } = client(async (buildId) => runs.push(buildId), { news: 2 });
    await runJob('job_1', deps, never);
    expect(runs).toEqual(['bld_1', 'bld_1', 'bld_1']);
    expect(events).toEqual(['done', 'done', 'done']);
  });
  it('leaves the second run to the next process when it is stopping', async () => {
    const stopping = new AbortController();
    const { events, deps } = client(async () => stopping.abort(), { news: 1 });
    await runJob('job_1', deps, stopping.signal);
    expect(events).toEqual(['done']);
  });
  it('hands down the question who holds the build', async () => {
    const answers: boolean[] = [];
    const ask: WorkerDeps['triage'] = async (_build, { fence }) =>
      void answers.push(await fence({ query: async () => [] }));
    await runJob('job_1', client(ask).deps, never);
    await runJob('job_1', client(ask, { job: { lease: 2 } }).deps, never);
    expect(answers).toEqual([true, false]);
  });
});

describe('a job that fails with what may pass', () => {
  it.each([
    [0, undefined, 2_000],
    [3, undefined, 16_000],
    [12, undefined, 300_000],
    [0, 90_000, 90_000],
    [5, 10, 64_000],
    [0, 7 * 24 * 3_600_000, 3_600_000],
  ])('after %i retries, asked to wait %s ms, is left alone for %i ms', async (retries, asked, delayMs) => {
    const { events, deps } = client(failing(away(asked)), { job: { retries } });
    await runJob('job_1', deps, never);
    expect(events).toEqual([`released for ${delayMs}: GitHub did not answer`]);
  });
  it('is tried for the last time after an hour or more, and then given to a person', async () => {
    let waited = 0;
    let retries = 0;
    for (; retries < 100; retries++) {
      const tries: boolean[] = [];
      const { events, deps } = client(
        async (_build, { lastTry }) => {
          tries.push(lastTry);
          throw away();
        },
        { job: { retries } },
      );
      await runJob('job_1', deps, never);
      if (tries[0] === true) {
        expect(events).toEqual(['given to a person: TriageError: GitHub did not answer', 'done']);
        break;
      }
      waited += Number(/^released for (\d+)/.exec(events[0] ?? '')?.[1]);
    }
    expect(retries).toBe(19);
    expect(waited).toBeGreaterThanOrEqual(3_600_000);
    expect(waited).toBeLessThan(2 * 3_600_000);
  });
  it('is given back uncounted when the process stops, however often it was tried', async () => {
    const stopping = new AbortController();
    const { events, deps } = client(endless, { job: { retries: 19 } });
    const running = runJob('job_1', deps, stopping.signal);
    stopping.abort(new TriageError('cancelled', 'The queue is stopping'));
    await running;
    expect(events).toEqual(['released for 0: The queue is stopping']);
  });
});

describe('a job that can never succeed', () => {
  it('is given to a person', async () => {
    const { events, deps } = client(failing(new TypeError('x is not a function')));
    await runJob('job_1', deps, never);
    expect(events).toEqual(['given to a person: TypeError: x is not a function', 'done']);
  });
  it('ends as failed only where not even that can be stored', async () => {
    const { events, deps } = client(failing(new Error('a bug')), {
      escalateToReviewer: failing(new Error('the disk is full')),
    });
    await runJob('job_1', deps, never);
    expect(events).toEqual(['failed: the disk is full']);
  });
  it('is tried again where a person cannot be asked just now', async () => {
    const { events, deps } = client(failing(new Error('a bug')), { escalateToReviewer: failing(away()) });
    await runJob('job_1', deps, never);
    expect(events).toEqual(['released for 2000: GitHub did not answer']);
  });
  it('is not given to a person because the end of a job could not be stored', async () => {
    const { events, deps } = client(async () => undefined);
    const broken = { ...deps, triages: { ...deps.triages, finish: failing(away()) } };
    await expect(runJob('job_1', broken, never)).rejects.toThrow('GitHub');
    expect(events).toEqual([]);
  });
  it('is set aside, and given to a person, when it keeps killing its worker', async () => {
    const { events, deps } = client(failing(new Error('must not be run again')), { job: { attempts: 4 } });
    await runJob('job_1', deps, never);
    expect(events).toEqual([expect.stringMatching(/^given to a person: .*Stopped after 3 attempts/), 'done']);
  });
  it.each([2, 3])(
    'is run alone in its try number %i, and is not blamed for what died beside it',
    async (attempts) => {
      const crashIsolation = createCrashIsolation();
      const other = Promise.withResolvers<void>();
      const beside = crashIsolation.together(() => other.promise);
      const { events, deps } = client(async () => undefined, { job: { attempts } });
      const running = runJob('job_1', deps, never, { crashIsolation });
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(events).toEqual([
        'released for 0: The process died during the last attempt; it is retried alone.',
      ]);
      other.resolve();
      await Promise.all([beside, running]);
      expect(events).toEqual([expect.stringMatching(/^released for 0/), 'done']);
    },
  );
  it('ends as failed when even setting it aside killed the worker', async () => {
    const { events, deps } = client(failing(new Error('no')), {
      job: { attempts: 5 },
      escalateToReviewer: failing(new Error('must not be run')),
    });
    await runJob('job_1', deps, never);
    expect(events).toEqual([expect.stringMatching(/^failed: Stopped after/)]);
  });
});

describe('the lease', () => {
  it('is given up when somebody else has it', async () => {
    const { events, deps } = client(endless, { renew: async () => false, leaseMs: 60 });
    await runJob('job_1', deps, never);
    expect(events).toEqual(['released for 0: the lease was taken over']);
  });
  it.each([
    ['fails', failing(new Error('no database'))],
    ['does not answer', () => new Promise<never>(() => undefined)],
  ])('is given up when renewing it %s for as long as it lasts', async (_how, renew) => {
    const { events, deps } = client(endless, { renew, leaseMs: 150 });
    const startedAt = performance.now();
    await runJob('job_1', deps, never);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(140);
    expect(events).toEqual(['released for 0: the lease could not be renewed']);
  });
  it('is kept when renewing it fails now and then', async () => {
    let asked = 0;
    const renew = async () => {
      asked += 1;
      if (asked % 2 === 1) throw new Error('no database');
      return true;
    };
    const triage = () => new Promise((resolve) => setTimeout(resolve, 400));
    const { events, deps } = client(triage, { renew, leaseMs: 150 });
    await runJob('job_1', deps, never);
    expect(events).toEqual(['done']);
  });

  it('notes once that a step was finished', async () => {
    const { events, deps } = client(async (_build, run) => {
      run.progressed?.();
      run.progressed?.();
    });
    await runJob('job_1', deps, never);
    expect(events).toEqual(['progressed', 'done']);
  });
});
