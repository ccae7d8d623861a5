import type { ChatRoom } from './chat-room.ts';

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
