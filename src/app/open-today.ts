import { loadPrompt } from '../../prompts/load.ts';
import type { Config } from '../config/schema.ts';
import { Category } from '../domain/category.ts';
import { TriageError } from '../domain/errors.ts';
import type { JudgmentName } from '../domain/recording.ts';
import { createMasker } from '../log/mask/mask.ts';
import type { ChatModel } from '../ports/chat-model.ts';
import { silentLogger } from '../ports/telemetry.ts';
import { useGivenGreen } from '../service/triage/passing-builds.ts';
import { listenForShown, wrapListenedChatModel } from '../service/triage/recording/shown-texts.ts';
import type { Today } from '../service/triage/recording/today.ts';
import { createAppToolbox, describeMaker, toTriageLimits } from './investigation.ts';

/**
 * Opens what recordings are compared with: the current code and configuration. It calls no external service
 * and no model.
 */
export async function openToday(config: Config, boundBy: Today['boundBy']): Promise<Today> {
  const { createRulesAnalyst } = await import('../judge/rules-analyst.ts');
  const { withFallback } = await import('../models/analyst/with-fallback.ts');
  const { createLlmAnalyst } = await import('../models/analyst/llm-analyst.ts');
  const { JUDGMENTS } = await import('../models/analyst/ask-model.ts');
  const rules = createRulesAnalyst();
  // The model refuses every question. It is asked without a circuit breaker, whose state belongs to a
  // process and not to a recording.
  const model = wrapListenedChatModel(createSilentModel());
  const llm = createLlmAnalyst({ model });
  const insteadOfModel = withFallback(createLlmAnalyst({ model: createSilentModel() }), rules, silentLogger);
  return {
    madeBy: await describeMaker(config),
    limits: toTriageLimits(config),
    boundBy,
    toolbox: await createDescribedToolbox(),
    rules,
    insteadOfModel,
    promptHash: (name, input) => {
      const prompt = JUDGMENTS[PROMPTS[name]].prompt;
      return loadPrompt(
        prompt,
        name === 'classify' || name === 'correctCall' ? undefined : findCategory(input),
      ).hash;
    },
    shown: (ask) =>
      listenForShown(async (boundInForce) => {
        // The question ends with an error in any case.
        await ask(llm).catch(() => undefined);
        return boundInForce();
      }),
  };
}

const PROMPTS = {
  classify: 'classify',
  plan: 'reason',
  chooseTools: 'select-tool',
  correctCall: 'correct-call',
  answer: 'answer',
  verify: 'verify',
} as const satisfies Record<JudgmentName, string>;

function findCategory(input: object): Category | undefined {
  if (
    !('classification' in input) ||
    typeof input.classification !== 'object' ||
    input.classification === null
  )
    return undefined;
  const read = Category.safeParse('category' in input.classification ? input.classification.category : null);
  return read.success ? read.data : undefined;
}

function createSilentModel(): ChatModel {
  const refuse = async (): Promise<never> => {
    throw new TriageError('upstream-failed', 'The replay of a recording calls no model.');
  };
  return { name: 'none', ask: refuse, chooseTools: refuse, stream: refuse };
}

/** Creates the toolbox without backends, for its descriptions only. */
async function createDescribedToolbox(): Promise<Today['toolbox']> {
  const { createHashingEmbedder } = await import('../models/embedder/hashing.ts');
  const { createMemoryIndex } = await import('../stores/vectors/memory.ts');
  const { createMemoryArchive } = await import('../stores/archive/memory.ts');
  const { createEmptyHistory } = await import('../stores/memory.ts');
  const { createNoCodeHost } = await import('../providers/combined-host.ts');
  const { createNoWebSearch } = await import('../stores/memory.ts');
  const sources = {
    vectorIndex: createMemoryIndex(createHashingEmbedder()),
    archive: createMemoryArchive(),
    history: createEmptyHistory(),
    passingBuilds: useGivenGreen(null),
    codeHost: createNoCodeHost(),
    webSearch: createNoWebSearch(),
  };
  return createAppToolbox(sources, { masker: createMasker() });
}
