import { z } from 'zod';
import { ChannelsConfig } from '../channels/registry.ts';
import { getErrorMessage, TriageError } from '../domain/errors.ts';
import { ProvidersConfig } from '../providers/registry.ts';
import { AnalystConfig, EmbedderConfig } from './model-providers.ts';
import { PROFILE_NAMES } from './profiles.ts';
import {
  BuildArchiveConfig,
  CodeHostConfig,
  DatabaseConfig,
  JobQueueConfig,
  OpenIdConfig,
  VectorIndexConfig,
  WebSearchConfig,
} from './services.ts';
import { defineCredential, defineSetting, flag, group, listVariables, type Variable } from './variable.ts';

const bytes = (megabytes: number) => megabytes * 1024 * 1024;

/** A configured bearer token: its holder and its permissions. */
const TokenConfig = z.object({
  name: z.string().min(1),
  token: z.string().min(16, 'a token needs at least 16 characters'),
  roles: z.array(z.enum(['ingest', 'read', 'review', 'admin'])).min(1),
});

/** A number of days since a build was received. 0 means forever. */
const Days = z.int().min(0).max(36_500);

/** The proxies that may set the client address: none, a number of last hops, or these addresses. */
const TrustProxy = z.union(
  [
    z.literal(false),
    z.int().min(1).max(16),
    z
      .array(
        z.union([
          z.ipv4(),
          z.ipv6(),
          z.cidrv4(),
          z.cidrv6(),
          z.enum(['loopback', 'linklocal', 'uniquelocal']),
        ]),
      )
      .min(1),
  ],
  'must be a number of hops (1 to 16), or addresses such as 10.0.0.0/8, separated by commas',
);

/** The confidence from which on an answer is published, waits for review, or is worked on again. */
const Thresholds = z.object({
  autoNotify: defineSetting(
    'FAULTLINE_AUTO_NOTIFY',
    z.number().min(0).max(1).default(0.85),
    'Minimum confidence (0..1) to publish an answer automatically. Below it, an answer waits for review; ' +
      'below 0.65, it is worked on again; below 0.5, the web is searched.',
  ),
  humanReview: z.number().min(0).max(1).default(0.65),
  selfCorrect: z.number().min(0).max(1).default(0.5),
});

/** The names that are masked: `emails`, `hosts`, and additional suffixes of private host names. */
const NamesToMask = defineSetting(
  'FAULTLINE_MASK_NAMES',
  z
    .array(
      z
        .string()
        .regex(
          /^(?:emails|hosts|\.[\w.-]{1,200})$/,
          'must be emails, hosts, or a suffix such as .corp.example.com',
        ),
    )
    .default([]),
  'Names in logs that are replaced before anything is stored or sent to a model, separated by commas: ' +
    'emails (`<EMAIL_1>`), hosts (private addresses and host names, `<HOST_1>`), and suffixes of your own ' +
    'private host names, such as .corp.example.com.',
);

