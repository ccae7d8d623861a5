import type { z } from 'zod';
import { type Category, KINDS } from '../../domain/category.ts';
import { getCallKey, type ToolCall } from '../../domain/evidence.ts';
import type { LogPosition } from '../../domain/failure.ts';
import type { TriageSubject } from '../../domain/triage.ts';
import { findMax } from '../../lib/collections.ts';
import { classifyRole } from '../../log/line-roles.ts';
import type { Analyst, Insight, Judgment, Plan } from '../../ports/analyst.ts';
import type { ChatModel } from '../../ports/chat-model.ts';
import type { ToolDescription } from '../../ports/toolbox.ts';
import {
  type Asked,
  askModel,
  type ContextFit,
  createContextFit,
  type JudgmentName,
  type JudgmentPrompt,
  type Limits,
  type PromptValues,
  toJsonSchema,
  toJudgment,
  toPricedJudgment,
  toToolCalls,
} from './ask-model.ts';
import type { Focus } from './choose-lines.ts';
import { createLlmConverse } from './converse.ts';
import {
  AnswerReply,
  ClassifyReply,
  CorrectReply,
  createKindCheck,
  ReasonReply,
  readAnswer,
  readAssessment,
  readClassification,
  readPlan,
  VerifyReply,
  withoutExamples,
  withoutRecital,
} from './read-answer.ts';
import { showEvidence } from './show-evidence.ts';
import {
  describeTool,
  listTools,
  listToolsWithArguments,
  showAnswer,
  showFacts,
  showSituation,
  showTool,
} from './show-facts.ts';

export interface LlmAnalystOptions {
  readonly model: ChatModel;
  /** The model for all judgments except the answer. `model` if absent. */
  readonly small?: ChatModel;
  /** The factor for the length limits of each question. 1 if absent. */
  readonly room?: number;
}

/**
 * Creates an analyst that asks a model one question for each judgment. Replies are checked here: unknown ids,
 * files and categories are dropped or rejected, and numbers are limited to their range. Calls of unknown
 * tools are passed on, so that the graph can report them. A question that is too long for the model's context
 * is shortened. Throws the errors of the model. Wrap the analyst in `withFallback`, which also prevents a
 * decision based only on the model's own confidence.
 */
export function createLlmAnalyst({ model, small = model, room = 1 }: LlmAnalystOptions): Analyst {
  const deps: AnalystDeps = { model, fitting: createContextFit(), room };
  const cheap = small === model ? deps : { model: small, fitting: createContextFit(), room };
  return {
    name: 'llm',
    classify: (input, signal) => classify(cheap, input, signal),
    plan: (input, signal) => plan(cheap, input, signal),
    chooseTools: (input, signal) => chooseTools(cheap, input, signal),
    correctCall: (input, signal) => correctCall(cheap, input, signal),
    answer: (input, signal) => answer(deps, input, signal),
    verify: (input, signal) => verify(cheap, input, signal),
    converse: createLlmConverse(model, deps.fitting),
  };
}

interface AnalystDeps {
  readonly model: ChatModel;
  readonly fitting: ContextFit;
  readonly room: number;
}

async function classify(
  deps: AnalystDeps,
  { subject }: Parameters<Analyst['classify']>[0],
  signal: AbortSignal,
) {
  const evidence = subject.excerpts.map((excerpt, index) => ({
    ...excerpt,
    id: `E${index + 1}`,
    tool: 'log',
    title: excerpt.reason,
  }));
  const values = (limits: Limits<'classify'>) => ({ page: showPage({ subject, evidence }, limits.page) });
  const check = createKindCheck();
  const reader = withCheck(READERS.classify, check);
  const asked = await ask(deps, 'classify', values, reader, signal);
  return toPricedJudgment(asked, readClassification(asked.value));
}

async function plan(deps: AnalystDeps, input: Parameters<Analyst['plan']>[0], signal: AbortSignal) {
  const { category } = input.classification;
  const { offered = [] } = input;
  const values = (limits: Limits<'reason'>) => ({
    situation: showSituation(input),
    page: showPage(input, limits.page, { onlyNamed: true }),
    tools: listToolsWithArguments(offered, category),
  });
  const check = createKindCheck();
  const reader = withCheck(READERS.reason, ({ revised }) => check(revised));
  const asked = await ask(deps, 'reason', values, reader, signal, category);
  return toJudgment(asked, readPlan(asked.value, input, computeBestRetrieval(input)));
}

