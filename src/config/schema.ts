import { z } from 'zod';
import { messageOf, TriageError } from '../domain/errors.ts';
import { NO_PROVIDERS, ProvidersConfig } from '../providers/settings.ts';
import { NO_OPENID, OpenIdConfig } from './identity-schema.ts';
import { NO_KEYS, ProviderKeys } from './model-providers.ts';
import { PROFILE_NAMES, PROFILES } from './profiles.ts';
import { NO_PUBLISHERS, PublishersConfig } from './publish-schema.ts';
import { BuildArchiveConfig, DatabaseConfig, JobQueueConfig, VectorIndexConfig } from './service-schema.ts';
import { NO_SLACK, SlackConfig } from './slack-variables.ts';
import { CodeHostConfig, USUAL_SOURCES, WebSearchConfig } from './sources-schema.ts';
import { variableOf } from './variables.ts';

const bytes = (megabytes: number) => megabytes * 1024 * 1024;

/** A bearer token as configured: who holds it and what it may do. */
const TokenConfig = z.object({
  name: z.string().min(1),
  token: z.string().min(16, 'a token needs at least 16 characters'),
  roles: z.array(z.enum(['ingest', 'read', 'review', 'admin'])).min(1),
});

/** Days since a build was received; 0: for ever. */
const Days = z.int().min(0).max(36_500);

/** Who may say on whose behalf it asks: nobody, the last so many hops, or these addresses. */
const TrustProxy = z.union(
  [
    z.literal(false),
    z.int().min(1).max(16),
    z.array(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6(), z.enum(['loopback', 'linklocal', 'uniquelocal'])])).min(1),
  ],
  'must be a number of hops (1 to 16), or addresses such as 10.0.0.0/8, separated by commas',
);

const Thresholds = z
  .object({ autoNotify: z.number().min(0).max(1), humanReview: z.number().min(0).max(1), selfCorrect: z.number().min(0).max(1) })
  .check(inOrder('selfCorrect', 'humanReview'), inOrder('humanReview', 'autoNotify'));

/** US dollars for a million tokens of each model; what is not given for cached input costs as any other. */
const Prices = z.record(
  z.string().min(1),
  z.strictObject({ input: z.number().min(0), output: z.number().min(0), cachedInput: z.number().min(0).optional() }),
);

type ThresholdName = 'selfCorrect' | 'humanReview' | 'autoNotify';

/** Bands that overlap would leave one of the verify's four ways out of reach. */
function inOrder(lower: ThresholdName, upper: ThresholdName): z.core.CheckFn<Readonly<Record<ThresholdName, number>>> {
  return ({ value, issues }) => {
    if (value[lower] <= value[upper]) return;
    const message = `${value[lower]} is above ${nameOf(`triage.thresholds.${upper}`)}, which is ${value[upper]}`;
    issues.push({ code: 'custom', message, path: [lower], input: value });
  };
}

