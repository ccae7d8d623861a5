import type { Category } from '../domain/category.ts';
import type { Decision, NewReview, Review, ReviewCounts, ReviewEvent, ReviewState } from '../domain/review.ts';
import type { Sql } from './database.ts';
import type { Page } from './page.ts';

export interface ReviewFilter {
  readonly state?: ReviewState;
  readonly category?: Category;
  readonly repository?: string;
  readonly fingerprint?: string;
  /** Words that must occur in why it is here. */
  readonly why?: string;
  /** Only what was decided since midnight UTC, the newest decision first whatever the order asked for. */
  readonly decidedToday?: true;
  /** Only of these: `owner/name`, or `owner/*`. */
  readonly repositories?: readonly string[];
}

/** `risk`: see `riskOf`; `age`: oldest first; `confidence`: least sure first. */
export type ReviewSort = 'risk' | 'age' | 'confidence';

/** Items of one fingerprint in one repository, shown as one. */
export interface ReviewGroup {
  readonly review: Review;
  /** How many of them are undecided, the shown one included. */
  readonly count: number;
}

export interface NextQuery {
  readonly reviewer: string;
  readonly claimMs: number;
  /** What the reviewer skipped so recently is not offered. */
  readonly skippedMs: number;
  /** Not this one: the item that the reviewer comes from. */
  readonly after?: string;
  readonly sort?: ReviewSort;
}

export interface ReviewStore {
  /** Opens the review of an analysis; there is one: a second call returns the first. */
  open(review: NewReview, sql?: Sql): Promise<Review>;
  find(id: string, sql?: Sql): Promise<Review | null>;
  /** The review of this analysis, or null. */
  findByAnalysis(analysisId: string, sql?: Sql): Promise<Review | null>;
  /** In the order of `sort`, by age where none is given; decided ones are always by age. */
  list(filter: ReviewFilter, page: Page, sort?: ReviewSort): Promise<Review[]>;
  /** Undecided items, those of one fingerprint in one repository as one: the first of them in the order of `sort`. Of more than 2,000 items only the first are grouped. */
  listGroups(filter: Omit<ReviewFilter, 'state' | 'fingerprint'>, page: Page, sort?: ReviewSort): Promise<ReviewGroup[]>;
  counts(reviewer: string, filter?: Pick<ReviewFilter, 'repository' | 'repositories'>): Promise<ReviewCounts>;
  /** Undecided items of this one's fingerprint and repository that this reviewer could decide, oldest first, without the item itself. */
  listSame(id: string, reviewer: string, limit: number, sql?: Sql): Promise<Review[]>;
  /** Holds the item for one reviewer until it expires. Null where another reviewer holds it or it is decided. */
  claim(id: string, reviewer: string, claimMs: number): Promise<Review | null>;
  /** Takes an item away from whoever holds it; null where it is decided. */
  takeOver(id: string, reviewer: string, claimMs: number): Promise<Review | null>;
  /** Claims the first item that this reviewer may have; of several reviewers at once, each gets another. Null where there is none. */
  next(filter: Omit<ReviewFilter, 'state'>, query: NextQuery): Promise<Review | null>;
  /** Null where this reviewer does not hold it. */
  release(id: string, reviewer: string): Promise<Review | null>;
  /** Puts an undecided item aside for this reviewer, and gives it back where it was held. Null where it is decided or not stored. */
  skip(id: string, reviewer: string): Promise<Review | null>;
  /** Stores the decision if the item is undecided, held by this reviewer or by nobody, and `version` is current; else null. */
  decide(id: string, version: number, decision: Decision, sql?: Sql): Promise<Review | null>;
  /** Takes a standing decision back: the item waits again. Null where it does not stand any more. */
  undo(decision: Pick<Decision, 'id' | 'reviewId'>, by: string, sql?: Sql): Promise<Review | null>;
  /** The standing decisions of a batch, in the order of their reviews' ids. */
  batch(batchId: string, sql?: Sql): Promise<Decision[]>;
  /** The newest standing decision of a reviewer. */
  lastDecision(reviewer: string, filter?: Pick<ReviewFilter, 'repositories'>): Promise<Decision | null>;
  /** The decision on this review that was taken back last, and by whom. */
  lastUndone(reviewId: string, sql?: Sql): Promise<{ readonly decision: Decision; readonly by: string; readonly at: string } | null>;
  /** Keeps what the reviewer takes the item for before the verdict is shown; a second guess changes nothing. Returns what is kept. */
  guess(id: string, reviewer: string, category: Category): Promise<Category>;
  /** What the reviewer took it for, or null. */
  guessOf(id: string, reviewer: string, sql?: Sql): Promise<Category | null>;
  events(id: string): Promise<ReviewEvent[]>;
}
