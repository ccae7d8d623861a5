import { describe, expect, it } from 'vitest';
import { TriageError } from '../../../src/domain/errors.ts';
import type { WorkItem } from '../../../src/domain/work.ts';
import { silentLogger } from '../../../src/ports/telemetry.ts';
import type { Wakeable, WakeUp } from '../../../src/ports/work.ts';
import type { TriageRun } from '../../../src/service/triage/triage-run.ts';
import { createTriageHandler } from '../../../src/service/triage/triage-work.ts';
import type { WorkStore } from '../../../src/stores/work.ts';
import { startWorker } from '../../../src/work/worker.ts';

const AT = '2026-01-05T10:00:00.000Z';
const fresh: WorkItem = {
  topic: 'triage',
  key: 'bld_1',
  buildId: 'bld_1',
  payload: {},
  version: 1,
  settled: 0,
  held: true,
  outcome: null,
  result: null,
  error: null,
  lease: 1,
  attempts: 1,
  retries: 0,
  groupKey: 'acme/shop',
  dueAt: AT,
  changedAt: AT,
};

type Triage = (buildId: string, run: TriageRun) => Promise<unknown>;

interface World {
  /** The item as it is taken. */
  readonly item?: Partial<WorkItem>;
  readonly escalate?: (error: unknown) => Promise<void>;
  /** News of the build comes during the first so many runs. */
  readonly news?: number;
  readonly renew?: WorkStore['renew'];
  readonly finish?: () => Promise<boolean>;
  readonly leaseMs?: number;
}

/** A worker over a store with one build, which remembers how its triage ended. */
function open(triage: Triage, { item = {}, escalate, news = 0, renew, finish, leaseMs = 3_000 }: World = {}) {
  const events: string[] = [];
  let isDue = true;
  let runs = 0;
  const work = {
    due: async () => [],
    take: async () => (isDue ? [{ ...fresh, ...item }] : []),
    renew: renew ?? (async () => true),
    progressed: async () => void events.push('progressed'),
    holds: async ({ lease }: WorkItem) => lease === fresh.lease,
    finish:
      finish ??
      (async (_item: WorkItem, { outcome, error }: { readonly outcome: string; readonly error?: string }) => {
        runs += 1;
        isDue = runs <= news;
        events.push(`${outcome}${error === undefined ? '' : `: ${error}`}`);
        return true;
      }),
    release: async (_item: WorkItem, error: string | null, delayMs: number) => {
      isDue = delayMs === 0 && /retried alone/.test(error ?? '');
      events.push(`released for ${delayMs}: ${error}`);
    },
  };
  const handler = createTriageHandler({
    database: { transaction: async (run) => await run({ query: async () => [] }) },
    stores: { work: { ...work, holds: async () => true }, notices: { changed: async () => false } },
    leaseMs,
    concurrency: 2,
    maxCrashes: 3,
    triage: async ({ key }, run) => await triage(key, run),
    escalateToReviewer: async (_buildId, error) =>
      escalate === undefined
        ? void events.push(`given to a person: ${String(error)}`)
        : await escalate(error),
  });
  let told: Wakeable | undefined;
  const wakeUp: WakeUp = {
    driver: 'by hand',
    wake: async () => undefined,
    start: (worker) => {
      told = worker;
    },
    brings: () => true,
    resize: () => undefined,
    depth: async () => 0,
    stop: () => undefined,
    close: async () => undefined,
  };
  const masker = { mask: async (text: string) => ({ text, count: 0 }) };
  const worker = startWorker({
    work,
    masker,
    logger: silentLogger,
    handlers: [handler],
    wakeUp,
    intervalMs: 60_000,
  });
  const run = async () => await told?.run('triage', 'bld_1');
  return { events, run, stop: worker.stop };
}

async function runOnce(triage: Triage, world: World = {}): Promise<string[]> {
  const { events, run, stop } = open(triage, world);
  try {
    await run();
  } finally {
    await stop(0);
  }
  return events;
}

function createFailingWork(error: unknown): () => Promise<never> {
  return async () => {
    throw error;
  };
}

/** Runs until it is told to stop. */
const endless: Triage = (_build, { signal }) =>
  new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason));
  });

const away = (retryAfterMs?: number) =>
  new TriageError('upstream-failed', 'GitHub did not answer', {
    retryable: true,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });

