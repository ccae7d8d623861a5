import type { Analysis } from '../domain/analysis.ts';
import type { Build } from '../domain/build.ts';
import type { Failure } from '../domain/failure.ts';
import type { FailureHistory } from '../domain/failure-history.ts';
import type { NoticeAbout } from '../domain/notice.ts';
import type { Decision, ReviewerQuestion } from '../domain/review.ts';
import type { TriageJob } from '../domain/triage.ts';

/** The place in which a channel shows a notice about a build. */
export interface NoticePlace {
  /** Begins with the channel's name and a colon; one notice each. */
  readonly key: string;
  readonly about: NoticeAbout;
  /**
   * True if this build is reason enough to create the notice; false if it only updates an existing notice.
   */
  readonly opens: boolean;
}

/**
 * Says where a channel is about a build. Pure: it is asked wherever something changes, in processes that
 * never speak too.
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

/** All facts about the subject of a notice, from one reading. */
export interface Situation {
  readonly about: NoticeAbout;
  /** The newest build of each pipeline, the newest first. Empty if none is stored any more. */
  readonly heads: readonly BuildSituation[];
  /**
   * The default branch that the CI reported; otherwise a usual name that has builds; null if neither is
   * known.
   */
  readonly defaultBranch: string | null;
  /** The usual time to an answer in milliseconds; null if too few are known. */
  readonly usualMs: number | null;
}

export interface BuildSituation {
  readonly build: Build;
  /** Its pending work; null if nothing is. */
  readonly job: Pick<TriageJob, 'state' | 'error'> | null;
  /** Failed tests and steps known so far. */
  readonly failures: number;
  /** The causes of the failures that have an answer. */
  readonly causes: readonly Cause[];
  /** The number of groups of failures that are still analyzed. */
  readonly openCauses: number;
  /** The question for which the triage waits, if it asked a person. */
  readonly question: ReviewerQuestion | null;
  /**
   * The previous failed build, if this build passed: the newest one before it, of the same pipeline and with
   * the same subject as the notice.
   */
  readonly lastFailed: FailedBefore | null;
}

export interface FailedBefore {
  readonly build: Build;
  /** The first one after it that has passed. */
  readonly fixedBy: Build;
  readonly failures: number;
  readonly causes: readonly Pick<Analysis, 'id' | 'category' | 'answer'>[];
}

/** One cause of a build's failures, with all that was said of it. */
export interface Cause {
  readonly analysis: Analysis;
  readonly failures: number;
  /** Names of the failed tests, each once; at most twenty. */
  readonly tests: readonly string[];
  /** The first of its failures, at most twenty, without the text of their excerpts. */
  readonly sample: readonly Failure[];
  /** The review, with its decision once there is one; null if none was opened. */
  readonly review: {
    readonly id: string;
    readonly openedAt: string;
    readonly decision: Decision | null;
  } | null;
  readonly history: FailureHistory;
  /** The review record of answers with about this confidence; null if too few were decided. */
  readonly record: { readonly right: number; readonly decided: number } | null;
  /** True if a person has muted the cause for now: no alerts are sent. */
  readonly isMuted: boolean;
}
