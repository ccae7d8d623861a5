import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Stores } from '../../../src/stores/stores.ts';
import { sampleDecision, sampleReview } from '../../stores/samples.ts';
import { PAGE, type StoresWorld } from './world.ts';

export function testReviewsContract(world: StoresWorld): void {
  describe('reviews', () => {
    const CLAIM_MS = 60_000;

    it('are opened once for each analysis', async () => {
      const analysis = await world.storeAnalysis(await world.build(), 'aa');
      const wanted = sampleReview(analysis, { repository: world.repository });

      const opened = await world.stores.reviews.open(wanted);
      const again = await world.stores.reviews.open(sampleReview(analysis, { repository: world.repository }));

      const made = {
        kind: analysis.kind,
        fingerprint: 'aa',
        pullRequest: null,
        risk: 1,
        origin: 'unsure',
        claimedAt: null,
      };
      expect(opened).toEqual({
        ...wanted,
        ...made,
        state: 'waiting',
        claimedBy: null,
        claimExpiresAt: null,
        version: 1,
        decision: null,
      });
      expect(again).toEqual(opened);
      expect(await world.stores.reviews.find(opened.id)).toEqual(opened);
      expect(await world.stores.reviews.find('rev_none')).toBeNull();
      expect((await world.stores.reviews.events(opened.id)).map((event) => event.event)).toEqual(['opened']);
    });

    it('are claimed by one of two reviewers, who can extend the claim', async () => {
      const { id } = await world.openReview();

      const claims = await Promise.all(
        ['ada', 'bob', 'eve'].map((reviewer) => world.stores.reviews.claim(id, reviewer, CLAIM_MS)),
      );

      const [held] = claims.filter((claim) => claim !== null);
      expect(claims.filter((claim) => claim !== null)).toHaveLength(1);
      expect(held).toMatchObject({ state: 'claimed', version: 2 });
      expect(await world.stores.reviews.claim(id, held?.claimedBy ?? '', CLAIM_MS)).toMatchObject({
        state: 'claimed',
        version: 3,
      });
    });

    it('with an expired claim are pending, and can be claimed by another reviewer', async () => {
      const { id } = await world.openReview();
      await world.stores.reviews.claim(id, 'ada', 1);
      await delay(20);

      expect(await world.stores.reviews.find(id)).toMatchObject({
        state: 'waiting',
        claimedBy: null,
        claimExpiresAt: null,
      });
      expect(
        (await world.stores.reviews.list({ state: 'waiting', repository: world.repository }, PAGE)).map(
          (review) => review.id,
        ),
      ).toEqual([id]);
      expect(await world.stores.reviews.release(id, 'ada')).toBeNull();
      expect(await world.stores.reviews.claim(id, 'bob', CLAIM_MS)).toMatchObject({ claimedBy: 'bob' });
    });

    it('are released only by their holder', async () => {
      const { id } = await world.openReview();
      await world.stores.reviews.claim(id, 'ada', CLAIM_MS);

      expect(await world.stores.reviews.release(id, 'bob')).toBeNull();
      expect(await world.stores.reviews.release(id, 'ada')).toMatchObject({
        state: 'waiting',
        claimedBy: null,
        version: 3,
      });
      expect(await world.stores.reviews.release(id, 'ada')).toBeNull();
    });

    it('accept one of two decisions, and keep the audit trail', async () => {
      const review = await world.openReview();
      const claimed = await world.stores.reviews.claim(review.id, 'ada', CLAIM_MS);
      const decision = sampleDecision(review, {
        type: 'correct',
        category: 'INFRA_ERROR',
        rootCause: 'the disk was full',
      });

      const decisions = [decision, sampleDecision(review)];
      const results = await Promise.all(
        decisions.map((other) => world.stores.reviews.decide(review.id, claimed?.version ?? 0, other)),
      );

      const taken = decisions.filter((_, index) => results[index] !== null);
      expect(taken).toHaveLength(1);
      expect(results).toContainEqual({ ...review, state: 'decided', version: 3, decision: taken[0] });
      expect(await world.stores.reviews.find(review.id)).toEqual({
        ...review,
        state: 'decided',
        version: 3,
        decision: taken[0],
      });
      expect(await world.stores.reviews.claim(review.id, 'bob', CLAIM_MS)).toBeNull();
      expect(await world.stores.reviews.release(review.id, 'ada')).toBeNull();
      const events = await world.stores.reviews.events(review.id);
      expect(events.map((event) => [event.event, event.actor])).toEqual([
        ['opened', 'faultline'],
        ['claimed', 'ada'],
        ['decided', 'ada'],
      ]);
      expect(events[2]?.details).toEqual(taken[0]);
    });

    it('refuse a decision on an old version or by someone other than the holder, and accept one without a holder', async () => {
      const review = await world.openReview();
      await world.stores.reviews.claim(review.id, 'ada', CLAIM_MS);

      expect(await world.stores.reviews.decide(review.id, 1, sampleDecision(review))).toBeNull();
      expect(
        await world.stores.reviews.decide(review.id, 2, sampleDecision(review, { reviewer: 'bob' })),
      ).toBeNull();
      await world.stores.reviews.release(review.id, 'ada');
      expect(
        await world.stores.reviews.decide(review.id, 3, sampleDecision(review, { reviewer: 'bob' })),
      ).toMatchObject({
        state: 'decided',
      });
    });

    it('keep no decision whose transaction fails', async () => {
      const review = await world.openReview();

      const failing = world.db.transaction(async (sql) => {
        await world.stores.reviews.decide(review.id, 1, sampleDecision(review), sql);
        throw new Error('the library refused');
      });

      await expect(failing).rejects.toThrow('the library refused');
      expect(await world.stores.reviews.find(review.id)).toEqual(review);
      expect(await world.stores.reviews.events(review.id)).toHaveLength(1);
    });

    it('are listed oldest first, by filter', async () => {
      const later = await world.openReview({ openedAt: '2026-02-02T00:00:00.000Z', category: 'INFRA_ERROR' });
      const earlier = await world.openReview({ openedAt: '2026-02-01T00:00:00.000Z' });
      const ids = async (filter: Parameters<Stores['reviews']['list']>[0]) =>
        (await world.stores.reviews.list({ repository: world.repository, ...filter }, PAGE)).map(
          (review) => review.id,
        );

      expect(await ids({})).toEqual([earlier.id, later.id]);
      expect(await ids({ category: 'INFRA_ERROR' })).toEqual([later.id]);
      expect(await ids({ state: 'decided' })).toEqual([]);
    });

    it('have an audit trail that cannot be changed', async () => {
      const { id } = await world.openReview();

      await expect(
        world.db.query(`update review_events set actor = 'eve' where review_id = $1`, [id]),
      ).rejects.toThrow('append-only');
      await expect(world.db.query('delete from review_events where review_id = $1', [id])).rejects.toThrow(
        'append-only',
      );
    });
  });
}
