import { z } from 'zod';
import {
  createHttpUrlSchema,
  defineCredential,
  defineSetting,
  defineWebhookSecrets,
} from '../config/variable.ts';
import type { Build } from '../domain/build.ts';
import { formatCount } from '../lib/text.ts';
import { type Check, type Finding, note, ok } from '../ports/health.ts';
import type { NoticePlace, NoticeRule } from '../ports/notices.ts';
import type { SlackPresses } from '../stores/access.ts';
import type { Channel, Publisher } from './channel.ts';
import { formatStateWord, type News, type NewsItem } from './news.ts';
import type { SlackClient } from './slack/client.ts';
import { type SlackBlock, type SlackMessage, toSlackLine, toSlackProse } from './slack/message.ts';

const NAME = 'slack';
const CHANNEL = /^[CGD][A-Z0-9]{2,30}$/;
const ChannelId = z
  .string()
  .regex(CHANNEL, 'must be a channel ID, such as C0123456789 (in Slack: channel details)');

/** The settings for Slack. */
export const SlackSettings = z
  .object({
    /** The token of a bot. If it is null, nothing is posted to Slack. */
    token: defineCredential(
      'FAULTLINE_SLACK_TOKEN',
      'Bot token of a Slack app with the scope chat:write. Slack is notified when a default branch ' +
        'turns red.',
    ),
    /**
     * Maps `owner/name` to the channel for news of its default branch. `*` stands for all other repositories.
     */
    channels: defineSetting(
      'FAULTLINE_SLACK_CHANNELS',
      z.record(z.string().min(1), ChannelId).default({}),
      'IDs of the channels for these messages, as owner/name=C0123456789, separated by commas. The ' +
        'repository * is every other one: *=C0123456789. Invite the app to them.',
    ),
    /**
     * The signing secrets of the app. There are two while one is rotated. Without one, messages have no
     * buttons for decisions.
     */
    signingSecrets: defineWebhookSecrets(
      'FAULTLINE_SLACK_SIGNING_SECRET',
      'Signing secret of the app, for the buttons Right and Wrong. Two secrets, separated by a ' +
        'comma, during rotation.',
    ),
    /** The Slack IDs of the members who may decide. */
    reviewers: defineSetting(
      'FAULTLINE_SLACK_REVIEWERS',
      z
        .array(
          z
            .string()
            .regex(
              /^[UW][A-Z0-9]{2,30}$/,
              'must be a member ID, such as U0123456789 (in Slack: copy member ID)',
            ),
        )
        .default([]),
      'IDs of the members who may use these buttons, such as U0123456789. Nobody else may.',
    ),
    /** The base URL of the Slack Web API. */
    baseUrl: createHttpUrlSchema().default('https://slack.com/api/'),
  })
  .refine(({ token, channels }) => token !== null || Object.keys(channels).length === 0, {
    path: ['token'],
    error: 'a channel is set, but no token',
  });
type SlackSettings = z.infer<typeof SlackSettings>;

/** Posts about default branches, and the messages of rules, to Slack. */
export function createSlackChannel(settings: SlackSettings): Channel {
  const { token, channels, signingSecrets } = settings;
  const hasChannel = Object.keys(channels).length > 0;
  const findChannel = (repository: string) => channels[repository] ?? channels['*'] ?? null;
  return {
    name: NAME,
    secrets: [token ?? '', ...signingSecrets],
    ...(token !== null &&
      hasChannel && {
        notices: {
          ...createRule(findChannel),
          open: async (parts) => {
            const { createBranchNotice } = await import('./slack/branch-notice.ts');
            const client = await openClient(token, settings);
            return createBranchNotice({ ...parts, client, findChannel, decides: signingSecrets.length > 0 });
          },
        },
      }),
    messages: {
      label: 'Slack',
      setting: 'FAULTLINE_SLACK_TOKEN',
      destinations: null,
      refusal: (destination) =>
        CHANNEL.test(destination)
          ? null
          : 'A Slack channel is named by its ID, such as C0123456789 (in Slack: channel details).',
      open: token === null ? null : async () => createNewsPublisher(await openClient(token, settings)),
    },
    checks: () => (token === null ? [] : [createCheck(token, settings)]),
  };
}

/** The branch names that count as the default branch if the CI does not name it. */
const USUAL_NAMES: readonly string[] = ['main', 'master', 'trunk'];

/** Creates the rule of the posted notices: default branches of repositories that have a channel. */
function createRule(findChannel: (repository: string) => string | null): NoticeRule {
  return {
    channel: NAME,
    findPlace: (build, { defaultBranch }) =>
      findChannel(build.repository) === null ? null : findBranchPlace(build, defaultBranch),
  };
}

