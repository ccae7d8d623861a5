import { clip, toVisibleLine } from '../../notifications/visible-text.ts';

/** A button that opens a URL, or one whose press Slack reports to us. */
export type SlackButton =
  | { readonly label: string; readonly url: string; readonly id: string }
  | {
      readonly label: string;
      readonly value: string;
      readonly id: string;
      readonly style?: 'primary' | 'danger';
    };

/** A part of a message: text in Slack's own markup, already escaped, or a row of buttons. */
export type SlackBlock = { readonly text: string } | { readonly buttons: readonly SlackButton[] };

/** The content of a message. `text` is shown in notifications and is escaped as well. */
export interface SlackMessage {
  readonly text: string;
  readonly blocks: readonly SlackBlock[];
}

/** The name of the buttons for decisions, in the message and in Slack's request when one is pressed. */
export const RIGHT_BUTTON = 'faultline_right';
export const WRONG_BUTTON = 'faultline_wrong';

/** Escapes the three characters that have a meaning in Slack's markup everywhere. */
export function escapeSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** The characters that Slack would read as markup, with the look-alikes that replace them. */
const LOOK_ALIKES: Readonly<Record<string, string>> = { '*': '\u2217', '~': '\u223c', '`': '\u02cb' };

/**
 * Formats untrusted text on one line of Slack's markup: no mention, link, emoji or format becomes active, and
 * invisible characters become visible. The text must be put into a `verbatim` block, otherwise bare addresses
 * become links.
 */
export function toSlackLine(text: string, limit: number): string {
  return escapeSlack(clip(toVisibleLine(text), limit))
    .replace(/[*~`]/g, (mark) => LOOK_ALIKES[mark] ?? mark)
    .replace(/:(?=[\w+-]{1,100}:)/g, ':\u200b');
}

/** Formats the text of a model or a person on one line, without its code marks. */
export function toSlackProse(text: string, limit: number): string {
  return toSlackLine(text.replaceAll('`', ''), limit);
}

/**
 * Slack's limits: the number of blocks of a message, and the characters of a section, of a button, of its
 * value and of all together (docs.slack.dev, bolt-js#2509).
 */
const MAX_BLOCKS = 50;
const MAX_SECTION = 3_000;
const MAX_LABEL = 75;
const MAX_VALUE = 2_000;
const MAX_URL = 3_000;
const MAX_TOTAL = 12_000;
const MAX_BUTTONS = 25;

/**
 * Converts a message to Block Kit, within Slack's limits. Blocks beyond the limits are left out from the end;
 * text is never cut inside an entity.
 */
export function toSlackBlocks({ blocks }: SlackMessage): object[] {
  const listed: object[] = [];
  let total = 0;
  for (const block of blocks.slice(0, MAX_BLOCKS)) {
    const made = 'text' in block ? toSection(block.text) : toActions(block.buttons);
    if (made === null) continue;
    total += countCharacters(block);
    if (total > MAX_TOTAL) break;
    listed.push(made);
  }
  return listed;
}

function toSection(text: string): object | null {
  return text === ''
    ? null
    : { type: 'section', text: { type: 'mrkdwn', text: cutEscaped(text, MAX_SECTION), verbatim: true } };
}

function toActions(buttons: readonly SlackButton[]): object | null {
  const elements = buttons.filter(isWithinLimits).slice(0, MAX_BUTTONS).map(toButton);
  return elements.length === 0 ? null : { type: 'actions', elements };
}

function isWithinLimits(button: SlackButton): boolean {
  return 'url' in button ? button.url.length <= MAX_URL : button.value.length <= MAX_VALUE;
}

function toButton(button: SlackButton): object {
  const face = {
    type: 'button',
    action_id: button.id,
    text: { type: 'plain_text', text: button.label.slice(0, MAX_LABEL) },
  };
  if ('url' in button) return { ...face, url: button.url };
  return { ...face, value: button.value, ...(button.style === undefined ? {} : { style: button.style }) };
}

function countCharacters(block: SlackBlock): number {
  if ('text' in block) return Math.min(block.text.length, MAX_SECTION);
  return block.buttons.reduce(
    (sum, button) => sum + button.label.length + ('url' in button ? button.url : button.value).length,
    0,
  );
}

/**
 * Cuts at whole characters and entities: `&am` would be shown literally, and `<http…` would hide the text
 * after it.
 */
function cutEscaped(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const cut = text.slice(0, limit - 1);
  const open = Math.max(cut.lastIndexOf('&'), cut.lastIndexOf('<'));
  const closed = Math.max(cut.lastIndexOf(';'), cut.lastIndexOf('>'));
  return `${(open > closed && open > limit - 400 ? cut.slice(0, open) : cut).replace(/[\ud800-\udbff]$/, '')}…`;
}
