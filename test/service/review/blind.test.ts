import { describe, expect, it } from 'vitest';
import type { Build } from '../../../src/domain/build.ts';
import type { NewReview } from '../../../src/domain/review.ts';
import {
  mayTakeOver,
  openReviewFor,
  readBlindState,
  recordBlindGuess,
} from '../../../src/service/review/queue.ts';
import type { Stores } from '../../../src/stores/stores.ts';
import {
  sampleAnalysis,
  sampleBuild,
  sampleFailure,
  sampleReview,
  unsureAnalysis,
} from '../../support/sample-analysis.ts';
import { createReviewWorld, NOW } from './review-world.ts';

function world(blindEvery: number) {
  const { deps, state } = createReviewWorld({
    reviews: [sampleReview()],
    analyses: [unsureAnalysis()],
    failures: [sampleFailure()],
  });
  return { state, deps: { ...deps, blindEvery } };
}

describe('blind items', () => {
  it('hide the verdict from each reviewer until that reviewer has named a category', async () => {
    const { deps } = world(1);
    expect(await readBlindState(deps, sampleReview(), 'ada')).toEqual({ blind: true, guess: null });
    const said = { reviewId: 'rev_1', reviewer: 'ada', category: 'CODE_ERROR' } as const;
    expect(await recordBlindGuess(deps, said)).toEqual({ blind: false, guess: 'CODE_ERROR' });
    expect(await recordBlindGuess(deps, { ...said, category: 'INFRA_ERROR' })).toEqual({
      blind: false,
      guess: 'CODE_ERROR',
    });
    expect(await readBlindState(deps, sampleReview(), 'bob')).toEqual({ blind: true, guess: null });
    expect(await readBlindState(deps, sampleReview({ state: 'decided' }), 'bob')).toEqual({
      blind: false,
      guess: null,
    });
    expect(await readBlindState(deps, sampleReview({ origin: 'asked' }), 'bob')).toEqual({
      blind: false,
      guess: null,
    });
    await expect(recordBlindGuess(deps, { ...said, reviewId: 'rev_none' })).rejects.toMatchObject({
      code: 'not-found',
    });
  });

  it('are none where none are wanted, and then no guess is kept', async () => {
    const { deps, state } = world(0);
    expect(
      await recordBlindGuess(deps, { reviewId: 'rev_1', reviewer: 'ada', category: 'CODE_ERROR' }),
    ).toEqual({
      blind: false,
      guess: null,
    });
    expect(state.guesses.size).toBe(0);
  });
});

describe('a review of a published answer', () => {
  function stored(build: Build | null) {
    const opened: NewReview[] = [];
    const reviews: Partial<Stores['reviews']> = {
      findByAnalysis: async (analysisId) =>
        opened.some((one) => one.analysisId === analysisId) ? sampleReview({ analysisId }) : null,
      open: async (review) => {
        opened.push(review);
        return sampleReview({
          id: review.id,
          analysisId: review.analysisId,
          origin: review.origin ?? 'unsure',
        });
      },
    };
    const stores = {
      reviews,
      analyses: { find: async (id: string) => (id === 'ana_9f2c' ? sampleAnalysis() : null) },
      builds: { find: async () => build },
    };
    // Only what opening a review asks.
    return {
      opened,
      deps: {
        stores: stores as unknown as Pick<Stores, 'reviews' | 'analyses' | 'builds'>,
        clock: { now: () => NOW },
      },
    };
  }

  it('is opened once, by whoever asks first', async () => {
    const { opened, deps } = stored(sampleBuild({ pullRequest: 12 }));
    expect(await openReviewFor(deps, { analysisId: 'ana_9f2c', by: 'ada' })).toMatchObject({
      analysisId: 'ana_9f2c',
      origin: 'asked',
    });
    await openReviewFor(deps, { analysisId: 'ana_9f2c', by: 'bob' });
    expect(opened).toMatchObject([{ risk: 3, why: ['published automatically; ada requested a review'] }]);
  });

  it('is not opened for what is not stored', async () => {
    await expect(
      openReviewFor(stored(sampleBuild()).deps, { analysisId: 'ana_none', by: 'ada' }),
    ).rejects.toMatchObject({
      code: 'not-found',
    });
    await expect(
      openReviewFor(stored(null).deps, { analysisId: 'ana_9f2c', by: 'ada' }),
    ).rejects.toMatchObject({ code: 'not-found' });
  });
});

it('an item may be taken over by an admin, and by everybody once it was held for a quarter of an hour', () => {
  const held = (minutes: number) => ({ claimedAt: new Date(NOW - minutes * 60_000).toISOString() });
  expect([
    mayTakeOver(held(1), true, NOW),
    mayTakeOver(held(14), false, NOW),
    mayTakeOver(held(15), false, NOW),
  ]).toEqual([true, false, true]);
});
