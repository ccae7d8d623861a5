import { describe, expect, it } from 'vitest';
import type { Build } from '../../../src/domain/build.ts';
import type { Stores } from '../../../src/stores/stores.ts';
import {
  createFailingTest,
  sampleDecision,
  sampleFailure,
  sampleGroup,
  sampleReview,
} from '../../stores/samples.ts';
import { PAGE, type StoresWorld } from './world.ts';

export function testFailuresAndHistoryContract(world: StoresWorld): void {
  describe('failures', () => {
    it('are stored for several concurrent callers, and all are returned in the same order', async () => {
      const { id } = await world.build();
      const groups = [
        {
          ...sampleGroup(id, 'aa'),
          failures: [sampleFailure(id, 'aa'), sampleFailure(id, 'aa', { message: 'two' })],
        },
        sampleGroup(id, 'bb', { generic: true }),
      ];

      const others = [sampleGroup(id, 'cc')];

      await Promise.all([
        world.stores.failures.saveGroups(id, groups),
        world.stores.failures.saveGroups(id, others),
      ]);

      const all = await world.stores.failures.saveGroups(id, []);
      expect([
        [...groups, ...others],
        [...others, ...groups],
      ]).toContainEqual(all);
      expect(await world.stores.failures.listByBuild(id)).toEqual(all.flatMap((group) => group.failures));
    });

    it('are added as new groups, without changing the stored ones', async () => {
      const { id } = await world.build();
      const aa = sampleGroup(id, 'aa');
      await world.stores.failures.saveGroups(id, [aa]);
      const bb = sampleGroup(id, 'bb');

      expect(await world.stores.failures.saveGroups(id, [bb, sampleGroup(id, 'aa')])).toEqual([aa, bb]);
      expect(
        await world.stores.failures.saveGroups(id, [sampleGroup(id, 'bb'), sampleGroup(id, 'aa')]),
      ).toEqual([aa, bb]);
    });

    it('of other tests, or other messages if there is no test, are added to a known group', async () => {
      const { id } = await world.build();
      const first = sampleFailure(id, 'aa', { test: createFailingTest('test_a') });
      await world.stores.failures.saveGroups(id, [{ ...sampleGroup(id, 'aa'), failures: [first] }]);
      const other = sampleFailure(id, 'aa', { test: createFailingTest('test_b') });
      const untested = sampleFailure(id, 'aa');
      const again = [
        sampleFailure(id, 'aa', { test: createFailingTest('test_a'), message: 'in other words' }),
        other,
        untested,
      ];

      const [group, ...rest] = await world.stores.failures.saveGroups(id, [
        { ...sampleGroup(id, 'aa'), failures: again },
      ]);

      expect(rest).toEqual([]);
      expect(group?.failures).toEqual([first, other, untested]);
      expect(await world.stores.failures.saveGroups(id, [sampleGroup(id, 'aa')])).toEqual([group]);
    });

    it('that are generic are kept apart by their fingerprint, as all others', async () => {
      const { id } = await world.build();
      const silent = { ...sampleGroup(id, 'aa', { generic: true }), generic: true };
      const crashed = { ...sampleGroup(id, 'bb', { generic: true, message: 'SIGSEGV' }), generic: true };
      await world.stores.failures.saveGroups(id, [silent]);

      expect(await world.stores.failures.saveGroups(id, [crashed, silent])).toEqual([silent, crashed]);
    });

    it('may be absent for a build, but need a build that exists', async () => {
      const { id } = await world.build();

      expect(await world.stores.failures.saveGroups(id, [])).toEqual([]);
      expect(await world.stores.failures.listByBuild(id)).toEqual([]);
      await expect(world.stores.failures.saveGroups('bld_none', [])).rejects.toMatchObject({
        code: 'not-found',
      });
    });

    it('are stored with text that PostgreSQL would refuse', async () => {
      const { id } = await world.build();

      await world.stores.failures.saveGroups(id, [sampleGroup(id, 'aa', { message: 'a\0b \ud800 c' })]);

      expect((await world.stores.failures.listByBuild(id))[0]?.message).toBe('a\uFFFDb \uFFFD c');
    });

    it('are searched by every filter, and have the category of a person rather than of the machine', async () => {
      const one = await world.build({ number: '1' });
      const two = await world.build({ number: '2' });
      await world.stores.failures.saveGroups(one.id, [
        sampleGroup(one.id, `aa-${world.count}`, {
          message: 'Disk 100% full',
          test: createFailingTest('test_disk'),
        }),
      ]);
      await world.stores.failures.saveGroups(two.id, [
        sampleGroup(two.id, `bb-${world.count}`, { message: 'connection refused' }),
      ]);
      const analysis = await world.storeAnalysis(one, `aa-${world.count}`, { category: 'CODE_ERROR' });
      const numbers = async (filter: Parameters<Stores['failures']['search']>[0]) =>
        (await world.stores.failures.search({ repository: world.repository, ...filter }, PAGE)).map(
          (row) => row.number,
        );

      expect(await numbers({})).toEqual(['2', '1']);
      expect(await numbers({ fingerprint: `aa-${world.count}` })).toEqual(['1']);
      expect(await numbers({ test: 'test_disk' })).toEqual(['1']);
      expect(await numbers({ words: ['full', '100% full', 'Disk'] })).toEqual(['1']);
      expect(await numbers({ words: ['100%d'] })).toEqual([]);
      expect(await numbers({ since: two.receivedAt })).toEqual(['2']);
      expect(await numbers({ category: 'CODE_ERROR' })).toEqual(['1']);
      expect(
        await world.stores.failures.search({ repository: world.repository, test: 'test_disk' }, PAGE),
      ).toMatchObject([
        {
          pipeline: 'CI',
          branch: 'main',
          category: 'CODE_ERROR',
          analysisId: analysis.id,
          seenAt: one.receivedAt,
        },
      ]);

      const review = await world.stores.reviews.open(
        sampleReview(analysis, { repository: world.repository }),
      );
      await world.stores.reviews.decide(
        review.id,
        review.version,
        sampleDecision(review, { type: 'correct', category: 'INFRA_ERROR' }),
      );

      expect(await numbers({ category: 'CODE_ERROR' })).toEqual([]);
      expect(await numbers({ category: 'INFRA_ERROR' })).toEqual(['1']);
    });

    it('60: are searched by words, places, kind, and the title of their cause', async () => {
      const suffix = String(world.count);
      const [commit, branch, author] = [`c0ffee${suffix.padStart(6, '0')}`, `fix-${suffix}`, `ada-${suffix}`];
      const one = await world.build({ number: '11', commit, branch, author });
      const two = await world.build({ number: '12' });
      const test = {
        ...createFailingTest('CheckoutTotal applies discount'),
        suite: 'cart',
        file: 'src/cart/total.test.ts',
      };
      await world.stores.failures.saveGroups(one.id, [
        sampleGroup(one.id, `w1-${suffix}`, { message: 'ECONNRESET by peer', test }),
      ]);
      await world.stores.failures.saveGroups(two.id, [
        sampleGroup(two.id, `w2-${suffix}`, { message: 'npm error ERESOLVE' }),
      ]);
      const analysis = await world.storeAnalysis(one, `w1-${suffix}`);
      const numbers = async (filter: Parameters<Stores['failures']['search']>[0]) =>
        (await world.stores.failures.search({ repositories: [world.repository], ...filter }, PAGE)).map(
          (row) => row.number,
        );

      expect(await numbers({ words: ['econnreset'] })).toEqual(['11']);
      expect(await numbers({ words: ['ECONNRESET', 'checkouttotal'] })).toEqual(['11']);
      expect(await numbers({ words: ['ECONNRESET', 'ERESOLVE'] })).toEqual([]);
      expect(await numbers({ words: [analysis.answer.title] })).toEqual(['11']);
      expect(await numbers({ testPart: 'discount' })).toEqual(['11']);
      expect(await numbers({ testPart: 'econnreset' })).toEqual([]);
      expect(await numbers({ file: 'cart/total' })).toEqual(['11']);
      for (const filter of [
        { commit: commit.slice(0, 8) },
        { id: commit },
        { id: `w1-${suffix}` },
        { branch },
        { author },
        { build: '11' },
      ])
        expect(await numbers(filter)).toEqual(['11']);
      expect(await numbers({ flags: ['unanswered'] })).toEqual(['12']);
      expect(await numbers({ flags: ['undecided'] })).toEqual(['11']);
      expect(await numbers({ until: two.receivedAt })).toEqual(['11']);

      const review = await world.stores.reviews.open(
        sampleReview(analysis, { repository: world.repository }),
      );
      expect(await numbers({ flags: ['waiting'] })).toEqual(['11']);
      await world.stores.reviews.decide(review.id, review.version, sampleDecision(review));
      expect(await numbers({ flags: ['decided'] })).toEqual(['11']);
      expect(await numbers({ flags: ['waiting'] })).toEqual([]);
      expect(
        await world.stores.failures.search({ repositories: ['somewhere/else'], words: ['ECONNRESET'] }, PAGE),
      ).toEqual([]);
    });
  });

  describe('history', () => {
    it('returns the same test or fingerprint in earlier builds of the repository, newest first', async () => {
      const fingerprint = `fp-${world.count}`;
      const builds = [];
      for (const number of ['1', '2', '3', '4']) builds.push(await world.build({ number }));
      const [first, second, third, fourth] = builds as [Build, Build, Build, Build];
      await world.stores.failures.saveGroups(first.id, [
        sampleGroup(first.id, 'other', { test: createFailingTest('test_cart') }),
      ]);
      await world.stores.failures.saveGroups(second.id, [sampleGroup(second.id, fingerprint)]);
      await world.stores.failures.saveGroups(third.id, [
        sampleGroup(third.id, fingerprint, { test: createFailingTest('test_cart') }),
      ]);
      await world.stores.failures.saveGroups(fourth.id, [sampleGroup(fourth.id, fingerprint)]);

      const query = {
        repository: world.repository,
        fingerprint,
        test: 'test_cart',
        beforeBuildId: third.id,
        limit: 10,
      };

      expect((await world.stores.history.failureHistory(query)).map((row) => row.number)).toEqual(['2', '1']);
      expect(
        (await world.stores.history.failureHistory({ ...query, test: null })).map((row) => row.number),
      ).toEqual(['2']);
      expect(await world.stores.history.failureHistory({ ...query, repository: 'acme/other' })).toEqual([]);
    });

    it('counts failed builds back to the last passed one, by newest attempt and actual order', async () => {
      // 10 sorts after 9 only as a number; 8 was mended by its second attempt; 11 says nothing; 6 is before the green one.
      await world.build({ number: '6' });
      await world.build({ number: '8' });
      const green = await world.build({ number: '8', attempt: 2, status: 'passed' });
      await world.build({ number: '12', branch: 'feature', status: 'passed' });
      await world.build({ number: '11', status: 'cancelled' });
      await world.build({ number: '10', status: 'failed' });
      await world.build({ number: '10', attempt: 2 });
      const first = await world.build({ number: '9' });
      const last = await world.build({ number: '13' });
      await world.build({ number: '14', status: 'passed' });

      const answer = await world.stores.history.consecutiveFailures({
        repository: world.repository,
        pipeline: 'CI',
        branch: 'main',
        buildId: last.id,
      });

      expect(answer).toEqual({ count: 3, firstBuild: first, lastGreen: green, same: 0, firstSame: null });
    });

    it('counts nothing for a passed or unknown build, and needs no branch', async () => {
      const passed = await world.build({ number: '1', branch: null, status: 'passed' });
      const failed = await world.build({ number: '2', branch: null });
      const ask = (buildId: string) =>
        world.stores.history.consecutiveFailures({
          repository: world.repository,
          pipeline: 'CI',
          branch: null,
          buildId,
        });

      expect(await ask(passed.id)).toMatchObject({ count: 0, firstBuild: null, lastGreen: passed });
      expect(await ask(failed.id)).toMatchObject({ count: 1, firstBuild: failed, lastGreen: passed });
      expect(await ask('bld_none')).toEqual({
        count: 0,
        firstBuild: null,
        lastGreen: null,
        same: 0,
        firstSame: null,
      });
    });

    it('never compares failures without a message', async () => {
      const [left, right] = [await world.build({ number: '30' }), await world.build({ number: '31' })];
      const silent = { message: `Nothing was said ${world.count}.`, generic: true, test: null };
      for (const { id } of [left, right])
        await world.stores.failures.saveGroups(id, [
          { ...sampleGroup(id, `unknown-${id}`, silent), generic: true },
        ]);

      const query = { text: silent.message, excludeBuildId: right.id, minScore: 0.2, limit: 5 };
      expect(await world.stores.history.similarFailures(query)).toEqual([]);
    });

    it('counts consecutive builds that failed in exactly the same way', async () => {
      const fingerprint = `aa-${world.count}`;
      const failing = async (number: string, value: string) => {
        const build = await world.build({ number });
        await world.stores.failures.saveGroups(build.id, [sampleGroup(build.id, value)]);
        return build;
      };
      await failing('20', fingerprint);
      await failing('21', `bb-${world.count}`);
      const first = await failing('22', fingerprint);
      await failing('23', fingerprint);
      const last = await world.build({ number: '24' });

      const query = {
        repository: world.repository,
        pipeline: 'CI',
        branch: 'main',
        buildId: last.id,
        fingerprint,
      };
      const answer = await world.stores.history.consecutiveFailures(query);

      expect(answer).toMatchObject({ count: 5, same: 3, firstSame: { id: first.id } });
    });

    it('finds failures with a similar message in other builds, best first', async () => {
      const builds = [
        await world.build({ number: '1' }),
        await world.build({ number: '2' }),
        await world.build({ number: '3' }),
      ] as const;
      const text = `Timeout of 5000ms exceeded while waiting for the zebra stable ${world.count}`;
      await world.stores.failures.saveGroups(builds[0].id, [
        sampleGroup(builds[0].id, 'a', { message: text.replace('5000', '2000') }),
      ]);
      await world.stores.failures.saveGroups(builds[1].id, [
        sampleGroup(builds[1].id, 'b', { message: text }),
      ]);
      await world.stores.failures.saveGroups(builds[2].id, [
        sampleGroup(builds[2].id, 'c', { message: text }),
      ]);

      const found = await world.stores.history.similarFailures({
        text,
        excludeBuildId: builds[2].id,
        minScore: 0.7,
        limit: 2,
      });
      const strict = await world.stores.history.similarFailures({
        text,
        excludeBuildId: builds[2].id,
        minScore: 0.999,
        limit: 9,
      });

      expect(found.map((row) => row.number)).toEqual(['2', '1']);
      expect(found[0]?.score).toBeCloseTo(1, 5);
      expect(strict.map((row) => row.number)).toEqual(['2']);
    });

    it('finds similar failures in the requested repositories, however many others have the same message', async () => {
      const text = `The heron ferry ${world.count} did not respond in time`;
      const own = await world.build({ number: '1', repository: 'heron/own' });
      await world.stores.failures.saveGroups(own.id, [sampleGroup(own.id, 'own', { message: text })]);
      for (let number = 1; number <= 12; number += 1) {
        const { id } = await world.build({ number: String(number), repository: `heron/other-${number}` });
        await world.stores.failures.saveGroups(id, [sampleGroup(id, `f${number}`, { message: text })]);
      }
      const similar = async (repositories: readonly string[]) =>
        (
          await world.stores.history.similarFailures({
            text,
            excludeBuildId: 'none',
            minScore: 0.9,
            limit: 3,
            repositories,
          })
        ).map((row) => row.repository);

      expect(await similar(['heron/own'])).toEqual(['heron/own']);
      expect((await similar(['heron/other-2', 'heron/own'])).toSorted()).toEqual([
        'heron/other-2',
        'heron/own',
      ]);
      expect([await similar(['heron/none']), await similar([])]).toEqual([[], []]);
    });

    it('deletes a message with the last build that contained it', async () => {
      const builds = [await world.build({ number: '1' }), await world.build({ number: '2' })] as const;
      const message = `The walrus enclosure ${world.count} could not be reached`;
      for (const { id } of builds)
        await world.stores.failures.saveGroups(id, [sampleGroup(id, 'a', { message })]);
      const similar = () =>
        world.stores.history.similarFailures({
          text: message,
          excludeBuildId: 'none',
          minScore: 0.9,
          limit: 9,
        });
      const texts = async () =>
        (await world.db.query('select from failure_messages where message = $1', [message])).length;
      expect((await similar()).map((row) => row.number)).toEqual(['2', '1']);

      await world.db.query('delete from builds where id = $1', [builds[0].id]);
      expect([(await similar()).map((row) => row.number), await texts()]).toEqual([['2'], 1]);
      await world.db.query('delete from builds where id = $1', [builds[1].id]);
      expect([await similar(), await texts()]).toEqual([[], 0]);
    });
  });
}
