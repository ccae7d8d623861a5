import { describe, expect, it } from 'vitest';
import { createProvisionalNumber, WHOLE_BUILD } from '../../../src/domain/build.ts';
import type { Stores } from '../../../src/stores/stores.ts';
import { sampleBuild } from '../../stores/samples.ts';
import { testDeliveriesContract } from './deliveries.ts';
import { PAGE, type StoresWorld } from './world.ts';

export function testDeliveriesAndBuildsContract(world: StoresWorld): void {
  testDeliveriesContract(world);
  describe('builds', () => {
    it('are returned with every field as it was stored', async () => {
      const full = sampleBuild({
        repository: world.repository,
        externalId: '9001',
        job: 'test',
        branch: 'main',
        commit: 'abc123',
        author: 'ada',
        pullRequest: 7,
        url: 'https://ci.example/57',
        queuedSeconds: 42.5,
        startedAt: '2026-03-01T01:02:03.004Z',
        finishedAt: '2026-03-01T01:05:00.000Z',
      });

      const { build: stored, created } = await world.stores.builds.upsert(full);

      expect(created).toBe(true);
      expect(stored).toEqual({ ...full, id: stored.id, receivedAt: new Date(world.now.value).toISOString() });
      expect(await world.stores.builds.find(stored.id)).toEqual(stored);
      expect(await world.stores.builds.find('bld_none')).toBeNull();
    });

    it('are removed if their upload was never completed, without other builds', async () => {
      const unfinished = await world.build({ provider: 'upload', number: '1', status: 'unknown' });
      const kept = await world.build({ provider: 'upload', number: '2', status: 'failed' });
      const event = await world.build({ provider: 'github', number: '3', status: 'unknown' });

      expect(await world.stores.builds.withdrawUnfinished(kept.id)).toEqual([]);
      expect(await world.stores.builds.withdrawUnfinished(event.id)).toEqual([]);
      expect(await world.stores.builds.withdrawUnfinished(unfinished.id)).toEqual([unfinished.id]);
      expect(await world.stores.builds.find(unfinished.id)).toBeNull();
    });

    it('become one if two upserts arrive at the same time', async () => {
      const results = await Promise.all(
        [1, 2, 3].map(() => world.stores.builds.upsert(sampleBuild({ repository: world.repository }))),
      );

      expect(new Set(results.map((result) => result.build.id)).size).toBe(1);
      expect(results.filter((result) => result.created)).toHaveLength(1);
    });

    it('gain fields but do not lose or change them', async () => {
      await world.build({ branch: 'main', status: 'unknown' });

      const gained = await world.build({ branch: null, commit: 'abc', status: 'failed' });
      const kept = await world.build({ branch: 'other', commit: 'def', status: 'passed' });

      expect(gained).toMatchObject({ branch: 'main', commit: 'abc', status: 'failed' });
      expect(kept).toEqual(gained);
    });

    it("take their branch from the event of the run, since a job's event does not name the fork", async () => {
      await world.build({
        externalId: '9001',
        number: '9001',
        pipeline: 'test',
        job: 'test',
        branch: 'main',
      });
      const run = await world.build({
        externalId: '9001',
        number: '77',
        pipeline: 'CI',
        branch: 'somebody:main',
      });
      expect(run).toMatchObject({ number: '77', branch: 'somebody:main' });
      expect(
        await world.build({
          externalId: '9001',
          number: '9001',
          pipeline: 'lint',
          job: 'lint',
          branch: 'main',
        }),
      ).toEqual(run);
    });

    it('distinguish a run whose id equals its number from a provisional number', async () => {
      const job = await world.build({
        externalId: '12',
        number: createProvisionalNumber(12),
        pipeline: 'test',
        job: 'test',
      });
      const run = await world.build({ externalId: '12', number: '12', pipeline: 'ci' });
      expect(run).toMatchObject({ id: job.id, number: '12', pipeline: 'ci', job: 'test' });
      expect(
        await world.build({
          externalId: '12',
          number: createProvisionalNumber(12),
          pipeline: 'lint',
          job: 'lint',
        }),
      ).toEqual(run);
    });

    it('become one for two events of one run, with the real number instead of the provisional one', async () => {
      const provisional = { externalId: '9001', number: '9001', pipeline: 'test', job: 'test' };
      const real = { externalId: '9001', number: '57', pipeline: 'CI' };

      const [left, right] = await Promise.all([world.build(provisional), world.build(real)]);
      const later = await world.build({ ...provisional, job: 'lint' });

      expect(left.id).toBe(right.id);
      expect(later).toMatchObject({ id: left.id, number: '57', pipeline: 'CI', job: 'test' });
    });

    it('keep attempts apart, and return the newest by external id', async () => {
      const first = await world.build({ externalId: '9001' });
      const second = await world.build({ externalId: '9001', attempt: 2 });

      expect(second.id).not.toBe(first.id);
      expect(
        await world.stores.builds.findByExternalId({
          provider: 'github',
          repository: world.repository,
          externalId: '9001',
        }),
      ).toEqual(second);
      expect(
        await world.stores.builds.findByExternalId({
          provider: 'github',
          repository: world.repository,
          externalId: '9001',
          attempt: 1,
        }),
      ).toEqual(first);
    });

    it('recognize a new failed part, and the attempt to which it belongs', async () => {
      const first = await world.build({ externalId: '9002' });
      const second = await world.build({ externalId: '9002', attempt: 2 });
      const { builds } = world.stores;
      const key = { provider: 'github', repository: world.repository, externalId: '9002' };

      const told = await Promise.all([1, 2, 3].map(() => builds.addFailedPart(first.id, 'job 1')));
      expect(told.toSorted()).toEqual([false, false, true]);
      expect(await builds.addFailedPart(first.id, 'job 2')).toBe(true);
      expect(await builds.addFailedPart(second.id, 'job 1')).toBe(true);
      expect(await builds.findByExternalId({ ...key, failedPart: 'job 2' })).toEqual(first);
      expect(await builds.findByExternalId({ ...key, failedPart: 'job 3' })).toEqual(second);

      expect(await builds.addFailedPart(first.id, WHOLE_BUILD)).toBe(true);
      expect(await builds.addFailedPart(first.id, 'job 3')).toBe(false);
      expect(await builds.addFailedPart(first.id, WHOLE_BUILD)).toBe(false);
    });

    it('are listed newest first, by filter and page', async () => {
      for (const number of ['1', '2', '3'])
        await world.build({ number, status: number === '2' ? 'passed' : 'failed' });

      const numbers = async (...[filter, page]: Parameters<Stores['builds']['list']>) =>
        (await world.stores.builds.list({ repository: world.repository, ...filter }, page)).map(
          (found) => found.number,
        );

      expect(await numbers({}, PAGE)).toEqual(['3', '2', '1']);
      expect(await numbers({ status: 'failed', branch: 'main' }, PAGE)).toEqual(['3', '1']);
      expect(await numbers({ number: '2', provider: 'github', pipeline: 'CI' }, PAGE)).toEqual(['2']);
      expect(await numbers({}, { limit: 1, offset: 1 })).toEqual(['2']);
    });

    it('merge test results by test, and store a repeated part once', async () => {
      const { id } = await world.build();
      const result = (test: string, status: 'passed' | 'failed') => ({
        name: test,
        suite: 'S',
        file: null,
        status,
        durationMs: 1.5,
      });

      await world.stores.builds.saveTestResults(id, [result('a', 'failed'), result('b', 'passed')]);
      await world.stores.builds.saveTestResults(id, [result('a', 'passed')]);
      await world.stores.builds.saveTestResults(id, [result('a', 'passed')]);
      await world.stores.builds.saveTestResults(id, []);

      const rows = await world.db.query(
        'select name, status, duration_ms from test_results where build_id = $1 order by name',
        [id],
      );
      expect(rows).toEqual([
        { name: 'a', status: 'passed', duration_ms: 1.5 },
        { name: 'b', status: 'passed', duration_ms: 1.5 },
      ]);
    });
  });
}
