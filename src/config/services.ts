import { z } from 'zod';
import { CODE_HOSTS } from '../domain/build.ts';
import { createHttpUrlSchema, createUrlSchema, defineCredential, defineSetting } from './variable.ts';

export const DatabaseConfig = z.discriminatedUnion('driver', [
  z.object({ driver: z.literal('pglite'), dataDir: z.string().min(1) }),
  z.object({
    driver: z.literal('postgres'),
    url: defineSetting(
      'FAULTLINE_DATABASE_URL',
      createUrlSchema(['postgres', 'postgresql']),
      'PostgreSQL server, as postgres://user:password@host:port/database. It needs the extensions ' +
        'vector and pg_trgm.',
      { secret: true },
    ),
    /** The URL with a role that may only read. Null for the same role, in sessions that cannot write. */
    readerUrl: defineSetting(
      'FAULTLINE_DATABASE_READER_URL',
      createUrlSchema(['postgres', 'postgresql']).nullable(),
      'The same database with a read-only role, used for history queries by tools.',
      { secret: true },
    ),
    /** The URL with the role that owns the tables, for migrations. Null for the same role. */
    ownerUrl: defineSetting(
      'FAULTLINE_DATABASE_OWNER_URL',
      createUrlSchema(['postgres', 'postgresql']).nullable(),
      'The same database with the role that owns the tables, for `faultline migrate`. serve and worker do not need it.',
      { secret: true },
    ),
    /** The maximum number of connections per process. */
    poolSize: z.int().min(2).max(200),
  }),
]);

/**
 * The settings of every job queue: how many builds one process triages at once, and whether `serve` also
 * triages builds.
 */
const WORK = {
  concurrency: defineSetting('FAULTLINE_CONCURRENCY', z.int().min(1).max(64), 'Builds triaged in parallel.'),
  inServe: defineSetting(
    'FAULTLINE_WORK_IN_SERVE',
    z.boolean(),
    'Whether `faultline serve` also triages builds. Set to false to leave that to `faultline worker`.',
  ),
};

export const JobQueueConfig = z.discriminatedUnion('driver', [
  z.object({
    driver: z.literal('database'),
    ...WORK,
  }),
  z.object({
    driver: z.literal('bullmq'),
    ...WORK,
    url: defineSetting(
      'FAULTLINE_REDIS_URL',
      createUrlSchema(['redis', 'rediss']),
      'Redis server, as redis://host:port/0. Then BullMQ brings builds to workers; otherwise, workers look ' +
        'in the database, which records pending work with either.',
      { secret: true },
    ),
    /** The prefix of every key. */
    prefix: z.string().min(1).max(100).default('faultline'),
  }),
]);

export const BuildArchiveConfig = z.discriminatedUnion('driver', [
  z.object({
    driver: z.literal('postgres'),
  }),
  z.object({
    driver: z.literal('mongodb'),
    url: defineSetting(
      'FAULTLINE_MONGODB_URL',
      createUrlSchema(['mongodb', 'mongodb+srv']),
      'MongoDB server, as mongodb://host:port/database. Full logs are then stored there, in the database ' +
        'faultline if none is named; otherwise, they are in PostgreSQL.',
      { secret: true },
    ),
    database: z.string().min(1).max(60).default('faultline'),
  }),
]);

export const VectorIndexConfig = z.discriminatedUnion('driver', [
  z.object({
    driver: z.literal('pgvector'),
  }),
  z.object({
    driver: z.literal('pinecone'),
    apiKey: defineSetting(
      'PINECONE_API_KEY',
      z.string('is not set').min(1, 'is not set'),
      'Pinecone API key.',
      {
        secret: true,
      },
    ),
    index: defineSetting(
      'FAULTLINE_PINECONE_INDEX',
      z.string().min(1).max(45),
      'Pinecone index for semantic search. Without it, pgvector in the database is used.',
    ),
    baseUrl: defineSetting(
      'FAULTLINE_PINECONE_URL',
      createHttpUrlSchema().nullable().default(null),
      'URL of the Pinecone control plane, if not the default.',
    ),
  }),
]);

