import { z } from 'zod';
import { getChatAddress, getKeyName } from '../config/model-providers.ts';
import type { Config } from '../config/schema.ts';
import { TriageError } from '../domain/errors.ts';
import type { ChatModel } from '../ports/chat-model.ts';
import type { Logger } from '../ports/telemetry.ts';

type Llm = Config['analyst']['llm'];

/** The note of an analysis for which a model was wanted and none is configured. */
export const NO_MODEL =
  'No model is configured (set OPENAI_API_KEY, AZURE_OPENAI_ENDPOINT, or OPENAI_BASE_URL for a ' +
  'server that needs no key); the rules decided.';

/**
 * Returns the connection options of the configured model. A base URL takes precedence, then Azure's endpoint,
 * then OpenAI itself. Returns null if there is no key for OpenAI either. Azure's own variables apply whenever
 * the server is Azure's, including an Azure base URL. Throws `invalid-config` if a provider's key is missing.
 */
export function toConnectionOptions({ baseUrl, apiKey, model, azure, timeoutMs, maxRetries }: Llm) {
  const limits = { timeoutMs, maxRetries };
  const isAzure =
    baseUrl === null ? azure.endpoint !== null : new URL(baseUrl).hostname.endsWith('.azure.com');
  if (isAzure) {
    return {
      baseUrl: baseUrl ?? azure.endpoint,
      apiKey: azure.apiKey ?? apiKey,
      apiVersion: azure.apiVersion ?? '',
      model,
      ...limits,
    };
  }
  if (apiKey === null) {
    if (baseUrl === null) return null;
    const keyName = getKeyName(baseUrl);
    if (keyName !== null)
      throw new TriageError('invalid-config', `${new URL(baseUrl).host} requires a key: set ${keyName}`);
  }
  return { baseUrl: getChatAddress(baseUrl), apiKey, apiVersion: null, model, ...limits };
}

/** Returns the settings of the model for all judgements but the answer; null if there is none. */
export function toSmallModel(llm: Llm): Llm | null {
  const { model, baseUrl, apiKey } = llm.small;
  return model === null ? null : { ...llm, model, baseUrl, apiKey };
}

/**
 * Throws `invalid-config` if a limit in dollars was set, and no price is known for a model.
 * Models on this machine cost nothing, and OpenRouter states what each call cost.
 */
export async function requirePrices({ analyst, triage }: Pick<Config, 'analyst' | 'triage'>): Promise<void> {
  const { isCostSet, costUsd } = triage.budget;
  if (!isCostSet || costUsd === 0) return;
  const { findPrice, mergePrices, isFree, statesCosts } = await import('../models/chat/prices.ts');
  const prices = mergePrices(analyst.llm.prices);
  for (const llm of [analyst.llm, toSmallModel(analyst.llm)]) {
    if (llm === null || findPrice(llm.model, prices) !== null) continue;
    const address = getChatAddress(llm.baseUrl);
    if (address !== null && (isFree(address) || statesCosts(address))) continue;
    throw new TriageError(
      'invalid-config',
      'FAULTLINE_MAX_RUN_USD limits what a run may cost, and no price is known for the model ' +
        `${llm.model}. Set its price with FAULTLINE_MODEL_PRICES, or FAULTLINE_MAX_RUN_USD=0 for no limit.`,
    );
  }
}

const READY = {
  name: 'report_ready',
  description: 'Reports that you can call functions.',
  parameters: z.toJSONSchema(z.object({ ready: z.boolean() })),
};
const HOW = {
  strict_tools: 'by function calling with strict schemas',
  tools: 'by function calling',
  json_schema: 'by JSON schema (it does not call functions)',
  json_object: 'in JSON without a schema (it does not call functions)',
  text: 'as text only, from which JSON is extracted',
} as const;

/** The maximum number of tokens of the answer. A small model that repeats itself is detected early. */
const ANSWER_TOKENS = 1_024;

/**
 * Asks the configured analyst one cheap question. Returns the model that answered, its server, and the way in
 * which it was asked. Throws the errors of the model, and `invalid-config` if none is configured.
 */
export async function checkAnalyst(config: Pick<Config, 'analyst'>, signal: AbortSignal): Promise<string> {
  if (config.analyst.driver === 'rules') return 'rules: no model is needed';
  const small = toSmallModel(config.analyst.llm);
  const answers = await checkModel(config.analyst.llm, signal);
  return small === null ? answers : `${answers}; for all but the answer, ${await checkModel(small, signal)}`;
}

async function checkModel(llm: Llm, signal: AbortSignal): Promise<string> {
  const options = toConnectionOptions(llm);
  if (options === null)
    throw new TriageError('invalid-config', 'No model is configured: there is no key and no server URL');
  const { createOpenAiChatModel } = await import('../models/chat/openai.ts');
  const model = createOpenAiChatModel({ ...options, prices: {}, maxRetries: 0, outputTokens: ANSWER_TOKENS });
  const system = 'You are being checked. Call report_ready once, with ready true.';
  const reply = await model.chooseTools(
    { system, user: 'Are you ready?', name: 'ready', tools: [READY] },
    signal,
  );
  const { tools } = model.supports();
  const how =
    reply.value.length === 0 ? 'but called no function, so it may not be able to choose tools' : HOW[tools];
  return `llm: ${reply.model} at ${model.address()} answered ${how}`;
}

/**
 * Opens the configured model for questions other than those of triage. Throws `invalid-config`, which says
 * what `user` needs, if none is configured.
 */
export async function openChatModel(
  { analyst }: Pick<Config, 'analyst'>,
  user: string,
  logger: Logger,
): Promise<{ readonly chatModel: ChatModel; readonly timeoutMs: number }> {
  const options = toConnectionOptions(analyst.llm);
  if (options === null) {
    throw new TriageError(
      'invalid-config',
      `${user} needs a model: set OPENAI_API_KEY, or OPENAI_BASE_URL for your own server.`,
    );
  }
  const { createOpenAiChatModel } = await import('../models/chat/openai.ts');
  const { mergePrices: pricesWith } = await import('../models/chat/prices.ts');
  const chatModel = createOpenAiChatModel({ ...options, prices: pricesWith(analyst.llm.prices), logger });
  return { chatModel, timeoutMs: options.timeoutMs };
}
