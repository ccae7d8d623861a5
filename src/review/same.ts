import type { Analysis } from '../domain/analysis.ts';
import type { Decision, DecisionInput, Review } from '../domain/review.ts';
import type { Masker } from '../log/mask/mask.ts';
import type { Sql } from '../ports/database.ts';
import type { ShownStores } from '../ports/stores.ts';
import { changes } from './check-decision.ts';
import { unknownReview } from './conflicts.ts';
import { newDecision } from './new-decision.ts';

/** Items that one decision can settle at once. */
const MAX_SAME = 200;

/**
 * The undecided items of the same fingerprint in the same repository that this reviewer could decide together with this one, oldest
 * first. Throws `not-found`.
 */
export async function listSame(
  deps: { readonly stores: Pick<ShownStores, 'reviews'> },
  { reviewId, reviewer }: { readonly reviewId: string; readonly reviewer: string },
): Promise<Review[]> {
  if ((await deps.stores.reviews.find(reviewId)) === null) throw unknownReview(reviewId);
  return await deps.stores.reviews.listSame(reviewId, reviewer, MAX_SAME);
}

/** An item that is decided along with another one. */
export interface Companion {
  readonly review: Review;
  readonly decision: Decision;
}

/**
 * Decisions for the others. What is accepted or corrected is the cause of all: where a machine said something else of one of them, that
 * one is corrected to it; where it said the same, it is accepted.
 */
export async function companionsOf(
  main: { readonly decision: Decision; readonly analysis: Analysis },
  others: readonly { readonly review: Review; readonly analysis: Analysis }[],
  deps: { readonly masker: Pick<Masker, 'mask'> },
): Promise<Companion[]> {
  const now = Date.parse(main.decision.decidedAt);
  const { reviewer, batchId = null } = main.decision;
  return await Promise.all(
    others.map(async ({ review, analysis }) => {
      const input = inputFor(main, analysis);
      return { review, decision: await newDecision({ input, reviewer, review, guess: null, batchId, now }, deps.masker) };
    }),
  );
}

function inputFor({ decision, analysis: main }: { decision: Decision; analysis: Analysis }, other: Analysis): DecisionInput {
  const { type, reason, reasonCode } = decision;
  const why = { ...(reason === undefined ? {} : { reason }), ...(reasonCode === undefined ? {} : { reasonCode }) };
  if (type === 'reject') return { type, ...why };
  if (type === 'accept' && other.category === main.category && other.kind === main.kind) return { type, ...why };
  const said: DecisionInput = {
    type: 'correct',
    category: decision.category ?? main.category,
    ...(decision.kind === undefined && type === 'correct' ? {} : { kind: decision.kind ?? main.kind }),
    rootCause: decision.rootCause ?? main.answer.rootCause,
    fixRecommendation: decision.fixRecommendation ?? main.answer.fixRecommendation,
    ...why,
  };
  return changes(said, other) ? said : { type: 'accept', ...why };
}

/** Stores them; one that somebody else took meanwhile is left to them. Returns those that are decided now. */
export async function decideCompanions(
  companions: readonly Companion[],
  reviews: Pick<ShownStores['reviews'], 'decide'>,
  sql: Sql,
): Promise<Review[]> {
  const decided: Review[] = [];
  for (const { review, decision } of companions) {
    const now = await reviews.decide(review.id, review.version, decision, sql);
    if (now !== null) decided.push(now);
  }
  return decided;
}
