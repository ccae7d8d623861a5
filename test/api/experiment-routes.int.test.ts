import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Experiment } from '../../src/domain/experiment.ts';
import { openServedWorld, type ServedWorld, storeFailedBuild } from '../service/answers/served-world.ts';
import { sampleAnalysis, sampleBuild, sampleExperiment, sampleFailure } from '../support/sample-analysis.ts';

let world: ServedWorld;
beforeAll(async () => {
  world = await openServedWorld();
});
afterAll(async () => await world?.close());

const tried = sampleExperiment({ tests: ['cart › cart total'] });
const report = (id: string, experiment: object, as: 'runner' | 'rita' = 'runner') =>
  world.ask(as, 'POST', `/api/builds/${id}/experiments`, experiment);
const findExperiment = async (id: string): Promise<Experiment | undefined> =>
  (await world.ask('rita', 'GET', `/api/analyses/${id}`)).body.experiment;

describe('an experiment on a build', () => {
  it('becomes part of the answer to the tests that it names, masked, and a newer one replaces it', async () => {
    const { build, analysis } = await storeFailedBuild(world.stores, '812');
    const token = `ghp_${'a1B2'.repeat(9)}`;
    const diff = `diff --git a/a.ts b/a.ts\nindex 1..2 100644\n--- a/a.ts\n+++ b/a.ts\n@@ -1 +1 @@\n-const token = '';\n+const token = '${token}';\n`;
    const attempt = {
      files: ['a.ts'],
      added: 1,
      deleted: 1,
      diff,
      verdict: 'fixed',
      broke: [],
      passed: 3,
      failed: 0,
      exitCodes: [0, 0, 0],
      checkExitCodes: [0],
    };
    const before = { passed: 0, failed: 3, exitCodes: [1, 1, 1] };
    const fixes = {
      command: ['npm'],
      narrowed: null,
      tests: [],
      check: ['npm'],
      before,
      branch: null,
      verdict: 'fixed',
      suggest: true,
      attempts: [attempt],
    };
    const { status, body } = await report(build.id, {
      ...tried,
      excerpt: `token ${token}`,
      command: ['npm', 'test', `--key=${token}`],
      fixes,
    });
    expect([status, body]).toEqual([200, { buildId: build.id, analyses: [analysis.id] }]);
    const kept = await findExperiment(analysis.id);
    expect(kept).toMatchObject({
      verdict: 'this-change',
      sentence: expect.stringMatching(
        /^Fails 3 of 3 here, 0 of 3 on the base \(cfa15e9\): introduced by this change\./,
      ),
      arms: tried.arms,
      fixes: { verdict: 'fixed', before, suggest: false },
    });
    expect(JSON.stringify(kept)).not.toContain(token);
    const later = {
      ...tried,
      verdict: 'not-this-change',
      arms: tried.arms.map((arm) => ({ ...arm, failed: 3, passed: 0, exitCodes: [1, 1, 1] })),
    };
    expect((await report('github:812', later)).status).toBe(200);
    expect(await findExperiment(analysis.id)).toMatchObject({ verdict: 'not-this-change' });
  });

  it('is not added to an answer about other tests, additional tests, or no tests', async () => {
    const { build, analysis } = await storeFailedBuild(world.stores, '813');
    for (const tests of [['cart › other'], ['cart › cart total', 'other'], []]) {
      expect((await report(build.id, { ...tried, tests })).body.analyses).toEqual([]);
    }
    expect(await findExperiment(analysis.id)).toBeUndefined();
  });

  it('that arrives before the answer is added to it later', async () => {
    const { stores, database } = world;
    const { id: _id, receivedAt: _at, ...newBuild } = sampleBuild({ number: '814', externalId: 'ci-814' });
    const { build } = await stores.builds.upsert(newBuild);
    const failure = sampleFailure({ id: 'fal_814', buildId: build.id });
    await stores.failures.saveGroups(build.id, [
      { fingerprint: failure.fingerprint, generic: false, failures: [failure] },
    ]);
    expect((await report(build.id, tried)).body.analyses).toEqual([]);
    const triage = await stores.triages.open(build.id, failure.fingerprint.value);
    const answer = sampleAnalysis({
      id: 'ana_814',
      buildId: build.id,
      triageId: triage.id,
      fingerprint: failure.fingerprint.value,
    });
    await stores.analyses.insertOnce(answer);
    expect(await database.transaction((sql) => stores.experiments.apply(build.id, sql))).toEqual(['ana_814']);
    expect(await findExperiment('ana_814')).toMatchObject({ verdict: 'this-change' });
  });

  it('is refused if its counts do not support it, if it is too large, or if the token lacks permission', async () => {
    const { build } = await storeFailedBuild(world.stores, '815');
    const [here, base] = tried.arms;
    const few = { ...tried, arms: [{ ...here, failed: 2, exitCodes: [1, 1], milliseconds: [9, 9] }, base] };
    for (const unfounded of [
      few,
      { ...tried, verdict: 'flaky' },
      { ...tried, arms: [here] },
      { ...tried, verdict: 'not-this-change' },
    ]) {
      const { status, body } = await report(build.id, unfounded);
      expect([status, body.error.message]).toEqual([422, expect.stringContaining('and the runs say')]);
    }
    expect((await report(build.id, { ...tried, sentence: 'x'.repeat(5_000) })).status).toBe(400);
    expect((await report(build.id, tried, 'rita')).status).toBe(403);
    expect((await report('bld_none', tried)).status).toBe(404);
  });
});
