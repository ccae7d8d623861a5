import { z } from 'zod';
import { checkAnalyst } from '../app/check-analyst.ts';
import { askSlack } from '../app/open-slack.ts';
import { receiversOf } from '../app/open-tracer.ts';
import { githubProbe, jenkinsProbe } from '../app/outside-checks.ts';
import { probeEmbedder, probeGithubApp, probeHttp } from '../app/probes.ts';
import { keyNameOf } from '../config/model-providers.ts';
import type { Config } from '../config/schema.ts';
import { messageOf, TriageError } from '../domain/errors.ts';
import { silentLogger } from '../ports/telemetry.ts';
import { type Examination, type Finding, note, ok, wrong } from './doctor-finding.ts';
import { SKEW_MS, skewed } from './doctor-stores.ts';

type Reply = Awaited<ReturnType<typeof probeHttp>>;

const RateLimit = z.object({ resources: z.object({ core: z.object({ limit: z.number(), remaining: z.number(), reset: z.number() }) }) });
/** A model may have to be loaded first; it keeps its own time. */
const MODEL_SPARE_MS = 15_000;

/** Services of others that are asked for logs, code and judgements, as configured. */
export function examineOutside(config: Config): Examination[] {
  return [
    ...githubExaminations(config),
    jenkinsExamination(config),
    ...slackExaminations(config),
    ...searchExaminations(config),
    {
      name: 'analyst',
      mend: 'set OPENAI_API_KEY or OPENAI_BASE_URL',
      limitMs: config.analyst.llm.timeoutMs + MODEL_SPARE_MS,
      ask: () => checkModel(config),
    },
    ...embedderExaminations(config),
    ...receiverExaminations(config),
  ];
}

/** An App asks before the token, which then need not be there. */
function githubExaminations(config: Config): Examination[] {
  const { app, token } = config.buildSource.github;
  if (app === null) return [githubExamination(config)];
  return token === null ? [examineGithubApp(config)] : [examineGithubApp(config), githubExamination(config)];
}

function githubExamination({ buildSource: { github } }: Config): Examination {
  const name = 'github';
  const { token } = github;
  return {
    name,
    mend: `check FAULTLINE_GITHUB_URL (${github.baseUrl}) and whether this machine can reach it`,
    ask: async (signal) => {
      if (token === null)
        return note(
          name,
          'no token: logs of GitHub builds cannot be fetched',
          'set FAULTLINE_GITHUB_TOKEN (actions: read, contents: read), or FAULTLINE_GITHUB_APP_ID and FAULTLINE_GITHUB_APP_KEY',
        );
      const reply = await probeHttp(githubProbe(github.baseUrl, token), signal);
      return [...clockFindings('github clock', reply), githubFinding(reply)];
    },
  };
}

function githubFinding({ status, headers, json }: Reply): Finding {
  const name = 'github';
  if (status === 401)
    return wrong(name, 'the token is refused', 'create a new token and set FAULTLINE_GITHUB_TOKEN; the old one was revoked or has expired');
  if (status >= 300 && status !== 404)
    return wrong(name, `the API returned ${status}`, 'check FAULTLINE_GITHUB_URL: on GitHub Enterprise Server it is https://HOST/api/v3');
  const limits = RateLimit.safeParse(json);
  // Enterprise servers may have no rate limit, and then say 404.
  if (!limits.success && status !== 404)
    return wrong(
      name,
      'the server there is not the GitHub API',
      'check FAULTLINE_GITHUB_URL: on GitHub Enterprise Server it is https://HOST/api/v3',
    );
  const scopes = headers.get('x-oauth-scopes');
  // Only classic tokens say their scopes.
  if (scopes !== null && !scopes.split(',').some((scope) => scope.trim() === 'repo' || scope.trim() === 'public_repo'))
    return wrong(
      name,
      `the token's scopes "${scopes}" do not allow reading logs`,
      'give it the scope repo, or create a fine-grained token with actions: read and contents: read',
    );
  if (!limits.success) return ok(name, 'reachable, without a rate limit');
  const { limit, remaining, reset } = limits.data.resources.core;
  if (remaining === 0)
    return wrong(
      name,
      `all ${limit} calls of this hour are used up until ${new Date(reset * 1000).toISOString()}`,
      'wait, share the token with fewer tools, or use a GitHub App',
    );
  return ok(name, `${remaining} of ${limit} calls left this hour`);
}

