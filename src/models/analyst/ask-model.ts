import { z } from 'zod';
import { loadPrompt, type RenderedPrompt, renderPrompt } from '../../../prompts/load.ts';
import { ModelUsage } from '../../domain/analysis.ts';
import type { Category } from '../../domain/category.ts';
import { TriageError } from '../../domain/errors.ts';
import type { ToolCall } from '../../domain/evidence.ts';
import type { Judgment } from '../../ports/analyst.ts';
import type { ChatReply, ChatToolCall } from '../../ports/chat-model.ts';
import { cutText } from './show-facts.ts';

/**
 * The prompt of each judgment, and the variables with which it is rendered. A number is the maximum length of
 * a variable in characters, about four to a token (docs/how-to/models.md shows the effect). `null` marks
 * texts of ours, which are never cut. `page` holds the lines that the judgment must see first, and may become
 * longer. `situation` is always short.
 */
export const JUDGMENTS = {
  classify: { prompt: 'triage/classify', budget: { page: 8_000 } },
  reason: { prompt: 'triage/reason', budget: { situation: 6_000, tools: null, page: 6_000 } },
  'select-tool': { prompt: 'triage/select-tool', budget: { situation: 6_000, page: 4_000 } },
  'correct-call': {
    prompt: 'triage/correct-call',
    budget: { tool: null, call: 2_000, error: 1_000, facts: 4_000 },
  },
  answer: { prompt: 'triage/answer', budget: { situation: 6_000, page: 12_000 } },
  verify: {
    prompt: 'triage/verify',
    budget: { situation: 6_000, answer: 6_000, tools: null, page: 3_000 },
  },
  'ask-understand': { prompt: 'ask/understand', budget: { topic: 2_000, history: 3_000, question: 2_000 } },
  'ask-choose-tools': {
    prompt: 'ask/choose-tools',
    budget: { topic: 4_000, history: 4_000, asked: 2_000, evidence: 9_000, question: 2_000 },
  },
  'ask-answer': {
    prompt: 'ask/answer',
    budget: { shape: null, topic: 4_000, history: 6_000, asked: 2_000, evidence: 16_000, question: 2_000 },
  },
  'explore-understand': {
    prompt: 'explore/understand',
    budget: { place: 3_000, history: 3_000, question: 2_000 },
  },
  'explore-summarize': {
    prompt: 'explore/summarize',
    budget: { title: 500, focus: 300, lines: 20_000 },
  },
  'explore-choose-tools': {
    prompt: 'explore/choose-tools',
    budget: { place: 3_000, history: 4_000, asked: 4_000, evidence: 16_000, question: 2_000 },
  },
  'explore-answer': {
    prompt: 'explore/answer',
    budget: { shape: null, place: 3_000, history: 6_000, asked: 3_000, evidence: 28_000, question: 2_000 },
  },
} as const satisfies Record<
  string,
  { readonly prompt: string; readonly budget: Readonly<Record<string, number | null>> }
>;

export type JudgmentName = keyof typeof JUDGMENTS;

/** The values of the variables in a judgment's prompt. */
export type PromptValues<Name extends JudgmentName> = Readonly<
  Record<keyof (typeof JUDGMENTS)[Name]['budget'], string>
>;

/** The maximum length of each variable in a judgment's prompt, in characters. */
export type Limits<Name extends JudgmentName> = Readonly<
  Record<keyof (typeof JUDGMENTS)[Name]['budget'], number>
>;

/** Returns the length limits of a judgment, multiplied by `share` (0..1]. Our own texts have no limit. */
function getLimits<Name extends JudgmentName>(name: Name, share: number): Limits<Name>;
function getLimits(name: JudgmentName, share: number): Readonly<Record<string, number>> {
  const budget: Readonly<Record<string, number | null>> = JUDGMENTS[name].budget;
  const limits = Object.entries(budget).map(([variable, most]) => [
    variable,
    most === null ? Number.POSITIVE_INFINITY : Math.floor(most * share),
  ]);
  return Object.fromEntries(limits);
}

export interface Asked<Value> extends FittedReply<Value> {
  readonly promptHash: string;
}

export type JudgmentPrompt = RenderedPrompt & { readonly name: JudgmentName };

/**
 * Asks the model for a judgment. `values` returns the variables for the given length limits, which are `room`
 * times the usual ones. If the prompt does not fit the model's context, it is rendered again with lower
 * limits.
 */
export async function askModel<Name extends JudgmentName, Value>(
  { fitting, room = 1 }: { readonly fitting: ContextFit; readonly room?: number },
  name: Name,
  values: (limits: Limits<Name>) => PromptValues<Name>,
  put: (question: JudgmentPrompt) => Promise<ChatReply<Value>>,
  category?: Category,
): Promise<Asked<Value>> {
  const prompt = loadPrompt(JUDGMENTS[name].prompt, category);
  const reply = await fitting((share) => {
    const limits = getLimits(name, share * room);
    const most: Readonly<Record<string, number>> = limits;
    // `page` may exceed its limit, because lines that were requested are always shown.
    const cut = Object.entries<string>(values(limits)).map(([key, value]) => [
      key,
      key === 'page' ? value : cutText(value, most[key] ?? 0),
    ]);
    return put({ ...renderPrompt(prompt, Object.fromEntries(cut)), name });
  });
  return { ...reply, promptHash: prompt.hash };
}

