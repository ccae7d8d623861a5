import type { Analysis } from '../domain/analysis.ts';
import type { Build } from '../domain/build.ts';
import type { NoticeAbout } from '../domain/notice.ts';
import type { ReviewerQuestion } from '../domain/question.ts';
import type { Decision } from '../domain/review.ts';
import type { TriageJob } from '../domain/triage.ts';

/** All that is known of what a notice is about, in one reading. */
export interface Situation {
  readonly about: NoticeAbout;
  /** The newest build of each pipeline, the newest first. Empty where none is stored any more. */
  readonly heads: readonly BuildSituation[];
  /** As the CI has said, else one of the usual names that has builds; null where nothing is known. */
  readonly defaultBranch: string | null;
  /** How long an answer usually takes, in milliseconds; null where too few are known. */
  readonly usualMs: number | null;
}

export interface BuildSituation {
  readonly build: Build;
  /** What is owed to it; null where nothing is. */
  readonly job: Pick<TriageJob, 'state' | 'error'> | null;
  /** Failed tests and steps known so far. */
  readonly failures: number;
  /** Of them, those with an answer, by cause. */
  readonly causes: readonly Cause[];
  /** Groups of failures that are still looked at. */
  readonly openCauses: number;
  /** What its triage waits for, where it has asked a person. */
  readonly question: ReviewerQuestion | null;
  /** Where it has passed: the newest build before it, of the same pipeline and in what the notice is about, that has failed. */
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
  /** The review, with its decision once there is one; null where none was opened. */
  readonly review: { readonly id: string; readonly openedAt: string; readonly decision: Decision | null } | null;
  readonly history: CauseHistory;
  /** How often people found answers of about this confidence right, where enough were decided; else null. */
  readonly record: { readonly right: number; readonly decided: number } | null;
}

/** Where else the same failure was seen: by its fingerprint, in the same repository, before this build, outside its pull request and branch. */
export interface CauseHistory {
  /** The fingerprint does not say why it failed, so that what it shares with others proves nothing. */
  readonly generic: boolean;
  /** The newest build of the same pipeline on the default branch before it; null where none is known, or where this one is on it. */
  readonly defaultBranch: {
    readonly name: string;
    readonly status: Build['status'];
    /** It fails there since that build; null where the newest one does not have this failure. */
    readonly since: Build | null;
    /** When it was last seen there; null: never in the last two weeks. */
    readonly lastSeenAt: string | null;
  } | null;
  /** Other pull requests that had it in the seven days before. */
  readonly otherPullRequests: number;
  /** Whether it was ever seen elsewhere. */
  readonly seenElsewhere: boolean;
}