async function chooseTools(
  deps: AnalystDeps,
  input: Parameters<Analyst['chooseTools']>[0],
  signal: AbortSignal,
) {
  const { category } = input.classification;
  const { offered, plan } = input;
  if (offered.length === 0) return NOTHING_ASKED;
  if (plan.calls !== undefined) return { ...NOTHING_ASKED, value: [...plan.calls] };
  const tools = offered.map((tool) => ({
    name: tool.name,
    description: describeTool(tool, category),
    parameters: tool.parameters,
  }));
  const values = (limits: Limits<'select-tool'>) => createInsightValues(input, limits, plan);
  const asked = await askModel(
    deps,
    'select-tool',
    values,
    (question) => deps.model.chooseTools({ ...question, tools }, signal),
    category,
  );
  return toJudgment(asked, toToolCalls(asked));
}

const NOTHING_ASKED: Judgment<ToolCall[]> = {
  value: [],
  by: 'llm',
  usage: { inputTokens: 0, outputTokens: 0, costUsd: 0, modelCalls: 0 },
  model: null,
  promptHash: null,
  note: null,
};

async function correctCall(
  deps: AnalystDeps,
  input: Parameters<Analyst['correctCall']>[0],
  signal: AbortSignal,
) {
  const { call, error, tool, subject } = input;
  const values = () => ({
    tool: showTool(tool),
    call: JSON.stringify(call),
    error,
    facts: showFacts(subject),
  });
  const reader = {
    schema: getCorrectionSchema(tool),
    parse: (reply: unknown) => parseCorrection(reply, call),
  };
  const asked = await ask(deps, 'correct-call', values, reader, signal);
  return toJudgment(asked, asked.value);
}

async function answer(deps: AnalystDeps, input: Insight, signal: AbortSignal) {
  const { category } = input.classification;
  const { schema, parse } = READERS.answer;
  const reader = { schema, parse: (reply: unknown, system: string) => parse(withoutRecital(reply, system)) };
  const asked = await ask(
    deps,
    'answer',
    (limits) => createInsightValues(input, limits),
    reader,
    signal,
    category,
  );
  return toJudgment(asked, readAnswer(asked.value, input));
}

async function verify(deps: AnalystDeps, input: Parameters<Analyst['verify']>[0], signal: AbortSignal) {
  const { claims } = input.answer;
  const { category } = input.classification;
  const cited = {
    onlyNamed: true,
    cited: new Set(claims.flatMap((claim) => claim.evidence)),
    quoted: claims.flatMap(({ quotes }) => quotes),
  };
  const values = (limits: Limits<'verify'>) => ({
    situation: showSituation(input),
    answer: showAnswer(input.answer, input.evidence),
    tools: listTools(input.offered ?? [], category),
    page: showPage(input, limits.page, cited),
  });
  const asked = await ask(deps, 'verify', values, READERS.verify, signal, category);
  return toJudgment(asked, readAssessment(asked.value, input));
}

interface Reader<Value> {
  readonly schema: Readonly<Record<string, unknown>>;
  /** Parses a reply. `system` holds the instructions that it answers. */
  readonly parse: (reply: unknown, system: string) => Value;
}

/** Returns the reader with a check that throws if the model should reply again. */
function withCheck<Value>(reader: Reader<Value>, check: (value: Value) => void): Reader<Value> {
  const parse = (reply: unknown, system: string) => {
    const value = reader.parse(reply, system);
    check(value);
    return value;
  };
  return { ...reader, parse };
}

/** The readers of the replies. They are created once, because converting a schema is expensive. */
const READERS = {
  classify: createReader(ClassifyReply, withKnownKind),
  reason: createReader(ReasonReply),
  answer: createReader(AnswerReply),
  verify: createReader(VerifyReply),
};

function ask<Name extends JudgmentName, Value>(
  deps: AnalystDeps,
  name: Name,
  values: (limits: Limits<Name>) => PromptValues<Name>,
  { schema, parse }: Reader<Value>,
  signal: AbortSignal,
  category?: Category,
): Promise<Asked<Value>> {
  const put = (question: JudgmentPrompt) =>
    deps.model.ask(
      {
        ...question,
        schema,
        parse: (reply) => parse(withoutExamples(reply, question.system, question.user), question.system),
      },
      signal,
    );
  return askModel(deps, name, values, put, category);
}

