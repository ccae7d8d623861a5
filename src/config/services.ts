import { z } from 'zod';
import { CODE_HOSTS } from '../providers/registry.ts';
import { credential, httpAddress, setting, webhookSecrets } from './variable.ts';

/**
 * Creates the schema of a URL with one of these schemes. The message says what is missing and what can be set
 * instead.
 */
function address(schemes: readonly string[], instead?: string) {
  const start = new RegExp(`^(?:${schemes.map((scheme) => scheme.replace('+', '\\+')).join('|')})://.`);
  return z
    .string(instead === undefined ? 'is not set' : `is not set; ${instead}`)
    .regex(
      start,
      `must be an address that begins with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`,
    );
}

export const DatabaseConfig = z.discriminatedUnion('driver', [
  z.object({ driver: z.literal('pglite'), dataDir: z.string().min(1) }),
  z.object({
    driver: z.literal('postgres'),
    url: setting(
      'FAULTLINE_DATABASE_URL',
      address(['postgres', 'postgresql']),
      'PostgreSQL server, as postgres://user:password@host:port/database. It needs the extensions vector and pg_trgm.',
      { secret: true },
    ),
    /** URL with a role that may only read; null: the same role, in sessions that cannot write. */
    readerUrl: setting(
      'FAULTLINE_DATABASE_READER_URL',
      address(['postgres', 'postgresql']).nullable(),
      'The same database with a read-only role, used for history queries by tools.',
      { secret: true },
    ),
    /** URL with the role that owns the tables, for migrations; null: the same role. */
    ownerUrl: setting(
      'FAULTLINE_DATABASE_OWNER_URL',
      address(['postgres', 'postgresql']).nullable(),
      'The same database with the role that owns the tables, for `faultline migrate`. serve and worker do not need it.',
      { secret: true },
    ),
    poolSize: setting(
      'FAULTLINE_DATABASE_POOL',
      z.int().min(2).max(200),
      'PostgreSQL connections per process.',
    ),
  }),
]);

/**
 * The settings of every job queue: how many builds one process triages at once, and whether `serve` also
 * triages builds.
 */
const WORK = {
  concurrency: setting('FAULTLINE_CONCURRENCY', z.int().min(1).max(64), 'Builds triaged in parallel.'),
  inServe: setting(
    'FAULTLINE_WORK_IN_SERVE',
    z.boolean(),
    'Whether `faultline serve` also triages builds. Set to false to leave that to `faultline worker`.',
  ),
};

export const JobQueueConfig = z.discriminatedUnion('driver', [
  z.object({
    driver: setting(
      'FAULTLINE_JOB_QUEUE',
      z.literal('database'),
      'What brings builds to workers: database (workers look there) or bullmq (a queue in Redis). The database records pending work with either.',
    ),
    ...WORK,
  }),
  z.object({
    driver: z.literal('bullmq'),
    ...WORK,
    url: setting(
      'FAULTLINE_REDIS_URL',
      address(['redis', 'rediss'], 'without Redis, set FAULTLINE_JOB_QUEUE=database'),
      'Redis server for bullmq, as redis://host:port.',
      { secret: true },
    ),
    prefix: setting('FAULTLINE_REDIS_PREFIX', z.string().min(1).max(100), 'Prefix of every Redis key.'),
  }),
]);

export const BuildArchiveConfig = z.discriminatedUnion('driver', [
  z.object({
    driver: setting(
      'FAULTLINE_BUILD_ARCHIVE',
      z.literal('postgres'),
      'Where full logs are stored: postgres or mongodb.',
    ),
  }),
  z.object({
    driver: z.literal('mongodb'),
    url: setting(
      'FAULTLINE_MONGODB_URL',
      address(['mongodb', 'mongodb+srv'], 'without MongoDB, set FAULTLINE_BUILD_ARCHIVE=postgres'),
      'MongoDB server, as mongodb://host:port.',
      { secret: true },
    ),
    database: setting('FAULTLINE_MONGODB_DATABASE', z.string().min(1).max(60), 'MongoDB database name.'),
  }),
]);

