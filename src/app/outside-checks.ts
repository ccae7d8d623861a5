import { z } from 'zod';
import type { Probe, ProbeReply } from '../adapters/probe/http-probe.ts';
import type { Config } from '../config/schema.ts';
import { TriageError } from '../domain/errors.ts';
import { probeGithubApp } from './probes.ts';
import type { BackendCheck } from './readiness.ts';

/** Others' services are asked rarely: a probe every few seconds must not become a load on them. */
const OUTSIDE_MS = 60_000;
const LIMIT_MS = 2_000;
/** Below so many calls left in the hour, GitHub is about to refuse us. */
const FEW_CALLS = 100;

const RateLimit = z.object({ resources: z.object({ core: z.object({ limit: z.number(), remaining: z.number(), reset: z.number() }) }) });

type Said = Awaited<ReturnType<BackendCheck['ask']>>;

/** Services of others, as far as they are configured. None of them is needed to accept a build, and none is asked what costs money. */
export function outsideChecks(config: Config): BackendCheck[] {
  const { github, jenkins } = config.buildSource;
  const checks: BackendCheck[] = [];
  const add = (name: string, question: Probe, read: (reply: ProbeReply) => Said) => {
    checks.push({ name, freshMs: OUTSIDE_MS, limitMs: LIMIT_MS, ask: async (signal) => read(await askOutside(question, signal)) });
  };
  const model = modelProbe(config);
  if (model !== null) add('analyst', model, readModel);
  if (github.app !== null) checks.push(githubAppCheck(github));
  else if (github.token !== null) add('github', githubProbe(github.baseUrl, github.token), readGithub);
  if (jenkins.baseUrl !== null) add('jenkins', jenkinsProbe(jenkins.baseUrl, jenkins.user, jenkins.token), readJenkins);
  const { driver, baseUrl } = config.webSearch;
  // The others have no question that is free.
  if (driver === 'searxng' && baseUrl !== null) add('webSearch', { url: below(baseUrl, 'healthz') }, readSearch);
  return checks;
}

async function askOutside(question: Probe, signal: AbortSignal): Promise<ProbeReply> {
  return (await import('../adapters/probe/http-probe.ts')).probe(question, signal);
}

/** The list of models costs nothing. */
function modelProbe({ analyst: { driver, llm } }: Config): Probe | null {
  if (driver === 'rules') return null;
  const bearer = (key: string | null) => (key === null ? {} : { authorization: `Bearer ${key}` });
  if (llm.baseUrl !== null) return { url: below(llm.baseUrl, 'models'), headers: bearer(llm.apiKey) };
  const { endpoint, apiKey } = llm.azure;
  if (endpoint !== null) return { url: below(endpoint, 'openai/models?api-version=2024-10-21'), headers: { 'api-key': apiKey ?? '' } };
  return llm.apiKey === null ? null : { url: 'https://api.openai.com/v1/models', headers: bearer(llm.apiKey) };
}

/** Where an App asks, its key is what can be wrong. */
function githubAppCheck(github: Config['buildSource']['github']): BackendCheck {
  return {
    name: 'github',
    freshMs: OUTSIDE_MS,
    limitMs: LIMIT_MS,
    ask: async (signal) => `connected as the App ${(await probeGithubApp(github, [], signal)).name}`,
  };
}

export function githubProbe(baseUrl: string, token: string): Probe {
  return { url: below(baseUrl, 'rate_limit'), headers: { authorization: `Bearer ${token}`, 'user-agent': 'faultline' } };
}

export function jenkinsProbe(baseUrl: string, user: string | null, token: string | null): Probe {
  const basic = Buffer.from(`${user ?? ''}:${token ?? ''}`).toString('base64');
  const headers = token === null ? {} : { authorization: user === null ? `Bearer ${token}` : `Basic ${basic}` };
  return { url: below(baseUrl, 'api/json?tree=nodeDescription'), headers };
}

function readModel({ status }: ProbeReply): Said {
  if (status === 401 || status === 403) throw refused('The model server', 'the key');
  if (status >= 500) throw broken('The model server', status);
  return 'the model server responds';
}

function readGithub({ status, json }: ProbeReply): Said {
  if (status === 401) throw refused('GitHub', 'the token');
  if (status >= 500) throw broken('GitHub', status);
  const limits = RateLimit.safeParse(json);
  if (!limits.success) return `returned ${status}`;
  const { limit, remaining, reset } = limits.data.resources.core;
  const says = `${remaining} of ${limit} calls left until ${new Date(reset * 1000).toISOString()}`;
  return remaining < Math.min(FEW_CALLS, limit / 10) ? { degraded: says } : says;
}

function readJenkins({ status }: ProbeReply): Said {
  if (status === 401 || status === 403) throw refused('Jenkins', 'the user or the token');
  if (status >= 400) throw broken('Jenkins', status);
  return 'answers';
}

function readSearch({ status }: ProbeReply): Said {
  if (status >= 500) throw broken('The search engine', status);
  return 'answers';
}

function refused(who: string, what: string): TriageError {
  return new TriageError('upstream-auth', `${who} rejects ${what}`);
}

function broken(who: string, status: number): TriageError {
  return new TriageError('upstream-failed', `${who} returned ${status}`, { retryable: true });
}

/** An address below another, which may end with a slash or not. */
function below(baseUrl: string, path: string): string {
  return `${baseUrl.replace(/\/$/, '')}/${path}`;
}
