import { keyNameOf } from '../config/model-providers.ts';
import type { Config } from '../config/schema.ts';
import { TriageError } from '../domain/errors.ts';

type Llm = Config['analyst']['llm'];

/** How the configured model is reached. */
export interface ModelOptions {
  readonly baseUrl: string | null;
  readonly apiKey: string | null;
  readonly apiVersion: string | null;
  readonly model: string;
  readonly timeoutMs: number;
  readonly maxRetries: number;
}

/**
 * A base URL goes first, then Azure's endpoint, then OpenAI itself; null where there is not even a key for that. Azure's own
 * variables count wherever the server is Azure's, also one that is given as a base URL. Throws `invalid-config` where a provider's key is missing.
 */
export function modelOptions({ baseUrl, apiKey, model, azure, timeoutMs, maxRetries }: Llm): ModelOptions | null {
  const limits = { timeoutMs, maxRetries };
  const isAzure = baseUrl === null ? azure.endpoint !== null : new URL(baseUrl).hostname.endsWith('.azure.com');
  if (isAzure) {
    const deployment = azure.deployment ?? model;
    return {
      baseUrl: baseUrl ?? azure.endpoint,
      apiKey: azure.apiKey ?? apiKey,
      apiVersion: azure.apiVersion ?? '',
      model: deployment,
      ...limits,
    };
  }
  if (apiKey === null) {
    if (baseUrl === null) return null;
    const keyName = keyNameOf(baseUrl);
    if (keyName !== null) throw new TriageError('invalid-config', `${new URL(baseUrl).host} requires a key: set ${keyName}`);
  }
  return { baseUrl, apiKey, apiVersion: null, model, ...limits };
}
