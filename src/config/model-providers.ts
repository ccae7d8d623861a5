import { z } from 'zod';
import { createHttpUrlSchema, defineCredential, defineSetting, flag, group } from './variable.ts';

/**
 * A provider of models with OpenAI's chat completions API, and the variable of its key. Null if no key is
 * needed.
 */
export interface ModelProvider {
  readonly baseUrl: string;
  /** The address of its own chat API, which is used instead of chat completions; absent if it has none. */
  readonly chatUrl?: string;
  readonly keyName: string | null;
}

/**
 * The providers by name: "anthropic:claude-…" names a model of `anthropic`. OpenAI and Azure have variables
 * of their own.
 */
const MODEL_PROVIDERS: Readonly<Record<string, ModelProvider>> = {
  anthropic: {
    baseUrl: 'https://api.anthropic.com/v1',
    chatUrl: 'https://api.anthropic.com/v1/messages',
    keyName: 'ANTHROPIC_API_KEY',
  },
  google: { baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai', keyName: 'GEMINI_API_KEY' },
  mistral: { baseUrl: 'https://api.mistral.ai/v1', keyName: 'MISTRAL_API_KEY' },
  groq: { baseUrl: 'https://api.groq.com/openai/v1', keyName: 'GROQ_API_KEY' },
  deepseek: { baseUrl: 'https://api.deepseek.com/v1', keyName: 'DEEPSEEK_API_KEY' },
  openrouter: { baseUrl: 'https://openrouter.ai/api/v1', keyName: 'OPENROUTER_API_KEY' },
  together: { baseUrl: 'https://api.together.ai/v1', keyName: 'TOGETHER_API_KEY' },
  ollama: {
    baseUrl: 'http://localhost:11434/v1',
    chatUrl: 'http://localhost:11434/api/chat',
    keyName: null,
  },
};

const KEYED = Object.entries(MODEL_PROVIDERS).flatMap(([name, { keyName }]) =>
  keyName === null ? [] : [{ name, keyName }],
);

/** The schema of the keys: one for each provider that needs one. */
const ProviderKeys = z.object(
  Object.fromEntries(
    KEYED.map(({ name, keyName }) => [
      name,
      defineCredential(keyName, `API key for models named "${name}:…".`),
    ]),
  ),
);

/**
 * The price of a million tokens of each model in US dollars. Input that is read from a cache or written to it
 * costs as much as other input if it has no price.
 */
const Prices = z.record(
  z.string().min(1),
  z.strictObject({
    input: z.number().min(0),
    output: z.number().min(0),
    cachedInput: z.number().min(0).optional(),
    cacheWrite: z.number().min(0).optional(),
  }),
);

/** The settings for knowledge search. */
export const EmbedderConfig = group({
  /**
   * The embedder. `hashing` compares words, `openai` also asks a model, and `local` also asks a model on this
   * machine.
   */
  driver: defineSetting(
    'FAULTLINE_EMBEDDER',
    z.enum(['hashing', 'openai', 'local']).default('hashing'),
    'How knowledge is searched: hashing (by words), openai (also by meaning, with an embedding ' +
      'model), or local (with an embedding model on this machine).',
  ),
  /** The model. Null for the usual model of OpenAI, or, with `local`, for a search by words alone. */
  model: defineSetting(
    'FAULTLINE_EMBEDDER_MODEL',
    z.string().min(1).nullable().default(null),
    'Its model. openai: by default text-embedding-3-small. local: a folder with an ONNX model, or a hub ' +
      'name such as Xenova/all-MiniLM-L6-v2.',
  ),
  local: group({
    download: flag('FAULTLINE_EMBEDDER_DOWNLOAD', 'Set to true to allow a one-time download of a hub model.'),
  }),
  openai: group({
    /** The base URL. Null for the analyst's server, with its key. */
    baseUrl: defineSetting(
      'OPENAI_EMBEDDING_BASE_URL',
      z.url().nullable().default(null),
      'Base URL of an OpenAI-compatible embedding server. Empty means the server of OPENAI_BASE_URL, ' +
        'with its key.',
    ),
    apiKey: defineCredential('OPENAI_EMBEDDING_API_KEY', 'Its API key, if different from OPENAI_API_KEY.'),
    /** The time limit of one batch of texts, in milliseconds. */
    timeoutMs: z.int().positive().default(30_000),
    maxRetries: z.int().min(0).max(5).default(2),
  }),
});

/** The settings of the analyst. */
export const AnalystConfig = group({
  driver: defineSetting(
    'FAULTLINE_ANALYST',
    z.enum(['rules', 'llm']).default('rules'),
    'Analyst: rules, or llm with rules as the fallback.',
  ),
  llm: group({
    /** The URL of any OpenAI-compatible server, with or without `/v1`. */
    baseUrl: defineSetting(
      'OPENAI_BASE_URL',
      createHttpUrlSchema().nullable().default(null),
      'Base URL of an OpenAI-compatible server, with or without /v1. ' +
        'Empty means OpenAI, or Azure if configured.',
    ),
    apiKey: defineCredential('OPENAI_API_KEY', 'Its API key.'),
    model: defineSetting(
      'OPENAI_MODEL',
      z.string().default('gpt-4o-mini'),
      'Model to use. With a provider prefix, such as "anthropic:claude-sonnet-4-5", that provider ' +
        'is used with its own key.',
    ),
    /** The model for all judgements but the answer, and its server; the model of the answer if null. */
    small: group({
      model: defineSetting(
        'FAULTLINE_MODEL_SMALL',
        z.string().min(1).nullable().default(null),
        'A cheaper model that classifies, plans and verifies, while OPENAI_MODEL writes the answer. It ' +
          'takes the same names. Default: OPENAI_MODEL.',
      ),
      baseUrl: z.string().nullable().default(null),
      apiKey: z.string().nullable().default(null),
    }),
    /** The keys of the providers that may precede a model's name, by the provider's name. */
    keys: ProviderKeys.prefault({}),
    /** Azure OpenAI, used if no base URL is given. A model's name is that of its deployment. */
    azure: group({
      endpoint: defineSetting(
        'AZURE_OPENAI_ENDPOINT',
        createHttpUrlSchema().nullable().default(null),
        'URL of an Azure OpenAI resource. Used unless OPENAI_BASE_URL names another server.',
      ),
      apiKey: defineCredential('AZURE_OPENAI_API_KEY', 'Its API key. Default: OPENAI_API_KEY.'),
      apiVersion: defineSetting(
        'OPENAI_API_VERSION',
        z.string().nullable().default(null),
        'Azure api-version. Default: 2024-10-21.',
      ),
    }),
    timeoutMs: defineSetting(
      'FAULTLINE_MODEL_TIMEOUT_MS',
      z.int().positive().default(60_000),
      'Time limit of one model call, in milliseconds.',
    ),
    maxRetries: z.int().min(0).max(5).default(2),
    prices: defineSetting(
      'FAULTLINE_MODEL_PRICES',
      Prices.default({}),
      'US dollars per million tokens, as JSON or the path of a JSON file: {"model": {"input": ' +
        '0.15, "cachedInput": 0.075, "cacheWrite": 0.19, "output": 0.6}}. Overrides the built-in list ' +
        'prices and adds models.',
      { type: 'json' },
    ),
  }),
});

/** The settings with which a model is asked. */
interface Asked {
  readonly baseUrl: string | null;
  readonly apiKey: string | null;
  readonly model: string;
  readonly keys: Readonly<Record<string, string | null>>;
}

/**
 * Creates the settings for the named model. "PROVIDER:MODEL" names one of the providers above; its URL and
 * key are used unless a base URL is set, as for a gateway. Any other name, such as "qwen3:8b", is a model of
 * the configured server.
 */
export function withModel<Llm extends Asked>(llm: Llm, named: string): Llm {
  const [, name = '', model = ''] = /^([a-z]+):(.+)$/.exec(named) ?? [];
  if (name === 'openai') return { ...llm, model };
  const provider = Object.hasOwn(MODEL_PROVIDERS, name) ? MODEL_PROVIDERS[name] : undefined;
  if (provider === undefined) return { ...llm, model: named };
  if (llm.baseUrl !== null) return { ...llm, model };
  return { ...llm, model, baseUrl: provider.baseUrl, apiKey: llm.keys[name] ?? null };
}

/** Creates the settings for the models that were named for the answer and for the other judgements. */
export function withNamedModels<Llm extends Asked & { readonly small: { readonly model: string | null } }>(
  llm: Llm,
): Llm {
  const named = withModel(llm, llm.model);
  if (llm.small.model === null) return named;
  const { model, baseUrl, apiKey } = withModel(llm, llm.small.model);
  return { ...named, small: { model, baseUrl, apiKey } };
}

/**
 * Returns the address of the provider's own chat API for its base URL. Returns the base URL itself if the
 * server has no other API or is not a known provider.
 */
export function getChatAddress(baseUrl: string | null): string | null {
  return Object.values(MODEL_PROVIDERS).find((provider) => provider.baseUrl === baseUrl)?.chatUrl ?? baseUrl;
}

/**
 * Returns the variable that holds the key for a server. Returns null if the server needs no key or is not a
 * known provider.
 */
export function getKeyName(baseUrl: string | null): string | null {
  if (baseUrl === null) return 'OPENAI_API_KEY';
  return Object.values(MODEL_PROVIDERS).find((provider) => provider.baseUrl === baseUrl)?.keyName ?? null;
}
