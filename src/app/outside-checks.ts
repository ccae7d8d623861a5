import type { Config } from '../config/schema.ts';
import { below, broken, type Probe, type ProbeReply, probe, rejected } from '../providers/probe.ts';
import { providersOf } from '../providers/registry.ts';
import type { BackendCheck } from './readiness.ts';

/** Others' services are asked rarely: a probe every few seconds must not become a load on them. */
const OUTSIDE_MS = 60_000;
const LIMIT_MS = 2_000;

type Said = Awaited<ReturnType<BackendCheck['ask']>>;

/** Services of others, as far as they are configured. None of them is needed to accept a build, and none is asked what costs money. */
export function outsideChecks(config: Config): BackendCheck[] {
  const checks: BackendCheck[] = [];
  const add = (name: string, question: Probe, read: (reply: ProbeReply) => Said) => {
    checks.push({ name, freshMs: OUTSIDE_MS, limitMs: LIMIT_MS, ask: async (signal) => read(await probe(question, signal)) });
  };
  const model = modelProbe(config);
  if (model !== null) add('analyst', model, readModel);
  for (const { name, health } of providersOf(config.providers))
    if (health !== null) checks.push({ name, freshMs: OUTSIDE_MS, limitMs: LIMIT_MS, ask: health });
  const { driver, baseUrl } = config.webSearch;
  // The others have no question that is free.
  if (driver === 'searxng' && baseUrl !== null) add('webSearch', { url: below(baseUrl, 'healthz') }, readSearch);
  return checks;
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

function readModel({ status }: ProbeReply): Said {
  if (status === 401 || status === 403) throw rejected('The model server', 'the key');
  if (status >= 500) throw broken('The model server', status);
  return 'the model server responds';
}

function readSearch({ status }: ProbeReply): Said {
  if (status >= 500) throw broken('The search engine', status);
  return 'answers';
}
