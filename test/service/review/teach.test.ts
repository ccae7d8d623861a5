import { expect, it } from 'vitest';
import { decideReview } from '../../../src/service/review/decide.ts';
import { confirmInUse, withdrawEntry } from '../../../src/service/review/undo.ts';
import { createUnsureAnalysis, sampleFailure, sampleReview } from '../../support/sample-analysis.ts';
import { createReviewWorld } from './review-world.ts';

/** Two builds failed of one cause: the first answer was accepted, the second corrected, and what that taught is in a green build too. */
async function createTaughtTwice() {
  const world = createReviewWorld({
    reviews: [1, 2].map((n) => sampleReview({ id: `rev_${n}`, analysisId: `ana_${n}`, buildId: `bld_${n}` })),
    analyses: [1, 2].map((n) =>
      createUnsureAnalysis({ id: `ana_${n}`, buildId: `bld_${n}`, failureIds: [`fal_${n}`] }),
    ),
    failures: [1, 2].map((n) => sampleFailure({ id: `fal_${n}`, buildId: `bld_${n}` })),
  });
  const { deps, state } = world;
  const first = await decideReview(deps, {
    reviewId: 'rev_1',
    version: 1,
    reviewer: 'ada',
    input: { type: 'accept' },
  });
  state.now += 60_000;
  state.green = [...(first.entry?.telling ?? [])];
  const input = { type: 'correct', category: 'CONFIG_ERROR', rootCause: 'TAX_TABLE is not set.' } as const;
  const second = await decideReview(deps, { reviewId: 'rev_2', version: 1, reviewer: 'bob', input });
  return { deps, state, first: first.entry?.id ?? '', second: second.entry?.id ?? '' };
}

it('an entry that was used before a flagged one is removed from the index if the flagged one is kept', async () => {
  const { deps, state, first, second } = await createTaughtTwice();
  expect([...state.index.keys()]).toEqual([first]);

  expect(await confirmInUse(deps, { id: second, by: 'grace' })).toMatchObject({ answering: { id: second } });
  expect([...state.index.keys()]).toEqual([second]);

  await withdrawEntry(deps, { id: second, by: 'grace', reason: 'It was the network.' });
  expect([...state.index.keys()]).toEqual([first]);
});