describe('the triage of a build', () => {
  it('ends when it was answered', async () => {
    expect(await runOnce(async () => undefined)).toEqual(['done']);
  });
  it('runs once more if more of its build failed while it ran', async () => {
    const runs: string[] = [];
    expect(await runOnce(async (buildId) => runs.push(buildId), { news: 2 })).toEqual([
      'done',
      'done',
      'done',
    ]);
    expect(runs).toEqual(['bld_1', 'bld_1', 'bld_1']);
  });
  it('leaves the second run to the next process if it is stopping', async () => {
    const { events, run, stop } = open(
      async () => {
        void stop(1_000);
      },
      { news: 1 },
    );
    await run();
    expect(events).toEqual(['done']);
  });
  it('passes on the check of who holds the build', async () => {
    const answers: boolean[] = [];
    const ask: Triage = async (_build, { holds }) =>
      void answers.push(await holds({ query: async () => [] }));
    await runOnce(ask);
    await runOnce(ask, { item: { lease: 2 } });
    expect(answers).toEqual([true, false]);
  });
});

describe('a triage with a temporary error', () => {
  it.each([
    [0, undefined, 2_000],
    [3, undefined, 16_000],
    [12, undefined, 300_000],
    [0, 90_000, 90_000],
    [5, 10, 64_000],
    [0, 7 * 24 * 3_600_000, 3_600_000],
  ])('after %i retries, asked to wait %s ms, is postponed for %i ms', async (retries, asked, delayMs) => {
    expect(await runOnce(createFailingWork(away(asked)), { item: { retries } })).toEqual([
      `released for ${delayMs}: GitHub did not answer`,
    ]);
  });
  it('is tried for the last time after an hour or more, and then handed over for review', async () => {
    let waited = 0;
    let retries = 0;
    for (; retries < 100; retries++) {
      const tries: boolean[] = [];
      const events = await runOnce(
        async (_build, { lastTry }) => {
          tries.push(lastTry);
          throw away();
        },
        { item: { retries } },
      );
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
  it('is released uncounted when the process stops, however often it was tried', async () => {
    const { events, run, stop } = open(endless, { item: { retries: 19 } });
    const running = run();
    await new Promise((resolve) => setTimeout(resolve, 10));
    await stop(0);
    await running;
    expect(events).toEqual(['released for 0: The process stops.']);
  });
});

describe('a triage that can never succeed', () => {
  it('is handed over for review', async () => {
    expect(await runOnce(createFailingWork(new TypeError('x is not a function')))).toEqual([
      'given to a person: TypeError: x is not a function',
      'done',
    ]);
  });
  it('ends as failed only if not even that can be stored', async () => {
    const escalate = createFailingWork(new Error('the disk is full'));
    expect(await runOnce(createFailingWork(new Error('a bug')), { escalate })).toEqual([
      'failed: the disk is full',
    ]);
  });
  it('is retried if a review item cannot be created at the moment', async () => {
    expect(
      await runOnce(createFailingWork(new Error('a bug')), { escalate: createFailingWork(away()) }),
    ).toEqual(['released for 2000: GitHub did not answer']);
  });
  it('is not handed over for review only because its end could not be stored', async () => {
    const { events, run, stop } = open(async () => undefined, { finish: createFailingWork(away()) });
    await expect(run()).rejects.toThrow('GitHub');
    await stop(0);
    expect(events).toEqual([]);
  });
  it('is set aside and handed over for review if it keeps crashing its worker', async () => {
    const events = await runOnce(createFailingWork(new Error('must not be run again')), {
      item: { attempts: 4 },
    });
    expect(events.slice(1)).toEqual([
      expect.stringMatching(/^given to a person: .*Stopped after 3 attempts/),
      'done',
    ]);
  });
  it('ends as failed if even setting it aside crashed the worker', async () => {
    const escalate = createFailingWork(new Error('must not be run'));
    const events = await runOnce(createFailingWork(new Error('no')), { item: { attempts: 5 }, escalate });
    expect(events.slice(1)).toEqual([expect.stringMatching(/^failed: Stopped after/)]);
  });
});

describe('the lease', () => {
  it('is given up if another worker has it', async () => {
    expect(await runOnce(endless, { renew: async () => false, leaseMs: 60 })).toEqual([
      'released for 0: the lease was taken over',
    ]);
  });
  it.each([
    ['fails', createFailingWork(new Error('no database'))],
    ['does not answer', () => new Promise<never>(() => undefined)],
  ])('is given up if renewing it %s for its whole duration', async (_how, renew) => {
    const startedAt = performance.now();
    const events = await runOnce(endless, { renew, leaseMs: 150 });
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(140);
    expect(events).toEqual(['released for 0: the lease could not be renewed']);
  });
  it('is kept if renewing it fails occasionally', async () => {
    let asked = 0;
    const renew = async () => {
      asked += 1;
      if (asked % 2 === 1) throw new Error('no database');
      return true;
    };
    const triage = () => new Promise((resolve) => setTimeout(resolve, 400));
    expect(await runOnce(triage, { renew, leaseMs: 150 })).toEqual(['done']);
  });
  it('records once that a step was finished', async () => {
    const events = await runOnce(async (_build, run) => {
      run.progressed?.();
      run.progressed?.();
    });
    expect(events).toEqual(['progressed', 'done']);
  });
});
