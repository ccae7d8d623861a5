import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Analysis, toShownAnalysis } from '../../../src/domain/analysis.ts';
import type { Build } from '../../../src/domain/build.ts';
import { TriageError } from '../../../src/domain/errors.ts';
import type { WorkItem } from '../../../src/domain/work.ts';
import { systemClock } from '../../../src/lib/time.ts';
import type { Analyst } from '../../../src/ports/analyst.ts';
import { renderMarkdown } from '../../../src/service/answers/render.ts';
import { escalateToReviewer } from '../../../src/service/triage/conclude.ts';
import { type TriageBuildDeps, triageBuild } from '../../../src/service/triage/triage-build.ts';
import type { TriageRun } from '../../../src/service/triage/triage-run.ts';
import { createStores, type Stores } from '../../../src/stores/stores.ts';
import { sampleEntry } from '../../stores/samples.ts';
import { openTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { createScriptedAnalyst } from '../../support/scripted-analyst.ts';
import { createTriageJobs } from '../../support/triage-jobs.ts';
import { createTriageWorld } from '../../support/triage-world.ts';

let db: TestDatabase;
let stores: Stores;
beforeAll(async () => {
  db = await openTestDatabase();
  stores = createStores(db, systemClock);
});
afterAll(async () => db.dispose());

interface World {
  readonly build: Build;
  readonly deps: TriageBuildDeps;
  readonly woken: string[];
  readonly forgotten: string[];
  /** Takes the job, also from whoever has it. */
  take(): Promise<WorkItem>;
}

/** A stored build with a log, in a repository of its own, and all that a triage of it needs. */
async function createWorld(
  analyst: Partial<Analyst> = {},
  change: Partial<TriageBuildDeps> = {},
): Promise<World> {
  const { accept, deps: usual } = createTriageWorld(db, {
    analyst: { ...createScriptedAnalyst(), ...analyst },
  });
  const build = await accept();
  const woken: string[] = [];
  const forgotten: string[] = [];
  const deps: TriageBuildDeps = {
    ...usual,
    greenBuilds: 3,
    publishers: ['list'],
    wakeWorker: () => void woken.push(build.id),
    forget: async (triageId) => void forgotten.push(triageId),
    ...change,
  };
  const take = async () => {
    await db.query('update work set free_at = clock_timestamp() where key = $1', [build.id]);
    const job = await createTriageJobs(stores).lease(build.id);
    if (job === null) throw new Error('the lease is given');
    return job;
  };
  return { build, deps, woken, forgotten, take };
}

function createRun(job: WorkItem, lastTry = false): TriageRun {
  return { signal: new AbortController().signal, lastTry, holds: (sql) => stores.work.holds(job, sql) };
}

async function listReviews({ repository }: Build) {
  return await stores.reviews.list({ repository }, { limit: 50, offset: 0 });
}

/** The known cause of what the log shows. */
async function teach(analysis: Analysis | undefined, repository: string) {
  const entry = sampleEntry(analysis?.fingerprint ?? '', { repository, timesSeen: 3 });
  await stores.library.insert(entry);
  return entry;
}

describe('a worker that lost its lease (T05)', () => {
  it('neither stores nor publishes its answer; the next worker does so once', async () => {
    const { build, deps, woken, forgotten, take } = await createWorld();
    const stale = await take();
    const held = await take();

    await expect(triageBuild(build.id, deps, createRun(stale))).rejects.toMatchObject({ code: 'cancelled' });

    expect(await stores.analyses.listByBuild(build.id)).toEqual([]);
    expect([woken, forgotten, await listReviews(build)]).toEqual([[], [], []]);
    const analyses = await triageBuild(build.id, deps, createRun(held));
    expect(analyses).toHaveLength(1);
    expect(await stores.analyses.listByBuild(build.id)).toEqual(analyses);
    expect(await triageBuild(build.id, deps, createRun(held))).toEqual(analyses);
    const pending = await stores.work.listByBuild(build.id);
    expect(pending.length + (await listReviews(build)).length).toBe(1);
  });

  it('creates no review item either', async () => {
    const { build, deps, take } = await createWorld();
    const stale = await take();
    await take();

    await expect(triageBuild(build.id, deps, createRun(stale, true))).rejects.toMatchObject({
      code: 'cancelled',
    });
    await expect(
      escalateToReviewer(build.id, new Error('a bug'), deps, createRun(stale)),
    ).rejects.toMatchObject({
      code: 'cancelled',
    });

    expect(await stores.analyses.listByBuild(build.id)).toEqual([]);
    expect(await listReviews(build)).toEqual([]);
  });
});

describe('the checkpoints of the graph', () => {
  it('are deleted once the answer is stored', async () => {
    const { build, deps, forgotten, take } = await createWorld();
    const [analysis] = await triageBuild(build.id, deps, createRun(await take()));
    expect(forgotten).toEqual([analysis?.triageId]);
  });

  it('cause no failure if they cannot be deleted', async () => {
    const { build, deps, take } = await createWorld({}, { forget: () => Promise.reject(new Error('no')) });
    expect(await triageBuild(build.id, deps, createRun(await take()))).toHaveLength(1);
  });
});

describe('a known failure', () => {
  it("is answered with a person's decision, and counted in the same transaction", async () => {
    const first = await createWorld();
    const [analysis] = await triageBuild(first.build.id, first.deps, createRun(await first.take()));
    const { build, deps, take } = await createWorld();
    const entry = await teach(analysis, build.repository);
    const stale = await take();
    const held = await take();

    await expect(triageBuild(build.id, deps, createRun(stale))).rejects.toMatchObject({ code: 'cancelled' });
    expect(await stores.library.find(entry.id)).toMatchObject({ timesSeen: 3 });
    const lost = {
      ...deps,
      stores: {
        ...stores,
        analyses: { ...stores.analyses, insertOnce: () => Promise.reject(createCrashError()) },
      },
    };
    await expect(triageBuild(build.id, lost, createRun(held))).rejects.toThrow('the process died');
    expect(await stores.library.find(entry.id)).toMatchObject({ timesSeen: 3 });

    expect(await triageBuild(build.id, deps, createRun(held))).toMatchObject([
      { terminationReason: 'known_failure', recalled: { timesSeen: 4 } },
    ]);
    expect(await stores.library.find(entry.id)).toMatchObject({ timesSeen: 4 });
  });

  it('of another repository is not an answer (T52)', async () => {
    const first = await createWorld();
    const [analysis] = await triageBuild(first.build.id, first.deps, createRun(await first.take()));
    const entry = await teach(analysis, first.build.repository);
    const { build, deps, take } = await createWorld();

    const [answer] = await triageBuild(build.id, deps, createRun(await take()));

    expect(answer).toMatchObject({ fingerprint: analysis?.fingerprint, recalled: null });
    expect(await stores.library.find(entry.id)).toMatchObject({ timesSeen: 3 });
  });
});

describe('an analysis that fails permanently', () => {
  const buggy: Partial<Analyst> = {
    classify: () => Promise.reject(new TypeError('password=hunter2hunter2 is not a function')),
  };

  it('is handed over for review, once, with what the log shows', async () => {
    const { build, deps, take } = await createWorld(buggy);
    const job = await take();

    const analyses = await triageBuild(build.id, deps, createRun(job));

    expect(analyses).toMatchObject([
      {
        category: 'CODE_ERROR',
        kind: 'unknown',
        terminationReason: 'failed',
        analyst: 'none',
        classification: { abstained: true, confidence: 0 },
        answer: {
          title: 'Faultline could not analyze this failure',
          rootCause: expect.stringContaining('is not a function'),
          claims: [],
        },
        verdict: { action: 'human_review', confidence: 0 },
      },
    ]);
    expect(analyses[0]?.evidence[0]).toMatchObject({ id: 'E1', tool: 'log', source: 'build.log' });
    expect(analyses[0]?.evidence[0]?.text).toContain("reading 'price'");
    expect(JSON.stringify(analyses)).not.toContain('hunter2hunter2');
    expect(await triageBuild(build.id, deps, createRun(job))).toEqual(analyses);
    await escalateToReviewer(
      build.id,
      new Error('again'),
      { ...deps, stores: { ...stores, failures: createNoneUnread() } },
      createRun(job),
    );
    expect(await stores.analyses.listByBuild(build.id)).toEqual(analyses);
    expect(await listReviews(build)).toMatchObject([
      { analysisId: analyses[0]?.id, state: 'waiting', confidence: 0 },
    ]);
    expect(await stores.work.listByBuild(build.id)).toEqual([]);
  });

  it('is retried after a temporary error, and handed over at the last attempt', async () => {
    const away = new TriageError('upstream-failed', 'The model did not answer', { retryable: true });
    const { build, deps, take } = await createWorld({ classify: () => Promise.reject(away) });
    const job = await take();

    await expect(triageBuild(build.id, deps, createRun(job))).rejects.toBe(away);
    expect(await stores.analyses.listByBuild(build.id)).toEqual([]);

    expect(await triageBuild(build.id, deps, createRun(job, true))).toMatchObject([
      { terminationReason: 'failed', answer: { rootCause: 'The model did not answer' } },
    ]);
  });
});

describe('a build that cannot be read', () => {
  const bug = new RangeError('Invalid array length');

  it('is handed over for review as a whole, once', async () => {
    const { build, deps, take } = await createWorld();
    const broken = {
      ...deps,
      stores: { ...stores, builds: { ...stores.builds, saveTestResults: () => Promise.reject(bug) } },
    };
    const run = createRun(await take());

    await expect(triageBuild(build.id, broken, run)).rejects.toBe(bug);
    await escalateToReviewer(build.id, bug, broken, run);
    await escalateToReviewer(build.id, bug, broken, run);

    const [analysis, ...more] = await stores.analyses.listByBuild(build.id);
    expect(more).toEqual([]);
    expect(analysis).toMatchObject({
      terminationReason: 'failed',
      answer: { rootCause: 'Invalid array length' },
      evidence: [{ id: 'E1' }],
    });
    expect(await listReviews(build)).toHaveLength(1);
    expect(await stores.failures.listByBuild(build.id)).toMatchObject([
      { id: analysis?.failureIds[0], generic: true },
    ]);
  });

  it('gets no category if its log cannot be fetched, but the reason, and no review item', async () => {
    const error = new TriageError(
      'not-found',
      'GitHub returned 404 for the jobs: it is gone (is actions: read granted?).',
    );
    const unreadable = {
      provider: 'upload' as const,
      fetch: () => Promise.reject(error),
      fetchGreen: async () => [],
    };
    const { build, deps, take } = await createWorld({}, { buildSources: { upload: unreadable } });
    await deps.archive.remove(build.id);
    const run = createRun(await take());

    for (let time = 0; time < 2; time += 1) {
      const refusal = await triageBuild(build.id, deps, run).catch((thrown: unknown) => thrown);
      expect(refusal).toMatchObject({ message: `The log could not be read: ${error.message}` });
      await escalateToReviewer(build.id, refusal, deps, run);
    }

    const [analysis, ...more] = await stores.analyses.listByBuild(build.id);
    expect(more).toEqual([]);
    expect(analysis).toMatchObject({
      terminationReason: 'failed',
      answer: { title: 'The log could not be read', suspects: [], hypotheses: [] },
    });
    expect(analysis?.answer.rootCause).toContain('is actions: read granted?');
    expect(toShownAnalysis(analysis as Analysis).category).toBeNull();
    expect(renderMarkdown(analysis as Analysis)).not.toContain('CODE_ERROR');
    expect((await stores.analyses.heads([build.id]))[0]?.category).toBeNull();
    expect(
      (
        await stores.failures.search(
          { repository: build.repository, category: 'CODE_ERROR' },
          { limit: 5, offset: 0 },
        )
      ).length,
    ).toBe(0);
    expect(await listReviews(build)).toEqual([]);
    const period = {
      until: new Date(Date.now() + 60_000).toISOString(),
      days: 7,
      repository: build.repository,
    };
    expect(await stores.health.unreadLogs(period, 5)).toEqual([
      {
        provider: 'upload',
        repository: build.repository,
        builds: 1,
        buildId: build.id,
        why: analysis?.answer.rootCause,
      },
    ]);
  });

  it('does not count as answered because an earlier part of it is', async () => {
    const { build, deps, take } = await createWorld();
    const run = createRun(await take());
    const before = await triageBuild(build.id, deps, run);

    await escalateToReviewer(build.id, bug, deps, run);

    const analyses = await stores.analyses.listByBuild(build.id);
    expect(analyses.filter(({ terminationReason }) => terminationReason === 'failed')).toHaveLength(1);
    expect(analyses).toEqual(expect.arrayContaining(before));
    expect(await triageBuild(build.id, deps, run)).toHaveLength(2);
  });

  it('cannot be handed over if it is not stored', async () => {
    const { deps, take } = await createWorld();
    await expect(escalateToReviewer('bld_none', bug, deps, createRun(await take()))).rejects.toMatchObject({
      code: 'not-found',
    });
  });
});

function createCrashError(): TriageError {
  return new TriageError('storage-failed', 'the process died', { retryable: true });
}

/** Finds the stored groups, and takes no new one. */
function createNoneUnread(): Stores['failures'] {
  return { ...stores.failures, saveGroups: async (buildId) => await stores.failures.saveGroups(buildId, []) };
}
