import { TriageError } from '../domain/errors.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** A variable that an earlier release read. */
interface Removed {
  /** The replacement, or the behavior that now applies. */
  readonly now: string;
  /**
   * The values that request the behavior that now applies anyway. They may depend on the variables that are
   * set.
   */
  readonly same?: readonly string[] | ((isSet: (name: string) => boolean) => readonly string[]);
  /**
   * True if the variable belongs to a vendor. It may be meant for another program, so it is only reported.
   */
  readonly vendor?: true;
}

const BY_PROFILE = 'FAULTLINE_PROFILE sets it, together with the other limits of a run';
const OFF = ['false', 'no', 'off', '0'];

/** The variables that no longer set anything. */
const REMOVED: Readonly<Record<string, Removed>> = {
  FAULTLINE_PRESET: {
    now: 'FAULTLINE_DATABASE_URL makes it a server, and without it everything is in one directory',
    same: (isSet) => [isSet('FAULTLINE_DATABASE_URL') ? 'server' : 'embedded'],
  },
  FAULTLINE_JOB_QUEUE: {
    now: 'FAULTLINE_REDIS_URL selects BullMQ, and without it workers look in the database',
    same: (isSet) => (isSet('FAULTLINE_REDIS_URL') ? ['bullmq'] : ['database', 'pg-boss']),
  },
  FAULTLINE_BUILD_ARCHIVE: {
    now: 'FAULTLINE_MONGODB_URL selects MongoDB, and without it logs are in PostgreSQL',
    same: (isSet) => [isSet('FAULTLINE_MONGODB_URL') ? 'mongodb' : 'postgres'],
  },
  FAULTLINE_VECTOR_INDEX: {
    now: 'FAULTLINE_PINECONE_INDEX (before: faultline) selects Pinecone, and without it pgvector is used',
    same: (isSet) => [isSet('FAULTLINE_PINECONE_INDEX') ? 'pinecone' : 'pgvector'],
  },
  FAULTLINE_MONGODB_DATABASE: {
    now: 'FAULTLINE_MONGODB_URL names the database: mongodb://host:port/database',
    same: ['faultline'],
  },
  FAULTLINE_REDIS_PREFIX: {
    now: 'keys begin with "faultline"; FAULTLINE_REDIS_URL may name another database: redis://host:port/1',
    same: ['faultline'],
  },
  FAULTLINE_DATABASE_POOL: { now: 'a process has 10 connections, or 6 more than FAULTLINE_CONCURRENCY' },
  FAULTLINE_MIN_FREE_MB: {
    now: 'an embedded database refuses builds below 256 MB of free disk',
    same: ['256'],
  },
  FAULTLINE_MAX_BODY_BYTES: { now: 'a request may have a quarter of FAULTLINE_MAX_LOG_BYTES' },
  FAULTLINE_TOKEN_RATE_LIMIT: { now: 'a token may send five times FAULTLINE_RATE_LIMIT' },
  FAULTLINE_SOURCE_RATE_LIMIT: { now: 'a sender of webhooks may send ten times FAULTLINE_RATE_LIMIT' },
  FAULTLINE_GITHUB_COMMENT: { now: 'set FAULTLINE_GITHUB_WRITES=comment', same: OFF },
  FAULTLINE_GITHUB_CHECK: { now: 'set FAULTLINE_GITHUB_WRITES=check', same: OFF },
  FAULTLINE_GITHUB_STATUS: { now: 'set FAULTLINE_GITHUB_WRITES=status', same: OFF },
  FAULTLINE_GITHUB_RERUN: { now: 'set FAULTLINE_GITHUB_WRITES=rerun', same: OFF },
  FAULTLINE_GITHUB_COMMENT_MODE: { now: 'a comment is always edited in place', same: ['edit'] },
  FAULTLINE_GITEA_COMMENT: { now: 'set FAULTLINE_GITEA_WRITES=comment', same: OFF },
  FAULTLINE_GITEA_STATUS: { now: 'set FAULTLINE_GITEA_WRITES=status', same: OFF },
  FAULTLINE_GITLAB_COMMENT: { now: 'set FAULTLINE_GITLAB_WRITES=comment', same: OFF },
  FAULTLINE_GITLAB_STATUS: { now: 'set FAULTLINE_GITLAB_WRITES=status', same: OFF },
  FAULTLINE_GITLAB_RERUN: { now: 'set FAULTLINE_GITLAB_WRITES=rerun', same: OFF },
  FAULTLINE_BUILDKITE_RERUN: { now: 'set FAULTLINE_BUILDKITE_WRITES=rerun', same: OFF },
  FAULTLINE_BUILDKITE_URL: {
    now: 'https://api.buildkite.com/v2 is always used',
    same: ['https://api.buildkite.com/v2', 'https://api.buildkite.com/v2/'],
  },
  FAULTLINE_CIRCLECI_RERUN: { now: 'set FAULTLINE_CIRCLECI_WRITES=rerun', same: OFF },
  AZURE_OPENAI_DEPLOYMENT: { now: 'set OPENAI_MODEL to the name of the deployment' },
  FAULTLINE_MODEL: { now: 'set OPENAI_MODEL, which takes the same names' },
  OPENAI_EMBEDDING_MODEL: { now: 'set FAULTLINE_EMBEDDER_MODEL', same: ['text-embedding-3-small'] },
  OPENAI_EMBEDDING_DIMENSIONS: { now: 'vectors have the dimensions of the first response' },
  OPENAI_EMBEDDING_TIMEOUT_MS: { now: 'a batch of texts may take 30 seconds', same: ['30000'] },
  FAULTLINE_WEB_SEARCH_PAGES: { now: 'two pages of results are read', same: ['2'] },
  FAULTLINE_SLACK_CHANNEL: { now: 'set FAULTLINE_SLACK_CHANNELS=*=C0123456789' },
  FAULTLINE_SLACK_URL: { now: "Slack's own address is used", same: ['https://slack.com/api/'] },
  FAULTLINE_NOTICE_PAUSE_MS: { now: 'a published text is edited at most every 20 seconds', same: ['20000'] },
  FAULTLINE_PUBLISH_TIMEOUT_MS: { now: 'a call may take 10 seconds', same: ['10000'] },
  FAULTLINE_BUDGET_TOKENS: { now: 'rules read 2,000 tokens of a log, and a model 3,000' },
  FAULTLINE_MAX_ITERATIONS: { now: BY_PROFILE },
  FAULTLINE_MAX_RUN_TOKENS: { now: `${BY_PROFILE}; FAULTLINE_MAX_RUN_USD limits the cost` },
  FAULTLINE_MAX_RUN_SECONDS: { now: BY_PROFILE },
  FAULTLINE_TIME_LIMIT_MS: { now: BY_PROFILE },
  FAULTLINE_INVESTIGATORS: { now: BY_PROFILE },
  FAULTLINE_INVESTIGATOR_ROUNDS: { now: BY_PROFILE, same: ['1'] },
  FAULTLINE_FIRST_ROUND: {
    now: 'rules choose the first tools, and with FAULTLINE_PROFILE=thorough the model does',
    same: ['rules'],
  },
  FAULTLINE_TOOL_CONCURRENCY: { now: 'a triage makes four tool calls in parallel', same: ['4'] },
  FAULTLINE_LEASE_MS: { now: 'the builds of a dead worker wait 30 seconds', same: ['30000'] },
  FAULTLINE_MAX_CRASHES: { now: 'a build goes to review after 3 crashes', same: ['3'] },
  FAULTLINE_GREEN_BUILDS: { now: 'a failed build is compared with 3 passing builds', same: ['3'] },
  FAULTLINE_HUMAN_REVIEW: {
    now: 'below FAULTLINE_AUTO_NOTIFY and from 0.65 on, an answer waits for review',
    same: ['0.65'],
  },
  FAULTLINE_SELF_CORRECT: { now: 'from 0.5 on, an answer is worked on again', same: ['0.5', '0.50'] },
  FAULTLINE_QUESTION_MS: { now: 'a run waits 24 hours for a reviewer', same: ['86400000'] },
  FAULTLINE_UNDO_MS: { now: 'a decision can be undone for 10 seconds', same: ['10000'] },
  FAULTLINE_CLAIM_MS: { now: 'a reviewer holds an item for fifteen minutes', same: ['900000'] },
  FAULTLINE_BLIND_EVERY: { now: 'every review item shows its answer', same: ['0'] },
  FAULTLINE_MASK_EMAILS: { now: 'set FAULTLINE_MASK_NAMES=emails', same: OFF },
  FAULTLINE_MASK_HOSTS: { now: 'set FAULTLINE_MASK_NAMES=hosts', same: OFF },
  FAULTLINE_MASK_HOST_SUFFIXES: { now: 'add the suffixes to FAULTLINE_MASK_NAMES' },
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: {
    now: 'set OTEL_EXPORTER_OTLP_ENDPOINT, to which /v1/traces is added',
    vendor: true,
  },
  LANGFUSE_PUBLIC_KEY: {
    now:
      'set OTEL_EXPORTER_OTLP_ENDPOINT=https://cloud.langfuse.com/api/public/otel and ' +
      'OTEL_EXPORTER_OTLP_HEADERS="Authorization=Basic <base64 of public key:secret key>" for Langfuse',
    vendor: true,
  },
  FAULTLINE_TRACING: {
    now: 'without LANGSMITH_TRACING, nothing is sent to LangSmith',
    same: (isSet) => (isSet('LANGSMITH_TRACING') ? [] : ['off']),
  },
  FAULTLINE_DEBUG: { now: 'FAULTLINE_LOG_LEVEL=debug prints the stack trace of internal errors' },
};

/**
 * Returns an error for each removed variable whose value requests something other than the current behavior.
 */
export function refuseRemovedVariables(environment: Environment): TriageError[] {
  return listSet(environment).flatMap(([name, { now, vendor }]) =>
    vendor === true
      ? []
      : [new TriageError('invalid-config', `${name} is no longer a setting: ${now}. Remove it`)],
  );
}

/** Returns a sentence for each vendor variable that is set and that only earlier releases read. */
export function describeIgnoredVariables(environment: Environment): string[] {
  return listSet(environment).flatMap(([name, { now, vendor }]) =>
    vendor === true ? [`${name} is no longer read: ${now}`] : [],
  );
}

function listSet(environment: Environment): [string, Removed][] {
  const isSet = (name: string) => Boolean(environment[name]?.trim() || environment[`${name}_FILE`]?.trim());
  return Object.entries(REMOVED).filter(([name, { same = [] }]) => {
    if (!isSet(name)) return false;
    const given = environment[name]?.trim() ?? '';
    return !(typeof same === 'function' ? same(isSet) : same).includes(given);
  });
}
