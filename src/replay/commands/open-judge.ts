import { loadPrompt, renderPrompt } from '../../../prompts/load.ts';
import { openChatModel } from '../../app/open-models.ts';
import { createMaskingOptions } from '../../config/masking.ts';
import type { Config } from '../../config/schema.ts';
import { createMasker } from '../../log/mask/mask.ts';
import type { Logger } from '../../ports/telemetry.ts';
import { JUDGE, type JudgeOptions } from '../judge.ts';

/**
 * Opens the judge of explanations: the configured model, its prompt, and a masker. Throws `invalid-config` if
 * no model is configured.
 */
export async function openJudge(
  config: Pick<Config, 'analyst'> & Partial<Config>,
  logger: Logger,
): Promise<Pick<JudgeOptions, 'chatModel' | 'prompt' | 'masker' | 'timeoutMs'>> {
  const model = await openChatModel(config, 'A judge', logger);
  const prompt = loadPrompt(JUDGE.prompt);
  return {
    ...model,
    prompt: { hash: prompt.hash, render: (values) => renderPrompt(prompt, values) },
    masker: createMasker(createMaskingOptions(config)),
  };
}