/** Everything that can be set, with a driver per port and no mode: nothing can branch on one. */
export const Config = z.object({
  http: z.object({
    host: z.string(),
    port: z.int().min(0).max(65535),
    /** The address people reach us by, for links. */
    publicUrl: z.url().nullable(),
    maxBodyBytes: z.int().positive(),
    /** Limit of one log after decompression. */
    maxLogBytes: z.int().positive(),
    /** Requests per minute and address. */
    rateLimit: z.int().positive(),
    /** Requests per minute and token, from any address. */
    tokenRateLimit: z.int().positive(),
    /** Accepted webhooks per minute and sender. */
    sourceRateLimit: z.int().positive(),
    trustProxy: TrustProxy,
  }),
  auth: z.object({ tokens: z.array(TokenConfig), openId: OpenIdConfig.default(NO_OPENID) }),
  providers: ProvidersConfig,
  database: DatabaseConfig,
  /** An embedded database with less free disk accepts no builds. */
  disk: z.object({ minFreeMegabytes: z.int().min(0) }),
  jobQueue: JobQueueConfig,
  buildArchive: BuildArchiveConfig,
  vectorIndex: VectorIndexConfig,
  embedder: z.object({
    /** `hashing` compares words; `openai` also asks a model, `local` one on this machine. */
    driver: z.enum(['hashing', 'openai', 'local']),
    local: z.object({
      /** A folder, or a name of the hub; null: words alone. */
      model: z.string().min(1).nullable(),
      /** Whether a model of the hub may be fetched. */
      download: z.boolean(),
    }),
    openai: z.object({
      /** null: the analyst's server, with its key. */
      baseUrl: z.url().nullable(),
      apiKey: z.string().nullable(),
      model: z.string().min(1),
      /** Length of a vector; null: as the server answers. */
      dimensions: z.int().min(8).max(16_000).nullable(),
      timeoutMs: z.int().positive(),
      maxRetries: z.int().min(0).max(5),
    }),
  }),
  codeHost: CodeHostConfig,
  webSearch: WebSearchConfig,
  /** Of fetching the logs and reports of one build, in milliseconds. */
  buildSource: z.object({ timeoutMs: z.int().positive() }),
  analyst: z.object({
    driver: z.enum(['rules', 'llm']),
    llm: z.object({
      /** Any OpenAI-compatible server, with or without `/v1`. */
      baseUrl: z.url({ protocol: /^https?$/ }).nullable(),
      apiKey: z.string().nullable(),
      model: z.string(),
      /** Keys of providers that a model's name may begin with, by the provider's name. */
      keys: ProviderKeys,
      /** Azure OpenAI, asked where no base URL is given. The deployment's name is the model's where none is named. */
      azure: z.object({
        endpoint: z.url({ protocol: /^https?$/ }).nullable(),
        apiKey: z.string().nullable(),
        apiVersion: z.string().nullable(),
        deployment: z.string().nullable(),
      }),
      timeoutMs: z.int().positive(),
      maxRetries: z.int().min(0).max(5),
      /** Correct the list prices, and add models that are not listed. */
      prices: Prices,
    }),
  }),
  publishers: PublishersConfig,
  slack: SlackConfig,
  triage: z.object({
    /** Null: as many as who judges makes the most of, see {@link budgetTokensOf}. */
    budgetTokens: z.int().min(200).max(200_000).nullable(),
    /** Which numbers stand where none is set: see `profiles.ts`. */
    profile: z.enum(PROFILE_NAMES),
    maxIterations: z.int().min(1).max(10),
    /** What one run may use up before it ends with what is known; 0: as much as it likes. */
    budget: z.object({ tokens: z.int().min(0), costUsd: z.number().min(0), seconds: z.number().min(0) }),
    /** Who plans and asks the first round where a model judges: it goes by the category alone, so the rules can. */
    firstRound: z.enum(['rules', 'model']),
    investigators: z.object({
      /** For which failures investigators look at code, history and documents side by side. */
      when: z.enum(['never', 'complex', 'always']),
      rounds: z.int().min(1).max(3),
    }),
    /** Tools may look at failures and decisions of repositories that not every reader of the answer may see. */
    shareRepositories: z.boolean(),
    /** Tool calls that one triage makes in parallel. */
    toolConcurrency: z.int().min(1).max(16),
    /** Of one whole run, in milliseconds. */
    timeLimitMs: z.int().positive(),
    leaseMs: z.int().min(1000),
    /** A build during whose triage the process died so often, without a step finished, is given to a person. */
    maxCrashes: z.int().min(1).max(100),
    /** How many green builds of a job a failed one is compared with; 0: none, and none is kept. */
    greenBuilds: z.int().min(0).max(10),
    thresholds: Thresholds,
    /** What `faultline calibrate --out` wrote, for processes without a store; absent: none. Read where it is used. */
    calibration: z.record(z.string(), z.unknown()).optional(),
  }),
  review: z.object({
    claimMs: z.int().positive(),
    /** How long a run waits for a person whom it asked, in milliseconds. */
    questionMs: z.int().positive(),
    /** A decision is shown outside after so long, in milliseconds: taken back before, it is never seen there. */
    undoMs: z.int().min(0).max(600_000),
    /** One item in so many hides its verdict at first; 0: none. */
    blindEvery: z.int().min(0).max(1_000_000),
    /** One published answer in so many is looked at all the same; 0: none. */
    auditEvery: z.int().min(0).max(1_000_000),
  }),
  /** What is hidden beside secrets, as `<EMAIL_1>` and `<HOST_1>`. */
  mask: z.object({
    emails: z.boolean(),
    hosts: z.boolean(),
    /** Endings of private host names, beside `.local`, `.internal` and the like. */
    hostSuffixes: z.array(z.string().min(2)),
  }),
  knowledge: z.object({ folder: z.string() }),
  /** How long builds, with all that hangs on them, and their logs are kept. */
  retention: z.object({
    logsDays: Days,
    buildsDays: Days,
    /** `owner/name` → its own; what is not given is as for all. */
    repositories: z.record(z.string().min(1), z.strictObject({ logsDays: Days.optional(), buildsDays: Days.optional() })),
  }),
  /** Where spans of runs, model calls and tools go; nowhere unless an address or a key is set. They hold no text of logs or prompts. */
  tracing: z.object({
    otlp: z.object({
      /** Base address of a collector; `/v1/traces` is added. */
      endpoint: z.url().nullable(),
      /** The address as it is, before the base address. */
      tracesEndpoint: z.url().nullable(),
      /** `name=value,…` */
      headers: z.string().nullable(),
      serviceName: z.string().min(1),
    }),
    langfuse: z.object({ publicKey: z.string().nullable(), secretKey: z.string().nullable(), host: z.url() }),
  }),
  /** A port of its own for monitoring: `/metrics`, `/healthz` and `/readyz` without a token. Null: there is none. */
  metrics: z.object({ port: z.int().min(0).max(65535).nullable() }),
  log: z.object({ level: z.enum(['debug', 'info', 'warn', 'error', 'silent']) }),
});
export type Config = z.infer<typeof Config>;

