import { z } from 'zod';
import { loadPrompt, renderPrompt } from '../../../../prompts/load.ts';
import type { Category } from '../../../domain/category.ts';
import { KINDS } from '../../../domain/kind.ts';
import type { Analyst, Insight, Judgement } from '../../../ports/analyst.ts';
import type { ChatModel, ChatReply } from '../../../ports/chat-model.ts';
import { createLlmConverse } from './converse.ts';
import { cutText } from './cut-text.ts';
import { JUDGEMENTS, type JudgementName, type PromptValues } from './judgements.ts';
import { readAnswer, readAssessment, readClassification } from './read-answer.ts';
import { AnswerReply, ClassifyReply, clamp, ReasonReply, VerifyReply } from './replies.ts';
import { showEvidence, showExcerpts } from './show-evidence.ts';
import { showFacts } from './show-facts.ts';
import { showAnswer, showSituation, showTool, showTools } from './show-situation.ts';
import { callsSchema, correctionSchema, parseCalls, parseCorrection } from './tool-call-schema.ts';

export interface LlmAnalystOptions {
  readonly model: ChatModel;
}

/**
 * The analyst that asks a model, one question a judgement. What comes back is checked and clamped here: ids, tools, files and
 * categories that do not exist are left out or refused. Throws what the model throws; wrap it in `withFallback`, which also
 * keeps the model's own confidence from deciding alone.
 */
export function createLlmAnalyst({ model }: LlmAnalystOptions): Analyst {
  return {
    name: 'llm',
    classify: (input, signal) => classify(model, input, signal),
    plan: (input, signal) => plan(model, input, signal),
    chooseTools: (input, signal) => chooseTools(model, input, signal),
    correctCall: (input, signal) => correctCall(model, input, signal),
    answer: (input, signal) => answer(model, input, signal),
    verify: (input, signal) => verify(model, input, signal),
    converse: createLlmConverse(model),
  };
}

async function classify(model: ChatModel, { subject }: Parameters<Analyst['classify']>[0], signal: AbortSignal) {
  const values = { facts: showFacts(subject), excerpts: showExcerpts(subject.excerpts, JUDGEMENTS.classify.budget.excerpts) };
  const judgement = await ask(model, 'classify', values, readerOf(ClassifyReply, withKnownKind), signal);
  const note = judgement.costKnown !== false ? null : `No price is known for the model ${judgement.model}; its cost is counted as 0.`;
  return { ...judgementOf(judgement, readClassification(judgement.value)), note };
}

async function plan(model: ChatModel, input: Insight, signal: AbortSignal) {
  const values = { situation: showSituation(input), ...factsAndEvidence(input, 'reason') };
  const judgement = await ask(model, 'reason', values, readerOf(ReasonReply), signal);
  const { thought, confidence, enough } = judgement.value;
  return judgementOf(judgement, {
    thought: thought.replace(/\s+/g, ' ').trim().slice(0, 600),
    confidence: clamp(confidence),
    enough: enough && input.evidence.length > 0,
    retrieval: bestRetrieval(input),
  });
}

async function chooseTools(model: ChatModel, input: Parameters<Analyst['chooseTools']>[0], signal: AbortSignal) {
  const { offered } = input;
  if (offered.length === 0) return unasked([]);
  const values = { tools: showTools(offered), situation: showSituation(input, input.plan), ...factsAndEvidence(input, 'select-tool') };
  const reader = { schema: callsSchema(offered), parse: (reply: unknown) => parseCalls(reply, offered) };
  const judgement = await ask(model, 'select-tool', values, reader, signal);
  return judgementOf(judgement, judgement.value);
}

async function correctCall(model: ChatModel, input: Parameters<Analyst['correctCall']>[0], signal: AbortSignal) {
  const { call, error, tool, subject } = input;
  const values = { tool: showTool(tool), call: JSON.stringify(call), error, facts: showFacts(subject) };
  const reader = { schema: correctionSchema(tool), parse: (reply: unknown) => parseCorrection(reply, call) };
  const judgement = await ask(model, 'correct-call', values, reader, signal);
  return judgementOf(judgement, judgement.value);
}