function jenkinsExamination({ buildSource: { jenkins } }: Config): Examination {
  const name = 'jenkins';
  const { baseUrl, user, token } = jenkins;
  return {
    name,
    mend: 'check FAULTLINE_JENKINS_URL: is Jenkins running there, and can this machine reach it?',
    ask: async (signal) => {
      if (baseUrl === null) return note(name, 'no URL: logs of Jenkins builds cannot be fetched', 'set FAULTLINE_JENKINS_URL');
      const reply = await probeHttp(jenkinsProbe(baseUrl, user, token), signal);
      return [...clockFindings('jenkins clock', reply), jenkinsFinding(reply)];
    },
  };
}

function jenkinsFinding({ status, headers }: Reply): Finding {
  const name = 'jenkins';
  if (status === 401 || status === 403)
    return wrong(
      name,
      `access refused (${status})`,
      'check FAULTLINE_JENKINS_USER and FAULTLINE_JENKINS_TOKEN; the user needs Overall/Read and Job/Read',
    );
  if (status >= 300)
    return wrong(name, `it returned ${status}`, 'check the path in FAULTLINE_JENKINS_URL: it is the part before /job/ in a build URL');
  const version = headers.get('x-jenkins');
  if (version === null) return wrong(name, 'the server there is not Jenkins', 'check FAULTLINE_JENKINS_URL');
  return ok(name, `Jenkins ${version}`);
}

function clockFindings(name: string, { aheadMs }: Reply): Finding[] {
  return aheadMs !== null && Math.abs(aheadMs) > SKEW_MS ? [skewed(name, aheadMs)] : [];
}

function searchExaminations({ webSearch: { driver, baseUrl } }: Config): Examination[] {
  const name = 'web search';
  if (driver === 'none') return [];
  const mend = 'check FAULTLINE_WEB_SEARCH_URL, or set FAULTLINE_WEB_SEARCH=none';
  if (driver !== 'searxng' || baseUrl === null)
    return [{ name, mend, ask: async () => ok(name, `${driver}; its key is not tested, because a search costs money`) }];
  const url = `${baseUrl.replace(/\/$/, '')}/search?q=ready&format=json`;
  return [
    {
      name,
      mend,
      ask: async (signal) => {
        const { status } = await probeHttp({ url }, signal);
        if (status === 403) return wrong(name, 'SearXNG does not return JSON', 'add "json" to search.formats in its settings.yml');
        if (status >= 300) return wrong(name, `SearXNG returned ${status}`, mend);
        return ok(name, 'SearXNG returns JSON');
      },
    },
  ];
}

function embedderExaminations(config: Config): Examination[] {
  if (config.embedder.driver === 'hashing') return [];
  const mend = 'check the address, the key and the model of the embedder; until then, documents are found by words only';
  const ask = async (signal: AbortSignal) => ok('embedder', await probeEmbedder(config, silentLogger, signal));
  return [{ name: 'embedder', mend, limitMs: 15_000, ask }];
}

/** Nothing is sent: that something answers at the address is enough. */
function receiverExaminations({ tracing }: Config): Examination[] {
  return receiversOf(tracing).map(({ name, url }) => ({
    name: `traces to ${name}`,
    mend:
      name === 'otlp' ? 'check OTEL_EXPORTER_OTLP_ENDPOINT: is the collector running there with OTLP over HTTP?' : 'check LANGFUSE_HOST',
    ask: async (signal) => {
      await probeHttp({ url }, signal);
      return ok(`traces to ${name}`, 'reachable');
    },
  }));
}

type Facts = Awaited<ReturnType<typeof probeGithubApp>>;

const APP = 'github app';
/** Of the repositories with a local clone, so many are asked about. */
const MAX_ASKED = 5;
/** Without it no log can be fetched; the others are missed by suspects from code. */
const LOGS = 'actions';

/** Whether GitHub knows the configured App and its key, what it may read, and whether it sees the repositories that are configured by name. */
function examineGithubApp({ buildSource: { github }, codeHost: { clones } }: Config): Examination {
  return {
    name: APP,
    mend: `check FAULTLINE_GITHUB_APP_ID, FAULTLINE_GITHUB_APP_KEY and FAULTLINE_GITHUB_URL (${github.baseUrl})`,
    ask: async (signal) => {
      const asked = Object.keys(clones).slice(0, MAX_ASKED);
      const facts = await probeGithubApp(github, asked, signal);
      const { aheadMs } = facts;
      const clock = aheadMs !== null && Math.abs(aheadMs) > SKEW_MS ? [skewed('github clock', aheadMs)] : [];
      return [...clock, findingOf(facts, github.token !== null)];
    },
  };
}