/** Defaults that hold wherever Faultline runs. */
export const COMMON = {
  http: {
    host: '127.0.0.1',
    port: 4600,
    publicUrl: null,
    maxBodyBytes: bytes(64),
    maxLogBytes: bytes(256),
    rateLimit: 600,
    tokenRateLimit: 3000,
    sourceRateLimit: 6000,
    trustProxy: false,
  },
  auth: { tokens: [], openId: NO_OPENID },
  providers: NO_PROVIDERS,
  embedder: {
    driver: 'hashing',
    local: { model: null, download: false },
    openai: { baseUrl: null, apiKey: null, model: 'text-embedding-3-small', dimensions: null, timeoutMs: 30_000, maxRetries: 2 },
  },
  ...USUAL_SOURCES,
  analyst: {
    driver: 'rules',
    llm: {
      baseUrl: null,
      apiKey: null,
      model: 'gpt-4o-mini',
      keys: NO_KEYS,
      azure: { endpoint: null, apiKey: null, apiVersion: null, deployment: null },
      timeoutMs: 60_000,
      maxRetries: 2,
      prices: {},
    },
  },
  publishers: NO_PUBLISHERS,
  slack: NO_SLACK,
  triage: {
    budgetTokens: null,
    profile: 'balanced',
    ...PROFILES.balanced,
    shareRepositories: false,
    toolConcurrency: 4,
    leaseMs: 30_000,
    maxCrashes: 3,
    greenBuilds: 3,
    thresholds: { autoNotify: 0.85, humanReview: 0.65, selfCorrect: 0.5 },
  },
  disk: { minFreeMegabytes: 256 },
  review: { claimMs: 15 * 60_000, questionMs: 24 * 3_600_000, undoMs: 10_000, blindEvery: 20, auditEvery: 0 },
  mask: { emails: false, hosts: false, hostSuffixes: [] },
  retention: { logsDays: 0, buildsDays: 0, repositories: {} },
  tracing: {
    otlp: { endpoint: null, tracesEndpoint: null, headers: null, serviceName: 'faultline' },
    langfuse: { publicKey: null, secretKey: null, host: 'https://cloud.langfuse.com' },
  },
  metrics: { port: null },
  log: { level: 'info' },
} satisfies Partial<z.input<typeof Config>>;

/** Checks a merged config; says every field that is wrong, and how it is called in the environment, beside what was `wrong` before. */
export function parseConfig(input: unknown, wrong: readonly TriageError[] = []): Config {
  const result = Config.safeParse(input);
  const [first] = wrong;
  if (result.success && first === undefined) return result.data;
  const issues = result.error?.issues ?? [];
  if (first !== undefined && wrong.length === 1 && issues.length === 0) throw first;
  const lines = [...wrong.map(messageOf), ...issues.map((issue) => `${nameOf(issue.path.join('.'))}: ${issue.message}`)];
  throw new TriageError('invalid-config', `The configuration is invalid:\n${lines.map((line) => `  ${line}`).join('\n')}`);
}

function nameOf(path: string): string {
  const variable = variableOf(path);
  return variable === undefined ? path : `${variable.name} (${path})`;
}
