import { z } from 'zod';
import { loadPrompt, renderPrompt } from '../../../../prompts/load.ts';
import { QuestionShape, type Understanding } from '../../../domain/conversation.ts';
import { TriageError } from '../../../domain/errors.ts';
import type { Converse, Inquiry, Judgement } from '../../../ports/analyst.ts';
import type { ChatModel, ChatReply } from '../../../ports/chat-model.ts';
import { readStatements } from './converse/read-statements.ts';
import { showCalls, showMemory, showTopic } from './converse/show-talk.ts';
import { cutText } from './cut-text.ts';
import { JUDGEMENTS, type PromptValues } from './judgements.ts';
import { showEvidence } from './show-evidence.ts';

type AskName = 'ask-understand' | 'ask-choose-tools' | 'ask-answer';

const UnderstandReply = z.object({ shape: QuestionShape, about: z.string() });
const MAX_ABOUT = 120;

/**
 * Follow-up questions put to a model: one call to understand, one a round to choose tools, one stream for the answer. Throws what the
 * model throws.
 */
export function createLlmConverse(model: ChatModel): Converse {
  return {
    understand: (input, signal) => understand(model, input, signal),
    chooseTools: (input, signal) => chooseTools(model, input, signal),
    reply: (input, signal) => reply(model, input, signal),
  };
}

async function understand(model: ChatModel, input: Inquiry, signal: AbortSignal): Promise<Judgement<Understanding>> {
  const { rendered, hash } = prompted('ask-understand', {
    topic: showTopic(input),
    history: showMemory(input.memory),
    question: input.question,
  });
  const { $schema: _version, ...schema } = z.toJSONSchema(UnderstandReply);
  const asked = await model.ask({ ...rendered, name: 'ask-understand', schema, parse: (value) => UnderstandReply.parse(value) }, signal);
  const about = asked.value.about.replace(/\s+/g, ' ').trim().slice(0, MAX_ABOUT);
  return judged(asked, hash, { shape: asked.value.shape, about: about === '' ? 'the failure' : about });
}

async function chooseTools(model: ChatModel, input: Parameters<Converse['chooseTools']>[0], signal: AbortSignal) {
  const { offered } = input;
  const { rendered, hash } = prompted('ask-choose-tools', {
    ...known(input),
    evidence: showEvidence(input.evidence, JUDGEMENTS['ask-choose-tools'].budget.evidence),
  });
  const tools = offered.map(({ name, question, parameters }) => ({
    name,
    description: question,
    parameters: { type: 'object', ...parameters },
  }));
  const asked = await model.chooseTools({ ...rendered, name: 'ask-choose-tools', tools }, signal);
  const calls = asked.value.map(({ name, args, why }) => ({ tool: name, args: withoutNulls(args), why }));
  return judged(asked, hash, calls);
}

async function reply(model: ChatModel, input: Parameters<Converse['reply']>[0], signal: AbortSignal) {
  const { rendered, hash } = prompted('ask-answer', {
    ...known(input),
    shape: input.understanding.shape,
    evidence: showEvidence(input.evidence, JUDGEMENTS['ask-answer'].budget.evidence),
  });
  const onText = (text: string) => input.onText({ text });
  const turns = [{ role: 'user' as const, text: rendered.user }];
  const asked = await model.stream({ system: rendered.system, turns, name: 'ask-answer', onText }, signal);
  const { answer } = input.topic.analysis;
  const common = [input.question, showMemory(input.memory), answer.title, answer.rootCause, answer.fixRecommendation].join('\n');
  const statements = readStatements(asked.value, input.evidence, common);
  if (statements.length === 0) throw new TriageError('upstream-failed', `The model ${asked.model} answered nothing`, { retryable: true });
  return judged(asked, hash, statements);
}

function known(input: Inquiry) {
  return { topic: showTopic(input), history: showMemory(input.memory), asked: showCalls(input.outcomes), question: input.question };
}

function prompted<Name extends AskName>(name: Name, values: PromptValues<Name>) {
  const { prompt: file, budget } = JUDGEMENTS[name];
  const limits: Readonly<Record<string, number | null>> = budget;
  const cut = Object.entries<string>(values).map(([key, value]) => {
    const limit = limits[key] ?? null;
    return [key, limit === null ? value : cutText(value, limit)];
  });
  const prompt = loadPrompt(file);
  return { rendered: renderPrompt(prompt, Object.fromEntries(cut)), hash: prompt.hash };
}

function judged<Value>(asked: ChatReply<unknown>, promptHash: string, value: Value): Judgement<Value> {
  const { inputTokens, outputTokens, costUsd, model, calls, cachedInputTokens, retries, costKnown } = asked;
  const extra = { ...(cachedInputTokens === undefined ? {} : { cachedInputTokens }), ...(retries === undefined ? {} : { retries }) };
  const note = costKnown === false ? `No price is known for the model ${model}; its cost is counted as 0.` : null;
  return { value, by: 'llm', usage: { inputTokens, outputTokens, costUsd, modelCalls: calls ?? 1, ...extra }, model, promptHash, note };
}

/** Strict schemas make models fill optional arguments with null. */
function withoutNulls(args: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null));
}
