import { beforeEach, describe, expect, it } from 'vitest';
import type { Build, SourceText } from '../../../src/domain/build.ts';
import { TriageError } from '../../../src/domain/errors.ts';
import { createMasker } from '../../../src/log/mask/mask.ts';
import type { PassingBuildJob, PassingLog } from '../../../src/ports/stores.ts';
import { silentLogger } from '../../../src/ports/telemetry.ts';
import {
  type LearnDeps,
  learnGreen,
  type PassingBuildWorkerDeps,
  startPassingBuildWorker,
} from '../../../src/service/triage/passing-builds.ts';
import { createMemoryArchive } from '../../../src/stores/archive/memory.ts';
import { sampleBuild } from '../../support/sample-build.ts';

const JOB: PassingBuildJob = { buildId: 'bld_1', attempts: 1, lease: 1 };
/** Assembled, so that no scanner takes this file for a leak. */
const SECRET = ['ghp', 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'].join('_');

let kept: PassingLog[];
let ends: string[];
let wanted: boolean;
beforeEach(() => {
  kept = [];
  ends = [];
  wanted = true;
});

function logOf(name: string, text: string): SourceText {
  return { name, kind: 'log', text, notes: [] };
}

function depsFor(build: Partial<Build>, logs: readonly SourceText[], archive = createMemoryArchive()): LearnDeps {
  return {
    stores: {
      builds: { find: async () => sampleBuild({ status: 'passed', ...build }) },
      passingBuilds: {
        isWanted: async () => wanted,
        keep: async (_job, made) => {
          kept = [...made];
          return true;
        },
        drop: async (_job, state, error) => void ends.push(`${state}: ${error ?? ''}`),
      },
    },
    archive,
    masker: createMasker(),
    buildSources: { github: { fetchGreen: async () => logs } },
    greenBuilds: 3,
  };
}

function learn(deps: LearnDeps): Promise<void> {
  return learnGreen(JOB, deps, new AbortController().signal);
}

describe('a green build', () => {
  it('is kept as one set of templates a log', async () => {
    await learn(depsFor({}, [logOf('unit.log', 'ran 12 tests in 3s'), logOf('lint.log', 'all good')]));

    expect(kept).toEqual([
      { log: 'unit.log', templates: { version: 1, lines: ['ran <n> tests in <duration>'] } },
      { log: 'lint.log', templates: { version: 1, lines: ['all good'] } },
    ]);
  });

  it('is masked before it becomes templates', async () => {
    const password = 'correct-horse-battery-9';
    await learn(depsFor({}, [logOf('unit.log', `cloning with ${SECRET}\nlogin --password=${password}\nok`)]));

    expect(kept[0]?.templates.lines).toContain('ok');
    expect(JSON.stringify(kept)).not.toContain(SECRET.slice(4, 20));
    expect(JSON.stringify(kept)).not.toMatch(/horse|battery/);
  });

  it('that was uploaded is read from the archive, and its only log goes by no name', async () => {
    const archive = createMemoryArchive();
    await archive.put('bld_1', logOf('build-812.log', 'uploaded'));
    await archive.put('bld_1', { ...logOf('junit.xml', '<testsuite/>'), kind: 'report' });

    await learn(depsFor({ provider: 'upload' }, [], archive));

    expect(kept).toEqual([{ log: '', templates: { version: 1, lines: ['uploaded'] } }]);
  });

  it('is left out where newer ones are enough, or where it has no log', async () => {
    await learn(depsFor({}, []));
    wanted = false;
    await learn(depsFor({}, [logOf('unit.log', 'late')]));

    expect(kept).toEqual([]);
    expect(ends).toEqual(['skipped: There is no log.', 'skipped: ']);
  });
});

describe('the keeper of green builds', () => {
  /** Lets a keeper do all that it finds to do, and says what became of it. */
  async function workOff(jobs: PassingBuildJob[], change: { fails?: () => Error; waiting?: boolean } = {}): Promise<string[]> {
    const said: string[] = [];
    const learned = depsFor({}, [logOf('unit.log', 'fine')]);
    const { fails } = change;
    let looked = () => undefined as unknown;
    const done = new Promise<void>((resolve) => {
      looked = resolve;
    });
    const deps: PassingBuildWorkerDeps = {
      ...learned,
      ...{ logger: silentLogger, intervalMs: 60_000 },
      ...(fails === undefined ? {} : { buildSources: { github: { fetchGreen: () => Promise.reject(fails()) } } }),
      stores: {
        ...learned.stores,
        triages: {
          owed: async () => {
            if (change.waiting === true) looked();
            return change.waiting === true ? [TRIAGE_JOB] : [];
          },
        },
        passingBuilds: {
          ...learned.stores.passingBuilds,
          take: async () => {
            const job = jobs.shift() ?? null;
            if (job === null) looked();
            return job;
          },
          release: async (_job, error, delayMs) => void said.push(`released for ${delayMs} ms: ${error}`),
          drop: async (_job, state, error) => void said.push(`${state}: ${error}`),
        },
      },
    };
    const worker = startPassingBuildWorker(deps);
    await done;
    await worker.stop();
    return said;
  }

  const at = '2026-03-01T00:00:00.000Z';
  const TRIAGE_JOB = {
    ...{ id: 'job_1', buildId: 'bld_2', state: 'queued' as const, attempts: 0, retries: 0, notBefore: null, owed: 1, fetched: 0 },
    ...{ dirty: false, lease: 0, leaseExpiresAt: null, error: null, createdAt: at, updatedAt: at },
  };

  it('works off what is owed', async () => {
    expect(await workOff([JOB, JOB])).toEqual([]);
    expect(kept).toHaveLength(1);
  });

  it('touches nothing while a failed build waits', async () => {
    const jobs = [JOB];
    await workOff(jobs, { waiting: true });
    expect(jobs).toHaveLength(1);
  });

  it('gives back what may work later, and lets go of what will not', async () => {
    const away = new TriageError('upstream-failed', `GitHub is away, says ${SECRET}`, { retryable: true });
    expect(await workOff([{ ...JOB, attempts: 3 }], { fails: () => away })).toEqual(['released for 8000 ms: GitHub is away, says ***']);
    expect(await workOff([{ ...JOB, attempts: 12 }], { fails: () => away })).toEqual(['failed: GitHub is away, says ***']);
    const gone = new TriageError('not-found', 'The log has expired.');
    expect(await workOff([JOB], { fails: () => gone })).toEqual(['failed: The log has expired.']);
  });

  it('lets go of a build that takes the process down each time', async () => {
    expect(await workOff([{ ...JOB, attempts: 13 }])).toEqual(['failed: Stopped after too many attempts that did not finish.']);
    expect(kept).toEqual([]);
  });
});
