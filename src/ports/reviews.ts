import type { Category } from '../domain/category.ts';
import type { Thread, Turn } from '../domain/conversation.ts';
import type {
  Decision,
  NewReview,
  QuestionState,
  Review,
  ReviewCounts,
  ReviewEvent,
  ReviewerQuestion,
  ReviewState,
} from '../domain/review.ts';
import type { Page, Sql } from './database.ts';

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

interface NextQuery {
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

interface QuestionFilter {
  readonly state?: QuestionState;
  readonly category?: Category;
  readonly repository?: string;
  /** Only of these: `owner/name`, or `owner/*`. */
  readonly repositories?: readonly string[];
}

/** Questions that running triages put to people. */
export interface QuestionStore {
  /** Puts a question that waits for `waitMs`; a triage has one: asked again, the stored one is returned. */
  ask(
    question: Omit<ReviewerQuestion, 'kind' | 'state' | 'answer' | 'answeredBy' | 'answeredAt' | 'expiresAt'>,
    waitMs: number,
  ): Promise<ReviewerQuestion>;
  find(id: string): Promise<ReviewerQuestion | null>;
  findByTriage(triageId: string): Promise<ReviewerQuestion | null>;
  /** Oldest first. */
  list(filter: QuestionFilter, page: { readonly limit: number; readonly offset: number }): Promise<ReviewerQuestion[]>;
  /** Stores the answer and requests the build's triage again, to be rung for by its id; null where the question waits no more. */
  answer(id: string, answer: string, by: string): Promise<{ readonly question: ReviewerQuestion; readonly jobId: string | null } | null>;
  /** Closes what has waited too long; returns the jobs that this queues again. */
  expire(): Promise<string[]>;
}

/** Keeps threads of follow-up questions. They go with the analysis they are about. */
export interface ConversationStore {
  find(id: string): Promise<Thread | null>;
  /** Newest question first. */
  list(
    filter: {
      readonly analysisId?: string;
      readonly buildId?: string;
      /** Only about builds of these: `owner/name`, or `owner/*`. */
      readonly repositories?: readonly string[];
    },
    page: { readonly limit: number; readonly offset: number },
  ): Promise<Thread[]>;
  /** The last `limit` turns of a thread, oldest first. */
  turns(threadId: string, limit: number): Promise<Turn[]>;
  /**
   * Adds a turn, and stores the thread where it is the first. Throws `conflict` where a turn of that position is there already:
   * somebody else asked meanwhile.
   */
  append(thread: Thread, turn: Turn): Promise<void>;
  /** With all its turns; false where there is none. */
  remove(id: string): Promise<boolean>;
}