/** The settings that every installation has, with their defaults. */
const Common = z.object({
  http: group({
    host: defineSetting('FAULTLINE_HOST', z.string().default('127.0.0.1'), 'Address to listen on.'),
    port: defineSetting(
      'FAULTLINE_PORT',
      z.int().min(0).max(65535).default(4600),
      'Port to listen on; 0 picks a free port.',
    ),
    publicUrl: defineSetting(
      'FAULTLINE_PUBLIC_URL',
      z.url().nullable().default(null),
      'Public URL of the service, used in links.',
    ),
    /** The maximum size of a request body: a quarter of `maxLogBytes`. */
    maxBodyBytes: z.int().positive().default(bytes(64)),
    maxLogBytes: defineSetting(
      'FAULTLINE_MAX_LOG_BYTES',
      z.int().positive().default(bytes(256)),
      'Largest log after decompression, in bytes. A request may have a quarter of it.',
    ),
    rateLimit: defineSetting(
      'FAULTLINE_RATE_LIMIT',
      z.int().positive().default(600),
      'Requests per minute, address and process. One token may send five times as many, from any ' +
        'address, and one sender of webhooks ten times.',
    ),
    /** The maximum number of requests per minute and token. */
    tokenRateLimit: z.int().positive().default(3000),
    /**
     * The maximum number of accepted webhooks per minute and sender: GitHub's repository, organization or
     * App, or an address.
     */
    sourceRateLimit: z.int().positive().default(6000),
    trustProxy: defineSetting(
      'FAULTLINE_TRUST_PROXY',
      TrustProxy.default(false),
      'Trusted reverse proxies: their number, or their addresses (IP, range, loopback), separated by ' +
        'commas. Their X-Forwarded-For header then identifies the client for rate limits and the log. ' +
        'If unset, the header is ignored.',
      { type: 'proxies' },
    ),
  }),
  auth: group({
    tokens: defineSetting(
      'FAULTLINE_TOKENS',
      z.array(TokenConfig).default([]),
      'Bearer tokens as name:role+role:token, separated by commas or line breaks. Roles: ' +
        'ingest, read, review, admin.',
      { secret: true, type: 'tokens' },
    ),
    openId: OpenIdConfig.prefault({}),
  }),
  providers: ProvidersConfig.prefault({}),
  /** The minimum free disk space for an embedded database. Below it, no builds are accepted. */
  disk: group({
    minFreeMegabytes: z.int().min(0).default(256),
  }),
  embedder: EmbedderConfig,

  codeHost: CodeHostConfig.prefault({}),
  webSearch: WebSearchConfig.prefault({}),
  /** The time limit for fetching the logs and reports of one build, in milliseconds. */
  buildSource: group({ timeoutMs: z.int().positive().default(60_000) }),
  analyst: AnalystConfig,

  channels: ChannelsConfig.prefault({}),
  triage: group({
    /**
     * The maximum number of log tokens. Null for the default of the analyst; see {@link resolveBudgetTokens}.
     */
    budgetTokens: z.int().min(200).max(200_000).nullable().default(null),
    /** The profile that supplies the numbers below; see `profiles.ts`. */
    profile: defineSetting(
      'FAULTLINE_PROFILE',
      z.enum(PROFILE_NAMES).default('balanced'),
      'Effort per run: fast, balanced or thorough. Sets rounds, time limit, budgets, ' +
        'investigators, and whether a model chooses the first tools (thorough only).',
    ),
    /** The maximum number of rounds of tool calls. */
    maxIterations: z.int().min(1).max(10).default(5),
    /**
     * The resources that one run may use. When they are used up, the run ends with the facts that it has. 0
     * means no limit.
     */
    budget: group({
      /** The maximum number of model tokens. */
      tokens: z.int().min(0).default(80_000),
      costUsd: defineSetting(
        'FAULTLINE_MAX_RUN_USD',
        z.number().min(0).default(0.1),
        'US dollars that one run may cost before it ends with what is known. Default: that of the ' +
          'profile. 0: no limit.',
      ),
      /** True if the dollars were set, and are not those of the profile. */
      isCostSet: z.boolean().default(false),
      /** The maximum duration, in seconds. */
      seconds: z.number().min(0).default(240),
    }),
    /** The chooser of the first tool calls of a model: rules (by category, at no cost) or the model itself. */
    firstRound: z.enum(['rules', 'model']).default('rules'),
    investigators: group({
      /** The failures for which code, history and documents are investigated in parallel. */
      when: z.enum(['never', 'complex', 'always']).default('complex'),
      /** The maximum number of rounds of tool calls per investigator. */
      rounds: z.int().min(1).max(3).default(1),
    }),
    shareRepositories: flag(
      'FAULTLINE_SHARE_REPOSITORIES',
      'Set to true to let an answer use failures and decisions of every repository, and quote them ' +
        'to anyone who may read the build. Otherwise, it uses only repositories that every token with ' +
        'access to the build may also read.',
    ),
    /** The number of tool calls that one triage makes in parallel. */
    toolConcurrency: z.int().min(1).max(16).default(4),
    /** The time limit of one analysis, in milliseconds. */
    timeLimitMs: z.int().positive().default(300_000),
    /** The time after which another worker takes over the builds of a dead or frozen one, in milliseconds. */
    leaseMs: z.int().min(1000).default(30_000),
    /**
     * The number of times that the process may die while it triages a build and finishes no step. After that,
     * the build is sent to review.
     */
    maxCrashes: z.int().min(1).max(100).default(3),
    /**
     * The number of passing builds with which a failed build is compared. Their logs are stored as templates.
     */
    greenBuilds: z.int().min(0).max(10).default(3),
    thresholds: Thresholds.prefault({}),
    maxWrong: defineSetting(
      'FAULTLINE_MAX_WRONG',
      z.number().min(0).max(1).default(0.03),
      'Largest share (0..1) of wrong answers among the published ones, held with 90 % confidence on ' +
        'known outcomes; 1: no bound.',
    ),
    /**
     * The calibration that `faultline calibrate --out` wrote, for processes without a store; absent if there
     * is none. The code that uses it also parses it.
     */
    calibration: defineSetting(
      'FAULTLINE_CALIBRATION',
      z.record(z.string(), z.unknown()).optional(),
      'File written by `faultline calibrate --out`. `triage` and `replay` apply it to its analyst. ' +
        'A service applies the calibration set by `faultline calibrate use`.',
      { type: 'json' },
    ),
  }),
  review: group({
    /** The time for which a reviewer holds an item, in milliseconds. */
    claimMs: z.int().positive().default(900_000),
    /** The time that a run waits for a reviewer's answer before it continues without one, in milliseconds. */
    questionMs: z.int().positive().default(86_400_000),
    /**
     * The delay before a decision is published, in milliseconds. A decision that is undone within it is never
     * published.
     */
    undoMs: z.int().min(0).max(600_000).default(10_000),
    auditEvery: defineSetting(
      'FAULTLINE_AUDIT_EVERY',
      z.int().min(0).max(1_000_000).default(0),
      'One in this many automatically published answers is also queued for review, to measure their ' +
        'accuracy; 0 disables this. 50 is a good start.',
    ),
  }),
  /** The names that are hidden in addition to secrets. */
  mask: NamesToMask,
  /** The retention periods of logs and of builds with everything that belongs to them. */
  retention: group({
    logsDays: defineSetting(
      'FAULTLINE_RETENTION_LOGS_DAYS',
      Days.default(0),
      'Days after which the full logs, reports and artifacts of a build are deleted. 0 keeps them forever.',
    ),
    buildsDays: defineSetting(
      'FAULTLINE_RETENTION_BUILDS_DAYS',
      Days.default(0),
      'Days after which a build is deleted with its analyses, reviews and conversations. 0 keeps it forever.',
    ),
    /**
     * Maps `owner/name` to its own periods. A period that is not given is the same as for all repositories.
     */
    repositories: defineSetting(
      'FAULTLINE_RETENTION_REPOSITORIES',
      z
        .record(z.string().min(1), z.strictObject({ logsDays: Days.optional(), buildsDays: Days.optional() }))
        .default({}),
      'Retention days per repository, as JSON {"owner/name": {"logsDays": 7, "buildsDays": ' +
        '365}} or the path of a JSON file.',
      { type: 'json' },
    ),
  }),
  /**
   * The destination of spans of runs, model calls and tools. Spans are sent only if an address is set. They
   * contain no text of logs or prompts.
   */
  tracing: group({
    /** The base URL of a receiver. `/v1/traces` is appended. */
    endpoint: defineSetting(
      'OTEL_EXPORTER_OTLP_ENDPOINT',
      z.url().nullable().default(null),
      'Base URL of an OpenTelemetry collector, or of Langfuse (OTLP over HTTP), that receives spans of ' +
        'runs, model calls and tools, without their text.',
    ),
    /** The headers, as `name=value,…`. */
    headers: defineCredential(
      'OTEL_EXPORTER_OTLP_HEADERS',
      'Headers for it, as name=value, separated by commas.',
    ),
    serviceName: defineSetting(
      'OTEL_SERVICE_NAME',
      z.string().min(1).default('faultline'),
      'Service name in the spans.',
    ),
  }),
  /**
   * A separate port for monitoring: `/metrics`, `/healthz` and `/readyz` without a token. Null if there is
   * none.
   */
  metrics: group({
    port: defineSetting(
      'FAULTLINE_METRICS_PORT',
      z.int().min(0).max(65535).nullable().default(null),
      'Port that serves only /metrics, /healthz and /readyz, without a token. 0 picks a free port. ' +
        'If unset, serve has them on its main port and a worker does not serve them.',
    ),
    targets: defineSetting(
      'FAULTLINE_METRICS_TARGETS',
      z.string().min(1).nullable().default(null),
      'Folder in which each process writes the address of its FAULTLINE_METRICS_PORT, for ' +
        'file_sd_configs of Prometheus; removed when it stops.',
    ),
  }),
  log: group({
    level: defineSetting(
      'FAULTLINE_LOG_LEVEL',
      z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info'),
      'Log level: debug (also prints the stack trace of internal errors), info, warn, error or silent.',
    ),
  }),
});

