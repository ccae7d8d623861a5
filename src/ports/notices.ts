import type { Analysis } from '../domain/analysis.ts';
import type { Build } from '../domain/build.ts';
import type { Failure } from '../domain/failure.ts';
import type { Notice, NoticeAbout } from '../domain/notice.ts';
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

export interface NoticeCall {
  readonly notice: Notice;
  readonly signal: AbortSignal;
}

/**
 * The other side of a channel, an adapter. Both throw TriageError; `retryable` where it may be tried again,
 * `retryAfterMs` where the other side said when.
 */
export interface NotificationClient<Content> {
  /**
   * Creates the text in its place, or updates it if `notice.reference` is set. Throws `not-found` if the
   * referenced text no longer exists; the caller then searches for it, and creates it again.
   */
  show(content: Content, call: NoticeCall): Promise<{ readonly reference: string }>;
  /**
   * Finds our existing notice in the external system; null if there is none. Called before a notice is
   * created.
   */
  find?(call: NoticeCall): Promise<{ readonly reference: string } | null>;
}

/** A content that is ready to be shown. */
export interface ReadyNotice {
  /** Equal hashes: nothing needs to be shown again. */
  readonly hash: string;
  show(call: NoticeCall): Promise<{ readonly reference: string }>;
}

/** A rule, how it words what is known, and the client it goes through. Made by `noticeChannel`. */
export interface NoticeChannel extends NoticeRule {
  /**
   * Prepares the notice for a situation. Returns null if there is nothing to show; an existing notice then
   * stays.
   */
  prepare(situation: Situation): ReadyNotice | null;
  find?(call: NoticeCall): Promise<{ readonly reference: string } | null>;
}

/** All that is known of what a notice is about, in one reading. */
export interface Situation {
  readonly about: NoticeAbout;
  /** The newest build of each pipeline, the newest first. Empty where none is stored any more. */
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
  /** Its pending work; null where nothing is. */
  readonly job: Pick<TriageJob, 'state' | 'error'> | null;
  /** Failed tests and steps known so far. */
  readonly failures: number;
  /** The causes of the failures that have an answer. */
  readonly causes: readonly Cause[];
  /** Groups of failures that are still looked at. */
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
  /** The review, with its decision once there is one; null where none was opened. */
  readonly review: {
    readonly id: string;
    readonly openedAt: string;
    readonly decision: Decision | null;
  } | null;
  readonly history: CauseHistory;
  /** The review record of answers with about this confidence; null if too few were decided. */
  readonly record: { readonly right: number; readonly decided: number } | null;
  /** True if a person has muted the cause for now: no alerts are sent. */
  readonly isMuted: boolean;
}

/**
 * Earlier occurrences of the same failure outside the build's pull request and branch: with the same
 * fingerprint, in the same repository, before this build.
 */
export interface CauseHistory {
  /** The fingerprint does not say why it failed, so that what it shares with others proves nothing. */
  readonly generic: boolean;
  /**
   * The newest build of the same pipeline on the default branch before it; null where none is known, or where
   * this one is on it.
   */
  readonly defaultBranch: {
    readonly name: string;
    readonly status: Build['status'];
    /** It fails there since that build; null where the newest one does not have this failure. */
    readonly since: Build | null;
    /** The time when it was last seen there; null if it was not seen in the last two weeks. */
    readonly lastSeenAt: string | null;
  } | null;
  /** Other pull requests that had it in the seven days before. */
  readonly otherPullRequests: number;
  /** True if it was ever seen elsewhere. */
  readonly seenElsewhere: boolean;
}

interface PublishOptions {
  /**
   * Names this publication for good. To be left outside with it (a header, a marker in the text), so that it
   * is recognized.
   */
  readonly key: string;
  readonly signal: AbortSignal;
}

/**
 * The reference of a publication in the external system: an address or an id; null if the system does not
 * report it.
 */
export interface Published {
  readonly reference: string | null;
}

/**
 * Publishes answers. A key is published once: where the other side can say what it has, `find` is asked
 * before a second try; where it cannot, it recognizes a second publication by its key.
 */
export interface Publisher {
  readonly driver: string;
  /**
   * Throws TriageError; `retryable` where it may be tried again with the same key, `retryAfterMs` where the
   * other side said when.
   */
  publish(build: Build, analysis: Analysis, options: PublishOptions): Promise<Published>;
  /** Finds what an earlier try with this key published; null if there is nothing. */
  find?(build: Build, analysis: Analysis, options: PublishOptions): Promise<Published | null>;
}
