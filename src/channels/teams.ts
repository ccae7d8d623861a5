import { z } from 'zod';
import { TriageError } from '../domain/errors.ts';
import { breakLinks, clip, toVisibleLine } from '../notifications/visible-text.ts';
import type { Channel } from './channel.ts';
import { formatStateWord, type News, type NewsItem } from './news.ts';
import { createNamedWebhooks, listDestinations, postOnce } from './post.ts';

const LABEL = 'Microsoft Teams';
const VARIABLE = 'FAULTLINE_TEAMS_WEBHOOKS';

/** The settings for Microsoft Teams, which is reached through the webhooks of its workflows. */
export const TeamsSettings = z.object({
  webhooks: createNamedWebhooks(
    VARIABLE,
    'Webhooks of Microsoft Teams that notification rules may post to, as name=https://…, separated ' +
      'by commas.',
  ),
});
type TeamsSettings = z.infer<typeof TeamsSettings>;

/** The maximum size of a message in bytes. Teams refuses more than 28 KB; this leaves some room. */
const MAX_BYTES = 24_000;

/**
 * Sends messages of rules to Microsoft Teams, as adaptive cards. Teams cannot list posted messages, so a
 * message may be posted twice after a crash.
 */
export function createTeamsChannel({ webhooks }: TeamsSettings): Channel {
  return {
    name: 'teams',
    secrets: Object.values(webhooks),
    messages: {
      label: LABEL,
      setting: VARIABLE,
      ...listDestinations(VARIABLE, webhooks),
      open:
        Object.keys(webhooks).length === 0
          ? null
          : async ({ clock }) => ({
              render: (news) => ({ body: createTeamsMessage(news) }),
              send: async ({ body }: { readonly body: string }, { to, signal }) => {
                const url = webhooks[to];
                if (url === undefined)
                  throw new TriageError('invalid-input', `There is no webhook named ${to} in ${VARIABLE}.`);
                const headers = { 'content-type': 'application/json', 'user-agent': 'faultline' };
                const post = { headers, body, signal };
                const { text } = await postOnce(LABEL, url, post, clock);
                checkReply(text);
                return { reference: null };
              },
            }),
    },
    checks: () => [],
  };
}

/**
 * Throws TriageError if Teams refused the message. Incoming webhooks return 200 and report the result as
 * text.
 */
function checkReply(text: string): void {
  const [, status] = /returned HTTP error (\d{3})/.exec(text) ?? [];
  if (status === undefined) return;
  const isLimit = status === '429';
  const code = isLimit ? 'rate-limited' : 'upstream-failed';
  const retryable = isLimit || status.startsWith('5');
  throw new TriageError(code, `${LABEL} returned ${status}.`, { retryable });
}

/** Creates the message as JSON, with as many causes as fit into the size limit. */
export function createTeamsMessage(news: News): string {
  for (let itemCount = news.items.length; itemCount > 0; itemCount--) {
    const message = JSON.stringify(
      toMessage({
        ...news,
        items: news.items.slice(0, itemCount),
        more: news.more + news.items.length - itemCount,
      }),
    );
    if (Buffer.byteLength(message) <= MAX_BYTES) return message;
  }
  return JSON.stringify(toMessage({ ...news, items: [], more: news.more + news.items.length }));
}

function toMessage({ rule, headline, items, more, mentions, isTest }: News): object {
  const mentionedUsers = mentions.flatMap(({ teamsMention }) =>
    teamsMention !== null && /^[\w.+-]+@[\w.-]+$/.test(teamsMention) ? [teamsMention] : [],
  );
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body: [
      createTextLine([{ text: headline, weight: 'Bolder', size: 'Medium' }], 200),
      ...(isTest ? [createTextLine([{ text: 'This is a test message.' }])] : []),
      ...(mentionedUsers.length === 0
        ? []
        : [{ type: 'TextBlock', wrap: true, text: mentionedUsers.map(toMentionTag).join(' ') }]),
      ...items.map(toCauseContainer),
      ...(more === 0
        ? []
        : [createTextLine([{ text: `… ${more} more ${more === 1 ? 'cause' : 'causes'}` }])]),
      createTextLine([{ text: `Rule: ${rule.name}`, isSubtle: true, size: 'Small' }]),
    ],
    msteams: {
      width: 'Full',
      entities: mentionedUsers.map((id) => ({
        type: 'mention',
        text: toMentionTag(id),
        mentioned: { id, name: id },
      })),
    },
  };
  return {
    type: 'message',
    attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content }],
  };
}

function toMentionTag(id: string): string {
  return `<at>${id}</at>`;
}

function toCauseContainer({ state, title, standing, place, facts, seen, links }: NewsItem): object {
  const actions = [
    { title: 'Open', url: links.answer },
    { title: 'Build', url: links.build },
  ].flatMap(({ title, url }) => (url === null ? [] : [{ type: 'Action.OpenUrl', title, url }]));
  return {
    type: 'Container',
    separator: true,
    items: [
      createTextLine(
        [{ text: `${state === null ? '' : `${formatStateWord(state)}: `}${title}`, weight: 'Bolder' }],
        200,
      ),
      createTextLine([{ text: standing }], 300),
      createTextLine([{ text: `${place}${seen === 1 ? '' : ` · ${seen}×`}`, isSubtle: true }], 300),
      ...facts.map(({ label, text }) =>
        createTextLine([{ text: `${label}: `, weight: 'Bolder' }, { text }], 500),
      ),
      ...(actions.length === 0 ? [] : [{ type: 'ActionSet', actions }]),
    ],
  };
}

interface TextRun {
  readonly text: string;
  readonly weight?: 'Bolder';
  readonly size?: 'Medium' | 'Small';
  readonly isSubtle?: true;
}

/**
 * Creates text that Teams shows as it is. A run of a rich text block is not read as Markdown, so no mention,
 * link or format becomes active.
 */
function createTextLine(runs: readonly TextRun[], limit = 300): object {
  return {
    type: 'RichTextBlock',
    inlines: runs.map((run) => ({
      type: 'TextRun',
      ...run,
      text: breakLinks(clip(toVisibleLine(run.text), limit))
        .replaceAll('<', '‹')
        .replaceAll('>', '›'),
    })),
  };
}
