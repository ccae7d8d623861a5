import { PROVIDER_VARIABLES } from '../providers/settings.ts';
import { IDENTITY_VARIABLES } from './identity-variables.ts';
import { MODEL_VARIABLES } from './model-variables.ts';
import { PUBLISH_VARIABLES } from './publish-variables.ts';
import { RETENTION_VARIABLES } from './retention-variables.ts';
import { REVIEW_VARIABLES } from './review-variables.ts';
import { SERVER_VARIABLES } from './server-variables.ts';
import { SLACK_VARIABLES } from './slack-variables.ts';
import { TRACING_VARIABLES } from './tracing-variables.ts';
import type { Variable } from './variable.ts';

export const VARIABLES: readonly Variable[] = [
  { name: 'FAULTLINE_HOST', path: 'http.host', type: 'text', meaning: 'Address to listen on.' },
  { name: 'FAULTLINE_PORT', path: 'http.port', type: 'number', meaning: 'Port to listen on; 0 picks a free port.' },
  {
    name: 'FAULTLINE_METRICS_PORT',
    path: 'metrics.port',
    type: 'number',
    meaning:
      'Port that serves only /metrics, /healthz and /readyz, without a token. 0 picks a free port. If unset, serve has them on its main port and a worker does not serve them.',
  },
  { name: 'FAULTLINE_PUBLIC_URL', path: 'http.publicUrl', type: 'text', meaning: 'Public URL of the service, used in links.' },
  { name: 'FAULTLINE_MAX_BODY_BYTES', path: 'http.maxBodyBytes', type: 'number', meaning: 'Largest request body, in bytes.' },
  { name: 'FAULTLINE_MAX_LOG_BYTES', path: 'http.maxLogBytes', type: 'number', meaning: 'Largest log after decompression, in bytes.' },
  {
    name: 'FAULTLINE_RATE_LIMIT',
    path: 'http.rateLimit',
    type: 'number',
    meaning: 'Requests per minute and address. This limit and the two below apply per process.',
  },
  {
    name: 'FAULTLINE_TOKEN_RATE_LIMIT',
    path: 'http.tokenRateLimit',
    type: 'number',
    meaning: 'Requests per minute and token, from any address.',
  },
  {
    name: 'FAULTLINE_SOURCE_RATE_LIMIT',
    path: 'http.sourceRateLimit',
    type: 'number',
    meaning: 'Accepted webhooks per minute and sender: a GitHub repository, organization or App, or a Jenkins address.',
  },
  {
    name: 'FAULTLINE_TRUST_PROXY',
    path: 'http.trustProxy',
    type: 'proxies',
    meaning:
      'Trusted reverse proxies: their number, or their addresses (IP, range, loopback), separated by commas. Their X-Forwarded-For header then identifies the client for rate limits and the log. If unset, the header is ignored.',
  },
  {
    name: 'FAULTLINE_TOKENS',
    path: 'auth.tokens',
    type: 'tokens',
    secret: true,
    meaning: 'Bearer tokens as name:role+role:token, separated by commas or line breaks. Roles: ingest, read, review, admin.',
  },
  {
    name: 'FAULTLINE_WEB_SEARCH',
    path: 'webSearch.driver',
    type: 'text',
    meaning: 'Web search to use as a last resort: none, searxng, brave or tavily. It sends masked words of the error to that service.',
  },
  {
    name: 'FAULTLINE_WEB_SEARCH_URL',
    path: 'webSearch.baseUrl',
    type: 'text',
    meaning: 'URL of your SearXNG, which may be private. For Brave and Tavily, only if not the default.',
  },
  { name: 'FAULTLINE_WEB_SEARCH_KEY', path: 'webSearch.apiKey', type: 'text', secret: true, meaning: 'Brave or Tavily API key.' },
  {
    name: 'FAULTLINE_WEB_SEARCH_PAGES',
    path: 'webSearch.pages',
    type: 'number',
    meaning: 'Number of result pages to read, 0 to 5. Only pages on the public internet are read.',
  },
  ...IDENTITY_VARIABLES,
  ...SERVER_VARIABLES,
  ...RETENTION_VARIABLES,
  {
    name: 'FAULTLINE_MIN_FREE_MB',
    path: 'disk.minFreeMegabytes',
    type: 'number',
    meaning: 'Minimum free megabytes on the disk of an embedded database. Below it, /readyz returns 503; 0 disables the check.',
  },
  { name: 'FAULTLINE_CONCURRENCY', path: 'jobQueue.concurrency', type: 'number', meaning: 'Builds triaged in parallel.' },
  {
    name: 'FAULTLINE_CODE_HOST',
    path: 'codeHost.driver',
    type: 'text',
    meaning:
      'Where code is read: auto (a local clone if one is named, otherwise GitHub if a token or App is configured), local-git, github (without a token or App: public repositories, no blame) or none.',
  },
  {
    name: 'FAULTLINE_CLONES',
    path: 'codeHost.clones',
    type: 'pairs',
    meaning: 'Local clones to read code from, as owner/name=folder, separated by commas.',
  },
  ...PROVIDER_VARIABLES,
  ...PUBLISH_VARIABLES,
  ...SLACK_VARIABLES,
  ...MODEL_VARIABLES,
  {
    name: 'FAULTLINE_PROFILE',
    path: 'triage.profile',
    type: 'text',
    meaning:
      'Effort per run: fast, balanced or thorough. Sets rounds, time limit, budgets and investigators; each of these can be overridden on its own.',
  },
  {
    name: 'FAULTLINE_MAX_RUN_TOKENS',
    path: 'triage.budget.tokens',
    type: 'number',
    meaning: 'Model tokens that one run may use before it ends with what is known. 0: no limit.',
  },
  {
    name: 'FAULTLINE_MAX_RUN_USD',
    path: 'triage.budget.costUsd',
    type: 'number',
    meaning: 'US dollars that one run may cost before it ends with what is known. 0: no limit.',
  },
  {
    name: 'FAULTLINE_MAX_RUN_SECONDS',
    path: 'triage.budget.seconds',
    type: 'number',
    meaning: 'Seconds of work after which a run ends with what is known. 0: only the time limit ends it, without an answer.',
  },
  {
    name: 'FAULTLINE_FIRST_ROUND',
    path: 'triage.firstRound',
    type: 'text',
    meaning: 'What chooses the first tool calls when the analyst is llm: rules (by category, at no cost) or model.',
  },
  {
    name: 'FAULTLINE_INVESTIGATORS',
    path: 'triage.investigators.when',
    type: 'text',
    meaning: 'When code, history and documents are investigated in parallel: never, complex (complex failures only) or always.',
  },
  {
    name: 'FAULTLINE_INVESTIGATOR_ROUNDS',
    path: 'triage.investigators.rounds',
    type: 'number',
    meaning: 'Maximum rounds of tool calls per investigator.',
  },
  { name: 'FAULTLINE_MAX_ITERATIONS', path: 'triage.maxIterations', type: 'number', meaning: 'Maximum rounds of tool calls.' },
  {
    name: 'FAULTLINE_SHARE_REPOSITORIES',
    path: 'triage.shareRepositories',
    type: 'flag',
    meaning:
      'Set to true to let an answer use failures and decisions of every repository, and quote them to anyone who may read the build. Otherwise, it uses only repositories that every token with access to the build may also read.',
  },
  {
    name: 'FAULTLINE_TOOL_CONCURRENCY',
    path: 'triage.toolConcurrency',
    type: 'number',
    meaning: 'Tool calls that one triage makes in parallel.',
  },
  {
    name: 'FAULTLINE_LEASE_MS',
    path: 'triage.leaseMs',
    type: 'number',
    meaning: 'How long the builds of a dead or frozen worker wait for another worker, in milliseconds; at least 1000.',
  },
  {
    name: 'FAULTLINE_MAX_CRASHES',
    path: 'triage.maxCrashes',
    type: 'number',
    meaning: 'How many times the process may die while triaging a build, with no step finished, before the build is sent to review.',
  },
  { name: 'FAULTLINE_TIME_LIMIT_MS', path: 'triage.timeLimitMs', type: 'number', meaning: 'Time limit of one analysis, in milliseconds.' },
  {
    name: 'FAULTLINE_GREEN_BUILDS',
    path: 'triage.greenBuilds',
    type: 'number',
    meaning: 'Number of green builds of a job to compare a failed build with. Their logs are stored as templates. 0 turns this off.',
  },
  {
    name: 'FAULTLINE_AUTO_NOTIFY',
    path: 'triage.thresholds.autoNotify',
    type: 'number',
    meaning: 'Minimum confidence (0..1) to publish an answer automatically.',
  },
  {
    name: 'FAULTLINE_HUMAN_REVIEW',
    path: 'triage.thresholds.humanReview',
    type: 'number',
    meaning: 'Minimum confidence to send an answer to review rather than work on it again.',
  },
  {
    name: 'FAULTLINE_SELF_CORRECT',
    path: 'triage.thresholds.selfCorrect',
    type: 'number',
    meaning: 'Minimum confidence to work on an answer again; below it, the web is searched.',
  },
  {
    name: 'FAULTLINE_CALIBRATION',
    path: 'triage.calibration',
    type: 'json',
    meaning:
      'File written by `faultline calibrate --out`. `triage` and `replay` apply it to its analyst. A service applies the calibration set by `faultline calibrate use`.',
  },
  { name: 'FAULTLINE_CLAIM_MS', path: 'review.claimMs', type: 'number', meaning: 'How long a reviewer holds an item, in milliseconds.' },
  {
    name: 'FAULTLINE_QUESTION_MS',
    path: 'review.questionMs',
    type: 'number',
    meaning: "How long a run waits for a reviewer's answer before it continues without one, in milliseconds.",
  },
  {
    name: 'FAULTLINE_MASK_EMAILS',
    path: 'mask.emails',
    type: 'flag',
    meaning:
      'Set to true to replace email addresses in logs with `<EMAIL_1>`, `<EMAIL_2>` and so on before anything is stored or sent to a model.',
  },
  {
    name: 'FAULTLINE_MASK_HOSTS',
    path: 'mask.hosts',
    type: 'flag',
    meaning: 'Set to true to replace private addresses and host names in logs with `<HOST_1>`, `<HOST_2>` and so on.',
  },
  {
    name: 'FAULTLINE_MASK_HOST_SUFFIXES',
    path: 'mask.hostSuffixes',
    type: 'list',
    meaning: 'Suffixes of additional private host names, such as .corp.example.com, separated by commas.',
  },
  ...REVIEW_VARIABLES,
  ...TRACING_VARIABLES,
  { name: 'FAULTLINE_LOG_LEVEL', path: 'log.level', type: 'text', meaning: 'Log level: debug, info, warn, error or silent.' },
];

