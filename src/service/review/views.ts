import { z } from 'zod';
import { Analysis } from '../../domain/analysis.ts';
import { Category } from '../../domain/category.ts';
import { createTypedText } from '../../domain/errors.ts';
import { LibraryEntry } from '../../domain/library.ts';
import {
  Decision,
  DecisionInput,
  Review,
  ReviewEvent,
  ReviewerQuestion,
  ReviewState,
} from '../../domain/review.ts';
import { createListSchema, pageQuery } from '../../ports/database.ts';
import { ShownWhose } from '../answers/whose.ts';

const Sort = z.enum(['risk', 'age', 'confidence']);

/**
 * Filters of the queue. An unknown parameter is refused, because a misspelled filter must not show
 * everything.
 */
export const ReviewQuery = z.strictObject({
  state: ReviewState.optional(),
  category: Category.optional(),
  repository: z.string().min(1).max(300).optional(),
  fingerprint: z.string().min(1).max(300).optional(),
  why: z.string().min(1).max(200).optional().describe('Words that the review reason must contain'),
  sort: Sort.optional().describe(
    'risk: highest risk first (cost of a wrong answer times waiting time); age: oldest first; ' +
      'confidence: least confident first',
  ),
  ...pageQuery,
});

export const ReviewList = createListSchema(Review).extend({
  /**
   * The questions of running triages. They are only on the first page, and only if waiting items are
   * requested.
   */
  questions: z.array(ReviewerQuestion),
});

export const ReviewDetail = z.object({
  review: Review,
  analysis: Analysis,
  events: z.array(ReviewEvent),
  whose: ShownWhose.nullable()
    .default(null)
    .describe('Whose the failure is; null if nothing around the build is known'),
});

export const GroupQuery = ReviewQuery.omit({ state: true, fingerprint: true });

/** The queue with the items of one fingerprint in one repository grouped into one. */
export const GroupList = createListSchema(z.object({ review: Review, count: z.int() }));

export const CountsQuery = ReviewQuery.pick({ repository: true });

/** The request for the next item. `after` is the item that the reviewer just left. */
export const NextBody = ReviewQuery.omit({ state: true, limit: true, offset: true })
  .extend({ after: z.string().min(1).max(100).optional() })
  .nullish();

export const NextView = z.object({ review: Review.nullable() });

export const WithdrawBody = z.strictObject({ reason: createTypedText(1000) });

export const TeachView = z.object({
  entry: LibraryEntry,
  /** The entry now in use for the fingerprint; null if there is none. */
  answering: LibraryEntry.nullable(),
});
export type TeachView = z.infer<typeof TeachView>;

/** The request to decide a review. `version` is that of the review as the reviewer saw it. */
export const DecisionBody = z.strictObject({
  ...DecisionInput.shape,
  version: z.int().min(0),
  alsoFor: z
    .literal('same-fingerprint')
    .optional()
    .describe('Also decide the other waiting items with the same fingerprint in the same repository'),
  also: z
    .array(z.string().min(1).max(100))
    .max(200)
    .optional()
    .describe('Limit this to the items that you were shown'),
});

export const DecisionView = z.object({
  review: Review,
  /** The entry in the error library that was made from the decision; null if the decision teaches nothing. */
  entry: LibraryEntry.nullable(),
  /** A sentence that names the lesson, or the reason why there is none. */
  teaching: z.string(),
  /** Other items that were decided with it. */
  also: z.array(Review),
});
export type DecisionView = z.infer<typeof DecisionView>;

export const SameView = createListSchema(Review);

/** The request to undo a decision. The body may be left out. */
export const UndoBody = z.strictObject({ version: z.int().min(0).optional() }).nullish();

export const UndoView = z.object({
  /** The review, which is waiting again. */
  review: Review,
  /**
   * The decisions that were undone: several if they were made together, none if they had been undone before.
   */
  undone: z.array(Decision),
  /** The entries of these decisions, which are no longer in use. */
  withdrawn: z.array(LibraryEntry),
  /** The entries that are in use again. */
  restored: z.array(LibraryEntry),
});
export type UndoView = z.infer<typeof UndoView>;

export const LastDecisionView = z.object({ decision: Decision.nullable() });

/**
 * The reason why an item cannot be claimed or decided now, and its state. `holder` and `until` are set if
 * another reviewer holds it.
 */
export const ReviewConflict = z.object({
  error: z.object({
    code: z.literal('conflict'),
    message: z.string(),
    requestId: z.string().optional(),
    details: z.object({ review: Review, holder: z.string().optional(), until: z.iso.datetime().optional() }),
  }),
});
