import { z } from 'zod';
import { CODE_HOSTS } from '../providers/registry.ts';
import { setting } from './variable.ts';

/** An address with one of these schemes; the message says what is missing, and what may be set instead. */
function address(schemes: readonly string[], instead?: string) {
  const start = new RegExp(`^(?:${schemes.map((scheme) => scheme.replace('+', '\\+')).join('|')})://.`);
  return z
    .string(instead === undefined ? 'is not set' : `is not set; ${instead}`)
    .regex(start, `must be an address that begins with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`);
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
    /** Of a role that may only read; null: the same role, in sessions that cannot write. */
    readerUrl: setting(
      'FAULTLINE_DATABASE_READER_URL',
      address(['postgres', 'postgresql']).nullable(),
      'The same database with a read-only role, used for history queries by tools.',
      { secret: true },
    ),
    /** Of the role that owns the tables, for migrations; null: the same role. */
    ownerUrl: setting(
      'FAULTLINE_DATABASE_OWNER_URL',
      address(['postgres', 'postgresql']).nullable(),
      'The same database with the role that owns the tables, for `faultline migrate`. serve and worker do not need it.',
      { secret: true },
    ),
    poolSize: setting('FAULTLINE_DATABASE_POOL', z.int().min(2).max(200), 'PostgreSQL connections per process.'),
  }),
]);

/** What every job queue has: how many builds one process triages at once, and whether `serve` does so beside its HTTP server. */
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
      z.literal('pg-boss'),
      'Job queue: pg-boss (in the database) or bullmq (in Redis). The database records pending work with either.',
    ),
    ...WORK,
  }),
  z.object({
    driver: z.literal('bullmq'),
    ...WORK,
    url: setting(
      'FAULTLINE_REDIS_URL',
      address(['redis', 'rediss'], 'without Redis, set FAULTLINE_JOB_QUEUE=pg-boss'),
      'Redis server for bullmq, as redis://host:port.',
      { secret: true },
    ),
    prefix: setting('FAULTLINE_REDIS_PREFIX', z.string().min(1).max(100), 'Prefix of every Redis key.'),
  }),
]);

export const BuildArchiveConfig = z.discriminatedUnion('driver', [
  z.object({ driver: setting('FAULTLINE_BUILD_ARCHIVE', z.literal('postgres'), 'Where full logs are stored: postgres or mongodb.') }),
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
  z.object({ driver: setting('FAULTLINE_VECTOR_INDEX', z.literal('pgvector'), 'Vector index for semantic search: pgvector or pinecone.') }),
  z.object({
    driver: z.literal('pinecone'),
    apiKey: setting('PINECONE_API_KEY', z.string('is not set').min(1, 'is not set'), 'Pinecone API key.', { secret: true }),
    index: setting('FAULTLINE_PINECONE_INDEX', z.string().min(1).max(45), 'Pinecone index name.'),
    baseUrl: setting(
      'FAULTLINE_PINECONE_URL',
      z.url({ protocol: /^https?$/ }).nullable(),
      'URL of the Pinecone control plane, if not the default.',
    ),
  }),
]);

/** Where code is read. */
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

/** Who searches the web, where everything else failed. */
export const WebSearchConfig = z
  .object({
    driver: setting(
      'FAULTLINE_WEB_SEARCH',
      z.enum(['none', 'searxng', 'brave', 'tavily']).default('none'),
      'Web search to use as a last resort: none, searxng, brave or tavily. It sends masked words of the error to that service.',
    ),
    /** Null: the provider's own address. */
    baseUrl: setting(
      'FAULTLINE_WEB_SEARCH_URL',
      z
        .url({ protocol: /^https?$/ })
        .nullable()
        .default(null),
      'URL of your SearXNG, which may be private. For Brave and Tavily, only if not the default.',
    ),
    apiKey: setting('FAULTLINE_WEB_SEARCH_KEY', z.string().nullable().default(null), 'Brave or Tavily API key.', { secret: true }),
    /** Of one search, in milliseconds. */
    timeoutMs: z.int().positive().default(10_000),
    pages: setting(
      'FAULTLINE_WEB_SEARCH_PAGES',
      z.int().min(0).max(5).default(2),
      'Number of result pages to read, 0 to 5. Only pages on the public internet are read.',
    ),
  })
  .refine(({ driver, baseUrl }) => driver !== 'searxng' || baseUrl !== null, { path: ['baseUrl'], error: 'searxng needs an address' })
  .refine(({ driver, apiKey }) => (driver !== 'brave' && driver !== 'tavily') || apiKey !== null, {
    path: ['apiKey'],
    error: 'brave and tavily need a key',
  });
