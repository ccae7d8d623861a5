import type { Analysis } from '../domain/analysis.ts';
import type { Build } from '../domain/build.ts';
import type { Failure } from '../domain/failure.ts';
import type { Notice, NoticeAbout } from '../domain/outbox.ts';
import type { Decision, ReviewerQuestion } from '../domain/review.ts';
import type { TriageJob } from '../domain/triage.ts';

/** Where a channel is about a build. */
export interface NoticePlace {
  /** Begins with the channel's name and a colon; one notice each. */
  readonly key: string;
  readonly about: NoticeAbout;
  /** Whether this build is reason enough to speak for the first time; else only what is there already is kept in step. */
  readonly opens: boolean;
}

/** Says where a channel is about a build. Pure: it is asked wherever something changes, in processes that never speak too. */
export interface NoticeRule {
  /** The channel's name: `github-comment`. */
  readonly channel: string;
  /** Null: it does not speak of such builds. `defaultBranch` as the CI has said, else null. */
  placeOf(build: Build, known: { readonly defaultBranch: string | null }): NoticePlace | null;
  /** The address of what it has posted, by its reference; absent: it has no page of its own. */
  pageOf?(build: Build, reference: string): string | null;
}

export interface NoticeCall {
  readonly notice: Notice;
  readonly signal: AbortSignal;
}

/**
 * The other side of a channel, an adapter. Both throw TriageError; `retryable` where it may be tried again, `retryAfterMs` where the other
 * side said when.
 */
export interface NotificationClient<Content> {
  /**
   * Makes the text in its place, or, where `notice.reference` names it, changes it there. `not-found` where what the reference names is
   * gone: it is then looked for and made anew.
   */
  show(content: Content, call: NoticeCall): Promise<{ readonly reference: string }>;
  /** What is there of ours; null: nothing. Asked before something is made. */
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
  /** Null: there is nothing to say, and what was said stays. */
  prepare(situation: Situation): ReadyNotice | null;
  find?(call: NoticeCall): Promise<{ readonly reference: string } | null>;
}

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
  /** Its pending work; null where nothing is. */
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
  /** The first of its failures, at most twenty, without the text of their excerpts. */
  readonly sample: readonly Failure[];
  /** The review, with its decision once there is one; null where none was opened. */
  readonly review: { readonly id: string; readonly openedAt: string; readonly decision: Decision | null } | null;
  readonly history: CauseHistory;
  /** How often people found answers of about this confidence right, where enough were decided; else null. */
  readonly record: { readonly right: number; readonly decided: number } | null;
  /** A person has muted it for now: nobody is to be alerted. */
  readonly isMuted: boolean;
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

interface PublishOptions {
  /** Names this publication for good. To be left outside with it (a header, a marker in the text), so that it is recognized. */
  readonly key: string;
  readonly signal: AbortSignal;
}

/** What the other side calls what was published: an address or an id; null where it does not say. */
export interface Published {
  readonly reference: string | null;
}

/**
 * Publishes answers. A key is published once: where the other side can say what it has, `find` is asked before a second try; where it cannot,
 * it recognizes a second publication by its key.
 */
export interface Publisher {
  readonly driver: string;
  /** Throws TriageError; `retryable` where it may be tried again with the same key, `retryAfterMs` where the other side said when. */
  publish(build: Build, analysis: Analysis, options: PublishOptions): Promise<Published>;
  /** What an earlier try with this key left outside; null where there is nothing. */
  find?(build: Build, analysis: Analysis, options: PublishOptions): Promise<Published | null>;
}
