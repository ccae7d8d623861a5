import { describe, expect, it } from 'vitest';
import type { TestResult } from '../../../src/domain/build.ts';
import { PAGE, type StoresWorld } from './world.ts';

/** What is known of tests from their results. */
export function flakinessContract(world: StoresWorld): void {
  const result = (name: string, status: TestResult['status'], change: Partial<TestResult> = {}): TestResult => {
    return { name, suite: 'cart', file: null, status, durationMs: 1, ...change };
  };
  /** One build of `main` on a commit, with the outcomes of its tests. */
  const ran = async (number: string, commit: string, results: readonly TestResult[], change = {}) => {
    const build = await world.build({ number, commit, branch: 'main', ...change });
    await world.stores.builds.saveTestResults(build.id, results);
    return build;
  };
  const listed = async (change = {}) => await world.stores.flakiness.list({ repository: world.repository, ...change }, PAGE);

  describe('flakiness', () => {
    it('follows a test from its first failure on, and brings along what it did before', async () => {
      await ran('1', 'a', [result('adds', 'passed'), result('pays', 'passed')]);
      const failed = await ran('2', 'b', [result('adds', 'failed'), result('pays', 'passed')]);
      const known = await world.stores.flakiness.ofTest({ repository: world.repository, name: 'adds' });
      expect(known).toMatchObject({ suite: 'cart', runs: 2, failed: 1, flakes: 0, defaultRuns: 2, flips: 1, since: null });
      expect(await listed()).toEqual([]);

      const passed = await ran('2', 'b', [result('adds', 'passed', { file: 'cart.py' }), result('pays', 'passed')], { attempt: 2 });
      const [flaky, ...others] = await listed();

      expect(others).toEqual([]);
      expect(flaky).toMatchObject({ name: 'adds', runs: 3, failed: 1, flakes: 1, rerun: 1, recovered: 1, since: failed.receivedAt });
      expect(flaky?.recent.slice(1)).toEqual([
        { buildId: failed.id, mark: 'flake', at: failed.receivedAt },
        { buildId: passed.id, mark: 'passed', at: passed.receivedAt },
      ]);
      expect(await world.stores.flakiness.ofTest({ repository: world.repository, name: 'pays' })).toBeNull();
    });

    it('says the same when results are saved again, in another order of parts, or at once with those of other builds', async () => {
      const [first, second] = [
        await ran('1', 'a', [result('adds', 'failed')]),
        await ran('1', 'a', [result('adds', 'passed')], { attempt: 2 }),
      ];
      const before = await listed();
      await world.stores.builds.saveTestResults(first.id, [result('pays', 'failed')]);
      await Promise.all([
        world.stores.builds.saveTestResults(first.id, [result('adds', 'failed'), result('pays', 'passed')]),
        world.stores.builds.saveTestResults(second.id, [result('pays', 'passed'), result('adds', 'passed'), result('adds', 'skipped')]),
      ]);

      expect(await listed()).toEqual(before);
      expect(before).toMatchObject([{ name: 'adds', runs: 2, flakes: 1 }]);
    });

    it('takes a test for failed in a build where one of its results failed, and for another one in another suite', async () => {
      await ran('1', 'a', [result('adds', 'passed'), result('adds', 'failed'), result('adds', 'passed', { suite: null })]);
      await ran('2', 'a', [result('adds', 'passed'), result('adds', 'failed', { suite: null })]);
      const name = { repository: world.repository, name: 'adds' };

      const [any, ofSuite, none, unknown] = await world.stores.flakiness.ofTests([
        name,
        { ...name, suite: 'cart' },
        { ...name, suite: null },
        { ...name, suite: 'other' },
      ]);

      expect([any?.suite, ofSuite?.flakes, none?.flakes, none?.failed, unknown]).toEqual(['cart', 1, 0, 1, null]);
    });

    it('does not take the branch of a pull request for the default one', async () => {
      for (const [at, status] of (['passed', 'failed', 'passed', 'failed', 'passed'] as const).entries())
        await ran(`${at}`, `c${at}`, [result('adds', status)], { pullRequest: 7 });

      expect(await listed()).toEqual([]);
      expect(await world.stores.flakiness.ofTest({ repository: world.repository, name: 'adds' })).toMatchObject({
        defaultRuns: 0,
        flips: 0,
      });
    });

    it('orders by the share of flakes, filters, pages, and shows only what is in scope', async () => {
      for (const number of ['1', '2', '3'])
        for (const attempt of [1, 2])
          await ran(
            number,
            `c${number}`,
            [result('often', attempt === 1 ? 'failed' : 'passed'), result('once', attempt === 1 && number === '1' ? 'failed' : 'passed')],
            { attempt },
          );
      const names = async (filter: object, page = PAGE) =>
        (await world.stores.flakiness.list({ repository: world.repository, ...filter }, page)).map(({ name }) => name);

      expect(await names({})).toEqual(['often', 'once']);
      expect(await names({ minFlakes: 2 })).toEqual(['often']);
      expect(await names({ test: 'once' })).toEqual(['once']);
      expect(await names({}, { limit: 1, offset: 1 })).toEqual(['once']);
      expect(await names({ repositories: [world.repository] })).toEqual(['often', 'once']);
      expect(await names({ repositories: ['acme/other'] })).toEqual([]);
    });

    it('leaves out a build in which very many tests fail at once', async () => {
      const all = Array.from({ length: 1001 }, (_, at) => result(`test ${at}`, 'failed'));
      await ran('1', 'a', all);

      expect(await world.stores.flakiness.ofTest({ repository: world.repository, name: 'test 1' })).toBeNull();
    });

    it('follows no test whose runs it does not keep, so that nothing outlives its builds', async () => {
      const names = (from: number) => Array.from({ length: 1000 }, (_, at) => `test ${from + at}`);
      await ran(
        '1',
        'a',
        names(0).map((name) => result(name, 'failed')),
      );
      await ran(
        '2',
        'b',
        names(1000).map((name) => result(name, 'failed')),
      );
      const passed = [...names(0), ...names(1000)].map((name) => result(name, 'passed'));
      await ran('3', 'c', [...passed, ...names(2000).map((name) => result(name, 'failed'))]);

      await world.db.query('delete from builds where repository = $1', [world.repository]);

      expect(await world.db.query('select key from followed_tests where repository = $1', [world.repository])).toEqual([]);
    });

    it('forgets a test with the last build that ran it', async () => {
      const builds = [await ran('1', 'a', [result('adds', 'failed')]), await ran('1', 'a', [result('adds', 'passed')], { attempt: 2 })];
      const followed = async () => (await world.db.query('select from followed_tests where repository = $1', [world.repository])).length;
      await world.db.query('delete from builds where id = $1', [builds[0]?.id]);
      expect(await followed()).toBe(1);

      await world.db.query('delete from builds where id = $1', [builds[1]?.id]);

      expect(await followed()).toBe(0);
    });
  });
}
