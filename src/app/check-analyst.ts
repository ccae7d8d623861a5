import { z } from 'zod';
import type { Config } from '../config/schema.ts';
import { TriageError } from '../domain/errors.ts';
import { modelOptions } from './model-options.ts';

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

/** Small models may go round in circles: they need not fill their context to be found out. */
const ANSWER_TOKENS = 1_024;

/**
 * One cheap question to the configured analyst; says who answered, from where and in which way. Throws what the model throws;
 * `invalid-config` where none is configured.
 */
export async function checkAnalyst(config: Pick<Config, 'analyst'>, signal: AbortSignal): Promise<string> {
  if (config.analyst.driver === 'rules') return 'rules: no model is needed';
  const options = modelOptions(config.analyst.llm);
  if (options === null) throw new TriageError('invalid-config', 'No model is configured: there is no key and no server URL');
  const { createOpenAiChatModel } = await import('../adapters/chat-model/openai.ts');
  const model = createOpenAiChatModel({ ...options, prices: {}, maxRetries: 0, outputTokens: ANSWER_TOKENS });
  const system = 'You are being checked. Call report_ready once, with ready true.';
  const reply = await model.chooseTools({ system, user: 'Are you ready?', name: 'ready', tools: [READY] }, signal);
  const { tools } = model.supports();
  const how = reply.value.length === 0 ? 'but called no function, so it may not be able to choose tools' : HOW[tools];
  return `llm: ${reply.model} at ${model.address()} answered ${how}`;
}