/** Creates the judgment with its value, author, model and cost. */
export function toJudgment<Value>(asked: Asked<unknown>, value: Value): Judgment<Value> {
  return {
    value,
    by: 'llm',
    usage: getUsageOfReply(asked),
    model: asked.model,
    promptHash: asked.promptHash,
    note: asked.note,
  };
}

/** Creates the judgment in the same way, and adds a note if the price of the model is unknown. */
export function toPricedJudgment<Value>(asked: Asked<unknown>, value: Value): Judgment<Value> {
  const unknown =
    asked.costKnown === false
      ? `No price is known for the model ${asked.model}; its cost is counted as 0.`
      : null;
  const note = [asked.note, unknown].filter((part) => part !== null).join(' ') || null;
  return { ...toJudgment(asked, value), note };
}

export function toToolCalls({ value }: Asked<readonly ChatToolCall[]>): ToolCall[] {
  return value.map(({ name, args, why }) => ({ tool: name, args, why }));
}

/** Returns the JSON schema of a reply, without the `$schema` version. */
export function toJsonSchema(schema: z.ZodType): Readonly<Record<string, unknown>> {
  const { $schema: _version, ...rest } = z.toJSONSchema(schema);
  return rest;
}

interface FittedReply<Value> extends ChatReply<Value> {
  /** The note of the analysis if the model saw less than usual. Null otherwise. */
  readonly note: string | null;
}

const SMALLEST_SHARE = 0.25;
const HALF = "The model's context is too small for the usual question; it was shown half of it.";
const QUARTER = "The model's context is too small for the usual question; it was shown a quarter of it.";

export type ContextFit = ReturnType<typeof createContextFit>;

/**
 * Creates a function that asks questions so that they fit the model's context. If a question is too long, it
 * is asked again with half of the length limits, at most twice. The share that fits is remembered for later
 * questions, so there must be one instance per model. Throws the model's `too-large`, with the usage of all
 * attempts, if a quarter is still too long.
 */
export function createContextFit() {
  let usual = 1;
  return async <Value>(put: (share: number) => Promise<ChatReply<Value>>): Promise<FittedReply<Value>> => {
    let lost: ModelUsage | null = null;
    for (let share = usual; ; share /= 2) {
      try {
        const reply = await put(share);
        usual = Math.min(usual, share);
        return { ...withLost(reply, lost), note: share === 1 ? null : share === 0.5 ? HALF : QUARTER };
      } catch (error) {
        if (!(error instanceof TriageError)) throw error;
        const usage = readUsage(error);
        if (error.code !== 'too-large' || share <= SMALLEST_SHARE)
          throw lost === null ? error : withUsage(error, addUsage(lost, usage));
        lost = addUsage(lost, usage);
      }
    }
  };
}

/** Returns the cost of a failed question, or null if its error does not state it. */
export function readUsage(error: unknown): ModelUsage | null {
  return error instanceof TriageError ? (ModelUsage.safeParse(error.details.usage).data ?? null) : null;
}

/** Adds two usages. Null counts as no usage. */
export function addUsage(left: ModelUsage | null, right: ModelUsage | null): ModelUsage | null {
  if (left === null || right === null) return left ?? right;
  return {
    inputTokens: left.inputTokens + right.inputTokens,
    outputTokens: left.outputTokens + right.outputTokens,
    costUsd: left.costUsd + right.costUsd,
    modelCalls: left.modelCalls + right.modelCalls,
    ...pickKnownCounts({
      cachedInputTokens: sum(left.cachedInputTokens, right.cachedInputTokens),
      retries: sum(left.retries, right.retries),
    }),
  };
}

function getUsageOfReply(reply: ChatReply<unknown>): ModelUsage {
  const { inputTokens, outputTokens, costUsd, calls } = reply;
  return { inputTokens, outputTokens, costUsd, modelCalls: calls ?? 1, ...pickKnownCounts(reply) };
}

function withLost<Value>(reply: ChatReply<Value>, lost: ModelUsage | null): ChatReply<Value> {
  const total = addUsage(getUsageOfReply(reply), lost);
  if (lost === null || total === null) return reply;
  const { modelCalls, ...usage } = total;
  return { ...reply, ...usage, calls: modelCalls };
}

function withUsage(error: TriageError, usage: ModelUsage | null): TriageError {
  return new TriageError(error.code, error.message, { cause: error, details: { ...error.details, usage } });
}

function pickKnownCounts({
  cachedInputTokens,
  retries,
}: {
  cachedInputTokens?: number | undefined;
  retries?: number | undefined;
}) {
  return {
    ...(cachedInputTokens === undefined ? {} : { cachedInputTokens }),
    ...(retries === undefined ? {} : { retries }),
  };
}

function sum(left: number | undefined, right: number | undefined): number | undefined {
  return left === undefined && right === undefined ? undefined : (left ?? 0) + (right ?? 0);
}
