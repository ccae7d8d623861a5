import type { Analysis } from '../domain/analysis.ts';
import type { Build } from '../domain/build.ts';
import type { NoticeAbout } from '../domain/notice.ts';
import type { Clock } from '../lib/time.ts';
import type { Check } from '../ports/health.ts';
import type { NoticeRule, Situation } from '../ports/notices.ts';
import type { HistoryStore } from '../ports/stores.ts';
import type { Logger } from '../ports/telemetry.ts';
import type { News } from './news.ts';

/**
 * One place outside to which Faultline writes, as configured. Making one loads and asks nothing; a library is
 * loaded when something is sent.
 */
export interface Channel {
  readonly name: string;
  /** Configured secrets, which are in no log, prompt or answer. */
  readonly secrets: readonly string[];
  /** Publishes confident answers, each once. Absent: it is not configured, or cannot. */
  readonly answers?: Open<AnswerOutlet>;
  /** Keeps a text in step with what is known of a build. Absent: it is not configured, or cannot. */
  readonly notices?: NoticeChannel;
  /** Sends the messages of notification rules. Absent: rules cannot use it, whatever is configured. */
  readonly messages?: MessageChannel;
  /** Lists the checks of whether it can be used as configured. */
  checks(): Check[];
}

/** The dependencies of an open channel. */
export interface ChannelParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly history: Pick<HistoryStore, 'consecutiveFailures' | 'failureHistory'>;
  /** The public address of Faultline; null: texts have no links. */
  readonly publicUrl: string | null;
}

type Open<Opened> = (parts: ChannelParts) => Promise<Opened>;

/** A text that is kept in step: where it is, which every process must know, and how it is written. */
export interface NoticeChannel extends NoticeRule {
  /** Null: it is requested, but cannot be written with what is configured; `because` says why. */
  readonly open: Open<NoticeOutlet> | null;
  readonly because?: string;
}

/** The places to which the messages of rules may go in a channel. */
interface Destinations {
  /** Names to choose from; null: `refusal` says what may be. */
  readonly destinations: readonly string[] | null;
  /** Explains in a sentence why nothing may be sent there. Returns null if it is allowed. */
  refusal(destination: string): string | null;
}

type MessageOutlet = Outlet<News, string>;

/** A channel that notification rules may name. */
export interface MessageChannel extends Destinations {
  /** The name for people: "Microsoft Teams". */
  readonly label: string;
  /** The variable that configures it. */
  readonly setting: string;
  /** Null: it is not configured. */
  readonly open: Open<MessageOutlet> | null;
}

/** An open channel for the messages of rules. Each is sent to a destination. */
export interface Messenger extends Destinations, MessageOutlet {}

/** The open channels for messages, by name. */
export type Messengers = Readonly<Record<string, Messenger>>;

export type AnswerOutlet = Outlet<Answer, null>;
export type NoticeOutlet = Outlet<Situation, NoticeTarget>;

/** A confident answer. */
export interface Answer {
  readonly build: Build;
  readonly analysis: Analysis;
}

export interface NoticeTarget {
  readonly repository: string;
  readonly about: NoticeAbout;
}

/** Words what is known, and sends it. */
export interface Outlet<Known, To, Content extends object = object> extends Sender<Content, To> {
  /**
   * Renders the content, or returns null if there is nothing to say. Pure. Content that is kept in step uses
   * only strings, numbers, booleans, arrays and plain objects, so that equal contents have equal hashes.
   */
  render(known: Known): Content | null;
}

/**
 * The other side of a channel. Both methods throw TriageError; `retryable` where it may be tried again,
 * `retryAfterMs` where the other side said when.
 */
export interface Sender<Content, To> {
  /**
   * Creates the text outside, or updates it if `reference` is set. Throws `not-found` if the referenced text
   * no longer exists; it is then created again.
   */
  send(content: Content, call: Call<To>): Promise<Sent>;
  /** Finds our text outside; null if there is none. Called before it is created. */
  find?(call: Call<To>): Promise<Sent | null>;
}

/** The client of a text that is kept in step. */
export type NoticeSender<Content> = Sender<Content, NoticeTarget>;
export type NoticeCall = Call<NoticeTarget>;

export interface Call<To> {
  readonly to: To;
  /**
   * Names what is sent for good: a place, an answer or a message. To be left outside with it (a header, a
   * marker in the text), so that it is recognized.
   */
  readonly key: string;
  /** The reference of the text outside; null if nothing is known to be there. */
  readonly reference: string | null;
  /** An earlier attempt may have reached the other side. */
  readonly isRetry: boolean;
  readonly signal: AbortSignal;
}

/**
 * The reference of a text in the other system: an address or an ID; null if the system does not report it.
 */
export interface Sent {
  readonly reference: string | null;
}
