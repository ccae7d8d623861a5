import { z } from 'zod';
import type { Variable } from './variable.ts';

const Channel = z.string().regex(/^[CGD][A-Z0-9]{2,30}$/, 'must be the id of a channel, such as C0123456789 (in Slack: channel details)');

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
    reviewers: z.array(
      z.string().regex(/^[UW][A-Z0-9]{2,30}$/, 'must be the id of a member, such as U0123456789 (in Slack: copy member ID)'),
    ),
    /** Of the Web API. */
    baseUrl: z.url({ protocol: /^https?$/ }),
  })
  .refine(({ token, channel, channels }) => token !== null || (channel === null && Object.keys(channels).length === 0), {
    path: ['token'],
    error: 'a channel is set, but no token to post with',
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
    meaning: 'Bot token of a Slack app with the scope chat:write: default branches that turn red are told in Slack.',
  },
  {
    name: 'FAULTLINE_SLACK_CHANNEL',
    path: 'slack.channel',
    type: 'text',
    meaning: 'Id of the channel they are told in, such as C0123456789; the app must be invited to it.',
  },
  {
    name: 'FAULTLINE_SLACK_CHANNELS',
    path: 'slack.channels',
    type: 'pairs',
    meaning: 'Channels of single repositories, as owner/name=C0123456789, separated by commas.',
  },
  {
    name: 'FAULTLINE_SLACK_SIGNING_SECRET',
    path: 'slack.signingSecrets',
    type: 'list',
    secret: true,
    meaning: "The app's signing secret, for the buttons Right and Wrong; two, separated by a comma, while one is rotated.",
  },
  {
    name: 'FAULTLINE_SLACK_REVIEWERS',
    path: 'slack.reviewers',
    type: 'list',
    meaning: 'Ids of the members who may decide with these buttons, such as U0123456789; nobody may unless named.',
  },
  {
    name: 'FAULTLINE_SLACK_URL',
    path: 'slack.baseUrl',
    type: 'text',
    meaning: "Address of Slack's Web API where it is not Slack's own.",
  },
  {
    name: 'FAULTLINE_JENKINS_DESCRIPTION',
    path: 'publishers.jenkins.description',
    type: 'text',
    meaning:
      "Whether answers are written to the description of Jenkins builds: off, html (where Jenkins' markup formatter is Safe HTML) or text. The API token's user needs the right Run/Update.",
  },
];
