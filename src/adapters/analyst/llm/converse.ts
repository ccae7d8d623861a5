import { z } from 'zod';
import { loadPrompt, renderPrompt } from '../../../../prompts/load.ts';
import { QuestionShape, type Understanding } from '../../../domain/conversation.ts';
import { TriageError } from '../../../domain/errors.ts';
import type { Converse, Inquiry, Judgement } from '../../../ports/analyst.ts';
import type { ChatModel } from '../../../ports/chat-model.ts';
import { readStatements } from './converse/read-statements.ts';
import { showCalls, showMemory, showTopic } from './converse/show-talk.ts';
import { cutText } from './cut-text.ts';
import { type ContextFit, createContextFit, type FittedReply, usageOfReply } from './fit-context.ts';
import { JUDGEMENTS, limitsOf, type PromptValues } from './judgements.ts';
import { showEvidence } from './show-evidence.ts';

type AskName = 'ask-understand' | 'ask-choose-tools' | 'ask-answer';

const UnderstandReply = z.object({ shape: QuestionShape, about: z.string() });
const MAX_ABOUT = 120;

/**
 * Follow-up questions put to a model: one call to understand, one a round to choose tools, one stream for the answer. Throws what the
 * model throws.
 */
export function createLlmConverse(model: ChatModel, fit: ContextFit = createContextFit()): Converse {
  const deps: ConverseDeps = { model, fit };
  return {
    understand: (input, signal) => understand(deps, input, signal),
    chooseTools: (input, signal) => chooseTools(deps, input, signal),
    reply: (input, signal) => reply(deps, input, signal),
  };
}

interface ConverseDeps {
  readonly model: ChatModel;
  readonly fit: ContextFit;
}

async function understand({ model, fit }: ConverseDeps, input: Inquiry, signal: AbortSignal): Promise<Judgement<Understanding>> {
  const { render, hash } = prompted('ask-understand', {
    topic: showTopic(input),
    history: showMemory(input.memory),
    question: input.question,
  });
  const { $schema: _version, ...schema } = z.toJSONSchema(UnderstandReply);
  const asked = await fit.ask((share) =>
    model.ask({ ...render(share), name: 'ask-understand', schema, parse: (value) => UnderstandReply.parse(value) }, signal),
  );
  const about = asked.value.about.replace(/\s+/g, ' ').trim().slice(0, MAX_ABOUT);
  return judged(asked, hash, { shape: asked.value.shape, about: about === '' ? 'the failure' : about });
}

async function chooseTools({ model, fit }: ConverseDeps, input: Parameters<Converse['chooseTools']>[0], signal: AbortSignal) {
  const { offered } = input;
  const { render, hash } = prompted('ask-choose-tools', {
    ...known(input),
    evidence: showEvidence(input.evidence, { room: JUDGEMENTS['ask-choose-tools'].budget.evidence, newest: foundNow(input) }),
  });
  const tools = offered.map(({ name, question, parameters }) => ({
    name,
    description: question,
    parameters: { type: 'object', ...parameters },
  }));
  const asked = await fit.ask((share) => model.chooseTools({ ...render(share), name: 'ask-choose-tools', tools }, signal));
  const calls = asked.value.map(({ name, args, why }) => ({ tool: name, args, why }));
  return judged(asked, hash, calls);
}

async function reply({ model, fit }: ConverseDeps, input: Parameters<Converse['reply']>[0], signal: AbortSignal) {
  const { render, hash } = prompted('ask-answer', {
    ...known(input),
    shape: input.understanding.shape,
    evidence: showEvidence(input.evidence, { room: JUDGEMENTS['ask-answer'].budget.evidence, newest: foundNow(input) }),
  });
  const onText = (text: string) => input.onText({ text });
  const asked = await fit.ask((share) => {
    const { system, user } = render(share);
    return model.stream({ system, turns: [{ role: 'user', text: user }], name: 'ask-answer', onText }, signal);
  });
  const { answer } = input.topic.analysis;
  const common = [input.question, showMemory(input.memory), answer.title, answer.rootCause, answer.fixRecommendation].join('\n');
  const statements = readStatements(asked.value, input.evidence, common);
  if (statements.length === 0) throw new TriageError('upstream-failed', `The model ${asked.model} answered nothing`, { retryable: true });
  return judged(asked, hash, statements);
}

function foundNow({ found }: Inquiry): ReadonlySet<string> {
  return new Set(found.map(({ id }) => id));
}

function known(input: Inquiry) {
  return { topic: showTopic(input), history: showMemory(input.memory), asked: showCalls(input.outcomes), question: input.question };
}

/** The prompt, to be rendered with a share of its size budget. */
function prompted<Name extends AskName>(name: Name, values: PromptValues<Name>) {
  const prompt = loadPrompt(JUDGEMENTS[name].prompt);
  const render = (share: number) => {
    const limits: Readonly<Record<string, number>> = limitsOf(name, share);
    const cut = Object.entries<string>(values).map(([key, value]) => [key, cutText(value, limits[key] ?? 0)]);
    return renderPrompt(prompt, Object.fromEntries(cut));
  };
  return { render, hash: prompt.hash };
}

function judged<Value>(asked: FittedReply<unknown>, promptHash: string, value: Value): Judgement<Value> {
  const { model, costKnown } = asked;
  const unknown = costKnown === false ? `No price is known for the model ${model}; its cost is counted as 0.` : null;
  const note = [asked.note, unknown].filter((one) => one !== null).join(' ') || null;
  return { value, by: 'llm', usage: usageOfReply(asked), model, promptHash, note };
}
