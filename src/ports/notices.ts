import type { Analysis } from '../domain/analysis.ts';
import type { Build } from '../domain/build.ts';
import type { Failure } from '../domain/failure.ts';
import type { FailureHistory } from '../domain/failure-history.ts';
import type { NoticeAbout } from '../domain/notice.ts';
import type { Decision, ReviewerQuestion } from '../domain/review.ts';
import type { TriageJob } from '../domain/triage.ts';

/** The place in which a channel shows a notice about a build. */
export interface NoticePlace {
  /** The key of the place, which begins with the channel's name and a colon. Each key has one notice. */
  readonly key: string;
  readonly about: NoticeAbout;
  /** True if this build justifies creating the notice. False if it only updates an existing notice. */
  readonly opens: boolean;
}

/**
 * Finds the place of a channel's notice about a build. It has no side effects, and is also called in
 * processes that never send notices.
 */
export interface NoticeRule {
  /** The channel's name: `github-comment`. */
  readonly channel: string;
  /**
   * Finds the place for a notice about a build. Returns null if the channel has no notices about such builds.
   * `defaultBranch` is the branch that the CI reported, otherwise null.
   */
  findPlace(build: Build, known: { readonly defaultBranch: string | null }): NoticePlace | null;
  /**
   * Returns the address of a posted notice by its reference. Absent if notices of this channel have no page
   * of their own.
   */
  getPageAddress?(build: Build, reference: string): string | null;
}

/** The facts about the subject of a notice, all from one reading of the database. */
export interface Situation {
  readonly about: NoticeAbout;
  /** The newest build of each pipeline, newest first. Empty if none is stored any more. */
  readonly heads: readonly BuildSituation[];
  /**
   * The default branch that the CI reported, otherwise a usual name that has builds. Null if neither is
   * known.
   */
  readonly defaultBranch: string | null;
  /** The usual time to an answer, in milliseconds. Null if too few times are known. */
  readonly usualMs: number | null;
}

export interface BuildSituation {
  readonly build: Build;
  /** The pending triage. Null if there is none. */
  readonly job: Pick<TriageJob, 'state' | 'error'> | null;
  /** The number of failed tests and steps known so far. */
  readonly failures: number;
  /** The causes of the failures that have an answer. */
  readonly causes: readonly Cause[];
  /** The number of failure groups that are still being analyzed. */
  readonly openCauses: number;
  /** The question for which the triage waits, if it asked a person. */
  readonly question: ReviewerQuestion | null;
  /**
   * The previous failed build, if this build passed. It is the newest one before this build, of the same
   * pipeline and with the same subject as the notice.
   */
  readonly lastFailed: FailedBefore | null;
}

export interface FailedBefore {
  readonly build: Build;
  /** The first build after it that passed. */
  readonly fixedBy: Build;
  readonly failures: number;
  readonly causes: readonly Pick<Analysis, 'id' | 'category' | 'answer'>[];
}

/** One cause of a build's failures, with its review and its state. */
export interface Cause {
  readonly analysis: Analysis;
  readonly failures: number;
  /** The names of the failed tests, each once. At most twenty. */
  readonly tests: readonly string[];
  /** The first of its failures, without the text of their excerpts. At most twenty. */
  readonly sample: readonly Failure[];
  /** The review, with its decision once there is one. Null if no review was opened. */
  readonly review: {
    readonly id: string;
    readonly openedAt: string;
    readonly decision: Decision | null;
  } | null;
  readonly history: FailureHistory;
  /** The review record of answers with about this confidence. Null if too few were decided. */
  readonly record: { readonly right: number; readonly decided: number } | null;
  /** True if a person has muted the cause for now, so that no notifications are sent. */
  readonly isMuted: boolean;
}
