import { describe, expect, it } from 'vitest';
import type { TestResult } from '../../../src/domain/build.ts';
import { findLastBreak } from '../../../src/domain/flakiness.ts';
import type { Sql } from '../../../src/ports/database.ts';
import { PAGE, type StoresWorld } from './world.ts';

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What is known of tests from their results. */
export function testFlakinessContract(world: StoresWorld): void {
  const result = (
    name: string,
    status: TestResult['status'],
    change: Partial<TestResult> = {},
  ): TestResult => {
    return { name, suite: 'cart', file: null, status, durationMs: 1, ...change };
  };
  /** One build of `main` on a commit, with the outcomes of its tests. */
  const ran = async (number: string, commit: string, results: readonly TestResult[], change = {}) => {
    const build = await world.build({ number, commit, branch: 'main', ...change });
    await world.stores.builds.saveTestResults(build.id, results);
    return build;
  };
  const listed = async (change = {}) =>
    await world.stores.flakiness.list({ repository: world.repository, ...change }, PAGE);

  describe('flakiness', () => {
    it('is recorded for a test from its first failure on, with its earlier results', async () => {
      await ran('1', 'a', [result('adds', 'passed'), result('pays', 'passed')]);
      const failed = await ran('2', 'b', [result('adds', 'failed'), result('pays', 'passed')]);
      const known = await world.stores.flakiness.ofTest({ repository: world.repository, name: 'adds' });
      expect(known).toMatchObject({
        suite: 'cart',
        runs: 2,
        failed: 1,
        flakes: 0,
        defaultRuns: 2,
        flips: 1,
        since: null,
      });
      expect(await listed()).toEqual([]);

      const passed = await ran(
        '2',
        'b',
        [result('adds', 'passed', { file: 'cart.py' }), result('pays', 'passed')],
        { attempt: 2 },
      );
      const [flaky, ...others] = await listed();

      expect(others).toEqual([]);
      expect(flaky).toMatchObject({
        name: 'adds',
        runs: 3,
        failed: 1,
        flakes: 1,
        rerun: 1,
        recovered: 1,
        since: failed.receivedAt,
      });
      expect(flaky?.recent.slice(1)).toEqual([
        { buildId: failed.id, mark: 'flake', at: failed.receivedAt },
        { buildId: passed.id, mark: 'passed', at: passed.receivedAt },
      ]);
      expect(await world.stores.flakiness.ofTest({ repository: world.repository, name: 'pays' })).toBeNull();
    });

    it('is the same if results are stored again, in another order, or at the same time as other builds', async () => {
      const [first, second] = [
        await ran('1', 'a', [result('adds', 'failed')]),
        await ran('1', 'a', [result('adds', 'passed')], { attempt: 2 }),
      ];
      const before = await listed();
      await world.stores.builds.saveTestResults(first.id, [result('pays', 'failed')]);
      await Promise.all([
        world.stores.builds.saveTestResults(first.id, [result('adds', 'failed'), result('pays', 'passed')]),
        world.stores.builds.saveTestResults(second.id, [
          result('pays', 'passed'),
          result('adds', 'passed'),
          result('adds', 'skipped'),
        ]),
      ]);

      expect(await listed()).toEqual(before);
      expect(before).toMatchObject([{ name: 'adds', runs: 2, flakes: 1 }]);
    });

    it('counts a test as failed if one of its results failed, and separately in each suite', async () => {
      await ran('1', 'a', [
        result('adds', 'passed'),
        result('adds', 'failed'),
        result('adds', 'passed', { suite: null }),
      ]);
      await ran('2', 'a', [result('adds', 'passed'), result('adds', 'failed', { suite: null })]);
      const name = { repository: world.repository, name: 'adds' };

      const [any, ofSuite, none, unknown] = await world.stores.flakiness.ofTests([
        name,
        { ...name, suite: 'cart' },
        { ...name, suite: null },
        { ...name, suite: 'other' },
      ]);

      expect([any?.suite, ofSuite?.flakes, none?.flakes, none?.failed, unknown]).toEqual([
        'cart',
        1,
        0,
        1,
        null,
      ]);
    });

    it('distinguishes the branch of a pull request from the default branch of the same name', async () => {
      for (const [at, status] of (['passed', 'failed', 'passed', 'failed', 'passed'] as const).entries())
        await ran(`${at}`, `c${at}`, [result('adds', status)], { pullRequest: 7 });

      expect(await listed()).toEqual([]);
      expect(
        await world.stores.flakiness.ofTest({ repository: world.repository, name: 'adds' }),
      ).toMatchObject({
        defaultRuns: 0,
        flips: 0,
      });
    });

    it('is listed by rate, filtered, in pages, and only in scope', async () => {
      for (const number of ['1', '2', '3'])
        for (const attempt of [1, 2])
          await ran(
            number,
            `c${number}`,
            [
              result('often', attempt === 1 ? 'failed' : 'passed'),
              result('once', attempt === 1 && number === '1' ? 'failed' : 'passed'),
            ],
            { attempt },
          );
      const names = async (filter: object, page = PAGE) =>
        (await world.stores.flakiness.list({ repository: world.repository, ...filter }, page)).map(
          ({ name }) => name,
        );

      expect(await names({})).toEqual(['often', 'once']);
      expect(await names({ minFlakes: 2 })).toEqual(['often']);
      expect(await names({ test: 'once' })).toEqual(['once']);
      expect(await names({}, { limit: 1, offset: 1 })).toEqual(['once']);
      expect(await names({ repositories: [world.repository] })).toEqual(['often', 'once']);
      expect(await names({ repositories: ['acme/other'] })).toEqual([]);
    });

    it('returns each run of a test, newest first, with place, machine and duration', async () => {
      await ran('1', 'a', [result('adds', 'passed', { durationMs: 40 })]);
      const broken = await ran('2', 'b', [
        result('adds', 'failed', { durationMs: 90, runner: 'agent-2' }),
        result('adds', 'passed', { runner: 'agent-1' }),
      ]);
      const runs = await world.stores.flakiness.runs({ repository: world.repository, name: 'adds' });

      expect(runs).toMatchObject([
        {
          buildId: broken.id,
          outcome: 'failed',
          durationMs: 90,
          runner: 'agent-2',
          branch: 'main',
          number: '2',
          onDefaultBranch: true,
        },
        { outcome: 'passed', durationMs: 40, runner: null },
      ]);
      expect(findLastBreak(runs)).toMatchObject({ good: { commit: 'a' }, bad: { commit: 'b' }, fixed: null });
      expect(await world.stores.flakiness.runs({ repository: world.repository, name: 'none' })).toEqual([]);
    });

    it('divides the cost of a failed build among its failed tests, even if they arrive in parts', async () => {
      const times = { startedAt: '2026-03-01T10:00:00.000Z', finishedAt: '2026-03-01T10:30:00.000Z' };
      const build = await ran('1', 'a', [result('adds', 'failed'), result('pays', 'passed')], times);
      await ran('2', 'a', [result('adds', 'failed')]);
      const query = {
        until: new Date(Date.parse(build.receivedAt) + 60_000).toISOString(),
        days: 7,
        minutes: 10,
        repository: world.repository,
      };
      const costs = async (change = {}) => await world.stores.flakiness.costs({ ...query, ...change }, PAGE);
      expect(await costs()).toMatchObject([
        { name: 'adds', failures: 2, machineMinutes: 30, builds: 2, untimed: 1 },
      ]);

      await world.stores.builds.saveTestResults(build.id, [
        result('pays', 'failed'),
        result('ships', 'failed'),
      ]);

      const [adds, ...others] = await costs();
      expect(adds).toMatchObject({ name: 'adds', failures: 2, machineMinutes: 10, untimed: 1 });
      expect(others).toMatchObject([
        { failures: 1, machineMinutes: 10, untimed: 0 },
        { failures: 1, machineMinutes: 10, untimed: 0 },
      ]);
      expect(others.map(({ name }) => name).toSorted()).toEqual(['pays', 'ships']);
      expect((await costs({ name: 'SHIP' })).map(({ name }) => name)).toEqual(['ships']);
      expect(await costs({ repositories: ['acme/other'] })).toEqual([]);
      const later = new Date(Date.parse(query.until) + 30 * 86_400_000).toISOString();
      expect(await costs({ until: later })).toEqual([]);
      expect(await costs({ until: later, name: 'ships' })).toMatchObject([
        { failures: 0, machineMinutes: 0 },
      ]);
    });

    it('lists a test in quarantine until a date', async () => {
      await ran('1', 'a', [result('adds', 'failed')]);
      const test = { repository: world.repository, name: 'adds', suite: 'cart' };
      const quarantine = { until: '2099-01-01T00:00:00.000Z', by: 'ada', reason: 'waits for the new driver' };
      expect(await world.stores.flakiness.quarantine(test, quarantine)).toMatchObject({
        name: 'adds',
        quarantine,
      });
      expect(await world.stores.flakiness.ofTest(test)).toMatchObject({ quarantine });
      expect(await listed({ quarantined: true })).toMatchObject([{ name: 'adds', flakes: 0, quarantine }]);
      expect(await world.stores.flakiness.quarantine({ ...test, suite: 'other' }, quarantine)).toBeNull();

      await world.stores.flakiness.quarantine(test, { ...quarantine, until: '2020-01-01T00:00:00.000Z' });
      expect(await listed({ quarantined: true })).toEqual([]);
      expect(await world.stores.flakiness.quarantine(test, { ...quarantine, until: null })).toMatchObject({
        quarantine: null,
        quarantineEvents: [quarantine, {}, { until: null, by: 'ada' }],
      });
    });

    it('ignores a build in which very many tests fail at once', async () => {
      const all = Array.from({ length: 1001 }, (_, at) => result(`test ${at}`, 'failed'));
      await ran('1', 'a', all);

      expect(
        await world.stores.flakiness.ofTest({ repository: world.repository, name: 'test 1' }),
      ).toBeNull();
    });

    it('stores the results of thousands of tests once, in statements of at most 2,000', async () => {
      await ran('1', 'a', [result('test 4', 'failed'), result('test 4099', 'failed')]);
      const build = await world.build({ number: '2', commit: 'b', branch: 'main' });
      const results = Array.from({ length: 4_500 }, (_, at) => result(`test ${at % 4_100}`, 'passed'));
      let most = 0;
      for (const _ of ['read', 'read again'])
        await world.db.transaction(async (sql) => {
          const query: Sql['query'] = async (text, values = []) => {
            const lists = values.flatMap((value) => (isRecord(value) ? Object.values(value) : [value]));
            most = Math.max(most, ...lists.map((list) => (Array.isArray(list) ? list.length : 0)));
            return await sql.query(text, values);
          };
          await world.stores.builds.saveTestResults(build.id, results, { query });
        });

      const stored = await world.db.query('select from test_results where build_id = $1', [build.id]);
      expect(stored).toHaveLength(4_500);
      expect(most).toBeLessThanOrEqual(2_000);
      const known = await world.stores.flakiness.ofTests(
        ['test 4', 'test 4099'].map((name) => ({ repository: world.repository, name })),
      );
      expect(known.map((test) => test?.runs)).toEqual([2, 2]);
    });

    it('records no test without runs, so that nothing outlives its builds', async () => {
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

      expect(
        await world.db.query('select key from followed_tests where repository = $1', [world.repository]),
      ).toEqual([]);
    });

    it('deletes a test with the last build that ran it', async () => {
      const builds = [
        await ran('1', 'a', [result('adds', 'failed')]),
        await ran('1', 'a', [result('adds', 'passed')], { attempt: 2 }),
      ];
      const followed = async () =>
        (await world.db.query('select from followed_tests where repository = $1', [world.repository])).length;
      await world.db.query('delete from builds where id = $1', [builds[0]?.id]);
      expect(await followed()).toBe(1);

      await world.db.query('delete from builds where id = $1', [builds[1]?.id]);

      expect(await followed()).toBe(0);
    });
  });
}
