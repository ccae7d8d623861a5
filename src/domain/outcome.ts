import { z } from 'zod';
import { ProvingBuild } from './failure-history.ts';

/** The questions about an answer that its outcome can settle. */
export const QUESTIONS = ['category', 'suspect', 'transient', 'excuse', 'advice'] as const;
export const GradeQuestion = z.enum(QUESTIONS);
export type GradeQuestion = z.infer<typeof GradeQuestion>;

/** The labels of the questions, as people see them. */
export const QUESTION_WORDS: Readonly<Record<GradeQuestion, string>> = {
  category: 'Category',
  suspect: 'Fixed file among the suspects',
  transient: 'A re-run passes',
  excuse: 'Not your change',
  advice: 'Advice',
};

/**
 * The share of answers that outcomes grade as right although they are wrong. Each right answer counts as
 * wrong by this share. It is the upper end of the range found by `scripts/bench grades`
 * (docs/evidence/grades.md).
 */
export const FALSE_RIGHT = 0.005;

/**
 * The number of wrong answers that one answer graded as wrong stands for. Outcomes grade 0.70 of the right
 * categories and only 0.14 of the wrong ones (docs/evidence/grades.md), so the graded answers alone would
 * look better than all answers are.
 */
export const WRONG_STANDS_FOR = 5;

/**
 * A grade of an answer. `doubtful` means that the outcome does not settle the question; it counts for
 * nothing.
 */
export const OutcomeGrade = z.enum(['right', 'wrong', 'doubtful']);
export type OutcomeGrade = z.infer<typeof OutcomeGrade>;

/** The grade of one question, and the reason in words. */
const QuestionGrade = z.object({ question: GradeQuestion, grade: OutcomeGrade, because: z.string() });
export type QuestionGrade = z.infer<typeof QuestionGrade>;

/**
 * The ways in which a failure is fixed. `rerun`: the same commit passed. `change`: it passed after a change.
 * `nothing`: it passed after a change of nothing that is built. `base`: the target branch moved, not the pull
 * request. `unknown`: the change could not be read.
 */
export const ResolutionKind = z.enum(['rerun', 'change', 'nothing', 'base', 'unknown']);
export type ResolutionKind = z.infer<typeof ResolutionKind>;

/** The fix of a failure, with its proof. Names of files, branches and people are untrusted text. */
export const Resolution = z.object({
  kind: ResolutionKind,
  /** The newest failed build that still had the failure. */
  red: ProvingBuild,
  /** The first build after it that passed. */
  green: ProvingBuild,
  /** The number of consecutive failed builds that had it. */
  times: z.int(),
  /** The known files that fixed it, at most 20, without those that fixed other failures. */
  files: z.array(z.string()),
  /** The commits between the two builds, newest first, at most 5. */
  commits: z.array(z.object({ commit: z.string(), subject: z.string(), author: z.string() })),
  isRevert: z.boolean(),
  /** The reason why it proves less than it seems. Null if there is no doubt. */
  doubt: z.string().nullable(),
});
export type Resolution = z.infer<typeof Resolution>;

/** An answer graded by its outcome. */
export const GradedAnswer = z.object({
  mend: Resolution,
  /** A grade for each question that the answer addresses. */
  grades: z.array(QuestionGrade),
});
export type GradedAnswer = z.infer<typeof GradedAnswer>;

/** A file that changed between a failed build and the passed one. */
export interface ChangedPath {
  readonly path: string;
  readonly previousPath: string | null;
  readonly status: 'added' | 'modified' | 'removed' | 'renamed';
  readonly patch: string | null;
}

/** The events after a failure, read from builds, tests and the code host. */
export interface Outcome {
  readonly red: ProvingBuild;
  readonly green: ProvingBuild;
  readonly times: number;
  /** The time of the first of the consecutive failed builds, in ISO 8601. */
  readonly since: string;
  /** The number of failed runs of one commit after the first. */
  readonly failedAgain: number;
  /**
   * True if the failed build is of a pull request and the passed one is another run: its target may have
   * moved.
   */
  readonly isRebuiltPullRequest: boolean;
  /** True if the clocks say that the passed build began before the failed one. */
  readonly clocksDisagree: boolean;
  /** The change between the two commits. Null if the code host cannot compare them. */
  readonly change: {
    readonly commits: Resolution['commits'];
    readonly files: readonly ChangedPath[];
    /** True if there is more than the host returns. */
    readonly truncated: boolean;
    /** True if the failed commit is not an ancestor of the passed one, as after a force push. */
    readonly isRewritten: boolean;
  } | null;
  /**
   * The results of the failed tests in the passed build, which may allow them to fail; `unknown` if it
   * reports no tests.
   */
  readonly tests: readonly ('passed' | 'failed' | 'skipped' | 'absent' | 'unknown')[];
  /** The texts of other failures of the same build, which the same change may have fixed. */
  readonly others: readonly string[];
}
