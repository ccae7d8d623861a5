import type { Analysis } from '../domain/analysis.ts';
import type { Build } from '../domain/build.ts';
import type { NoticeAbout } from '../domain/notice.ts';
import type { EventGroup, PublishedEvent } from '../domain/published-event.ts';
import type { Clock } from '../lib/time.ts';
import type { Check } from '../ports/health.ts';
import type { NoticeRule, Situation } from '../ports/notices.ts';
import type { HistoryStore } from '../ports/stores.ts';
import type { Logger } from '../ports/telemetry.ts';
import type { News } from './news.ts';

/**
 * A system to which Faultline writes, as configured. Creating a channel loads and requests nothing. A library
 * is loaded when something is sent.
 */
export interface Channel {
  readonly name: string;
  /** The configured secrets. They must appear in no log, prompt or answer. */
  readonly secrets: readonly string[];
  /**
   * Publishes confident answers, each once. It is absent if the channel is not configured or cannot publish.
   */
  readonly answers?: Open<AnswerPublisher>;
  /** Publishes the events that the receiver asked for. It is absent if the receiver asked for none. */
  readonly events?: EventChannel;
  /**
   * Keeps a notice about a build up to date. It is absent if the channel is not configured or cannot edit.
   */
  readonly notices?: NoticeChannel;
  /** Sends the messages of notification rules. It is absent if rules can never use the channel. */
  readonly messages?: MessageChannel;
  /** Lists the checks of whether the channel can be used as configured. */
  checks(): Check[];
}

/** The dependencies of an open channel. */
export interface ChannelParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly history: Pick<HistoryStore, 'consecutiveFailures' | 'failureHistory'>;
  /** The public address of Faultline. If it is null, texts have no links. */
  readonly publicUrl: string | null;
}

type Open<Opened> = (parts: ChannelParts) => Promise<Opened>;

/** A channel that publishes events about answers after they were given. */
export interface EventChannel {
  readonly groups: readonly EventGroup[];
  readonly open: Open<EventPublisher>;
}

/** A notice that is kept up to date: its target, which every process must know, and its publisher. */
export interface NoticeChannel extends NoticeRule {
  /**
   * Opens the channel. It is null if the notice is requested but not fully configured; `because` says why.
   */
  readonly open: Open<NoticePublisher> | null;
  readonly because?: string;
}

/** The destinations to which the messages of rules may be sent in a channel. */
interface Destinations {
  /** The names to choose from. If it is null, only `refusal` decides. */
  readonly destinations: readonly string[] | null;
  /** Explains in a sentence why nothing may be sent there. Returns null if it is allowed. */
  refusal(destination: string): string | null;
}

type MessagePublisher = Publisher<News, string>;

/** A channel that notification rules may name. */
export interface MessageChannel extends Destinations {
  /** The display name: "Microsoft Teams". */
  readonly label: string;
  /** The environment variable that configures the channel. */
  readonly setting: string;
  /** Opens the channel; null if it is not configured. */
  readonly open: Open<MessagePublisher> | null;
}

/** An open channel for the messages of rules. Each is sent to a destination. */
export interface Messenger extends Destinations, MessagePublisher {}

/** The open channels for messages, by name. */
export type Messengers = Readonly<Record<string, Messenger>>;

export type AnswerPublisher = Publisher<Answer, null>;
export type EventPublisher = Publisher<PublishedEvent, null>;
export type NoticePublisher = Publisher<Situation, NoticeTarget>;

/** A confident answer. */
export interface Answer {
  readonly build: Build;
  readonly analysis: Analysis;
}

export interface NoticeTarget {
  readonly repository: string;
  readonly about: NoticeAbout;
}

/** A publisher: renders the known facts and sends them. */
export interface Publisher<Known, To, Content extends object = object> extends Sender<Content, To> {
  /**
   * Renders the content, or returns null if there is nothing to say. It has no side effects. The content of a
   * notice uses only strings, numbers, booleans, arrays and plain objects, so that equal contents have equal
   * hashes.
   */
  render(known: Known): Content | null;
}

/**
 * The client of the system to which a channel writes. Both methods throw TriageError, with `retryable` if the
 * call may be repeated and `retryAfterMs` if the system requested a delay.
 */
export interface Sender<Content, To> {
  /**
   * Creates the text in the other system, or updates it if `reference` is set. Throws `not-found` if the
   * referenced text no longer exists; it is then created again.
   */
  send(content: Content, call: Call<To>): Promise<Sent>;
  /** Finds our text in the other system. Returns null if there is none. Called before the text is created. */
  find?(call: Call<To>): Promise<Sent | null>;
}

/** The client of a notice that is kept up to date. */
export type NoticeSender<Content> = Sender<Content, NoticeTarget>;
export type NoticeCall = Call<NoticeTarget>;

export interface Call<To> {
  readonly to: To;
  /**
   * The permanent name of a target, an answer or a message. It is sent along (as a header or a marker in the
   * text), so that the text is recognized later.
   */
  readonly key: string;
  /** The reference of the published text; null if none is known. */
  readonly reference: string | null;
  /** True if an earlier attempt may have reached the other system. */
  readonly isRetry: boolean;
  readonly signal: AbortSignal;
}

/**
 * The reference of a text in the other system: an address or an ID; null if the system does not report it.
 */
export interface Sent {
  readonly reference: string | null;
}
