import { z } from 'zod';
import { receiversOf } from '../app/open-tracer.ts';
import { githubProbe, jenkinsProbe } from '../app/outside-checks.ts';
import { probeEmbedder, probeHttp } from '../app/probes.ts';
import type { Config } from '../config/schema.ts';
import { silentLogger } from '../ports/telemetry.ts';
import { checkModel } from './check-model.ts';
import { type Examination, type Finding, note, ok, wrong } from './doctor-finding.ts';
import { examineGithubApp } from './doctor-github-app.ts';
import { slackExaminations } from './doctor-slack.ts';
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
