import { z } from 'zod';
import { Category } from './category.ts';

export interface InsightsFilter {
  readonly repository?: string;
  /** The repositories to include: `owner/name`, or `owner/*`. */
  readonly repositories?: readonly string[];
}

/** A stretch of time that ends with `until` (ISO 8601). */
export interface Period extends InsightsFilter {
  readonly until: string;
  readonly days: number;
}

/**
 * Counts decided answers by hundredths of stated confidence (`at`: 0.85 represents 0.85 up to 0.86). `right`
 * is true if a person confirmed the category: accepted; corrected within the category; or rejected for
 * another cause of the same category. Answers that the reviewer marked as undecidable are not counted.
 * Recalled answers are not counted either, because a person has already confirmed them.
 */
export const DecidedCount = z.object({
  at: z.number(),
  category: Category,
  right: z.boolean(),
  count: z.int(),
});
export type DecidedCount = z.infer<typeof DecidedCount>;

/** Answers but recalled ones, decided or not, of one hundredth of stated confidence. */
export const AnsweredCount = z.object({ at: z.number(), count: z.int() });
export type AnsweredCount = z.infer<typeof AnsweredCount>;

/**
 * The share of right answers at about this stated confidence: "31 of 42" of the answers from `from` up to
 * `to`.
 */
export interface TrackRecord {
  readonly right: number;
  readonly of: number;
  readonly from: number;
  readonly to: number;
}

/** Fewer decided answers than this say too little to be shown as a share. */
export const TOO_FEW = 20;

/**
 * The number of causes of one category on one UTC day. If `open` is true, the cause is not known yet, because
 * a person was asked and has not decided, or rejected the answer.
 */
export const DayCount = z.object({ day: z.string(), category: Category, open: z.boolean(), count: z.int() });
export type DayCount = z.infer<typeof DayCount>;

/** The category that a reviewer decided, with the reviewer and the time. */
export const DecidedBy = z.object({ category: Category, reviewer: z.string(), at: z.iso.datetime() });
export type DecidedBy = z.infer<typeof DecidedBy>;

/** One cause, known by its fingerprint, over a period. */
export interface TopCause {
  readonly fingerprint: string;
  readonly title: string;
  readonly category: Category;
  /** Builds that failed for it. */
  readonly builds: number;
  readonly pullRequests: number;
  readonly repositories: number;
  /**
   * The time those builds ran, in hours; a build that failed for several causes is shared evenly among them.
   */
  readonly hours: number;
  /** The number of these builds whose duration is not known. */
  readonly untimed: number;
  readonly firstAt: string;
  readonly lastAt: string;
  /** The newest decision that named it; null if none stands. */
  readonly decided: DecidedBy | null;
  /** Builds per UTC day, the period's last thirty days, oldest first. */
  readonly perDay: readonly number[];
}

/** One build that failed for a cause. */
export const CauseBuild = z.object({
  analysisId: z.string(),
  buildId: z.string(),
  repository: z.string(),
  pipeline: z.string(),
  number: z.string(),
  branch: z.string().nullable(),
  category: Category,
  confidence: z.number(),
  analyst: z.string(),
  decision: z.enum(['accept', 'correct', 'reject']).nullable(),
  decidedCategory: Category.nullable(),
  reviewer: z.string().nullable(),
  decidedAt: z.iso.datetime().nullable(),
  at: z.iso.datetime(),
});
export type CauseBuild = z.infer<typeof CauseBuild>;

/** A pipeline and branch where a cause was seen. */
export const CausePlace = z.object({
  repository: z.string(),
  pipeline: z.string(),
  branch: z.string().nullable(),
  builds: z.int(),
  lastAt: z.iso.datetime(),
});
export type CausePlace = z.infer<typeof CausePlace>;

export interface CauseFacts {
  readonly cause: TopCause;
  /** The newest, newest first. */
  readonly builds: readonly CauseBuild[];
  /** The newest decisions that stand, newest first. */
  readonly decisions: readonly CauseBuild[];
  /** The places in its newest thousand builds, the most frequent first. */
  readonly places: readonly CausePlace[];
}

/** Builds with and without a cause, as far as they can be compared: see `findDifferences`. */
export const ComparedBuild = z.object({
  failing: z.boolean(),
  pipeline: z.string(),
  branch: z.string().nullable(),
  author: z.string().nullable(),
  provider: z.string(),
  pullRequest: z.boolean(),
  rerun: z.boolean(),
  /** 0..23, UTC. */
  hour: z.int(),
  /** 0 is Sunday. */
  weekday: z.int(),
});
export type ComparedBuild = z.infer<typeof ComparedBuild>;

/** The cost of answers in one week (`week`: its Monday), without recalled answers. */
export const WeekFigures = z.object({
  week: z.string(),
  answers: z.int(),
  /** The number of answers, among all, that a known fingerprint gave without a model. */
  recalled: z.int(),
  medianUsd: z.number().nullable(),
  p90Usd: z.number().nullable(),
  medianSeconds: z.number().nullable(),
  p90Seconds: z.number().nullable(),
});
export type WeekFigures = z.infer<typeof WeekFigures>;

/** The review figures of a team. No figure is about a single person. */
export const ReviewingFigures = z.object({
  decided: z.int(),
  /** Decisions that say whether the machine's category was right, and those of them that say it was. */
  judged: z.int(),
  agreed: z.int(),
  /** Seconds from opening to decision. */
  medianSeconds: z.number().nullable(),
  p90Seconds: z.number().nullable(),
  /**
   * Accepted answers whose time from opening to decision is known, and those accepted within three seconds.
   */
  timedAccepts: z.int(),
  hastyAccepts: z.int(),
  /**
   * Causes on which two people decided in one repository, and the number of them for which the newest
   * decisions of both named the same category.
   */
  pairs: z.int(),
  pairsAgreed: z.int(),
});
export type ReviewingFigures = z.infer<typeof ReviewingFigures>;