export const VectorIndexConfig = z.discriminatedUnion('driver', [
  z.object({
    driver: setting(
      'FAULTLINE_VECTOR_INDEX',
      z.literal('pgvector'),
      'Vector index for semantic search: pgvector or pinecone.',
    ),
  }),
  z.object({
    driver: z.literal('pinecone'),
    apiKey: setting('PINECONE_API_KEY', z.string('is not set').min(1, 'is not set'), 'Pinecone API key.', {
      secret: true,
    }),
    index: setting('FAULTLINE_PINECONE_INDEX', z.string().min(1).max(45), 'Pinecone index name.'),
    baseUrl: setting(
      'FAULTLINE_PINECONE_URL',
      httpAddress().nullable(),
      'URL of the Pinecone control plane, if not the default.',
    ),
  }),
]);

/** The settings for reading code. */
export const CodeHostConfig = z.object({
  driver: setting(
    'FAULTLINE_CODE_HOST',
    z.enum(['auto', 'local-git', 'none', ...CODE_HOSTS]).default('auto'),
    'Where code is read: auto (a local clone if one is named, otherwise GitHub if a token or App is configured), local-git, github (without a token or App: public repositories, no blame) or none.',
  ),
  /** `owner/name` → folder of a local clone. */
  clones: setting(
    'FAULTLINE_CLONES',
    z.record(z.string(), z.string()).default({}),
    'Local clones to read code from, as owner/name=folder, separated by commas.',
  ),
});

/** The settings for web search, which is used if everything else failed. */
export const WebSearchConfig = z
  .object({
    driver: setting(
      'FAULTLINE_WEB_SEARCH',
      z.enum(['none', 'searxng', 'brave', 'tavily', 'duckduckgo']).default('none'),
      'Web search to use as a last resort: none, searxng, brave, tavily or duckduckgo (no key, see its terms of use). It sends masked words of the error to that service.',
    ),
    /** Null: the provider's own address. */
    baseUrl: setting(
      'FAULTLINE_WEB_SEARCH_URL',
      httpAddress().nullable().default(null),
      'URL of your SearXNG, which may be private. For the others, only if not the default.',
    ),
    apiKey: credential('FAULTLINE_WEB_SEARCH_KEY', 'Brave or Tavily API key.'),
    /** Time limit of one search, in milliseconds. */
    timeoutMs: z.int().positive().default(10_000),
    pages: setting(
      'FAULTLINE_WEB_SEARCH_PAGES',
      z.int().min(0).max(5).default(2),
      'Number of result pages to read, 0 to 5. Only pages on the public internet are read.',
    ),
  })
  .refine(({ driver, baseUrl }) => driver !== 'searxng' || baseUrl !== null, {
    path: ['baseUrl'],
    error: 'searxng needs an address',
  })
  .refine(({ driver, apiKey }) => (driver !== 'brave' && driver !== 'tavily') || apiKey !== null, {
    path: ['apiKey'],
    error: 'brave and tavily need a key',
  });

const SigningSecret = z
  .string()
  .regex(
    /^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/,
    'must be whsec_ followed by the base64 of 24 to 64 random bytes',
  );

/** The settings for publishing confident answers, in addition to the log. */
export const PublishersConfig = z.object({
  webhook: z
    .object({
      url: setting(
        'FAULTLINE_PUBLISH_WEBHOOK_URL',
        httpAddress().nullable().default(null),
        'URL to which confident answers are posted, signed per Standard Webhooks. It may be private.',
      ),
      /** Signing secrets; all of them sign. There are two while one is rotated. */
      secrets: setting(
        'FAULTLINE_PUBLISH_WEBHOOK_SECRET',
        z.array(SigningSecret).default([]),
        'Signing secret, as whsec_ plus base64. Two secrets, separated by a comma, during rotation.',
        { secret: true },
      ),
      /**
       * Format of the messages: Standard Webhooks, or CloudEvents in structured mode. Both are signed the
       * same way.
       */
      format: setting(
        'FAULTLINE_PUBLISH_WEBHOOK_FORMAT',
        z.enum(['standard', 'cloudevents']).default('standard'),
        'Format: standard (Standard Webhooks) or cloudevents (CloudEvents 1.0 in structured mode).',
      ),
    })
    .refine(({ url, secrets }) => url === null || secrets.length > 0, {
      path: ['secrets'],
      error: 'the webhook needs a signing secret',
    })
    .prefault({}),
  /** Minimum time between two edits of one published text, in milliseconds. */
  pauseMs: setting(
    'FAULTLINE_NOTICE_PAUSE_MS',
    z.int().min(0).max(600_000).default(20_000),
    'Minimum time between two edits of one comment, check, status, message or description, in milliseconds.',
  ),
  /** Time limit of one call, in milliseconds. */
  timeoutMs: setting(
    'FAULTLINE_PUBLISH_TIMEOUT_MS',
    z.int().min(100).max(120_000).default(10_000),
    'Time limit of one publishing call, in milliseconds.',
  ),
});

