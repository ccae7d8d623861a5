import { describe, expect, it } from 'vitest';
import type { CauseList } from '../../../src/domain/cause.ts';
import { sampleDecision, sampleGroup, sampleReview } from '../../stores/samples.ts';
import { PAGE, type StoresWorld } from './world.ts';

export function testCausesContract(world: StoresWorld): void {
  describe('causes', () => {
    async function storeFailing(number: string, fingerprint: string, branch = 'main') {
      const build = await world.build({ number, branch });
      await world.stores.failures.saveGroups(build.id, [sampleGroup(build.id, fingerprint)]);
      await world.storeAnalysis(build, fingerprint);
      return build;
    }
    const find = async (fingerprint: string) =>
      (await world.stores.causes.ofFingerprint(fingerprint)).find(
        ({ repository }) => repository === world.repository,
      );
    const fingerprints = async (list: CauseList, assignee = 'ada') =>
      (await world.stores.causes.list({ list, assignee, repository: world.repository }, PAGE)).map(
        (cause) => cause.fingerprint,
      );
    const happened = async (fingerprint: string) =>
      (await world.stores.causes.events({ repository: world.repository, fingerprint }, 9)).map(
        ({ what, by }) => `${what} by ${by}`,
      );

    it('61: are fixed by a passed build of the default branch, and regress when they fail again', async () => {
      const fingerprint = `cause-${world.count}`;
      await storeFailing('1', fingerprint, 'topic');
      expect(await find(fingerprint)).toMatchObject({ state: 'new', redPipelines: [] });
      await world.build({ number: '2', status: 'passed' });
      expect(await find(fingerprint)).toMatchObject({ state: 'new' });

      await storeFailing('3', fingerprint);
      expect(await find(fingerprint)).toMatchObject({ state: 'new', redPipelines: ['CI'] });
      expect(await fingerprints('red')).toEqual([fingerprint]);
      await world.build({ number: '4', status: 'passed', branch: 'topic' });
      expect(await find(fingerprint)).toMatchObject({ state: 'new' });
      const proof = await world.build({ number: '5', status: 'passed', branch: 'main' });
      expect(await find(fingerprint)).toMatchObject({ state: 'fixed', redPipelines: [] });
      expect(await fingerprints('fixed')).toEqual([fingerprint]);

      await storeFailing('6', fingerprint, 'topic');
      expect(await find(fingerprint)).toMatchObject({ state: 'fixed' });
      const back = await storeFailing('7', fingerprint);
      expect(await find(fingerprint)).toMatchObject({ state: 'regressed', redPipelines: ['CI'] });
      expect(
        (await world.stores.causes.events({ repository: world.repository, fingerprint }, 9)).map(
          ({ what, buildId }) => [what, buildId],
        ),
      ).toEqual([
        ['regressed', back.id],
        ['fixed', proof.id],
      ]);
    });

    it('have the category that a person decided', async () => {
      const fingerprint = `cause-${world.count}`;
      const build = await world.build({ number: '1' });
      await world.stores.failures.saveGroups(build.id, [sampleGroup(build.id, fingerprint)]);
      const analysis = await world.storeAnalysis(build, fingerprint);
      const review = await world.stores.reviews.open(
        sampleReview(analysis, { repository: world.repository }),
      );
      await world.stores.reviews.decide(
        review.id,
        review.version,
        sampleDecision(review, { type: 'correct', category: 'CONFIG_ERROR' }),
      );
      expect(await find(fingerprint)).toMatchObject({ category: 'CONFIG_ERROR' });
    });

    it('61: are fixed at once if the answer arrives after the passed build', async () => {
      const fingerprint = `late-${world.count}`;
      const failed = await world.build({ number: '31', branch: 'main' });
      await world.stores.failures.saveGroups(failed.id, [sampleGroup(failed.id, fingerprint)]);
      await world.build({ number: '32', status: 'passed', branch: 'main' });
      await world.storeAnalysis(failed, fingerprint);
      expect(await find(fingerprint)).toMatchObject({ state: 'fixed', redPipelines: [] });
      expect(await happened(fingerprint)).toEqual(['fixed by null']);
    });

    it('that come and go are fixed after as many passed builds as their rate requires, and do not count as broken until then', async () => {
      const fingerprint = `flaky-${world.count}`;
      for (const number of ['1', '2', '3', '4', '5', '6', '7', '8', '9', '10', '11', '12', '13', '14', '15'])
        if (['1', '8', '15'].includes(number)) await storeFailing(number, fingerprint);
        else await world.build({ number, status: 'passed', branch: 'main' });
      expect(await find(fingerprint)).toMatchObject({ state: 'regressed', redPipelines: ['CI'] });
      const passes: string[] = [];
      while ((await find(fingerprint))?.state !== 'fixed') {
        expect(
          (await world.build({ number: `p${passes.length}`, status: 'passed', branch: 'main' })).status,
        ).toBe('passed');
        passes.push((await find(fingerprint))?.redPipelines.join() ?? '');
        if (passes.length > 30) break;
      }
      // (1 - 3/15)^14 is the first power below 0.05
      expect(passes).toEqual(Array(14).fill(''));
    });

    it('63: keep the owner that their newest answer names, and count as mine if I own what has no owner', async () => {
      const fingerprint = `owned-${world.count}`;
      const owner = {
        path: 'src/a.ts',
        names: ['@Shop/Payments'],
        by: 'codeowners' as const,
        at: 'CODEOWNERS:1',
      };
      const build = await world.build({ number: '71', branch: 'topic' });
      await world.stores.failures.saveGroups(build.id, [sampleGroup(build.id, fingerprint)]);
      await world.storeAnalysis(build, fingerprint, { owner });
      await storeFailing('72', fingerprint, 'topic');
      expect(await find(fingerprint)).toMatchObject({ owner, assignee: null });
      const mine = async (...owners: string[]) =>
        (
          await world.stores.causes.list(
            { list: 'mine', assignee: 'ada', owners, repository: world.repository },
            PAGE,
          )
        ).map((one) => one.fingerprint);
      expect(await mine('shop/payments')).toEqual([fingerprint]);
      expect(await mine('@shop/other')).toEqual([]);
      expect(await mine()).toEqual([]);
      const found = async (...owners: string[]) =>
        (await world.stores.failures.search({ owners, repository: world.repository }, PAGE)).map(
          ({ failure }) => failure.fingerprint.value,
        );
      expect(await found('ada', 'shop/payments')).toEqual([fingerprint, fingerprint]);
      expect(await found('ada')).toEqual([]);
    });

    it('61: can be acknowledged, assigned, muted for a while, linked and fixed by people, with a record of who did it', async () => {
      const fingerprint = `mine-${world.count}`;
      await storeFailing('11', fingerprint);
      const now = Date.now();
      const change = async (what: Parameters<typeof world.stores.causes.change>[1]) => {
        const version = (await find(fingerprint))?.version ?? 0;
        return await world.stores.causes.change(
          { repository: world.repository, fingerprint, version },
          what,
          'ada',
          now,
        );
      };

      expect(await change({ what: 'acknowledged' })).toMatchObject({ state: 'acknowledged', assignee: null });
      expect(await change({ what: 'assigned', assignee: 'ada' })).toMatchObject({
        state: 'assigned',
        assignee: 'ada',
      });
      expect([
        await fingerprints('mine'),
        await fingerprints('mine', 'ben'),
        await fingerprints('unassigned'),
      ]).toEqual([[fingerprint], [], []]);
      expect(await change({ what: 'muted', days: 7, reason: 'waits for a release' })).toMatchObject({
        state: 'assigned',
        mutedUntil: new Date(now + 7 * 86_400_000).toISOString(),
      });
      expect([await fingerprints('open'), await fingerprints('muted')]).toEqual([[], [fingerprint]]);
      await change({ what: 'unmuted' });
      expect(await change({ what: 'linked', ticket: 'https://tickets.example/7' })).toMatchObject({
        ticket: 'https://tickets.example/7',
        mutedUntil: null,
      });
      expect(await change({ what: 'fixed' })).toMatchObject({ state: 'fixed' });
      expect(await change({ what: 'reopened' })).toMatchObject({ state: 'acknowledged', assignee: 'ada' });
      expect(await change({ what: 'unassigned' })).toMatchObject({ state: 'acknowledged', assignee: null });
      expect(await happened(fingerprint)).toEqual(
        ['unassigned', 'reopened', 'fixed', 'linked', 'unmuted', 'muted', 'assigned', 'acknowledged'].map(
          (what) => `${what} by ada`,
        ),
      );
      expect(
        await world.stores.causes.counts({ assignee: 'ada', repository: world.repository }),
      ).toMatchObject({
        open: 1,
        mine: 0,
        unassigned: 1,
        fixed: 0,
      });
    });

    it('are not changed if they were changed by another, or do not exist', async () => {
      const fingerprint = `raced-${world.count}`;
      await storeFailing('21', fingerprint);
      const key = { repository: world.repository, fingerprint };
      expect(
        await world.stores.causes.change({ ...key, version: 99 }, { what: 'fixed' }, 'ada', 0),
      ).toBeNull();
      expect(
        await world.stores.causes.change(
          { ...key, fingerprint: 'nowhere', version: 1 },
          { what: 'fixed' },
          'ada',
          0,
        ),
      ).toBeNull();
      expect(await happened(fingerprint)).toEqual([]);
    });
  });
}
