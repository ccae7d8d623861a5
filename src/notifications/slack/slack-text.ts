import { escapeChat } from '../../ports/chat-room.ts';
import { clip, visibleLine } from '../visible-text.ts';

/** Characters that Slack would read as mark-up, and what stands for them. */
const LOOK_ALIKES: Readonly<Record<string, string>> = { '*': '\u2217', '~': '\u223c', '`': '\u02cb' };

/**
 * Foreign text on one line of Slack's mark-up: no mention, link, emoji or format comes to life, and nothing invisible stays so. Put into
 * a block that is `verbatim`, else bare addresses would become links.
 */
export function slackLine(text: string, limit: number): string {
  return escapeChat(clip(visibleLine(text), limit))
    .replace(/[*~`]/g, (mark) => LOOK_ALIKES[mark] ?? mark)
    .replace(/:(?=[\w+-]{1,100}:)/g, ':\u200b');
}

/** What a person or a model wrote, on one line; its code marks are left out. */
export function slackProse(text: string, limit: number): string {
  return slackLine(text.replaceAll('`', ''), limit);
}

/** A time that each reader sees in his own zone; UTC where it cannot be shown so. */
export function slackTime(time: string): string {
  const date = new Date(time);
  return `<!date^${Math.floor(date.getTime() / 1000)}^{time}|${date.toISOString().slice(11, 16)} UTC>`;
}