/** The settings for reading code. */
export const CodeHostConfig = z.object({
  driver: defineSetting(
    'FAULTLINE_CODE_HOST',
    z.enum(['auto', 'local-git', 'none', ...CODE_HOSTS]).default('auto'),
    'Where code is read: auto (a local clone if one is named, otherwise GitHub if a token or App ' +
      'is configured), local-git, github (without a token or App: public repositories, no blame) or none.',
  ),
  /** Maps `owner/name` to the folder of a local clone. */
  clones: defineSetting(
    'FAULTLINE_CLONES',
    z.record(z.string(), z.string()).default({}),
    'Local clones to read code from, as owner/name=folder, separated by commas.',
  ),
});

/** The settings for web search, which is used if everything else has failed. */
export const WebSearchConfig = z
  .object({
    driver: defineSetting(
      'FAULTLINE_WEB_SEARCH',
      z.enum(['none', 'searxng', 'brave', 'tavily', 'duckduckgo']).default('none'),
      'Web search to use as a last resort: none, searxng, brave, tavily or duckduckgo (no key, see ' +
        'its terms of use). It sends masked words of the error to that service.',
    ),
    /** The base URL. Null for the provider's own. */
    baseUrl: defineSetting(
      'FAULTLINE_WEB_SEARCH_URL',
      createHttpUrlSchema().nullable().default(null),
      'URL of your SearXNG, which may be private. For the others, only if not the default.',
    ),
    apiKey: defineCredential('FAULTLINE_WEB_SEARCH_KEY', 'Brave or Tavily API key.'),
    /** The time limit of one search, in milliseconds. */
    timeoutMs: z.int().positive().default(10_000),
    /** The number of result pages to read. Only pages on the public internet are read. */
    pages: z.int().min(0).max(5).default(2),
  })
  .refine(({ driver, baseUrl }) => driver !== 'searxng' || baseUrl !== null, {
    path: ['baseUrl'],
    error: 'searxng needs an address',
  })
  .refine(({ driver, apiKey }) => (driver !== 'brave' && driver !== 'tavily') || apiKey !== null, {
    path: ['apiKey'],
    error: 'brave and tavily need a key',
  });

const ROLES = ['ingest', 'read', 'review', 'admin'] as const;

/** The roles as one text, such as "read+review". */
const RoleList = z
  .string()
  .transform((text) => text.split('+').map((role) => role.trim()))
  .pipe(z.array(z.enum(ROLES, { error: `must be roles joined by "+": ${ROLES.join(', ')}` })).min(1));

/**
 * The settings for signing in to the pages by OpenID Connect. Without an issuer, only tokens are accepted.
 */
export const OpenIdConfig = z
  .object({
    issuer: defineSetting(
      'FAULTLINE_OIDC_ISSUER',
      createHttpUrlSchema().nullable().default(null),
      'OpenID Connect issuer for console sign-in, for example https://id.example.com.',
    ),
    clientId: defineSetting(
      'FAULTLINE_OIDC_CLIENT_ID',
      z.string().min(1).nullable().default(null),
      'Client ID at the issuer. The callback URL is <address of Faultline>/sign-in/openid/callback.',
    ),
    clientSecret: defineSetting(
      'FAULTLINE_OIDC_CLIENT_SECRET',
      z.string().min(1).nullable().default(null),
      'Client secret. Without it, the client is public and uses PKCE only.',
      { secret: true },
    ),
    /** The claim that lists the groups of a user. */
    groupsClaim: defineSetting(
      'FAULTLINE_OIDC_GROUPS_CLAIM',
      z.string().min(1).max(100).default('groups'),
      "ID token claim that lists the user's groups.",
    ),
    /** Maps groups to roles. The group "*" is everybody whom the issuer signs in. */
    roles: defineSetting(
      'FAULTLINE_OIDC_ROLES',
      z.record(z.string(), RoleList).default({}),
      'Roles per group, for example ci-team=read+review,platform=admin. The group * is everyone ' +
        'who can sign in.',
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
