/** A button that opens an address, or one that is sent back to us. */
export type ChatButton =
  | { readonly label: string; readonly url: string; readonly id: string }
  | { readonly label: string; readonly value: string; readonly id: string; readonly style?: 'primary' | 'danger' };

/** A part of a message: text in the chat's own mark-up, escaped already, or buttons in a row. */
export type ChatBlock = { readonly text: string } | { readonly buttons: readonly ChatButton[] };

/** What is in a chat. `text` is what a notification shows, escaped too. */
export interface ChatMessage {
  readonly text: string;
  readonly blocks: readonly ChatBlock[];
}

export interface ChatPlace {
  readonly channel: string;
  /** The chat's own name of the message. */
  readonly message: string;
}

/** Says and changes messages. Every call throws TriageError; `retryable` where it may be made again, `retryAfterMs` where the other side said when. */
export interface ChatRoom {
  /** `key` stays with the message, for `find`. */
  post(channel: string, message: ChatMessage, options: { readonly key: string; readonly signal: AbortSignal }): Promise<ChatPlace>;
  /** Throws `not-found` where the message is gone. */
  update(at: ChatPlace, message: ChatMessage, options: { readonly key: string; readonly signal: AbortSignal }): Promise<void>;
  /** A reply below a message. `text` is escaped already. */
  reply(at: ChatPlace, text: string, signal: AbortSignal): Promise<void>;
  /** What was posted with this key lately; null where there is nothing, or where the chat does not let us look. */
  find(channel: string, key: string, signal: AbortSignal): Promise<ChatPlace | null>;
  /** Tells one person in a channel, whom alone it is shown. `text` is escaped already. */
  whisper(to: { readonly channel: string; readonly user: string }, text: string, signal: AbortSignal): Promise<void>;
  /** Who we are there: what `doctor` shows. */
  whoAmI(signal: AbortSignal): Promise<string>;
}

/** The three characters that a chat's mark-up reads in any text, as text. */
export function escapeChat(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Names of the buttons that come back to us: on the message, and in what Slack sends when one is pressed. */
export const RIGHT_BUTTON = 'faultline_right';
export const WRONG_BUTTON = 'faultline_wrong';

/** What an installation that uses Slack's buttons brings. */
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
  /** `true` the first time this id is brought; of several at once, for one of them. */
  isNew(id: string): Promise<boolean>;
}
