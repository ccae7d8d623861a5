import { TriageError } from '../../domain/errors.ts';
import type { ChatBlock, ChatMessage, ChatRoom } from '../../ports/chat-room.ts';
import { slackLine, slackProse } from '../slack/slack-message.ts';
import { type Messenger, type News, type NewsItem, stateWord } from './news.ts';

/** Messages of rules in Slack, through the room that other messages use. */
export function createSlackMessenger(room: Pick<ChatRoom, 'post' | 'find'>): Messenger {
  const refusal = (channel: string) =>
    /^[CGD][A-Z0-9]{2,30}$/.test(channel)
      ? null
      : 'A Slack channel is named by its ID, such as C0123456789 (in Slack: channel details).';
  return {
    channel: 'slack',
    destinations: null,
    refusal,
    send: async (news, channel, { key, signal, isRetry }) => {
      const wrong = refusal(channel);
      if (wrong !== null) throw new TriageError('invalid-input', wrong);
      const place =
        (isRetry ? await room.find(channel, key, signal) : null) ??
        (await room.post(channel, slackNews(news), { key, signal }));
      return { reference: `${place.channel}/${place.message}` };
    },
  };
}

/**
 * Converts a message of a rule for Slack, each cause with a button. Only ids that people entered become
 * mentions.
 */
export function slackNews({ rule, headline, items, more, mentions, isTest }: News): ChatMessage {
  const text = slackProse(headline, 200);
  const who = mentions.flatMap(({ slackMention }) =>
    slackMention !== null && /^[UWS][A-Z0-9]{2,30}$/.test(slackMention) ? [toMention(slackMention)] : [],
  );
  const head = [
    `*${text}*`,
    ...(isTest ? ['This is a test message.'] : []),
    ...(who.length === 0 ? [] : [who.join(' ')]),
  ];
  const foot = [
    ...(more === 0 ? [] : [`… ${more} more ${more === 1 ? 'cause' : 'causes'}`]),
    `Rule: ${slackLine(rule.name, 100)}`,
  ];
  return {
    text,
    blocks: [
      { text: head.join('\n') },
      ...items.flatMap((item) => toBlocks(item)),
      { text: foot.join('\n') },
    ],
  };
}

function toMention(id: string): string {
  return id.startsWith('S') ? `<!subteam^${id}>` : `<@${id}>`;
}

function toBlocks({ state, title, standing, place, facts, seen, links }: NewsItem): ChatBlock[] {
  const icon =
    state === 'fixed'
      ? ':large_green_circle:'
      : state === 'acknowledged' || state === 'assigned'
        ? ':large_yellow_circle:'
        : ':red_circle:';
  const lines = [
    `${icon} ${state === null ? '' : `${stateWord(state)}: `}*${slackProse(title, 200)}* (${slackLine(standing, 300)})`,
    `${slackLine(place, 300)}${seen === 1 ? '' : ` · ${seen}×`}`,
    ...facts.map(({ label, text }) =>
      label === 'Evidence' ? `> ${slackLine(text, 500)}` : `${label}: ${slackProse(text, 500)}`,
    ),
  ];
  const url = links.answer ?? links.build;
  return [
    { text: lines.join('\n') },
    ...(url === null ? [] : [{ buttons: [{ id: 'faultline_open', label: 'Open', url }] }]),
  ];
}
