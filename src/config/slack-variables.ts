import { z } from 'zod';
import type { Variable } from './variable.ts';

const Channel = z.string().regex(/^[CGD][A-Z0-9]{2,30}$/, 'must be a channel ID, such as C0123456789 (in Slack: channel details)');

/** Slack, where it is used. */
export const SlackConfig = z
  .object({
    /** Of a bot. Null: nothing is said in Slack. */
    token: z.string().nullable(),
    /** Where news of default branches goes; null: nowhere but where `channels` says. */
    channel: Channel.nullable(),
    /** `owner/name` → its own channel. */
    channels: z.record(z.string().min(1), Channel),
    /** Of the app; two while one is rotated. Without one there are no buttons that decide. */
    signingSecrets: z.array(z.string().min(8)),
    /** Slack's ids of those who may decide. */
    reviewers: z.array(z.string().regex(/^[UW][A-Z0-9]{2,30}$/, 'must be a member ID, such as U0123456789 (in Slack: copy member ID)')),
    /** Of the Web API. */
    baseUrl: z.url({ protocol: /^https?$/ }),
  })
  .refine(({ token, channel, channels }) => token !== null || (channel === null && Object.keys(channels).length === 0), {
    path: ['token'],
    error: 'a channel is set, but no token',
  });

/** Nothing is said in Slack. */
export const NO_SLACK = {
  token: null,
  channel: null,
  channels: {},
  signingSecrets: [],
  reviewers: [],
  baseUrl: 'https://slack.com/api/',
} satisfies z.input<typeof SlackConfig>;

export const SLACK_VARIABLES: readonly Variable[] = [
  {
    name: 'FAULTLINE_SLACK_TOKEN',
    path: 'slack.token',
    type: 'text',
    secret: true,
    meaning: 'Bot token of a Slack app with the scope chat:write. Slack is notified when a default branch turns red.',
  },
  {
    name: 'FAULTLINE_SLACK_CHANNEL',
    path: 'slack.channel',
    type: 'text',
    meaning: 'ID of the channel for these messages, such as C0123456789. Invite the app to it.',
  },
  {
    name: 'FAULTLINE_SLACK_CHANNELS',
    path: 'slack.channels',
    type: 'pairs',
    meaning: 'Channels per repository, as owner/name=C0123456789, separated by commas.',
  },
  {
    name: 'FAULTLINE_SLACK_SIGNING_SECRET',
    path: 'slack.signingSecrets',
    type: 'list',
    secret: true,
    meaning: 'Signing secret of the app, for the buttons Right and Wrong. Two secrets, separated by a comma, during rotation.',
  },
  {
    name: 'FAULTLINE_SLACK_REVIEWERS',
    path: 'slack.reviewers',
    type: 'list',
    meaning: 'IDs of the members who may use these buttons, such as U0123456789. Nobody else may.',
  },
  { name: 'FAULTLINE_SLACK_URL', path: 'slack.baseUrl', type: 'text', meaning: 'URL of the Slack Web API, if not the default.' },
];
