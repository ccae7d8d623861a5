import { z } from 'zod';
import { setting } from './variable.ts';

/** Who is told of sure answers, beside the log. */
export const PublishersConfig = z.object({
  webhook: z
    .object({
      url: setting(
        'FAULTLINE_PUBLISH_WEBHOOK_URL',
        z
          .url({ protocol: /^https?$/ })
          .nullable()
          .default(null),
        'URL to which confident answers are posted, signed per Standard Webhooks. It may be private.',
      ),
      /** All of them sign: two while one is rotated. */
      secrets: setting(
        'FAULTLINE_PUBLISH_WEBHOOK_SECRET',
        z
          .array(z.string().regex(/^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/, 'must be whsec_ followed by the base64 of 24 to 64 random bytes'))
          .default([]),
        'Signing secret, as whsec_ plus base64. Two secrets, separated by a comma, during rotation.',
        { secret: true },
      ),
      /** As Standard Webhooks, or as CloudEvents in structured mode; signed the same way. */
      format: setting(
        'FAULTLINE_PUBLISH_WEBHOOK_FORMAT',
        z.enum(['standard', 'cloudevents']).default('standard'),
        'Format: standard (Standard Webhooks) or cloudevents (CloudEvents 1.0 in structured mode).',
      ),
    })
    .refine(({ url, secrets }) => url === null || secrets.length > 0, { path: ['secrets'], error: 'the webhook needs a signing secret' })
    .prefault({}),
  /** Between two edits of one text outside, in milliseconds. */
  pauseMs: setting(
    'FAULTLINE_NOTICE_PAUSE_MS',
    z.int().min(0).max(600_000).default(20_000),
    'Minimum time between two edits of one comment, check, status, message or description, in milliseconds.',
  ),
  /** Of one call, in milliseconds. */
  timeoutMs: setting(
    'FAULTLINE_PUBLISH_TIMEOUT_MS',
    z.int().min(100).max(120_000).default(10_000),
    'Time limit of one publishing call, in milliseconds.',
  ),
});

const Channel = z.string().regex(/^[CGD][A-Z0-9]{2,30}$/, 'must be a channel ID, such as C0123456789 (in Slack: channel details)');

/** Slack, where it is used. */
export const SlackConfig = z
  .object({
    /** Of a bot. Null: nothing is said in Slack. */
    token: setting(
      'FAULTLINE_SLACK_TOKEN',
      z.string().nullable().default(null),
      'Bot token of a Slack app with the scope chat:write. Slack is notified when a default branch turns red.',
      { secret: true },
    ),
    /** Where news of default branches goes; null: nowhere but where `channels` says. */
    channel: setting(
      'FAULTLINE_SLACK_CHANNEL',
      Channel.nullable().default(null),
      'ID of the channel for these messages, such as C0123456789. Invite the app to it.',
    ),
    /** `owner/name` → its own channel. */
    channels: setting(
      'FAULTLINE_SLACK_CHANNELS',
      z.record(z.string().min(1), Channel).default({}),
      'Channels per repository, as owner/name=C0123456789, separated by commas.',
    ),
    /** Of the app; two while one is rotated. Without one there are no buttons that decide. */
    signingSecrets: setting(
      'FAULTLINE_SLACK_SIGNING_SECRET',
      z.array(z.string().min(8)).default([]),
      'Signing secret of the app, for the buttons Right and Wrong. Two secrets, separated by a comma, during rotation.',
      { secret: true },
    ),
    /** Slack's ids of those who may decide. */
    reviewers: setting(
      'FAULTLINE_SLACK_REVIEWERS',
      z.array(z.string().regex(/^[UW][A-Z0-9]{2,30}$/, 'must be a member ID, such as U0123456789 (in Slack: copy member ID)')).default([]),
      'IDs of the members who may use these buttons, such as U0123456789. Nobody else may.',
    ),
    /** Of the Web API. */
    baseUrl: setting(
      'FAULTLINE_SLACK_URL',
      z.url({ protocol: /^https?$/ }).default('https://slack.com/api/'),
      'URL of the Slack Web API, if not the default.',
    ),
  })
  .refine(({ token, channel, channels }) => token !== null || (channel === null && Object.keys(channels).length === 0), {
    path: ['token'],
    error: 'a channel is set, but no token',
  });

const ROLES = ['ingest', 'read', 'review', 'admin'] as const;

/** One or more roles, as "read+review". */
const RoleList = z
  .string()
  .transform((text) => text.split('+').map((role) => role.trim()))
  .pipe(z.array(z.enum(ROLES, { error: `must be roles joined by "+": ${ROLES.join(', ')}` })).min(1));

/** Signing in to the pages by OpenID Connect. Without an issuer there are tokens only. */
export const OpenIdConfig = z
  .object({
    issuer: setting(
      'FAULTLINE_OIDC_ISSUER',
      z
        .url({ protocol: /^https?$/ })
        .nullable()
        .default(null),
      'OpenID Connect issuer for console sign-in, for example https://id.example.com.',
    ),
    clientId: setting(
      'FAULTLINE_OIDC_CLIENT_ID',
      z.string().min(1).nullable().default(null),
      'Client ID at the issuer. The callback URL is <address of Faultline>/sign-in/openid/callback.',
    ),
    clientSecret: setting(
      'FAULTLINE_OIDC_CLIENT_SECRET',
      z.string().min(1).nullable().default(null),
      'Client secret. Without it, the client is public and uses PKCE only.',
      { secret: true },
    ),
    /** The claim that lists somebody's groups. */
    groupsClaim: setting(
      'FAULTLINE_OIDC_GROUPS_CLAIM',
      z.string().min(1).max(100).default('groups'),
      "ID token claim that lists the user's groups.",
    ),
    /** Group → roles; the group "*" is everybody whom the issuer signs in. */
    roles: setting(
      'FAULTLINE_OIDC_ROLES',
      z.record(z.string(), RoleList).default({}),
      'Roles per group, for example ci-team=read+review,platform=admin. The group * is everyone who can sign in.',
    ),
  })
  .refine(({ issuer, clientId }) => issuer === null || clientId !== null, {
    path: ['clientId'],
    error: 'is not set, but the issuer needs it',
  })
  .refine(({ issuer, roles }) => issuer === null || Object.keys(roles).length > 0, {
    path: ['roles'],
    error: 'is not set, so nobody who signs in would have any permissions',
  });
export type OpenIdConfig = z.infer<typeof OpenIdConfig>;
