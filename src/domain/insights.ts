import { z } from 'zod';
import { Category } from './category.ts';

export interface InsightsFilter {
  readonly repository?: string;
  /** The repositories to include: `owner/name`, or `owner/*`. */
  readonly repositories?: readonly string[];
}

/** A period that ends with `until` (ISO 8601). */
export interface Period extends InsightsFilter {
  readonly until: string;
  readonly days: number;
}

const DAY_MS = 86_400_000;

/** Lists the UTC days of a period, oldest first. */
export function listDays({ until, days }: Pick<Period, 'until' | 'days'>): string[] {
  return Array.from({ length: days }, (_, at) =>
    new Date(Date.parse(until) - (days - 1 - at) * DAY_MS).toISOString().slice(0, 10),
  );
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

/**
 * The number of answers, decided or not, of one hundredth of stated confidence. Recalled answers are not
 * counted.
 */
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

/** The minimum number of decided answers for which a share is shown. */
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

/** One cause in a period, identified by its fingerprint. */
export const TopCause = z.object({
  fingerprint: z.string(),
  title: z.string(),
  category: Category,
  /** The number of builds that failed because of it. */
  builds: z.int(),
  pullRequests: z.int(),
  repositories: z.int(),
  /**
   * The run time of these builds, in hours. The time of a build that failed for several causes is divided
   * equally among them.
   */
  hours: z.number(),
  /** The number of these builds whose duration is not known. */
  untimed: z.int(),
  firstAt: z.iso.datetime(),
  lastAt: z.iso.datetime(),
  /** The newest decision that named it. Null if there is none that was not undone. */
  decided: DecidedBy.nullable(),
  /** The number of builds per UTC day in the last thirty days of the period, oldest first. */
  perDay: z.array(z.int()),
});
export type TopCause = z.infer<typeof TopCause>;

/** A build that failed because of a cause. */
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
  /** The newest builds, newest first. */
  readonly builds: readonly CauseBuild[];
  /** The newest decisions that were not undone, newest first. */
  readonly decisions: readonly CauseBuild[];
  /** The places in its newest thousand builds, the most frequent first. */
  readonly places: readonly CausePlace[];
}

/** A build with or without a cause, with the properties that are compared; see `findDifferences`. */
export const ComparedBuild = z.object({
  failing: z.boolean(),
  pipeline: z.string(),
  branch: z.string().nullable(),
  author: z.string().nullable(),
  provider: z.string(),
  pullRequest: z.boolean(),
  rerun: z.boolean(),
  /** The hour in UTC, 0 to 23. */
  hour: z.int(),
  /** The weekday. 0 is Sunday. */
  weekday: z.int(),
});
export type ComparedBuild = z.infer<typeof ComparedBuild>;

/** The cost of the answers of one week, without recalled answers. `week` is its Monday. */
export const WeekFigures = z.object({
  week: z.string(),
  answers: z.int(),
  /** The number of all answers that came from a known fingerprint, without a model. */
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
  /**
   * The number of decisions that say whether the machine's category was right, followed by the number that
   * say it was.
   */
  judged: z.int(),
  agreed: z.int(),
  /** The median time from opening to decision, in seconds. */
  medianSeconds: z.number().nullable(),
  p90Seconds: z.number().nullable(),
  /**
   * The number of accepted answers whose time from opening to decision is known, and of those accepted within
   * three seconds.
   */
  timedAccepts: z.int(),
  hastyAccepts: z.int(),
  /**
   * The number of causes that two people decided in one repository, and of those for which the newest
   * decisions of both named the same category.
   */
  pairs: z.int(),
  pairsAgreed: z.int(),
});
export type ReviewingFigures = z.infer<typeof ReviewingFigures>;