function findingOf({ name, url, installations, lacking, unseen }: Facts, hasToken: boolean): Finding {
  const place = url === null ? 'in the settings of the App' : `at ${url}`;
  if (installations === 0) return wrong(APP, `${name} is not installed anywhere`, `install it ${place}`);
  if (lacking.includes(LOGS))
    return wrong(
      APP,
      `${name} cannot read Actions, so it cannot fetch logs`,
      'grant it actions: read, and accept the new permission in each installation',
    );
  if (lacking.length > 0)
    return note(APP, `${name} cannot read ${lacking.join(', ')}`, 'grant it read access to these for suspects from code');
  if (unseen.length > 0) {
    const without = hasToken ? 'the token is used instead' : 'nothing is read there';
    return note(APP, `${name} is not installed on ${unseen.join(', ')}: ${without}`, `install it there ${place}`);
  }
  return ok(APP, installations === null ? name : `${name}, installed ${installations} ${installations === 1 ? 'time' : 'times'}`);
}

const SLACK = 'slack';

/** Whether Slack takes the token, and whether somebody may press the buttons. Nothing where Slack is not used. */
export function slackExaminations({ slack }: Pick<Config, 'slack'>): Examination[] {
  if (slack.token === null) return [];
  return [
    {
      name: SLACK,
      mend: `create a new bot token with the scope chat:write and set FAULTLINE_SLACK_TOKEN; can this machine reach ${slack.baseUrl}?`,
      ask: async (signal) => [...(await slackFindings(slack, signal)), ...buttonFindings(slack)],
    },
  ];
}

async function slackFindings(slack: Config['slack'], signal: AbortSignal): Promise<Finding[]> {
  const who = await askSlack({ slack }, signal);
  if (slack.channel === null && Object.keys(slack.channels).length === 0)
    return [note(SLACK, `signed in as ${who}, but no channel is set`, 'set FAULTLINE_SLACK_CHANNEL to a channel ID')];
  return [ok(SLACK, `signed in as ${who}`)];
}

function buttonFindings({ signingSecrets, reviewers }: Config['slack']): Finding[] {
  const name = 'slack buttons';
  if (signingSecrets.length === 0)
    return [note(name, 'off: messages have no Right and Wrong buttons', 'set FAULTLINE_SLACK_SIGNING_SECRET to decide in Slack')];
  if (reviewers.length === 0)
    return [note(name, 'nobody may use them', 'set FAULTLINE_SLACK_REVIEWERS to the member IDs of your reviewers')];
  return [ok(name, `${reviewers.length} ${reviewers.length === 1 ? 'member' : 'members'} may decide`)];
}

/** What one cheap question to the model showed. */
interface ModelFinding {
  readonly name: string;
  readonly state: 'ok' | 'wrong';
  readonly says: string;
  readonly mend?: string;
}

const SPARE_MS = 10_000;
const UNTIL = 'until then, the rules are used';

/** Asks the configured analyst once and says how it answered, or how to mend what is wrong. */
export async function checkModel(config: Config): Promise<ModelFinding> {
  // The model keeps its own time and says so; this one is for all else.
  const signal = AbortSignal.timeout(config.analyst.llm.timeoutMs + SPARE_MS);
  try {
    return { name: 'analyst', state: 'ok', says: await checkAnalyst(config, signal) };
  } catch (error) {
    return { name: 'analyst', state: 'wrong', says: messageOf(error), mend: `${mendOf(error, config)}; ${UNTIL}` };
  }
}

function mendOf(error: unknown, config: Config): string {
  const { baseUrl, azure } = config.analyst.llm;
  const onAzure = baseUrl === null && azure.endpoint !== null;
  const key = keyNameOf(baseUrl) ?? 'OPENAI_API_KEY';
  const address = onAzure ? 'AZURE_OPENAI_ENDPOINT' : 'OPENAI_BASE_URL';
  const model = onAzure ? 'AZURE_OPENAI_DEPLOYMENT' : 'OPENAI_MODEL';
  switch (error instanceof TriageError ? error.code : null) {
    case 'invalid-config':
      return `set ${key}, OPENAI_BASE_URL for a server that needs no key, or AZURE_OPENAI_ENDPOINT and AZURE_OPENAI_API_KEY`;
    case 'upstream-auth':
      return `check ${onAzure ? 'AZURE_OPENAI_API_KEY' : key}: does it belong to this server, and does it give access to ${config.analyst.llm.model}?`;
    case 'quota-exhausted':
      return "raise the limit or top up at the model's provider, or name another server";
    case 'rate-limited':
      return 'wait, or ask the provider for a higher rate limit; runs wait as long as the server asks';
    case 'timeout':
      return `is the server at ${address} running and powerful enough? FAULTLINE_MODEL_TIMEOUT_MS allows more time`;
    case 'too-large':
      return 'the model was loaded with a small context; load it with 8,000 tokens or more';
    case 'invalid-input':
      return `the server's replies are not usable: check ${model}, and try a model that follows instructions`;
    default:
      return `check ${address} (with the server's /v1) and ${model}: is the server running, and does it have the model?`;
  }
}
