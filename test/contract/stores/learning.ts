import { describe, expect, it } from 'vitest';
import { createId } from '../../../src/domain/ids.ts';
import type { Rule } from '../../../src/domain/library.ts';
import { createPassingBuildRequest, PASSING_BUILD } from '../../../src/domain/work.ts';
import { sampleEntry } from '../../stores/samples.ts';
import type { StoresWorld } from './world.ts';

/** What is taught, taken back, contradicted, and written as rules. */
export function testLearningContract(world: StoresWorld): void {
  describe('library entries that are no longer used', () => {
    it('give way to the entry that they replaced, and are listed only on request', async () => {
      const { library } = world.stores;
      const fingerprint = createId('lib');
      const older = sampleEntry(fingerprint, {
        repository: world.repository,
        confirmedAt: '2026-01-01T00:00:00.000Z',
      });
      const newer = sampleEntry(fingerprint, {
        repository: world.repository,
        confirmedAt: '2026-02-01T00:00:00.000Z',
        decisionId: createId('dec'),
      });
      for (const entry of [older, newer]) await library.insert(entry);
      const key = { fingerprint, repository: world.repository };
      const ids = async (filter = {}) =>
        (await library.list({ limit: 9, offset: 0 }, { fingerprint, ...filter })).map(({ id }) => id);

      expect(await library.ofDecision(newer.decisionId ?? '')).toEqual([newer]);
      const withdrawn = await library.withdraw(newer.id, 'bob', 'wrong job');

      expect(withdrawn?.withdrawn).toMatchObject({ by: 'bob', reason: 'wrong job' });
      expect(await library.recall(key)).toEqual(older);
      expect(await library.find(newer.id)).toEqual(withdrawn);
      expect(await ids()).toEqual([older.id]);
      expect(await ids({ withdrawn: true })).toEqual([newer.id, older.id]);
      expect(await library.withdraw(newer.id, 'eve', 'again')).toBeNull();
      expect(await library.ofDecision(newer.decisionId ?? '')).toEqual([]);
    });

    it('are those whose lines occur in a passed build, counted once a build, until a person keeps them in use', async () => {
      const { library } = world.stores;
      const fingerprint = createId('lib');
      const entry = sampleEntry(fingerprint, { repository: world.repository });
      await library.insert(entry);
      const key = { fingerprint, repository: world.repository };
      const green = (buildId: string, at: string) => library.flag([entry.id], { buildId, at });

      expect(await library.listIdentifyingLines(world.repository, 9)).toEqual([
        { id: entry.id, telling: entry.telling },
      ]);
      expect(await library.stay(entry.id, 'ada')).toBeNull();
      const flagged = { ...entry, flag: { builds: 1, since: '2026-03-01T00:00:00.000Z', last: 'bld_1' } };
      expect(await green('bld_1', '2026-03-01T00:00:00.000Z')).toEqual([flagged]);
      expect(await green('bld_1', '2026-03-01T00:00:00.000Z')).toEqual([]);
      expect(await library.recall(key)).toBeNull();
      expect(await green('bld_2', '2026-03-02T00:00:00.000Z')).toEqual([]);
      expect(await library.list({ limit: 9, offset: 0 }, { fingerprint, flagged: true })).toMatchObject([
        { flag: { builds: 2, last: 'bld_2' } },
      ]);

      const stays = await library.stay(entry.id, 'ada');

      expect(stays).toMatchObject({
        flag: { builds: 2, since: '2026-03-01T00:00:00.000Z' },
        stays: { by: 'ada' },
      });
      expect(await library.recall(key)).toEqual(stays);
      expect(await library.listIdentifyingLines(world.repository, 9)).toEqual([]);
      expect(await green('bld_3', '2026-03-03T00:00:00.000Z')).toEqual([]);
      expect(await library.list({ limit: 9, offset: 0 }, { fingerprint, flagged: true })).toEqual([]);
    });

    it('keep a flag that is stored with the entry', async () => {
      const flag = { builds: 3, since: '2026-03-01T00:00:00.000Z', last: 'bld_9' };
      const entry = sampleEntry(createId('lib'), { flag });
      await world.stores.library.insert(entry);
      expect(await world.stores.library.find(entry.id)).toEqual(entry);
    });
  });

  describe('templates of green builds', () => {
    it('are found by repository, newest first', async () => {
      const { passingBuilds } = world.stores;
      const names: string[] = [];
      for (const number of ['1', '2']) {
        const { id } = await world.build({ number, status: 'passed' });
        await world.stores.work.addOnce([createPassingBuildRequest(id)]);
        const [entry] = await world.stores.work.take({
          topic: PASSING_BUILD,
          limit: 1,
          leaseMs: 60_000,
          keys: [id],
        });
        if (entry !== undefined)
          await passingBuilds.keep(
            entry,
            [{ log: 'ci', templates: { version: 1, lines: [`green ${number}`] } }],
            5,
          );
        names.push(number);
      }
      const found = await passingBuilds.newest(world.repository, 9);
      expect(found.map(({ build }) => build.number)).toEqual(names.toReversed());
      expect(found[0]).toMatchObject({
        log: 'ci',
        templates: { lines: ['green 2'] },
        seenAt: expect.stringMatching(/Z$/),
      });
      expect(await passingBuilds.newest(world.repository, 1)).toHaveLength(1);
      expect((await passingBuilds.newest(null, 1)).length).toBe(1);
      expect(await passingBuilds.newest('nobody/nothing', 9)).toEqual([]);
    });
  });

  describe('rules', () => {
    const rule = (change: Partial<Rule> = {}): Rule => ({
      id: createId('rul'),
      version: 1,
      pattern: 'registry .* 503',
      sample: 'registry x 503',
      repository: world.repository,
      category: 'INFRA_ERROR',
      kind: 'network',
      title: 'The registry is away',
      rootCause: 'The registry is away.',
      fixRecommendation: 'Wait.',
      author: 'ada',
      createdAt: '2026-01-01T00:00:00.000Z',
      timesUsed: 0,
      lastUsedAt: null,
      withdrawn: null,
      ...change,
    });

    it('have one active version each, and keep the earlier ones', async () => {
      const { rules } = world.stores;
      const first = rule();
      await rules.add(first);
      await expect(rules.add({ ...first, version: 2 })).rejects.toMatchObject({ code: 'storage-failed' });
      expect((await rules.withdraw(first.id, 'bob', 'next'))?.withdrawn).toMatchObject({
        by: 'bob',
        reason: 'next',
      });
      expect(await rules.withdraw(first.id, 'bob', 'next')).toBeNull();
      const second = { ...first, version: 2, createdAt: '2026-01-02T00:00:00.000Z' };
      await rules.add(second);
      expect(await rules.find(first.id)).toEqual(second);
      expect(await rules.find('rul_none')).toBeNull();
      const versions = async (withdrawn: boolean) =>
        (await rules.list({ limit: 9, offset: 0 }, { repositories: [world.repository], withdrawn }))
          .filter(({ repository }) => repository !== null)
          .map(({ version }) => version);
      expect(await versions(false)).toEqual([2]);
      expect(await versions(true)).toEqual([2, 1]);
    });

    it('of the repository apply before those for all, and their answers are counted', async () => {
      const { rules } = world.stores;
      const everywhere = rule({ repository: null, createdAt: '2026-01-03T00:00:00.000Z' });
      const own = rule({ createdAt: '2026-01-02T00:00:00.000Z' });
      const before = await rules.countActive();
      for (const one of [everywhere, own, rule({ repository: 'acme/other' })]) await rules.add(one);
      expect((await rules.active(world.repository, 9)).map(({ id }) => id).slice(0, 2)).toEqual([
        own.id,
        everywhere.id,
      ]);
      expect(await rules.countActive()).toBe(before + 3);
      expect(await rules.used(own, '2026-02-01T00:00:00.000Z')).toBe(1);
      expect(await rules.used(own, '2026-01-31T00:00:00.000Z')).toBe(2);
      expect(await rules.find(own.id)).toMatchObject({
        timesUsed: 2,
        lastUsedAt: '2026-02-01T00:00:00.000Z',
      });
      await expect(
        rules.used({ id: 'rul_none', version: 1 }, '2026-02-01T00:00:00.000Z'),
      ).rejects.toMatchObject({ code: 'not-found' });
      await rules.withdraw(everywhere.id, 'ada', 'done');
    });
  });
}
