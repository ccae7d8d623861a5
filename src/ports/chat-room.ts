/** A button that opens an address, or one that is sent back to us. */
export type ChatButton =
  | { readonly label: string; readonly url: string; readonly id: string }
  | {
      readonly label: string;
      readonly value: string;
      readonly id: string;
      readonly style?: 'primary' | 'danger';
    };

/** A part of a message: text in the chat's own mark-up, escaped already, or buttons in a row. */
export type ChatBlock = { readonly text: string } | { readonly buttons: readonly ChatButton[] };

/** The content of a chat message. `text` is shown in notifications; it is escaped too. */
export interface ChatMessage {
  readonly text: string;
  readonly blocks: readonly ChatBlock[];
}

export interface ChatPlace {
  readonly channel: string;
  /** The chat's own name of the message. */
  readonly message: string;
}

/**
 * Says and changes messages. Every call throws TriageError; `retryable` where it may be made again,
 * `retryAfterMs` where the other side said when.
 */
export interface ChatRoom {
  /** Posts a message. `key` is stored with the message, so that `find` can find it. */
  post(
    channel: string,
    message: ChatMessage,
    options: { readonly key: string; readonly signal: AbortSignal },
  ): Promise<ChatPlace>;
  /** Throws `not-found` where the message is gone. */
  update(
    at: ChatPlace,
    message: ChatMessage,
    options: { readonly key: string; readonly signal: AbortSignal },
  ): Promise<void>;
  /** Posts a reply below a message. `text` is already escaped. */
  reply(at: ChatPlace, text: string, signal: AbortSignal): Promise<void>;
  /**
   * Finds a recent message by its key. Returns null if there is none, or if the chat does not permit the
   * lookup.
   */
  find(channel: string, key: string, signal: AbortSignal): Promise<ChatPlace | null>;
  /** Tells one person in a channel, whom alone it is shown. `text` is escaped already. */
  whisper(
    to: { readonly channel: string; readonly user: string },
    text: string,
    signal: AbortSignal,
  ): Promise<void>;
  /** Returns the identity of the bot in the chat, which `doctor` shows. */
  whoAmI(signal: AbortSignal): Promise<string>;
}

/** Escapes the three characters that have a meaning in the chat's mark-up everywhere. */
export function escapeChat(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Names of the buttons that come back to us: on the message, and in what Slack sends when one is pressed. */
export const RIGHT_BUTTON = 'faultline_right';
export const WRONG_BUTTON = 'faultline_wrong';

/** The configuration and dependencies of Slack buttons. */
export interface SlackButtons {
  /** The app's signing secret; two while one is rotated. */
  readonly secrets: readonly string[];
  /** Slack's ids of those who may decide. */
  readonly reviewers: readonly string[];
  readonly room: Pick<ChatRoom, 'whisper'>;
  readonly presses: SlackPresses;
}

/** Remembers what was pressed in Slack for longer than its signature holds. */
export interface SlackPresses {
  /** Returns `true` the first time this id is seen. Of several concurrent calls, only one returns `true`. */
  isNew(id: string): Promise<boolean>;
}
