import { loadPrompt, renderPrompt } from '../../prompts/load.ts';
import { maskingOf } from '../config/masking.ts';
import type { Config } from '../config/schema.ts';
import { TriageError } from '../domain/errors.ts';
import { createMasker } from '../log/mask/mask.ts';
import type { Logger } from '../ports/telemetry.ts';

import { JUDGE, type JudgeOptions } from '../replay/judge.ts';
import { modelOptions } from './model-options.ts';

/** What a judge of explanations is asked with: the configured model, its prompt, a masker. Throws `invalid-config` where no model is configured. */
export async function openJudge(
  config: Pick<Config, 'analyst'> & Partial<Config>,
  logger: Logger,
): Promise<Pick<JudgeOptions, 'chatModel' | 'prompt' | 'masker' | 'timeoutMs'>> {
  const options = modelOptions(config.analyst.llm);
  if (options === null) {
    throw new TriageError('invalid-config', 'A judge needs a model: set OPENAI_API_KEY, or OPENAI_BASE_URL for your own server.');
  }
  const { createOpenAiChatModel } = await import('../adapters/chat-model/openai.ts');
  const { pricesWith } = await import('../adapters/chat-model/prices.ts');
  const chatModel = createOpenAiChatModel({ ...options, prices: pricesWith(config.analyst.llm.prices), logger });
  const prompt = loadPrompt(JUDGE.prompt);
  return {
    chatModel,
    prompt: { hash: prompt.hash, render: (values) => renderPrompt(prompt, values) },
    masker: createMasker(maskingOf(config)),
    timeoutMs: options.timeoutMs,
  };
}
