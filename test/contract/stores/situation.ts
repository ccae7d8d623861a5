import { describe, expect, it } from 'vitest';
import type { NewBuild } from '../../../src/domain/build.ts';
import type { FailureHistory } from '../../../src/domain/failure-history.ts';
import { createId } from '../../../src/domain/ids.ts';
import { createFailingTest, sampleDecision, sampleGroup, sampleReview } from '../../stores/samples.ts';
import type { StoresWorld } from './world.ts';

export function testSituationContract(world: StoresWorld): void {
  describe('the facts for a notice', () => {
    const about = () => ({ type: 'pull-request', repository: world.repository, pullRequest: 7 }) as const;
    const ours = (change: Partial<NewBuild> = {}) =>
      world.build({ branch: 'fix/tax', pullRequest: 7, number: '100', ...change });
    const situation = () => world.stores.notices.situation(about());

    /** A failed build with this failure. */
    async function storeFailed(fingerprint: string, change: Partial<NewBuild>, generic = false) {
      const build = await world.build({ number: createId('bld'), ...change });
      await world.stores.failures.saveGroups(build.id, [{ ...sampleGroup(build.id, fingerprint), generic }]);
      return build;
    }

    /** What history says of a failure of our pull request. */
    async function readHistory(
      fingerprint: string,
      change: Partial<NewBuild> = {},
      generic = false,
    ): Promise<FailureHistory | undefined> {
      const build = await storeFailed(
        fingerprint,
        { branch: 'fix/tax', pullRequest: 7, number: '300', ...change },
        generic,
      );
      await world.storeAnalysis(build, fingerprint);
      const head = (await situation()).heads.find((buildSituation) => buildSituation.build.id === build.id);
      return head?.causes.find(({ analysis }) => analysis.fingerprint === fingerprint)?.history;
    }

    it('are empty if no build is stored', async () => {
      expect(await situation()).toEqual({ about: about(), heads: [], defaultBranch: null, usualMs: null });
    });

    it('contain the newest build of each pipeline, and its triage job', async () => {
      await ours({ number: '100' });
      const newest = await ours({ number: '101' });
      await ours({ number: '102', status: 'cancelled' });
      const lint = await ours({ number: '3', pipeline: 'lint', status: 'passed' });
      await world.build({ pullRequest: 8, number: '900' });
      await world.stores.triages.request(newest.id);
      const { heads } = await situation();
      expect(heads.map(({ build }) => build.id)).toEqual([lint.id, newest.id]);
      expect(heads[1]).toMatchObject({
        job: { state: 'queued', error: null },
        failures: 0,
        openCauses: 0,
        causes: [],
        lastFailed: null,
      });
    });

    it('of a branch exclude builds of pull requests from it', async () => {
      const { id, repository, pipeline } = await world.build({
        branch: 'main',
        pullRequest: null,
        number: '100',
        status: 'passed',
      });
      await world.build({ branch: 'main', pullRequest: 9, number: '101', status: 'failed' });
      const { heads } = await world.stores.notices.situation({
        type: 'branch',
        repository,
        pipeline,
        branch: 'main',
      });
      expect(heads.map(({ build }) => build.id)).toEqual([id]);
    });

    it('contain each cause with its tests, its review and who decided', async () => {
      const build = await ours();
      const tests = ['b', 'a', 'b'].map((name) => ({
        ...sampleGroup(build.id, 'f00d').failures[0]!,
        id: createId('fal'),
        test: createFailingTest(name),
      }));
      await world.stores.failures.saveGroups(build.id, [
        { ...sampleGroup(build.id, 'f00d'), failures: tests },
        sampleGroup(build.id, 'beef'),
      ]);
      const analysis = await world.storeAnalysis(build, 'f00d');
      const review = await world.stores.reviews.open(
        sampleReview(analysis, { repository: world.repository }),
      );
      const [before] = (await situation()).heads;
      expect(before).toMatchObject({
        failures: 4,
        openCauses: 1,
        causes: [{ failures: 3, tests: ['a', 'b'], review: { id: review.id, decision: null } }],
      });
      const [cause] = before?.causes ?? [];
      expect(cause?.sample.map(({ test, excerpt }) => [test?.name, excerpt?.text ?? ''])).toEqual([
        ['b', ''],
        ['a', ''],
        ['b', ''],
      ]);
      await world.stores.reviews.decide(
        review.id,
        review.version,
        sampleDecision(review, { reviewer: 'grace' }),
      );
      expect((await situation()).heads[0]?.causes[0]?.review?.decision).toMatchObject({
        type: 'accept',
        reviewer: 'grace',
      });
    });

    it('contain earlier failures and the build that fixed each, however many follow', async () => {
      await ours({ number: '100' });
      const last = await ours({ number: '101' });
      await world.storeAnalysis(last, 'f00d');
      const passed = await ours({ number: '102', status: 'passed' });
      await ours({ number: '103', status: 'passed' });
      const [head] = (await situation()).heads;
      expect(head?.lastFailed).toMatchObject({
        build: { id: last.id },
        fixedBy: { id: passed.id },
        causes: [{ category: 'TEST_FAILURE' }],
      });
    });

    it('contain since when the default branch fails with the cause', async () => {
      await storeFailed('f00d', { branch: 'main', number: '1' });
      await world.build({ branch: 'main', number: '2', status: 'passed' });
      const since = await storeFailed('f00d', { branch: 'main', number: '3' });
      await storeFailed('f00d', { branch: 'main', number: '4' });
      const history = await readHistory('f00d');
      expect(history).toMatchObject({
        seenElsewhere: true,
        defaultBranch: { name: 'main', status: 'failed', since: { id: since.id } },
      });
      const other = await readHistory('beef', { number: '301' });
      expect(other).toMatchObject({
        seenElsewhere: false,
        defaultBranch: { status: 'failed', since: null, lastFailed: null },
      });
    });

    it('contain the number of other pull requests with the cause, and never its own past', async () => {
      await storeFailed('f00d', { branch: 'a', pullRequest: 8 });
      await storeFailed('f00d', { branch: 'b', pullRequest: 9 });
      await storeFailed('f00d', { branch: 'b', pullRequest: 9 });
      await storeFailed('f00d', { branch: 'fix/tax', pullRequest: 7, number: '40' });
      await storeFailed('f00d', { branch: 'stacked', pullRequest: 10, commit: 'cafe' });
      expect(await readHistory('f00d', { commit: 'cafe' })).toMatchObject({
        otherPullRequests: 2,
        seenElsewhere: true,
        defaultBranch: null,
      });
      await storeFailed('beef', { branch: 'fix/tax', pullRequest: null });
      expect(await readHistory('beef', { number: '302' })).toMatchObject({
        otherPullRequests: 0,
        seenElsewhere: false,
      });
    });

    it('contain the default branch as named by the CI, and whether a fingerprint is specific', async () => {
      await world.stores.passingBuilds.saveDefaultBranch({
        provider: 'github',
        repository: world.repository,
        branch: 'develop',
      });
      await world.build({ branch: 'develop', number: '1', status: 'passed' });
      expect(await readHistory('f00d', {}, true)).toMatchObject({
        generic: true,
        defaultBranch: { name: 'develop', status: 'passed' },
      });
      expect((await situation()).defaultBranch).toBe('develop');
    });

    it('contain the results of the default branch before and after the failure, and its first occurrence', async () => {
      await world.build({ branch: 'main', number: '1', status: 'passed' });
      const since = await storeFailed('f00d', { branch: 'main', number: '2' });
      await storeFailed('f00d', { branch: 'main', number: '3' });
      const before = await ours({ number: '299', status: 'passed' });
      const known = await readHistory('f00d');
      expect(known).toMatchObject({
        isDefault: false,
        defaultBranch: { since: { id: since.id }, times: 2, fixedBy: null },
        own: { times: 1, passed: { id: before.id } },
      });
      const mending = await world.build({ branch: 'main', number: '4', status: 'passed' });
      await world.build({ branch: 'main', number: '5', status: 'passed' });
      const again = await readHistory('f00d', { number: '301' });
      expect(again?.own).toMatchObject({ times: 2, firstAt: known?.own.firstAt, passed: null });
      expect(again?.defaultBranch).toMatchObject({
        since: null,
        lastFailed: { number: '3' },
        fixedBy: { id: mending.id },
      });
    });

    it('count only tests that failed there', async () => {
      const build = async (tests: readonly string[], change: Partial<NewBuild>) => {
        const stored = await world.build({ number: createId('bld'), ...change });
        const failures = tests.map((name) => ({
          ...sampleGroup(stored.id, 'f00d').failures[0]!,
          id: createId('fal'),
          test: createFailingTest(name),
        }));
        await world.stores.failures.saveGroups(stored.id, [{ ...sampleGroup(stored.id, 'f00d'), failures }]);
        return stored;
      };
      await build(['a', 'b'], { branch: 'main' });
      const histories = async (tests: readonly string[], number: string) =>
        (await world.stores.failures.histories((await build(tests, { branch: 'x', number })).id))?.get(
          'f00d',
        );
      expect((await histories(['b'], '1'))?.defaultBranch?.since).not.toBeNull();
      expect((await histories(['b', 'c'], '2'))?.defaultBranch?.since).toBeNull();
    });

    it('contain a later passed run of the same commit, but no new merge of a pull request', async () => {
      const onBranch = { branch: 'fix', pullRequest: null, commit: 'cafe' };
      const failing = await storeFailed('f00d', { ...onBranch, number: '1' });
      const passed = await world.build({ ...onBranch, number: '2', status: 'passed' });
      const history = async (id: string) => (await world.stores.failures.histories(id))?.get('f00d');
      expect((await history(failing.id))?.passedAgain).toMatchObject({ id: passed.id });
      const merged = { branch: 'fix', pullRequest: 7, commit: 'beef', number: '300' };
      const inRequest = await storeFailed('f00d', merged);
      await world.build({ ...merged, number: '301', status: 'passed' });
      expect((await history(inRequest.id))?.passedAgain).toBeNull();
      const rerun = await world.build({ ...merged, attempt: 2, status: 'passed' });
      expect((await history(inRequest.id))?.passedAgain).toMatchObject({ id: rerun.id });
    });

    it('contain how often the test flaked elsewhere in the same way, and whether only this change has it', async () => {
      const run = async (fails: boolean, change: Partial<NewBuild>, fingerprint = 'f00d') => {
        const status = fails ? 'failed' : 'passed';
        const build = await world.build({ number: createId('bld'), branch: 'main', status, ...change });
        const test = createFailingTest('sometimes');
        const result = { name: 'sometimes', suite: test.suite, file: null, status, durationMs: 5 } as const;
        await world.stores.builds.saveTestResults(build.id, [result]);
        if (!fails) return build;
        const group = sampleGroup(build.id, fingerprint);
        const failures = group.failures.map((failure) => ({ ...failure, test }));
        await world.stores.failures.saveGroups(build.id, [{ ...group, failures }]);
        return build;
      };
      await run(false, { commit: 'a' });
      await run(true, { commit: 'b' });
      await run(false, { commit: 'b' });
      await run(true, { commit: 'c' }, 'beef');
      await run(false, { commit: 'c' });
      const ours = { branch: 'fix', pullRequest: 7, commit: 'd' };
      const test = async (fingerprint: string) => {
        const { id } = await run(true, ours, fingerprint);
        return (await world.stores.failures.histories(id))?.get(fingerprint)?.test;
      };
      expect(await test('f00d')).toEqual({
        runs: 5,
        flakes: 2,
        alike: 1,
        passedOnDefault: true,
        isNew: false,
      });
    });

    it('exclude pull requests of the same author, which may contain the same change', async () => {
      await storeFailed('f00d', { branch: 'a', pullRequest: 8, author: 'ada' });
      await storeFailed('f00d', { branch: 'b', pullRequest: 9, author: 'max' });
      expect(await readHistory('f00d', { author: 'ada' })).toMatchObject({
        otherPullRequests: 1,
        seenElsewhere: true,
      });
    });

    it('contain whether a person muted the cause', async () => {
      const build = await storeFailed('f00d', { branch: 'main' });
      await world.storeAnalysis(build, 'f00d');
      const of = { type: 'build', buildId: build.id } as const;
      const isMuted = async () =>
        (await world.stores.notices.situation(of)).heads.flatMap(({ causes }) =>
          causes.map((other) => other.isMuted),
        );
      expect(await isMuted()).toEqual([false]);
      const [cause] = await world.stores.causes.ofFingerprint('f00d', { repositories: [world.repository] });
      if (cause === undefined) throw new Error('there is no cause');
      await world.stores.causes.change(cause, { what: 'muted', days: 7, reason: 'known' }, 'ada', Date.now());
      expect(await isMuted()).toEqual([true]);
    });

    it('can be queried for a build, a commit and a branch', async () => {
      const build = await ours({ commit: 'cafe', pullRequest: null });
      const { notices } = world.stores;
      const { repository, pipeline } = build;
      const of = [
        { type: 'build', buildId: build.id },
        { type: 'commit', repository, commit: 'cafe' },
        { type: 'branch', repository, pipeline, branch: 'fix/tax' },
      ] as const;
      for (const one of of)
        expect((await notices.situation(one)).heads.map((head) => head.build.id)).toEqual([build.id]);
    });
  });
}
