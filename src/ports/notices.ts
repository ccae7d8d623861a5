import type { Build } from '../domain/build.ts';
import type { Notice, NoticeAbout } from '../domain/notice.ts';
import type { Sql } from './database.ts';
import type { Situation } from './situation.ts';

/** Where a channel speaks of a build. */
export interface NoticePlace {
  /** Begins with the channel's name and a colon; one notice each. */
  readonly key: string;
  readonly about: NoticeAbout;
  /** Whether this build is reason enough to speak for the first time; else only what stands there already is kept in step. */
  readonly opens: boolean;
}

/** Says where a channel speaks of a build. Pure: it is asked wherever something changes, in processes that never speak too. */
export interface NoticeRule {
  /** The channel's name: `github-comment`. */
  readonly channel: string;
  /** Null: it does not speak of such builds. `defaultBranch` as the CI has said, else null. */
  placeOf(build: Build, known: { readonly defaultBranch: string | null }): NoticePlace | null;
}

/** A call to the other side. */
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
  /** What stands there of ours; null: nothing. Asked before something is made. */
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

/** What should be said outside, and what was. Leases and due times are judged by the database's clock. */
export interface NoticeStore {
  /**
   * What should be said of this build has changed. To be called in the transaction of the change. It is shown after `delayMs`; a change that
   * waits already is not hurried: both are shown when the later one is due. `true` where somebody is to be told.
   */
  changed(of: { readonly buildId: string; readonly delayMs: number }, sql?: Sql): Promise<boolean>;
  /** Takes the notice of these channels that has been due for longest, for `leaseMs`; null where none is. */
  take(channels: readonly string[], leaseMs: number): Promise<Notice | null>;
  /** Whether nothing has changed since it was taken, and it is still held: what was read since then may be shown. */
  isCurrent(notice: Notice): Promise<boolean>;
  /** What was taken is outside now; the notice is then left alone for `pauseMs`. `false` where the lease is stale: nothing changes. */
  finish(
    notice: Notice,
    shown: { readonly reference: string | null; readonly hash: string | null; readonly pauseMs: number },
  ): Promise<boolean>;
  /** What was taken cannot be shown; the next change is tried again. */
  fail(notice: Notice, error: string): Promise<void>;
  /** Gives it back, to be left alone for `delayMs`; with 0 the try does not count. A stale lease changes nothing. */
  release(notice: Notice, error: string | null, delayMs: number): Promise<void>;
  /** Gives back every held notice, and says how many; only for a database that no other process can have open. */
  reclaim(): Promise<number>;
  find(key: string): Promise<Notice | null>;
  /** Those whose last try failed, newest first. */
  listFailed(limit: number): Promise<Notice[]>;
  /** What is known of it now. */
  situation(about: NoticeAbout): Promise<Situation>;
}