function createReader<Schema extends z.ZodType>(
  schema: Schema,
  correct: (reply: unknown) => unknown = (reply) => reply,
) {
  return { schema: toJsonSchema(schema), parse: (reply: unknown) => schema.parse(correct(reply)) };
}

/**
 * Replaces an unknown kind with `unknown`. The kind only refines the category, so the reply is still usable.
 */
function withKnownKind(reply: unknown): unknown {
  if (typeof reply !== 'object' || reply === null || !('kind' in reply)) return reply;
  return KINDS.some((kind) => kind === reply.kind) ? reply : { ...reply, kind: 'unknown' };
}

function createInsightValues(input: Insight, limits: { readonly page: number }, plan?: Plan) {
  return { situation: showSituation(input, plan), page: showPage(input, limits.page) };
}

function computeBestRetrieval({ evidence }: Insight): number {
  const retrieved = evidence.filter(
    (item) => item.tool === 'search_knowledge' || item.tool === 'search_error_library',
  );
  return findMax(
    retrieved.map((item) => item.score ?? 0),
    0,
  );
}

/**
 * Returns the JSON schema of a correction: new arguments for the tool, or null. The parameters of a tool
 * without arguments may be empty.
 */
function getCorrectionSchema({ parameters }: ToolDescription): Readonly<Record<string, unknown>> {
  const properties = {
    why: { type: 'string' },
    args: { anyOf: [{ type: 'object', ...parameters }, { type: 'null' }] },
  };
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}

/**
 * Returns the call with corrected arguments. Returns null if the model has no correction or repeats the
 * rejected arguments.
 */
function parseCorrection(reply: unknown, call: ToolCall): ToolCall | null {
  const { args, why } = CorrectReply.parse(reply);
  if (args === null) return null;
  // With strict schemas, models set optional arguments to null.
  const given = Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null));
  const corrected = { tool: call.tool, args: given, why: why === '' ? call.why : why };
  return getCallKey(corrected) === getCallKey(call) ? null : corrected;
}

/**
 * Formats a failure for a judgment within `room` characters: the failing step, the reader's findings, and the
 * evidence. The results of the last round in which a model requested something are shown in full. Results
 * that the rules requested before are shown like other evidence.
 */
export function showPage(
  {
    subject,
    evidence,
    outcomes = [],
    chosenRounds,
  }: Pick<Insight, 'subject' | 'evidence'> & Partial<Pick<Insight, 'outcomes' | 'chosenRounds'>>,
  room: number,
  focus: Pick<Focus, 'cited' | 'quoted' | 'onlyNamed'> = {},
): string {
  const brought = outcomes.filter(({ evidence: ids = [] }) => ids.length > 0);
  const last = brought.at(-1)?.round;
  const isChosen = last === undefined || chosenRounds === undefined || chosenRounds.includes(last);
  const newest = new Set(
    brought.filter(({ round }) => isChosen && round === last).flatMap((outcome) => outcome.evidence ?? []),
  );
  const weak = new Set(
    subject.excerpts
      .filter(({ weight }) => weight < FILL)
      .map(({ source, lineStart }) => `${source}:${lineStart}`),
  );
  const fill = new Set(
    evidence
      .filter(({ tool, source, lineStart }) => tool === 'log' && weak.has(`${source}:${lineStart}`))
      .map(({ id }) => id),
  );
  const page = showEvidence(evidence, {
    room,
    informative: listInformativeLines(subject),
    steps: subject.failedSections,
    fill,
    newest,
    ...focus,
  });
  return `${showFacts(subject, page)}\n\n${page}`;
}

/**
 * Lists the positions of error lines, failing tests, exceptions, compiler messages and process exits, most
 * informative first.
 */
function listInformativeLines({
  messages,
  failingTests,
  exceptions,
  diagnostics,
  exits,
}: TriageSubject): LogPosition[] {
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  const others = messages.slice(BEST).filter(({ text }) => classifyRole(text) === 'cause');
  const read = [...messages.slice(0, BEST), ...failingTests, ...exceptions, ...errors, ...others].flatMap(
    ({ at }) => at ?? [],
  );
  return [...read, ...exits];
}

/** Excerpts of a lower weight were added only because there was room. */
const FILL = 70;
/**
 * The number of messages, by rank, that precede the facts from the structure of the log. Of the remaining
 * messages, warnings are omitted, because they are not informative.
 */
const BEST = 3;