/** The variable that sets a field of `Config`, or something inside it: `auth.tokens.0.token` is set by FAULTLINE_TOKENS. */
export function variableOf(path: string): Variable | undefined {
  return VARIABLES.find((variable) => path === variable.path || path.startsWith(`${variable.path}.`));
}

/** What the terminal itself reads, beside the table above: where things are and how to speak. */
export const TERMINAL_VARIABLES: readonly Pick<Variable, 'name' | 'meaning'>[] = [
  {
    name: 'FAULTLINE_PRESET',
    meaning:
      'Either embedded (everything in one process and one directory) or server (separate services). Default: server if FAULTLINE_DATABASE_URL is set, otherwise embedded.',
  },
  { name: 'FAULTLINE_DATA_DIR', meaning: 'Data directory, unless --data names one. Default: .faultline.' },
  { name: 'FAULTLINE_URL', meaning: 'URL of the service that `faultline review` uses, unless --url names one.' },
  { name: 'FAULTLINE_TOKEN', meaning: 'Bearer token that `faultline review` uses, unless --token gives one.' },
  {
    name: 'LANGSMITH_TRACING',
    meaning:
      'Set to true to send log excerpts, prompts and answers, with secrets masked, to LangSmith, configured by LANGSMITH_API_KEY, LANGSMITH_ENDPOINT and LANGSMITH_PROJECT. Each start prints a notice. Otherwise, these variables are ignored. LANGCHAIN_… is always ignored.',
  },
  { name: 'FAULTLINE_TRACING', meaning: 'Set to off to send nothing to LangSmith, whatever else is set.' },
  { name: 'FAULTLINE_DEBUG', meaning: 'If set, internal errors also print their stack trace.' },
  { name: 'NO_COLOR', meaning: 'If set, output has no color and no box, as with --plain.' },
  { name: 'XDG_CACHE_HOME', meaning: 'Directory for compiled code, in a folder `faultline`. Default: ~/.cache.' },
  { name: 'NODE_DISABLE_COMPILE_CACHE', meaning: 'Set to 1 to keep no compiled code between runs.' },
];
