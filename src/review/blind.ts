import type { Category } from '../domain/category.ts';
import type { Review } from '../domain/review.ts';
import { isDrawn } from '../lib/statistics.ts';
import type { ShownStores } from '../ports/stores.ts';
import { unknownReview } from './conflicts.ts';

export interface BlindDeps {
  readonly stores: Pick<ShownStores, 'reviews'>;
  /** One item in so many is blind; 0: none. */
  readonly blindEvery: number;
}

/** What this reviewer may see of an item. */
export interface BlindState {
  /** The verdict is to be hidden: the item was drawn, is undecided, and this reviewer has not named a category yet. */
  readonly blind: boolean;
  /** What the reviewer named, once the item was drawn and a category named; null elsewhere. */
  readonly guess: Category | null;
}

/** Whether the verdict of an item is hidden from this reviewer. Which items are drawn rests on their ids alone. */
export async function blindStateOf(deps: BlindDeps, review: Pick<Review, 'id' | 'state'>, reviewer: string): Promise<BlindState> {
  if (!isDrawn(review.id, deps.blindEvery)) return { blind: false, guess: null };
  const guess = await deps.stores.reviews.guessOf(review.id, reviewer);
  return { blind: guess === null && review.state !== 'decided', guess };
}

/**
 * Keeps what a reviewer takes an item for before seeing the verdict; only the first word counts, and an item that is not blind to this
 * reviewer takes none: what is said in sight of the verdict is no guess. Returns what is kept. Throws `not-found`.
 */
export async function recordBlindGuess(
  deps: BlindDeps,
  { reviewId, reviewer, category }: { readonly reviewId: string; readonly reviewer: string; readonly category: Category },
): Promise<BlindState> {
  const review = await deps.stores.reviews.find(reviewId);
  if (review === null) throw unknownReview(reviewId);
  const state = await blindStateOf(deps, review, reviewer);
  return state.blind ? { blind: false, guess: await deps.stores.reviews.guess(reviewId, reviewer, category) } : state;
}
