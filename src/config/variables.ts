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
  { name: 'FAULTLINE_PORT', path: 'http.port', type: 'number', meaning: 'Port to listen on; 0 takes a free one.' },
  {
    name: 'FAULTLINE_METRICS_PORT',
    path: 'metrics.port',
    type: 'number',
    meaning:
      'Port on which nothing but /metrics, /healthz and /readyz is served, without a token; 0 takes a free one. Unset: serve has them on its own port, a worker nowhere.',
  },
  { name: 'FAULTLINE_PUBLIC_URL', path: 'http.publicUrl', type: 'text', meaning: 'Address that people reach the service by, for links.' },
  { name: 'FAULTLINE_MAX_BODY_BYTES', path: 'http.maxBodyBytes', type: 'number', meaning: 'Largest request body, in bytes.' },
  { name: 'FAULTLINE_MAX_LOG_BYTES', path: 'http.maxLogBytes', type: 'number', meaning: 'Largest log after decompression, in bytes.' },
  {
    name: 'FAULTLINE_RATE_LIMIT',
    path: 'http.rateLimit',
    type: 'number',
    meaning: 'Requests per minute and address; like the two below of each process.',
  },
  {
    name: 'FAULTLINE_TOKEN_RATE_LIMIT',
    path: 'http.tokenRateLimit',
    type: 'number',
    meaning: 'Requests per minute and token, from whatever addresses.',
  },
  {
    name: 'FAULTLINE_SOURCE_RATE_LIMIT',
    path: 'http.sourceRateLimit',
    type: 'number',
    meaning: "Accepted webhooks per minute and sender: GitHub's repository, organisation or App, or the address of a Jenkins.",
  },
  {
    name: 'FAULTLINE_TRUST_PROXY',
    path: 'http.trustProxy',
    type: 'proxies',
    meaning:
      'Reverse proxies in front: how many, or their addresses (IP, range, loopback), separated by commas. Their X-Forwarded-For then says who asks, for rate limits and the log; unset, nobody is believed.',
  },
  {
    name: 'FAULTLINE_TOKENS',
    path: 'auth.tokens',
    type: 'tokens',
    secret: true,
    meaning: 'Bearer tokens as name:role+role:token, separated by commas or line ends. Roles: ingest, read, review, admin.',
  },
  {
    name: 'FAULTLINE_GITHUB_WEBHOOK_SECRET',
    path: 'webhooks.githubSecrets',
    type: 'list',
    secret: true,
    meaning: 'Secret of the GitHub webhook; two, separated by a comma, while one is rotated.',
  },
  {
    name: 'FAULTLINE_JENKINS_WEBHOOK_SECRET',
    path: 'webhooks.jenkinsSecrets',
    type: 'list',
    secret: true,
    meaning: 'Secret or token of the Jenkins webhook; two while one is rotated.',
  },
  {
    name: 'FAULTLINE_WEB_SEARCH',
    path: 'webSearch.driver',
    type: 'text',
    meaning: 'Who is asked when everything else failed: none, searxng, brave or tavily. Masked words of the error leave the house.',
  },
  {
    name: 'FAULTLINE_WEB_SEARCH_URL',
    path: 'webSearch.baseUrl',
    type: 'text',
    meaning: "Address of one's own SearXNG, which may be private; of Brave and Tavily only where theirs is not meant.",
  },
  { name: 'FAULTLINE_WEB_SEARCH_KEY', path: 'webSearch.apiKey', type: 'text', secret: true, meaning: 'Key of Brave or Tavily.' },
  {
    name: 'FAULTLINE_WEB_SEARCH_PAGES',
    path: 'webSearch.pages',
    type: 'number',
    meaning: 'Pages that are read of what was found, 0 to 5; only pages of the public internet.',
  },
  ...IDENTITY_VARIABLES,
  ...SERVER_VARIABLES,
  ...RETENTION_VARIABLES,
  {
    name: 'FAULTLINE_MIN_FREE_MB',
    path: 'disk.minFreeMegabytes',
    type: 'number',
    meaning: 'Free megabytes on the disk of an embedded database below which /readyz answers 503; 0: none.',
  },
  { name: 'FAULTLINE_CONCURRENCY', path: 'jobQueue.concurrency', type: 'number', meaning: 'Builds triaged at once.' },
  {
    name: 'FAULTLINE_CODE_HOST',
    path: 'codeHost.driver',
    type: 'text',
    meaning:
      'Where code is read: auto (a local clone where one is named, else GitHub where a token or an App is configured), local-git, github (without either: public repositories, no blame) or none.',
  },
  {
    name: 'FAULTLINE_CLONES',
    path: 'codeHost.clones',
    type: 'pairs',
    meaning: 'Local clones to read code from, as owner/name=folder, separated by commas.',
  },
  {
    name: 'FAULTLINE_GITHUB_URL',
    path: 'buildSource.github.baseUrl',
    type: 'text',
    meaning: "GitHub's address, or its API's: https://ghe.example.com and https://ghe.example.com/api/v3 are the same.",
  },
  {
    name: 'FAULTLINE_GITHUB_TOKEN',
    path: 'buildSource.github.token',
    type: 'text',
    secret: true,
    meaning: 'Token that may read Actions logs and, for suspects from code, contents and pull requests.',
  },
  {
    name: 'FAULTLINE_GITHUB_APP_ID',
    path: 'buildSource.github.app.id',
    type: 'text',
    meaning: 'Number or client id of a GitHub App that may read Actions, contents and pull requests; asked before the token.',
  },
  {
    name: 'FAULTLINE_GITHUB_APP_KEY',
    path: 'buildSource.github.app.privateKey',
    type: 'text',
    secret: true,
    meaning: 'Its private key in PEM, with line ends as they are or written \\n.',
  },
  {
    name: 'FAULTLINE_JENKINS_URL',
    path: 'buildSource.jenkins.baseUrl',
    type: 'text',
    meaning: 'Base address of Jenkins; builds elsewhere are not fetched.',
  },
  { name: 'FAULTLINE_JENKINS_USER', path: 'buildSource.jenkins.user', type: 'text', meaning: 'User of the Jenkins API token.' },
  { name: 'FAULTLINE_JENKINS_TOKEN', path: 'buildSource.jenkins.token', type: 'text', secret: true, meaning: 'Jenkins API token.' },
  ...PUBLISH_VARIABLES,
  ...SLACK_VARIABLES,
  ...MODEL_VARIABLES,
  {
    name: 'FAULTLINE_PROFILE',
    path: 'triage.profile',
    type: 'text',
    meaning:
      'How much a run may look and cost: fast, balanced or thorough. Sets rounds, time limit, budgets and investigators; each of them set on its own goes before it.',
  },
  {
    name: 'FAULTLINE_MAX_RUN_TOKENS',
    path: 'triage.budget.tokens',
    type: 'number',
    meaning: 'Tokens of the model that one run may use before it ends with what is known; 0: no limit.',
  },
  {
    name: 'FAULTLINE_MAX_RUN_USD',
    path: 'triage.budget.costUsd',
    type: 'number',
    meaning: 'US dollars that one run may cost before it ends with what is known; 0: no limit.',
  },
  {
    name: 'FAULTLINE_MAX_RUN_SECONDS',
    path: 'triage.budget.seconds',
    type: 'number',
    meaning: 'Seconds of work after which a run ends with what is known; 0: only the time limit ends it, without an answer.',
  },
  {
    name: 'FAULTLINE_FIRST_ROUND',
    path: 'triage.firstRound',
    type: 'text',
    meaning: 'Who asks the first questions where a model judges: rules (they go by the category, and cost nothing) or model.',
  },
  {
    name: 'FAULTLINE_INVESTIGATORS',
    path: 'triage.investigators.when',
    type: 'text',
    meaning: 'When code, history and documents are investigated side by side: never, complex (failures that are) or always.',
  },
  {
    name: 'FAULTLINE_INVESTIGATOR_ROUNDS',
    path: 'triage.investigators.rounds',
    type: 'number',
    meaning: 'Rounds of questions that each investigator has.',
  },
  { name: 'FAULTLINE_MAX_ITERATIONS', path: 'triage.maxIterations', type: 'number', meaning: 'Rounds of questions at most.' },
  {
    name: 'FAULTLINE_SHARE_REPOSITORIES',
    path: 'triage.shareRepositories',
    type: 'flag',
    meaning:
      'Set to true: an answer may rest on failures and decisions of every repository, and quote them to whoever may read the build. Otherwise only on those of repositories that every token which may read the build may read too.',
  },
  {
    name: 'FAULTLINE_TOOL_CONCURRENCY',
    path: 'triage.toolConcurrency',
    type: 'number',
    meaning: 'Questions that one triage puts to tools at once.',
  },
  {
    name: 'FAULTLINE_LEASE_MS',
    path: 'triage.leaseMs',
    type: 'number',
    meaning: 'How long the builds of a worker that died or froze wait for another, in milliseconds; at least 1000.',
  },
  {
    name: 'FAULTLINE_MAX_CRASHES',
    path: 'triage.maxCrashes',
    type: 'number',
    meaning: 'How often the process may die while it triages a build, without a step finished, before a person is asked instead.',
  },
  { name: 'FAULTLINE_TIME_LIMIT_MS', path: 'triage.timeLimitMs', type: 'number', meaning: 'Time limit of one analysis, in milliseconds.' },
  {
    name: 'FAULTLINE_GREEN_BUILDS',
    path: 'triage.greenBuilds',
    type: 'number',
    meaning:
      'Green builds of a job that a failed one is compared with: their logs are kept as templates. 0 compares with none and keeps none.',
  },
  {
    name: 'FAULTLINE_AUTO_NOTIFY',
    path: 'triage.thresholds.autoNotify',
    type: 'number',
    meaning: 'Confidence (0..1) from which an answer is published without a person.',
  },
  {
    name: 'FAULTLINE_HUMAN_REVIEW',
    path: 'triage.thresholds.humanReview',
    type: 'number',
    meaning: 'Confidence from which an answer goes to a person rather than back to work.',
  },
  {
    name: 'FAULTLINE_SELF_CORRECT',
    path: 'triage.thresholds.selfCorrect',
    type: 'number',
    meaning: 'Confidence from which an answer is worked on again; below it the web is asked.',
  },
  {
    name: 'FAULTLINE_CALIBRATION',
    path: 'triage.calibration',
    type: 'json',
    meaning:
      'File that `faultline calibrate --out` wrote: `triage` and `replay` apply it to the analyst it is for. A service applies what `faultline calibrate use` put in force.',
  },
  { name: 'FAULTLINE_CLAIM_MS', path: 'review.claimMs', type: 'number', meaning: 'How long a reviewer holds an item, in milliseconds.' },
  {
    name: 'FAULTLINE_QUESTION_MS',
    path: 'review.questionMs',
    type: 'number',
    meaning: 'How long a run waits for the answer of a person whom it asked, in milliseconds; then it goes on without.',
  },
  {
    name: 'FAULTLINE_MASK_EMAILS',
    path: 'mask.emails',
    type: 'flag',
    meaning: 'Set to true: e-mail addresses in logs become `<EMAIL_1>`, `<EMAIL_2>` and so on before anything is kept or asked.',
  },
  {
    name: 'FAULTLINE_MASK_HOSTS',
    path: 'mask.hosts',
    type: 'flag',
    meaning: 'Set to true: private addresses and host names in logs become `<HOST_1>`, `<HOST_2>` and so on.',
  },
  {
    name: 'FAULTLINE_MASK_HOST_SUFFIXES',
    path: 'mask.hostSuffixes',
    type: 'list',
    meaning: 'Endings of further private host names, such as .corp.example.com, separated by commas.',
  },
  ...REVIEW_VARIABLES,
  ...TRACING_VARIABLES,
  {
    name: 'FAULTLINE_LOG_LEVEL',
    path: 'log.level',
    type: 'text',
    meaning: 'How much the service logs: debug, info, warn, error or silent.',
  },
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
      'embedded: everything in one process and one directory; server: services of their own. Unset: server where FAULTLINE_DATABASE_URL is set.',
  },
  { name: 'FAULTLINE_DATA_DIR', meaning: 'The data directory, where --data does not name one; .faultline if neither does.' },
  { name: 'FAULTLINE_URL', meaning: 'Address of the service that `faultline review` asks, where --url does not name one.' },
  { name: 'FAULTLINE_TOKEN', meaning: 'Bearer token of `faultline review`, where --token does not give one.' },
  {
    name: 'LANGSMITH_TRACING',
    meaning:
      'Set to true: log excerpts, prompts and answers, with secrets masked, go to LangSmith, as its LANGSMITH_API_KEY, LANGSMITH_ENDPOINT and LANGSMITH_PROJECT say; each start says so. Otherwise its variables, and LANGCHAIN_… always, are ignored.',
  },
  { name: 'FAULTLINE_TRACING', meaning: 'Set to off: nothing goes to LangSmith, whatever else is set.' },
  { name: 'FAULTLINE_DEBUG', meaning: 'Set to anything: an internal error also prints its stack.' },
  { name: 'NO_COLOR', meaning: 'Set to anything: no colour and no box, as with --plain.' },
  { name: 'XDG_CACHE_HOME', meaning: 'Where compiled code is kept between runs, in a folder `faultline`; ~/.cache where unset.' },
  { name: 'NODE_DISABLE_COMPILE_CACHE', meaning: 'Set to 1: nothing is kept between runs.' },
];
