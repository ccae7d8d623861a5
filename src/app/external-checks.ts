import type { Channel } from '../channels/channel.ts';
import { createChannels } from '../channels/registry.ts';
import { getKeyName } from '../config/model-providers.ts';
import type { Config } from '../config/schema.ts';
import { getErrorMessage, TriageError } from '../domain/errors.ts';
import { type Check, type Finding, note, ok, wrong } from '../ports/health.ts';
import { silentLogger } from '../ports/telemetry.ts';
import { probe } from '../providers/check.ts';
import type { Provider } from '../providers/provider.ts';
import { createProviders } from '../providers/registry.ts';
import { openNamedEmbedder } from './open-adapters.ts';
import { checkAnalyst } from './open-models.ts';
import { findReceiver } from './open-telemetry.ts';

/** The additional time for a model, which may have to be loaded first, in milliseconds. */
const MODEL_SPARE_MS = 15_000;

/** Lists the checks of the configured external services for `faultline doctor`. */
export function listExternalChecks(config: Config): Check[] {
  const channels = createChannels(config.channels);
  return [
    ...createProviders(config.providers).flatMap((provider) => [
      ...provider.checks(Object.keys(config.codeHost.clones)),
      ...listNoticeChecks(provider, config),
    ]),
    ...channels.flatMap((channel) => channel.checks()),
    ...listWebhookChecks(channels),
    ...listSearchChecks(config),
    {
      name: 'analyst',
      remedy: 'set OPENAI_API_KEY or OPENAI_BASE_URL',
      limitMs: config.analyst.llm.timeoutMs + MODEL_SPARE_MS,
      ask: () => checkModel(config),
    },
    ...listEmbedderChecks(config),
    ...listReceiverChecks(config),
  ];
}

/**
 * Checks which notices a provider posts and which the configuration allows. Returns nothing if the provider
 * has no channels.
 */
function listNoticeChecks({ name, channels }: Provider, { http }: Config): Check[] {
  if (channels.length === 0) return [];
  const notices = `${name} notices`;
  const findings = channels.map(({ channel, open, because }) =>
    open === null
      ? note(notices, `${channel} is off: ${because}`, 'see docs/how-to/pull-requests.md')
      : ok(notices, channel),
  );
  const links =
    http.publicUrl === null ? [note(notices, 'the texts have no links', 'set FAULTLINE_PUBLIC_URL')] : [];
  return [
    { name: notices, remedy: 'see docs/how-to/pull-requests.md', ask: async () => [...findings, ...links] },
  ];
}

function listSearchChecks({ webSearch: { driver, baseUrl } }: Config): Check[] {
  const name = 'web search';
  if (driver === 'none') return [];
  const remedy = 'check FAULTLINE_WEB_SEARCH_URL, or set FAULTLINE_WEB_SEARCH=none';
  if (driver === 'duckduckgo')
    return [
      {
        name,
        remedy,
        ask: async () => note(name, 'duckduckgo may refuse a program', 'see docs/how-to/sources.md'),
      },
    ];
  if (driver !== 'searxng' || baseUrl === null)
    return [
      {
        name,
        remedy,
        ask: async () => ok(name, `${driver}; its key is not tested, because a search costs money`),
      },
    ];
  const url = `${baseUrl.replace(/\/$/, '')}/search?q=ready&format=json`;
  return [
    {
      name,
      remedy,
      ask: async (signal) => {
        const { status } = await probe({ url }, signal);
        if (status === 403)
          return wrong(
            name,
            'SearXNG does not return JSON',
            'add "json" to search.formats in its settings.yml',
          );
        if (status >= 300) return wrong(name, `SearXNG returned ${status}`, remedy);
        return ok(name, 'SearXNG returns JSON');
      },
    },
  ];
}

function listEmbedderChecks(config: Config): Check[] {
  if (config.embedder.driver === 'hashing') return [];
  const remedy =
    'check the address, the key and the model of the embedder; until then, documents are found by words only';
  return [{ name: 'embedder', remedy, limitMs: 15_000, ask: (signal) => checkEmbedder(config, signal) }];
}

/** Embeds one word. The finding names the model and the length of its vectors. */
async function checkEmbedder(config: Config, signal: AbortSignal): Promise<Finding> {
  const embedder = await openNamedEmbedder(config, silentLogger);
  const [vector] = await embedder.embed(['ready'], signal);
  if (vector === undefined) throw new TriageError('invalid-input', 'The embedding server returned no vector');
  return ok('embedder', `${embedder.name}, ${vector.length} dimensions`);
}

/** Checks that the receiver of traces responds. It sends no traces. */
function listReceiverChecks({ tracing }: Config): Check[] {
  const receiver = findReceiver(tracing);
  if (receiver === undefined) return [];
  const name = 'traces to otlp';
  return [
    {
      name,
      remedy: 'check OTEL_EXPORTER_OTLP_ENDPOINT: is a receiver running there with OTLP over HTTP?',
      ask: async (signal) => {
        await probe({ url: receiver.url }, signal);
        return ok(name, 'reachable');
      },
    },
  ];
}

/**
 * Reports the webhooks to which rules may post. They are not probed, because every request to them is posted
 * as a message.
 */
function listWebhookChecks(channels: readonly Channel[]): Check[] {
  const name = 'webhooks of rules';
  const named = channels.flatMap(({ messages }) => messages?.destinations ?? []);
  if (named.length === 0) return [];
  const says = `${named.join(', ')}: not asked, because whatever is sent to them is posted`;
  const remedy = 'send a test message from /notifications';
  return [{ name, remedy: '', ask: async () => note(name, says, remedy) }];
}

const SPARE_MS = 10_000;

/** Asks the configured analyst once and reports its answer, or how to fix the problem. */
export async function checkModel(config: Config): Promise<Finding> {
  // The model has its own time limit and reports it; this one covers everything else.
  const signal = AbortSignal.timeout(config.analyst.llm.timeoutMs + SPARE_MS);
  try {
    return ok('analyst', await checkAnalyst(config, signal));
  } catch (error) {
    return wrong(
      'analyst',
      getErrorMessage(error),
      `${suggestFix(error, config)}; until then, the rules are used`,
    );
  }
}

const UNUSABLE = "the server's replies are not usable";

function suggestFix(error: unknown, config: Config): string {
  const { baseUrl, azure } = config.analyst.llm;
  const onAzure = baseUrl === null && azure.endpoint !== null;
  const key = getKeyName(baseUrl) ?? 'OPENAI_API_KEY';
  const address = onAzure ? 'AZURE_OPENAI_ENDPOINT' : 'OPENAI_BASE_URL';
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
      return `${UNUSABLE}: check OPENAI_MODEL, and try a model that follows instructions`;
    default:
      return `check ${address} (with the server's /v1) and OPENAI_MODEL: is the server running, and does it have the model?`;
  }
}