async function answer(model: ChatModel, input: Insight, signal: AbortSignal) {
  const values = { situation: showSituation(input), ...factsAndEvidence(input, 'answer') };
  const judgement = await ask(model, 'answer', values, readerOf(AnswerReply), signal, input.classification.category);
  return judgementOf(judgement, readAnswer(judgement.value, input));
}

async function verify(model: ChatModel, input: Parameters<Analyst['verify']>[0], signal: AbortSignal) {
  const evidence = showEvidence(input.evidence, JUDGEMENTS.verify.budget.evidence);
  const values = { situation: showSituation(input), answer: showAnswer(input.answer), evidence };
  const judgement = await ask(model, 'verify', values, readerOf(VerifyReply), signal, input.classification.category);
  return judgementOf(judgement, readAssessment(judgement.value, input));
}

interface Reader<Value> {
  readonly schema: Readonly<Record<string, unknown>>;
  readonly parse: (reply: unknown) => Value;
}

interface Asked<Value> extends ChatReply<Value> {
  readonly promptHash: string;
}

async function ask<Name extends JudgementName, Value>(
  model: ChatModel,
  name: Name,
  values: PromptValues<Name>,
  reader: Reader<Value>,
  signal: AbortSignal,
  category?: Category,
): Promise<Asked<Value>> {
  const { prompt: file, budget } = JUDGEMENTS[name];
  const limits: Readonly<Record<string, number | null>> = budget;
  const cut = Object.entries<string>(values).map(([key, value]) => {
    const limit = limits[key] ?? null;
    return [key, limit === null ? value : cutText(value, limit)];
  });
  const prompt = loadPrompt(file, category);
  const rendered = renderPrompt(prompt, Object.fromEntries(cut));
  const reply = await model.ask({ ...rendered, name, ...reader }, signal);
  return { ...reply, promptHash: prompt.hash };
}

function judgementOf<Value>(asked: Asked<unknown>, value: Value): Judgement<Value> {
  const { inputTokens, outputTokens, costUsd, model, promptHash, calls } = asked;
  return { value, by: 'llm', usage: { inputTokens, outputTokens, costUsd, modelCalls: calls ?? 1 }, model, promptHash, note: null };
}

function unasked<Value>(value: Value): Judgement<Value> {
  return {
    value,
    by: 'llm',
    usage: { inputTokens: 0, outputTokens: 0, costUsd: 0, modelCalls: 0 },
    model: null,
    promptHash: null,
    note: null,
  };
}

function readerOf<Schema extends z.ZodType>(
  schema: Schema,
  mend: (reply: unknown) => unknown = (reply) => reply,
): Reader<z.output<Schema>> {
  const { $schema: _version, ...rest } = z.toJSONSchema(schema);
  return { schema: rest, parse: (reply) => schema.parse(mend(reply)) };
}

/** The kind only refines: one we do not know is no reason to lose the category. */
function withKnownKind(reply: unknown): unknown {
  if (typeof reply !== 'object' || reply === null || !('kind' in reply)) return reply;
  return KINDS.some((kind) => kind === reply.kind) ? reply : { ...reply, kind: 'unknown' };
}

function factsAndEvidence(input: Insight, name: 'reason' | 'select-tool' | 'answer') {
  return { facts: showFacts(input.subject), evidence: showEvidence(input.evidence, JUDGEMENTS[name].budget.evidence) };
}

function bestRetrieval({ evidence }: Insight): number {
  const retrieved = evidence.filter((item) => item.tool === 'search_knowledge' || item.tool === 'search_error_library');
  return Math.max(0, ...retrieved.map((item) => item.score ?? 0));
}
