import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { NewBuild } from '../../../src/domain/build.ts';
import { createId } from '../../../src/domain/ids.ts';
import type { DecisionInput } from '../../../src/domain/review.ts';
import type { WorkItem, WorkRequest } from '../../../src/domain/work.ts';
import type { NoticeRule } from '../../../src/ports/notices.ts';
import { createNoticeStore } from '../../../src/stores/notices.ts';
import { sampleDecision, sampleEntry, sampleReview } from '../../stores/samples.ts';
import type { StoresWorld } from './world.ts';

const LEASE_MS = 60_000;

export function workContract(world: StoresWorld): void {
  const work = () => world.stores.work;
  const take = async (topic: string, leaseMs = LEASE_MS) => await work().take({ topic, limit: 9, leaseMs });
  async function takeOne(topic: string, leaseMs = LEASE_MS): Promise<WorkItem> {
    const [entry] = await work().take({ topic, limit: 1, leaseMs });
    if (entry === undefined) throw new Error(`nothing of ${topic} is due`);
    return entry;
  }

  describe('the work table', () => {
    /** Entries of a topic of their own, so that no other test takes them. */
    function createTopic() {
      const name = createId('thr');
      const entry = (key: string, more: Partial<WorkRequest> = {}): WorkRequest => ({
        topic: name,
        key,
        ...more,
      });
      const add = async (key: string, more: Partial<WorkRequest> = {}) =>
        await work().add([entry(key, more)]);
      return { name, entry, add, find: async (key: string) => await work().find(name, key) };
    }

    it('gives an entry to one of several workers, oldest first, or newest first on request', async () => {
      const { name, add } = createTopic();
      for (const key of ['a', 'b', 'c']) await add(key, { payload: { of: key } });
      expect(await work().take({ topic: 'nobody', limit: 9, leaseMs: LEASE_MS })).toEqual([]);
      const takers = await Promise.all(
        [1, 2].map(() => work().take({ topic: name, limit: 1, leaseMs: LEASE_MS, newestFirst: true })),
      );
      expect(
        takers
          .flat()
          .map(({ key }) => key)
          .toSorted(),
      ).toEqual(['b', 'c']);
      expect(await take(name)).toMatchObject([
        { key: 'a', payload: { of: 'a' }, lease: 1, attempts: 1, retries: 0, held: true },
      ]);
      expect(await take(name)).toEqual([]);
    });

    it('stores work in the same transaction as the data that requires it', async () => {
      const { entry, find } = createTopic();
      const undone = world.db.transaction(async (sql) => {
        await work().add([entry('a')], sql);
        throw new Error('what asks for it is not saved');
      });
      await expect(undone).rejects.toThrow();
      expect(await find('a')).toBeNull();
      expect(await work().add([])).toBe(0);
    });

    it('stores any text', async () => {
      const { name, add } = createTopic();
      await add('a', { payload: { text: 'nul \0, half \ud800, slash \\u0000' } });
      expect((await takeOne(name)).payload).toEqual({ text: 'nul , half \ufffd, slash \\u0000' });
    });

    it('lists the topics with due work', async () => {
      const [left, right] = [createTopic(), createTopic()];
      await left.add('a');
      await right.add('a', { delayMs: LEASE_MS });
      expect(await work().due([left.name, right.name, 'nobody'])).toEqual([left.name]);
      await take(left.name);
      expect(await work().due([left.name])).toEqual([]);
    });

    it('does work only once on request', async () => {
      const { name, entry, find } = createTopic();
      await Promise.all([work().addOnce([entry('a')]), work().addOnce([entry('a')])]);
      await work().finish(await takeOne(name), { outcome: 'done', result: { reference: '7' } });
      await work().addOnce([entry('a')]);
      expect(await find('a')).toMatchObject({
        version: 1,
        settled: 1,
        outcome: 'done',
        result: { reference: '7' },
        held: false,
      });
      expect(await take(name)).toEqual([]);
    });

    it('repeats work that is requested again, even while it is running', async () => {
      const { name, add, find } = createTopic();
      await add('a', { payload: { say: 'old' } });
      const old = await takeOne(name);
      await add('a', { payload: { say: 'new' } });
      expect(await work().isCurrent(old)).toBe(false);
      expect(await take(name)).toEqual([]);
      expect(await work().finish(old, { outcome: 'done', result: { hash: 'h' }, forget: true })).toBe(true);
      expect(await find('a')).toMatchObject({ version: 2, settled: 1 });

      const again = await takeOne(name);
      expect(again).toMatchObject({
        payload: { say: 'new' },
        result: { hash: 'h' },
        attempts: 1,
        version: 2,
      });
      expect(await work().finish(again, { outcome: 'done', forget: true })).toBe(true);
      expect(await find('a')).toBeNull();
    });

    it('opens an entry only for a change that can open one', async () => {
      const { add, find } = createTopic();
      expect(await add('a', { opens: false })).toBe(0);
      expect(await find('a')).toBeNull();
      expect(await add('a', { opens: true })).toBe(1);
      expect(await add('a', { opens: false })).toBe(1);
      expect(await find('a')).toMatchObject({ version: 2 });
    });

    it('waits for the delay, which a later change does not shorten', async () => {
      const { name, add } = createTopic();
      await add('a', { delayMs: LEASE_MS });
      await add('a');
      expect(await take(name)).toEqual([]);
    });

    it('leaves an entry alone during the delay of its release, except for a caller who names it', async () => {
      const { name, add, find } = createTopic();
      await add('a');
      await add('b');
      for (const entry of await take(name)) await work().release(entry, 'it answered 503', LEASE_MS);
      expect(await find('a')).toMatchObject({
        attempts: 0,
        retries: 1,
        error: 'it answered 503',
        held: false,
      });
      expect(await take(name)).toEqual([]);
      const named = { topic: name, limit: 9, leaseMs: LEASE_MS, early: true, keys: ['a', 'unknown'] };
      expect(await work().take(named)).toMatchObject([{ key: 'a', attempts: 1, retries: 1, lease: 2 }]);
      expect(await work().take(named)).toEqual([]);
    });

    it('does not count an attempt that was released at a stop, but counts one that crashed', async () => {
      const { name, add } = createTopic();
      await add('a');
      await work().release(await takeOne(name), null, 0);
      expect(await takeOne(name)).toMatchObject({ attempts: 1, retries: 0, lease: 2, error: null });
      expect(await work().reclaim()).toBeGreaterThanOrEqual(1);
      expect(await takeOne(name)).toMatchObject({ attempts: 2, retries: 0, lease: 3 });
    });

    it('refuses a holder whose lease another has taken over (T05)', async () => {
      const { name, add, find } = createTopic();
      await add('a');
      const stale = await takeOne(name, 1);
      expect(await work().isCurrent(stale)).toBe(true);
      await delay(20);
      const held = await takeOne(name);
      expect(await work().isCurrent(stale)).toBe(false);
      expect(await work().finish(stale, { outcome: 'done', result: { reference: 'stale' } })).toBe(false);
      expect(await work().finish(stale, { outcome: 'done', forget: true })).toBe(false);
      await work().release(stale, 'late', LEASE_MS);
      expect(await find('a')).toMatchObject({ lease: 2, settled: 0, error: null, result: null, held: true });
      expect(await work().finish(held, { outcome: 'done' })).toBe(true);
      expect(await work().finish(held, { outcome: 'done' })).toBe(false);
    });

    it('keeps the state if the work is exhausted, and pauses afterwards on request', async () => {
      const { name, add, find } = createTopic();
      await add('a');
      await work().finish(await takeOne(name), { outcome: 'done', result: { reference: '41' } });
      await add('a');
      await work().finish(await takeOne(name), { outcome: 'failed', error: 'it answered 401' });
      expect(await find('a')).toMatchObject({
        outcome: 'failed',
        error: 'it answered 401',
        result: { reference: '41' },
        attempts: 1,
      });
      await add('a');
      await work().finish(await takeOne(name), { outcome: 'done', pauseMs: LEASE_MS });
      await add('a');
      expect(await find('a')).toMatchObject({ error: null, version: 4, settled: 3, attempts: 0 });
      expect(await take(name)).toEqual([]);
    });

    it('returns the number of pending entries, and since when they wait', async () => {
      const { name, add } = createTopic();
      expect(await work().waiting(name)).toEqual({ count: 0, since: null });
      await add('a');
      await add('b');
      expect(await work().waiting(name)).toMatchObject({
        count: 2,
        since: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      });
    });

    it('is deleted with its build, if it belongs to one', async () => {
      const { name, add, find } = createTopic();
      const build = await world.build({ number: createId('bld') });
      await add('mine', { buildId: build.id });
      await add('outlives');
      expect(await work().listByBuild(build.id)).toMatchObject([
        { topic: name, key: 'mine', buildId: build.id },
      ]);
      await world.db.query('delete from builds where id = $1', [build.id]);
      expect([await find('mine'), await find('outlives')]).toMatchObject([null, { key: 'outlives' }]);
    });
  });

  describe('notices', () => {
    /** A channel of its own. It is about failed builds, and keeps up with the others. */
    function createChannel() {
      const name = createId('thr');
      const rule: NoticeRule = {
        channel: name,
        findPlace: ({ repository, status }) => ({
          key: `${name}:${repository}#7`,
          about: { type: 'pull-request', repository, pullRequest: 7 },
          opens: status === 'failed',
        }),
      };
      const notices = createNoticeStore(world.db, work(), [rule]);
      const changed = async (change: Partial<NewBuild> = {}, delayMs = 0) => {
        const build = await world.build({ number: createId('bld'), ...change });
        return await notices.changed({ buildId: build.id, delayMs });
      };
      return {
        changed,
        find: async () => await work().find(`notice:${name}`, `${name}:${world.repository}#7`),
      };
    }

    it('exist once for each place, and are opened only by a change that can open one', async () => {
      const { changed, find } = createChannel();
      expect(await changed({ status: 'passed' })).toBe(false);
      expect(await find()).toBeNull();
      expect(await changed()).toBe(true);
      expect(await changed({ status: 'passed' })).toBe(true);
      const about = { type: 'pull-request', repository: world.repository, pullRequest: 7 };
      expect(await find()).toMatchObject({
        version: 2,
        settled: 0,
        payload: { repository: world.repository, about },
      });
    });

    it('are not requested if no channel is configured', async () => {
      const build = await world.build({ number: createId('bld') });
      expect(await createNoticeStore(world.db, work()).changed({ buildId: build.id, delayMs: 0 })).toBe(
        false,
      );
    });
  });

  describe('publications', () => {
    async function storePublished() {
      const publisher = createId('thr');
      const build = await world.build({ number: createId('bld') });
      const analysis = await world.storeAnalysis(build, createId('fal'));
      const { publications } = world.stores;
      const add = async (...publishers: string[]) =>
        await publications.add({ publishers, buildId: build.id, analysisId: analysis.id });
      return {
        publisher,
        build,
        analysis,
        add,
        obsolete: async () => await publications.obsolete(analysis.id),
      };
    }

    it('are added once for each publisher', async () => {
      const { publisher, build, analysis, add } = await storePublished();
      const other = createId('thr');
      await Promise.all([add(publisher), add(publisher), add(publisher, other), add()]);
      const entries = await work().listByBuild(build.id);
      expect(entries.map(({ key }) => key).toSorted()).toEqual(
        [`${publisher}:${analysis.id}`, `${other}:${analysis.id}`].toSorted(),
      );
      expect(entries[0]).toMatchObject({ payload: { analysisId: analysis.id }, version: 1, settled: 0 });
    });

    describe('are obsolete (T10)', () => {
      it('not if nothing relevant happened', async () => {
        const { build, obsolete } = await storePublished();
        await world.build({ number: build.number, attempt: 2, status: 'failed' });
        await world.build({ number: createId('bld'), status: 'passed' });
        expect(await obsolete()).toBeNull();
      });

      it('if a later attempt of the build has passed', async () => {
        const { build, obsolete } = await storePublished();
        await world.build({ number: build.number, attempt: 2, status: 'passed' });
        expect(await obsolete()).toBe('The build has passed since.');
      });

      it.each<[DecisionInput['type'], boolean]>([
        ['accept', false],
        ['correct', true],
        ['reject', true],
      ])('if a person decided %s on the answer: %s', async (type, expected) => {
        const { analysis, obsolete } = await storePublished();
        const review = await world.stores.reviews.open(
          sampleReview(analysis, { repository: world.repository }),
        );
        await world.stores.reviews.decide(review.id, review.version, sampleDecision(review, { type }));
        expect((await obsolete()) !== null).toBe(expected);
      });

      it('if a person named another cause of the same failure', async () => {
        const [same, other] = [await storePublished(), await storePublished()];
        const { rootCause } = same.analysis.answer;
        const confirmedAt = '2099-01-01T00:00:00.000Z';
        const said = { repository: world.repository, category: same.analysis.category, confirmedAt };
        await world.stores.library.insert(sampleEntry(same.analysis.fingerprint, { ...said, rootCause }));
        await world.stores.library.insert(
          sampleEntry(other.analysis.fingerprint, { ...said, rootCause: 'The disk is full' }),
        );
        expect(await same.obsolete()).toBeNull();
        expect(await other.obsolete()).toBe('A person has named another cause of this failure since.');
      });
    });
  });
}
