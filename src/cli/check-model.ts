import { checkAnalyst } from '../app/check-analyst.ts';
import { keyNameOf } from '../config/model-providers.ts';
import type { Config } from '../config/schema.ts';
import { messageOf, TriageError } from '../domain/errors.ts';

/** What one cheap question to the model showed. */
export interface ModelFinding {
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