function findBranchPlace(
  { repository, pipeline, branch, pullRequest, status }: Build,
  defaultBranch: string | null,
): NoticePlace | null {
  if (branch === null || pullRequest !== null) return null;
  if (defaultBranch === null ? !USUAL_NAMES.includes(branch) : branch !== defaultBranch) return null;
  const key = `${NAME}:${[repository, pipeline, branch].map(encodeURIComponent).join('/')}`;
  return { key, about: { type: 'branch', repository, pipeline, branch }, opens: status === 'failed' };
}

async function openClient(token: string, { baseUrl }: SlackSettings): Promise<SlackClient> {
  return (await import('./slack/client.ts')).createSlackClient({ token, baseUrl });
}

/** Creates the publisher of messages of rules. A retry looks for the message first. */
function createNewsPublisher(
  client: Pick<SlackClient, 'post' | 'find'>,
): Publisher<News, string, SlackMessage> {
  return {
    render: toSlackNews,
    send: async (message, { to, key, isRetry, signal }) => {
      const place =
        (isRetry ? await client.find(to, key, signal) : null) ??
        (await client.post(to, message, { key, signal }));
      return { reference: `${place.channel}/${place.message}` };
    },
  };
}

/** The configuration and dependencies of the buttons on messages. */
export interface SlackButtons {
  /** The app's signing secrets. There are two while one is rotated. */
  readonly secrets: readonly string[];
  /** The Slack IDs of the members who may decide. */
  readonly reviewers: readonly string[];
  readonly client: Pick<SlackClient, 'postEphemeral'>;
  readonly presses: SlackPresses;
}

/** Opens the dependencies of the buttons. Returns undefined if no signing secret is configured. */
export async function openSlackButtons(
  settings: SlackSettings,
  presses: SlackPresses,
): Promise<SlackButtons | undefined> {
  const { token, signingSecrets: secrets, reviewers } = settings;
  if (token === null || secrets.length === 0) return undefined;
  return { secrets, reviewers, presses, client: await openClient(token, settings) };
}

const NEW_TOKEN = 'create a new bot token with the scope chat:write and set FAULTLINE_SLACK_TOKEN';

/** Creates the check of whether Slack accepts the token and whether any user may press the buttons. */
function createCheck(token: string, settings: SlackSettings): Check {
  return {
    name: NAME,
    remedy: `${NEW_TOKEN}; can this machine reach ${settings.baseUrl}?`,
    ask: async (signal) => {
      const who = await (await openClient(token, settings)).whoAmI(signal);
      return [describeIdentity(who, settings), describeButtons(settings)];
    },
  };
}

function describeIdentity(who: string, { channels }: SlackSettings): Finding {
  if (Object.keys(channels).length > 0) return ok(NAME, `signed in as ${who}`);
  return note(
    NAME,
    `signed in as ${who}, but no channel is set`,
    'set FAULTLINE_SLACK_CHANNELS to channel IDs, or use it in notification rules only',
  );
}

function describeButtons({ signingSecrets, reviewers }: SlackSettings): Finding {
  const name = 'slack buttons';
  if (signingSecrets.length === 0)
    return note(
      name,
      'off: messages have no Right and Wrong buttons',
      'set FAULTLINE_SLACK_SIGNING_SECRET to decide in Slack',
    );
  if (reviewers.length === 0)
    return note(
      name,
      'no one may use them',
      'set FAULTLINE_SLACK_REVIEWERS to the member IDs of your reviewers',
    );
  return ok(name, `${formatCount(reviewers.length, 'member')} may decide`);
}

/**
 * Converts a message of a rule for Slack. Each cause has a button. Only ids that people entered become
 * mentions.
 */
export function toSlackNews({ rule, headline, items, more, mentions, isTest }: News): SlackMessage {
  const text = toSlackProse(headline, 200);
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
    `Rule: ${toSlackLine(rule.name, 100)}`,
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

function toBlocks({ state, title, standing, place, facts, seen, links }: NewsItem): SlackBlock[] {
  const icon =
    state === 'fixed'
      ? ':large_green_circle:'
      : state === 'acknowledged' || state === 'assigned'
        ? ':large_yellow_circle:'
        : ':red_circle:';
  const lines = [
    `${icon} ${state === null ? '' : `${formatStateWord(state)}: `}*${toSlackProse(title, 200)}* (${toSlackLine(standing, 300)})`,
    `${toSlackLine(place, 300)}${seen === 1 ? '' : ` · ${seen}×`}`,
    ...facts.map(({ label, text }) =>
      label === 'Evidence' ? `> ${toSlackLine(text, 500)}` : `${label}: ${toSlackProse(text, 500)}`,
    ),
  ];
  const url = links.answer ?? links.build;
  return [
    { text: lines.join('\n') },
    ...(url === null ? [] : [{ buttons: [{ id: 'faultline_open', label: 'Open', url }] }]),
  ];
}
