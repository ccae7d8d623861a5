import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createId } from '../../../src/domain/ids.ts';
import type { NewReview, Review } from '../../../src/domain/review.ts';
import { sampleDecision, sampleReview } from '../../stores/samples.ts';
import { PAGE, type StoresWorld } from './world.ts';

const CLAIM_MS = 60_000;
const HOUR = 3_600_000;

/** The order of the queue, who gets what, and decisions that are taken back. */
export function reviewQueueContract(world: StoresWorld): void {
  /** An item of a fingerprint, opened so many hours ago. */
  async function open(
    fingerprint: string,
    hours: number,
    change: Partial<NewReview> & { pullRequest?: number } = {},
  ): Promise<Review> {
    const { pullRequest = null, ...rest } = change;
    const build = await world.build({ number: createId('bld'), pullRequest });
    const analysis = await world.storeAnalysis(build, fingerprint);
    const openedAt = new Date(Date.now() - hours * HOUR).toISOString();
    return await world.stores.reviews.open(
      sampleReview(analysis, { repository: world.repository, openedAt, ...rest }),
    );
  }
  const here = () => ({ repository: world.repository });
  const ids = (reviews: readonly Review[]) => reviews.map(({ id }) => id);
  const next = (reviewer: string, more: object = {}) =>
    world.stores.reviews.next(here(), { reviewer, claimMs: CLAIM_MS, skippedMs: HOUR, ...more });

  describe('review queue', () => {
    it('puts first what costs most, multiplied by its waiting time', async () => {
      const { reviews } = world.stores;
      const old = await open('a', 5, { confidence: 0.9 });
      const blocking = await open('b', 2, { risk: 3, pullRequest: 12, confidence: 0.8 });
      const excuse = await open('c', 1, { risk: 12, confidence: 0.7 });

      expect(await reviews.findByAnalysis(blocking.analysisId)).toMatchObject({
        fingerprint: 'b',
        pullRequest: 12,
        risk: 3,
        origin: 'unsure',
      });
      const listed = async (sort: 'risk' | 'age' | 'confidence') =>
        ids(await reviews.list({ state: 'waiting', ...here() }, PAGE, sort));
      expect(await listed('risk')).toEqual([excuse.id, blocking.id, old.id]);
      expect(await listed('age')).toEqual([old.id, blocking.id, excuse.id]);
      expect(await listed('confidence')).toEqual([excuse.id, blocking.id, old.id]);
      expect(
        ids(await reviews.list({ state: 'waiting', ...here() }, { limit: 1, offset: 1 }, 'risk')),
      ).toEqual([blocking.id]);
    });

    it('filters by reason and fingerprint, with any special characters', async () => {
      const { reviews } = world.stores;
      const one = await open('a', 1, { why: ['confidence 0.70 is below 85%_', 'E3 speaks against it'] });
      await open('b', 1, { why: ['no claim is backed by evidence'] });
      expect(ids(await reviews.list({ ...here(), why: 'SPEAKS against' }, PAGE))).toEqual([one.id]);
      expect(ids(await reviews.list({ ...here(), why: '85%_' }, PAGE))).toEqual([one.id]);
      expect(await reviews.list({ ...here(), why: '85_%' }, PAGE)).toEqual([]);
      expect(ids(await reviews.list({ ...here(), fingerprint: 'a' }, PAGE))).toEqual([one.id]);
    });

    it('shows items with the same fingerprint as one, with their number', async () => {
      const { reviews } = world.stores;
      await open('a', 3);
      const heavy = await open('a', 1, { risk: 12 });
      const other = await open('b', 2);
      const decided = await open('a', 9);
      await reviews.decide(decided.id, 1, sampleDecision(decided));
      const groups = async (sort?: 'risk' | 'age') =>
        (await reviews.listGroups(here(), PAGE, sort)).map(({ review, count }) => [
          review.fingerprint,
          count,
        ]);
      expect((await reviews.listGroups(here(), PAGE))[0]?.review.id).toBe(heavy.id);
      expect(await groups()).toEqual([
        ['a', 2],
        ['b', 1],
      ]);
      expect(await groups('age')).toEqual([
        ['a', 2],
        ['b', 1],
      ]);
      expect(ids(await reviews.listSame(heavy.id, 'ada', 9))).toHaveLength(1);
      expect(await reviews.listSame(other.id, 'ada', 9)).toEqual([]);
    });

    it('counts pending items, items held by a reviewer, and the decisions and agreement of today', async () => {
      const { reviews } = world.stores;
      const items = [await open('a', 1), await open('b', 1), await open('c', 1), await open('d', 1)];
      await reviews.claim(items[0]?.id ?? '', 'ada', CLAIM_MS);
      const [, , third, fourth] = items;
      if (third !== undefined) await reviews.decide(third.id, 1, sampleDecision(third));
      if (fourth !== undefined)
        await reviews.decide(fourth.id, 1, sampleDecision(fourth, { type: 'reject', reason: 'no' }));
      expect(await reviews.counts('ada', here())).toEqual({
        waiting: 2,
        mine: 1,
        decidedToday: 2,
        agreedToday: 1,
      });
      expect(ids(await reviews.list({ ...here(), decidedToday: true }, PAGE)).toSorted()).toEqual(
        [third?.id, fourth?.id].toSorted(),
      );
      expect(await reviews.counts('bob', { ...here(), repositories: ['nobody/nothing'] })).toEqual({
        waiting: 0,
        mine: 0,
        decidedToday: 0,
        agreedToday: 0,
      });
    });

    it('gives different items to reviewers who ask at once, and none that was skipped recently or is held', async () => {
      const { reviews } = world.stores;
      const items = [await open('a', 3), await open('b', 2), await open('c', 1)];
      const given = await Promise.all(['ada', 'bob', 'eve', 'joe'].map((reviewer) => next(reviewer)));
      expect(given.filter((one) => one === null)).toHaveLength(1);
      expect(new Set(given.flatMap((one) => one?.id ?? []))).toEqual(new Set(ids(items)));
      for (const one of given) if (one?.claimedBy) await reviews.release(one.id, one.claimedBy);

      const first = await next('ada');
      expect(first).toMatchObject({ id: items[0]?.id, claimedBy: 'ada', claimedAt: expect.any(String) });
      expect(await reviews.skip(first?.id ?? '', 'ada')).toMatchObject({ state: 'waiting', claimedBy: null });
      expect((await next('ada'))?.id).toBe(items[1]?.id);
      expect((await next('ada', { after: items[1]?.id }))?.id).toBe(items[2]?.id);
      expect((await next('ada', { skippedMs: 0, after: items[1]?.id }))?.id).toBe(items[0]?.id);
      expect(await reviews.skip('rev_none', 'ada')).toBeNull();
      const events = await reviews.events(first?.id ?? '');
      expect(events.map(({ event }) => event)).toContain('skipped');
    });

    it('keeps a skipped item with its holder, and allows a takeover', async () => {
      const { reviews } = world.stores;
      const { id } = await open('a', 1);
      const held = await reviews.claim(id, 'ada', CLAIM_MS);
      await delay(5);
      expect((await reviews.claim(id, 'ada', CLAIM_MS))?.claimedAt).toBe(held?.claimedAt);
      expect(await reviews.skip(id, 'bob')).toMatchObject({ state: 'claimed', claimedBy: 'ada' });
      expect(await reviews.takeOver(id, 'bob', CLAIM_MS)).toMatchObject({ claimedBy: 'bob' });
      expect((await reviews.events(id)).at(-1)).toMatchObject({
        event: 'claimed',
        actor: 'bob',
        details: { takenOver: true },
      });
    });
  });

  describe('undone decisions', () => {
    it('make the item pending again, once, and remain in the audit trail', async () => {
      const { reviews } = world.stores;
      const review = await open('a', 1);
      const decision = sampleDecision(review, { reviewer: `ada-${world.count}`, batchId: createId('bat') });
      await reviews.decide(review.id, 1, decision);
      expect(await reviews.batch(decision.batchId ?? '')).toEqual([decision]);
      expect(await reviews.lastDecision(decision.reviewer)).toEqual(decision);
      expect(await reviews.lastDecision(decision.reviewer, { repositories: ['nobody/nothing'] })).toBeNull();

      const undone = await Promise.all(['ada', 'bob', 'eve'].map((by) => reviews.undo(decision, by)));

      expect(undone.filter((one) => one !== null)).toHaveLength(1);
      expect(await reviews.find(review.id)).toMatchObject({ state: 'waiting', decision: null, version: 3 });
      expect(await reviews.lastUndone(review.id)).toMatchObject({
        decision,
        at: expect.stringMatching(/Z$/),
      });
      expect(await reviews.lastDecision(decision.reviewer)).toBeNull();
      expect(await reviews.batch(decision.batchId ?? '')).toEqual([]);
      const events = await reviews.events(review.id);
      expect(events.map(({ event }) => event)).toEqual(['opened', 'decided', 'undone']);
      expect(events[2]?.details).toEqual({ decision });
      const again = sampleDecision(review, { type: 'reject', reasonCode: 'not_a_failure' });
      expect(await reviews.decide(review.id, 3, again)).toMatchObject({ decision: again });
    });

    it('are restored if the undoing transaction fails', async () => {
      const { reviews } = world.stores;
      const review = await open('a', 1);
      const decision = sampleDecision(review);
      await reviews.decide(review.id, 1, decision);
      const failing = world.db.transaction(async (sql) => {
        expect(await reviews.undo(decision, 'ada', sql)).not.toBeNull();
        throw new Error('the library refused');
      });
      await expect(failing).rejects.toThrow('the library refused');
      expect(await reviews.find(review.id)).toMatchObject({ state: 'decided', decision });
      expect(await reviews.lastUndone(review.id)).toBeNull();
    });
  });
}
