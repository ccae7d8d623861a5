import { TriageError } from '../../domain/errors.ts';
import type { Clock } from '../../lib/time.ts';
import { postOnce } from '../publisher/webhook.ts';
import { breakLinks, clip, visibleLine } from '../visible-text.ts';
import { CHANNEL_NAMES, type Messenger, type News, type NewsItem, stateWord } from './news.ts';

interface TeamsOptions {
  /** The addresses of workflows or incoming webhooks, by name. Redirects are never followed. */
  readonly webhooks: Readonly<Record<string, string>>;
  readonly clock: Clock;
}

/** Teams refuses messages of more than 28 KB. */
const MAX_BYTES = 24_000;

/**
 * Messages of rules in Microsoft Teams, as adaptive cards. What was posted cannot be looked for: after a
 * crash it may be posted again.
 */
export function createTeamsMessenger({ webhooks, clock }: TeamsOptions): Messenger {
  const destinations = Object.keys(webhooks);
  const refusal = (name: string) =>
    Object.hasOwn(webhooks, name)
      ? null
      : `FAULTLINE_TEAMS_WEBHOOKS has no webhook of this name. It has: ${destinations.join(', ')}.`;
  return {
    channel: 'teams',
    destinations,
    refusal,
    send: async (news, name, { signal }) => {
      const wrong = refusal(name);
      if (wrong !== null) throw new TriageError('invalid-input', wrong);
      const post = {
        headers: { 'content-type': 'application/json', 'user-agent': 'faultline' },
        body: teamsMessage(news),
        signal,
      };
      const { text } = await postOnce(CHANNEL_NAMES.teams, webhooks[name] ?? '', post, clock);
      // Incoming webhooks answer 200 and say in words what Teams made of it.
      const [, status] = /returned HTTP error (\d{3})/.exec(text) ?? [];
      if (status !== undefined) {
        const isLimit = status === '429';
        const retryable = isLimit || status.startsWith('5');
        throw new TriageError(
          isLimit ? 'rate-limited' : 'upstream-failed',
          `Microsoft Teams returned ${status}.`,
          { retryable },
        );
      }
      return { reference: null };
    },
  };
}

/** Creates the message as JSON, with as many causes as Teams accepts. */
export function teamsMessage(news: News): string {
  for (let shown = news.items.length; shown > 0; shown--) {
    const message = JSON.stringify(
      toMessage({ ...news, items: news.items.slice(0, shown), more: news.more + news.items.length - shown }),
    );
    if (Buffer.byteLength(message) <= MAX_BYTES) return message;
  }
  return JSON.stringify(toMessage({ ...news, items: [], more: news.more + news.items.length }));
}

function toMessage({ rule, headline, items, more, mentions, isTest }: News): object {
  const who = mentions.flatMap(({ teamsMention }) =>
    teamsMention !== null && /^[\w.+-]+@[\w.-]+$/.test(teamsMention) ? [teamsMention] : [],
  );
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body: [
      line([{ text: headline, weight: 'Bolder', size: 'Medium' }], 200),
      ...(isTest ? [line([{ text: 'This is a test message.' }])] : []),
      ...(who.length === 0 ? [] : [{ type: 'TextBlock', wrap: true, text: who.map(toTag).join(' ') }]),
      ...items.map(toContainer),
      ...(more === 0 ? [] : [line([{ text: `… ${more} more ${more === 1 ? 'cause' : 'causes'}` }])]),
      line([{ text: `Rule: ${rule.name}`, isSubtle: true, size: 'Small' }]),
    ],
    msteams: {
      width: 'Full',
      entities: who.map((id) => ({ type: 'mention', text: toTag(id), mentioned: { id, name: id } })),
    },
  };
  return {
    type: 'message',
    attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content }],
  };
}

function toTag(id: string): string {
  return `<at>${id}</at>`;
}

function toContainer({ state, title, standing, place, facts, seen, links }: NewsItem): object {
  const actions = [
    { title: 'Open', url: links.answer },
    { title: 'Build', url: links.build },
  ].flatMap(({ title: words, url }) => (url === null ? [] : [{ type: 'Action.OpenUrl', title: words, url }]));
  return {
    type: 'Container',
    separator: true,
    items: [
      line([{ text: `${state === null ? '' : `${stateWord(state)}: `}${title}`, weight: 'Bolder' }], 200),
      line([{ text: standing }], 300),
      line([{ text: `${place}${seen === 1 ? '' : ` · ${seen}×`}`, isSubtle: true }], 300),
      ...facts.map(({ label, text }) => line([{ text: `${label}: `, weight: 'Bolder' }, { text }], 500)),
      ...(actions.length === 0 ? [] : [{ type: 'ActionSet', actions }]),
    ],
  };
}

interface Run {
  readonly text: string;
  readonly weight?: 'Bolder';
  readonly size?: 'Medium' | 'Small';
  readonly isSubtle?: true;
}

/**
 * Creates text that Teams shows as it is. A run of a rich text block is not read as Markdown, so no mention,
 * link or format becomes active.
 */
function line(runs: readonly Run[], limit = 300): object {
  return {
    type: 'RichTextBlock',
    inlines: runs.map((run) => ({
      type: 'TextRun',
      ...run,
      text: breakLinks(clip(visibleLine(run.text), limit))
        .replaceAll('<', '‹')
        .replaceAll('>', '›'),
    })),
  };
}