/**
 * The whole configuration. It names a driver for each port. It has no mode, so that no code can depend on
 * one.
 */
export const Config = Common.extend({
  database: DatabaseConfig,
  jobQueue: JobQueueConfig,
  buildArchive: BuildArchiveConfig,
  vectorIndex: VectorIndexConfig,
  knowledge: z.object({ folder: z.string() }),
  /** The folder of the replays that the console compares. */
  runs: z.object({ folder: z.string() }),
});
export type Config = z.infer<typeof Config>;

/** The defaults that apply wherever Faultline runs. */
export const COMMON = Common.parse({});

/** All settings with their environment variables. */
export const VARIABLES: readonly Variable[] = listVariables(Config);

/**
 * Finds the variable that sets a field of `Config` or a value inside it. For example, `auth.tokens.0.token`
 * is set by FAULTLINE_TOKENS.
 */
function findVariable(path: string): Variable | undefined {
  return VARIABLES.find((variable) => path === variable.path || path.startsWith(`${variable.path}.`));
}

/**
 * Checks a merged configuration. Reports every invalid field with its environment variable, together with the
 * errors in `wrong`.
 */
export function parseConfig(input: unknown, wrong: readonly TriageError[] = []): Config {
  const result = Config.safeParse(input);
  const [first] = wrong;
  if (result.success && first === undefined) return result.data;
  const issues = result.error?.issues ?? [];
  if (first !== undefined && wrong.length === 1 && issues.length === 0) throw first;
  const lines = [
    ...wrong.map(getErrorMessage),
    ...issues.map((issue) => `${describeField(issue.path.join('.'))}: ${issue.message}`),
  ];
  throw new TriageError(
    'invalid-config',
    `The configuration is invalid:\n${lines.map((line) => `  ${line}`).join('\n')}`,
  );
}

function describeField(path: string): string {
  const variable = findVariable(path);
  return variable === undefined ? path : `${variable.name} (${path})`;
}
