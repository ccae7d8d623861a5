import { beforeEach, describe, expect, it } from 'vitest';
import type { Build, SourceText } from '../../../src/domain/build.ts';
import { TriageError } from '../../../src/domain/errors.ts';
import { createPassingBuildRequest, type WorkItem } from '../../../src/domain/work.ts';
import { createMasker } from '../../../src/log/mask/mask.ts';
import { silentLogger } from '../../../src/ports/telemetry.ts';
import {
  createPassingBuildHandler,
  type LearnDeps,
  learnGreen,
} from '../../../src/service/triage/passing-builds.ts';
import { createMemoryArchive } from '../../../src/stores/archive/memory.ts';
import type { PassingLog } from '../../../src/stores/passing-builds.ts';
import { drainWork, type WorkDeps } from '../../../src/work/process-items.ts';
import { sampleBuild } from '../../support/sample-build.ts';

const AT = '2026-01-05T10:00:00.000Z';
const ENTRY: WorkItem = {
  ...createPassingBuildRequest('bld_1'),
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
  groupKey: null,
  dueAt: AT,
  changedAt: AT,
};
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

function createLog(name: string, text: string): SourceText {
  return { name, kind: 'log', text, notes: [] };
}

function createDeps(
  build: Partial<Build>,
  logs: readonly SourceText[],
  archive = createMemoryArchive(),
): LearnDeps {
  return {
    stores: {
      builds: { find: async () => sampleBuild({ status: 'passed', ...build }) },
      environments: { save: async () => undefined },
      passingBuilds: {
        isWanted: async () => wanted,
        keep: async (_job, made) => {
          kept = [...made];
          return true;
        },
      },
    },
    archive,
    masker: createMasker(),
    buildSources: { github: { fetchGreen: async () => logs } },
    greenBuilds: 3,
  };
}

async function learn(deps: LearnDeps): Promise<void> {
  const end = await learnGreen(ENTRY, deps, new AbortController().signal);
  if (end !== null) ends.push(`${end.outcome}: ${end.error ?? ''}`);
}

describe('a passed build', () => {
  it('is stored as one set of templates per log', async () => {
    await learn(
      createDeps({}, [createLog('unit.log', 'ran 12 tests in 3s'), createLog('lint.log', 'all good')]),
    );

    expect(kept).toEqual([
      { log: 'unit.log', templates: { version: 1, lines: ['ran <n> tests in <duration>'] } },
      { log: 'lint.log', templates: { version: 1, lines: ['all good'] } },
    ]);
  });

  it('is masked before templates are made', async () => {
    const password = 'correct-horse-battery-9';
    await learn(
      createDeps({}, [createLog('unit.log', `cloning with ${SECRET}\nlogin --password=${password}\nok`)]),
    );

    expect(kept[0]?.templates.lines).toContain('ok');
    expect(JSON.stringify(kept)).not.toContain(SECRET.slice(4, 20));
    expect(JSON.stringify(kept)).not.toMatch(/horse|battery/);
  });

  it('that was uploaded is read from the archive, and its only log is used without a name', async () => {
    const archive = createMemoryArchive();
    await archive.put('bld_1', createLog('build-812.log', 'uploaded'));
    await archive.put('bld_1', { ...createLog('junit.xml', '<testsuite/>'), kind: 'report' });

    await learn(createDeps({ provider: 'upload' }, [], archive));

    expect(kept).toEqual([{ log: '', templates: { version: 1, lines: ['uploaded'] } }]);
  });

  it('is skipped if there are enough newer ones, or if it has no log', async () => {
    await learn(createDeps({}, []));
    wanted = false;
    await learn(createDeps({}, [createLog('unit.log', 'late')]));

    expect(kept).toEqual([]);
    expect(ends).toEqual(['skipped: There is no log.', 'skipped: ']);
  });
});

describe('the work table of passed builds', () => {
  /** Processes all entries, and says what became of them. */
  async function workOff(
    entries: WorkItem[],
    change: { fails?: () => Error; isPaused?: boolean } = {},
  ): Promise<string[]> {
    const said: string[] = [];
    const { fails, isPaused = false } = change;
    const learned = createDeps({}, [createLog('unit.log', 'fine')]);
    const failing =
      fails === undefined ? {} : { buildSources: { github: { fetchGreen: () => Promise.reject(fails()) } } };
    const work: WorkDeps['work'] = {
      renew: async () => true,
      holds: async () => true,
      progressed: async () => undefined,
      take: async () => entries.splice(0, 1),
      release: async (_entry, error, delayMs) =>
        void said.push(`released for ${Math.round(delayMs / 8_000)} x 8 s: ${error}`),
      finish: async (_entry, { outcome, error }) => said.push(`${outcome}: ${error}`) > 0,
    };
    const handler = createPassingBuildHandler({ ...learned, ...failing }, async () => isPaused);
    await drainWork(
      handler,
      { work, masker: createMasker(), logger: silentLogger },
      new AbortController().signal,
    );
    return said;
  }

  it('is processed until nothing is pending', async () => {
    expect(await workOff([ENTRY, ENTRY])).toEqual([]);
    expect(kept).toHaveLength(1);
  });

  it('waits while a failed build is pending', async () => {
    const jobs = [ENTRY];
    await workOff(jobs, { isPaused: true });
    expect(jobs).toHaveLength(1);
  });

  it('keeps what may succeed later, and drops what cannot', async () => {
    const away = new TriageError('upstream-failed', `GitHub is away, says ${SECRET}`, { retryable: true });
    expect(await workOff([{ ...ENTRY, retries: 2 }], { fails: () => away })).toEqual([
      'released for 1 x 8 s: GitHub is away, says ***',
    ]);
    expect(await workOff([{ ...ENTRY, retries: 11 }], { fails: () => away })).toEqual([
      'failed: GitHub is away, says ***',
    ]);
    const gone = new TriageError('not-found', 'The log has expired.');
    expect(await workOff([ENTRY], { fails: () => gone })).toEqual(['failed: The log has expired.']);
  });

  it('drops a build that crashes the process each time', async () => {
    expect(await workOff([{ ...ENTRY, attempts: 6 }])).toEqual([
      'failed: Stopped after 5 attempts that did not finish, for example because the process died.',
    ]);
    expect(kept).toEqual([]);
  });
});
