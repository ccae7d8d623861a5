import { z } from 'zod';
import type { Variable } from './variable.ts';

/** Who serves models by OpenAI's chat completions, and the variable of its key; null: no key is needed. */
export interface ModelProvider {
  readonly baseUrl: string;
  readonly keyName: string | null;
}

/** A provider is a line: "anthropic:claude-…" asks for a model of the line's name. OpenAI and Azure have variables of their own. */
const MODEL_PROVIDERS: Readonly<Record<string, ModelProvider>> = {
  anthropic: { baseUrl: 'https://api.anthropic.com/v1', keyName: 'ANTHROPIC_API_KEY' },
  google: { baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai', keyName: 'GEMINI_API_KEY' },
  mistral: { baseUrl: 'https://api.mistral.ai/v1', keyName: 'MISTRAL_API_KEY' },
  groq: { baseUrl: 'https://api.groq.com/openai/v1', keyName: 'GROQ_API_KEY' },
  deepseek: { baseUrl: 'https://api.deepseek.com/v1', keyName: 'DEEPSEEK_API_KEY' },
  openrouter: { baseUrl: 'https://openrouter.ai/api/v1', keyName: 'OPENROUTER_API_KEY' },
  ollama: { baseUrl: 'http://localhost:11434/v1', keyName: null },
};

const KEYED = Object.entries(MODEL_PROVIDERS).flatMap(([name, { keyName }]) => (keyName === null ? [] : [{ name, keyName }]));

/** A key for each provider that needs one. */
export const ProviderKeys = z.object(Object.fromEntries(KEYED.map(({ name }) => [name, z.string().nullable()])));

/** No provider's key is set. */
export const NO_KEYS: z.infer<typeof ProviderKeys> = Object.fromEntries(KEYED.map(({ name }) => [name, null]));

/** The keys of all providers. */
export const PROVIDER_VARIABLES: readonly Variable[] = KEYED.map(({ name, keyName }) => ({
  name: keyName,
  path: `analyst.llm.keys.${name}`,
  type: 'text',
  secret: true,
  meaning: `API key for models named "${name}:…".`,
}));

/** The settings by which a model is asked. */
interface Asked {
  readonly baseUrl: string | null;
  readonly apiKey: string | null;
  readonly model: string;
  readonly keys: Readonly<Record<string, string | null>>;
}

/**
 * The settings to ask the named model with. "PROVIDER:MODEL" names one of the providers above, whose address and key are taken unless a base URL is set, as
 * for a gateway; any other name, such as "qwen3:8b", is a model of the configured server.
 */
export function withModel<Llm extends Asked>(llm: Llm, named: string): Llm {
  const [, name = '', model = ''] = /^([a-z]+):(.+)$/.exec(named) ?? [];
  if (name === 'openai') return { ...llm, model };
  const provider = Object.hasOwn(MODEL_PROVIDERS, name) ? MODEL_PROVIDERS[name] : undefined;
  if (provider === undefined) return { ...llm, model: named };
  if (llm.baseUrl !== null) return { ...llm, model };
  return { ...llm, model, baseUrl: provider.baseUrl, apiKey: llm.keys[name] ?? null };
}

/** The variable that holds the key for a server; null where it needs none or is nobody's whom we know. */
export function keyNameOf(baseUrl: string | null): string | null {
  if (baseUrl === null) return 'OPENAI_API_KEY';
  return Object.values(MODEL_PROVIDERS).find((provider) => provider.baseUrl === baseUrl)?.keyName ?? null;
}
