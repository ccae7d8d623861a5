import type { Category } from '../../domain/category.ts';
import { TriageError } from '../../domain/errors.ts';
import { openingOf, type Review } from '../../domain/review.ts';
import { isDrawn } from '../../lib/statistics.ts';
import type { Clock } from '../../lib/time.ts';
import type { ReviewFilter, ReviewSort } from '../../stores/reviews.ts';
import type { ShownStores } from '../../stores/stores.ts';
import { heldByAnother, obstacle, raced, unknownReview } from './conflicts.ts';

export interface QueueDeps {
  readonly stores: Pick<ShownStores, 'reviews'>;
  /** How long a claim holds, in milliseconds. */
  readonly claimMs: number;
  readonly clock: Clock;
}

/** So long a skipped item is not offered to the same reviewer again, in milliseconds. */
const SKIPPED_MS = 30 * 60_000;
/** So long an item is held before anybody may take it over, in milliseconds. */
const HELD_MS = 15 * 60_000;

interface NextRequest {
  readonly reviewer: string;
  readonly filter?: Omit<ReviewFilter, 'state'>;
  readonly sort?: ReviewSort;
  /** The item that the reviewer comes from: not offered again at once. */
  readonly after?: string;
}

/**
 * Claims the next item for a reviewer: what others hold and what this reviewer skipped in the last half hour is left out. Several
 * reviewers who ask at once get different items. Null where nothing is left.
 */
export async function nextFor({ stores, claimMs }: QueueDeps, { reviewer, filter = {}, sort, after }: NextRequest): Promise<Review | null> {
  const how = { ...(sort === undefined ? {} : { sort }), ...(after === undefined ? {} : { after }) };
  return await stores.reviews.next(filter, { reviewer, claimMs, skippedMs: SKIPPED_MS, ...how });
}

/** Puts an item aside for this reviewer, and gives it back where it was held. Throws `not-found`, `conflict` where it is decided. */
export async function skipReview({ stores }: Pick<QueueDeps, 'stores'>, id: string, reviewer: string): Promise<Review> {
  const skipped = await stores.reviews.skip(id, reviewer);
  if (skipped !== null) return skipped;
  const review = await stores.reviews.find(id);
  if (review === null) throw unknownReview(id);
  throw obstacle(review, reviewer) ?? raced(review);
}

/** Whether this reviewer may take an item away from its holder: an admin at any time, everybody after a quarter of an hour. */
export function mayTakeOver({ claimedAt }: Pick<Review, 'claimedAt'>, isAdmin: boolean, now: number): boolean {
  return isAdmin || (claimedAt !== null && now - Date.parse(claimedAt) >= HELD_MS);
}

/** Takes an item away from its holder. Throws `not-found`, `conflict` where it is decided or was held too short a time. */
export async function takeOverReview(
  { stores, claimMs, clock }: QueueDeps,
  { id, reviewer, isAdmin }: { readonly id: string; readonly reviewer: string; readonly isAdmin: boolean },
): Promise<Review> {
  const review = await stores.reviews.find(id);
  if (review === null) throw unknownReview(id);
  if (review.state === 'claimed' && review.claimedBy !== reviewer && !mayTakeOver(review, isAdmin, clock.now()))
    throw heldByAnother(review);
  const taken = await stores.reviews.takeOver(id, reviewer, claimMs);
  if (taken !== null) return taken;
  throw obstacle(review, reviewer) ?? new TriageError('conflict', 'This review is already decided.', { details: { review } });
}

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

export interface OpenReviewDeps {
  readonly stores: Pick<ShownStores, 'reviews' | 'analyses' | 'builds'>;
  readonly clock: Clock;
}

/**
 * The review of an analysis, opened where there is none yet: a person may say of any published answer whether it is right. Throws
 * `not-found`.
 */
export async function openReviewFor(
  deps: OpenReviewDeps,
  { analysisId, by }: { readonly analysisId: string; readonly by: string },
): Promise<Review> {
  const { reviews, analyses, builds } = deps.stores;
  const known = await reviews.findByAnalysis(analysisId);
  if (known !== null) return known;
  const analysis = await analyses.find(analysisId);
  const build = analysis === null ? null : await builds.find(analysis.buildId);
  if (analysis === null || build === null) throw new TriageError('not-found', `There is no analysis ${analysisId}.`);
  const why = [`published automatically; ${by} requested a review`];
  return await reviews.open(openingOf(build, analysis, { now: deps.clock.now(), origin: 'asked', why }));
}
