import type { ChatBlock, ChatButton, ChatMessage } from '../../ports/chat-room.ts';

/** Slack's limits: blocks of a message, characters of a section, of a button, of its value and of all together (docs.slack.dev, bolt-js#2509). */
const MAX_BLOCKS = 50;
const MAX_SECTION = 3_000;
const MAX_LABEL = 75;
const MAX_VALUE = 2_000;
const MAX_URL = 3_000;
const MAX_TOTAL = 12_000;
const MAX_BUTTONS = 25;

/** A message as Block Kit, within Slack's limits. What is too much is left out from the end; text is never cut inside an entity. */
export function slackBlocks({ blocks }: ChatMessage): object[] {
  const shown: object[] = [];
  let total = 0;
  for (const block of blocks.slice(0, MAX_BLOCKS)) {
    const made = 'text' in block ? sectionOf(block.text) : actionsOf(block.buttons);
    if (made === null) continue;
    total += charactersOf(block);
    if (total > MAX_TOTAL) break;
    shown.push(made);
  }
  return shown;
}

function sectionOf(text: string): object | null {
  return text === '' ? null : { type: 'section', text: { type: 'mrkdwn', text: cutEscaped(text, MAX_SECTION), verbatim: true } };
}

function actionsOf(buttons: readonly ChatButton[]): object | null {
  const elements = buttons.filter(isWithinLimits).slice(0, MAX_BUTTONS).map(buttonOf);
  return elements.length === 0 ? null : { type: 'actions', elements };
}

function isWithinLimits(button: ChatButton): boolean {
  return 'url' in button ? button.url.length <= MAX_URL : button.value.length <= MAX_VALUE;
}

function buttonOf(button: ChatButton): object {
  const face = { type: 'button', action_id: button.id, text: { type: 'plain_text', text: button.label.slice(0, MAX_LABEL) } };
  if ('url' in button) return { ...face, url: button.url };
  return { ...face, value: button.value, ...(button.style === undefined ? {} : { style: button.style }) };
}

function charactersOf(block: ChatBlock): number {
  if ('text' in block) return Math.min(block.text.length, MAX_SECTION);
  return block.buttons.reduce((sum, button) => sum + button.label.length + ('url' in button ? button.url : button.value).length, 0);
}

/** Cuts at whole characters and entities: `&am` would show as itself, and `<http…` would swallow what follows. */
function cutEscaped(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const cut = text.slice(0, limit - 1);
  const open = Math.max(cut.lastIndexOf('&'), cut.lastIndexOf('<'));
  const closed = Math.max(cut.lastIndexOf(';'), cut.lastIndexOf('>'));
  return `${(open > closed && open > limit - 400 ? cut.slice(0, open) : cut).replace(/[\ud800-\udbff]$/, '')}…`;
}