const Channel = z
  .string()
  .regex(/^[CGD][A-Z0-9]{2,30}$/, 'must be a channel ID, such as C0123456789 (in Slack: channel details)');

/** The settings for Slack, if it is used. */
export const SlackConfig = z
  .object({
    /** Token of a bot. Null: nothing is posted to Slack. */
    token: credential(
      'FAULTLINE_SLACK_TOKEN',
      'Bot token of a Slack app with the scope chat:write. Slack is notified when a default branch turns red.',
    ),
    /** Channel for news of default branches; null: only the repositories in `channels` have one. */
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
    /**
     * Signing secrets of the app; two while one is rotated. Without one, there are no buttons that decide.
     */
    signingSecrets: webhookSecrets(
      'FAULTLINE_SLACK_SIGNING_SECRET',
      'Signing secret of the app, for the buttons Right and Wrong. Two secrets, separated by a comma, during rotation.',
    ),
    /** Slack IDs of the members who may decide. */
    reviewers: setting(
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
    /** Base URL of the Slack Web API. */
    baseUrl: setting(
      'FAULTLINE_SLACK_URL',
      httpAddress().default('https://slack.com/api/'),
      'URL of the Slack Web API, if not the default.',
    ),
  })
  .refine(
    ({ token, channel, channels }) =>
      token !== null || (channel === null && Object.keys(channels).length === 0),
    {
      path: ['token'],
      error: 'a channel is set, but no token',
    },
  );

/**
 * Creates the schema of webhooks by name, `name` → URL. Users choose from the names; the URLs may hold a
 * secret.
 */
const namedWebhooks = () =>
  z
    .record(z.string(), httpAddress())
    .refine(
      (all) => Object.keys(all).every((name) => /^[\w.-]{1,100}$/.test(name)),
      'each needs a name of letters, digits, dots and dashes: name=https://…',
    )
    .default({});

/** The channels of notification rules, in addition to Slack. */
export const MessagesConfig = z
  .object({
    smtpUrl: setting(
      'FAULTLINE_SMTP_URL',
      address(['smtp', 'smtps']).nullable().default(null),
      'SMTP server for e-mails of notification rules, as smtps://user:password@host:465 or smtp://host:587. A password is sent encrypted only.',
      { secret: true },
    ),
    smtpFrom: setting(
      'FAULTLINE_SMTP_FROM',
      z.string().min(3).max(300).nullable().default(null),
      'Sender of these emails, such as `Faultline <ci@example.com>`.',
    ),
    emailDomains: setting(
      'FAULTLINE_EMAIL_DOMAINS',
      z.array(z.string().min(1).toLowerCase()).default([]),
      'Domains that these e-mails may go to, separated by commas. If unset, only the domain of the sender.',
    ),
    teams: setting(
      'FAULTLINE_TEAMS_WEBHOOKS',
      namedWebhooks(),
      'Webhooks of Microsoft Teams that notification rules may post to, as name=https://…, separated by commas.',
      { secret: true },
    ),
    webhooks: setting(
      'FAULTLINE_NOTIFY_WEBHOOKS',
      namedWebhooks(),
      'Other webhooks that notification rules may post to, as name=https://…, separated by commas. They may be private.',
      { secret: true },
    ),
    webhookSecrets: setting(
      'FAULTLINE_NOTIFY_WEBHOOK_SECRET',
      z.array(SigningSecret).default([]),
      'Signing secret of these webhooks, as whsec_ plus base64. Two secrets, separated by a comma, during rotation.',
      { secret: true },
    ),
  })
  .refine(({ smtpUrl, smtpFrom }) => smtpUrl === null || smtpFrom !== null, {
    path: ['smtpFrom'],
    error: 'is not set, but e-mails need a sender',
  })
  .refine(({ webhooks, webhookSecrets }) => Object.keys(webhooks).length === 0 || webhookSecrets.length > 0, {
    path: ['webhookSecrets'],
    error: 'the webhooks need a signing secret',
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
      httpAddress().nullable().default(null),
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
    /** The claim that lists the groups of a user. */
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
