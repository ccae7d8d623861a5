import { z } from 'zod';
import { type Place, QuestionShape } from '../../domain/conversation.ts';
import { TriageError } from '../../domain/errors.ts';
import type { ToolCall } from '../../domain/evidence.ts';
import type { Converse, Inquiry, PlaceTopic } from '../../ports/analyst.ts';
import type { ChatModel } from '../../ports/chat-model.ts';
import {
  askModel,
  type ContextFit,
  createContextFit,
  JUDGMENTS,
  toJsonSchema,
  toPricedJudgment,
  toToolCalls,
} from './ask-model.ts';
import { describeTools, readStatements, showCalls, showMemory } from './converse.ts';
import { showEvidence } from './show-evidence.ts';

const UnderstandReply = z.object({ shape: QuestionShape, about: z.string(), title: z.string() });
const MAX_WORDS = 120;

interface ExploreDeps {
  readonly model: ChatModel;
  readonly fitting: ContextFit;
}
type Asked = Inquiry<PlaceTopic>;

/**
 * Creates a conversation about a repository or documents that asks a model. The documentation is looked up
 * first, without asking the model for it. Throws the errors of the model.
 */
export function createLlmExplore(model: ChatModel): Converse<PlaceTopic> {
  const deps: ExploreDeps = { model, fitting: createContextFit() };
  return {
    understand: (input, signal) => understand(deps, input, signal),
    chooseTools: (input, signal) => chooseTools(deps, input, signal),
    reply: (input, signal) => requestReply(deps, input, signal),
  };
}

async function understand(deps: ExploreDeps, input: Asked, signal: AbortSignal) {
  const { place } = input.topic;
  const values = { place: showPlace(place), history: showMemory(input.memory), question: input.question };
  const schema = toJsonSchema(UnderstandReply);
  const asked = await askModel(
    deps,
    'explore-understand',
    () => values,
    (question) =>
      deps.model.ask({ ...question, schema, parse: (value) => UnderstandReply.parse(value) }, signal),
  );
  const { shape, about, title } = asked.value;
  return toPricedJudgment(asked, {
    shape,
    about: cutWords(about, 'the question'),
    title: cutWords(title, place.name),
  });
}

function cutWords(text: string, otherwise: string): string {
  return text.replace(/\s+/g, ' ').trim().slice(0, MAX_WORDS) || otherwise;
}

/** The tools that read the documentation of a place. They are called before a model chooses others. */
const FIRST = ['read_repository_docs', 'scan_documents'];

async function chooseTools(
  deps: ExploreDeps,
  input: Parameters<Converse<PlaceTopic>['chooseTools']>[0],
  signal: AbortSignal,
) {
  const first = chooseFirstCalls(input);
  if (first.length > 0)
    return { value: first, by: 'llm', usage: NO_COST, model: null, promptHash: null, note: null };
  const values = createPromptValues(input, 'explore-choose-tools');
  const asked = await askModel(
    deps,
    'explore-choose-tools',
    () => values,
    (question) => deps.model.chooseTools({ ...question, tools: describeTools(input.offered) }, signal),
  );
  return toPricedJudgment(asked, toToolCalls(asked));
}

const NO_COST = { inputTokens: 0, outputTokens: 0, costUsd: 0, modelCalls: 0 } as const;

/** Returns the calls for the documentation in the first round, unless an earlier question made them. */
function chooseFirstCalls({
  offered,
  round,
  evidence,
  question,
}: Parameters<Converse<PlaceTopic>['chooseTools']>[0]): ToolCall[] {
  const tool = offered.find(({ name }) => FIRST.includes(name))?.name;
  if (round > 1 || tool === undefined || evidence.some((item) => item.tool === tool)) return [];
  const args = tool === 'scan_documents' ? { question: question.slice(0, 500) } : {};
  return [{ tool, args, why: 'what the place says of itself comes first' }];
}

async function requestReply(
  deps: ExploreDeps,
  input: Parameters<Converse<PlaceTopic>['reply']>[0],
  signal: AbortSignal,
) {
  const values = { ...createPromptValues(input, 'explore-answer'), shape: input.understanding.shape };
  const onText = (text: string) => input.onText({ text });
  const asked = await askModel(
    deps,
    'explore-answer',
    () => values,
    ({ system, user, name }) =>
      deps.model.stream({ system, turns: [{ role: 'user', text: user }], name, onText }, signal),
  );
  const common = [input.question, showMemory(input.memory)].join('\n');
  const statements = readStatements(asked.value, input.evidence, common);
  if (statements.length === 0)
    throw new TriageError('upstream-failed', `The model ${asked.model} returned nothing`, {
      retryable: true,
    });
  return toPricedJudgment(asked, statements);
}

function createPromptValues(input: Asked, name: 'explore-choose-tools' | 'explore-answer') {
  const newest = new Set(input.found.map(({ id }) => id));
  return {
    place: showPlace(input.topic.place),
    history: showMemory(input.memory),
    asked: showCalls(input.outcomes),
    question: input.question,
    evidence: showEvidence(input.evidence, { room: JUDGMENTS[name].budget.evidence, newest }),
  };
}

function showPlace({ kind, name, hasHistory, learned }: Place): string {
  const what = kind === 'repository' ? `the repository ${name}` : `the documents in ${name}`;
  const history = kind === 'repository' && !hasHistory ? ['It has no git history.'] : [];
  return [what, ...history, ...learned.map((line) => `known from earlier questions: ${line}`)].join('\n');
}
