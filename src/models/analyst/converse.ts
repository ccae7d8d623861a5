import { z } from 'zod';
import type { Quote } from '../../domain/analysis.ts';
import { isPartHeading } from '../../domain/answer-form.ts';
import { type Memory, QuestionShape, type Statement } from '../../domain/conversation.ts';
import { TriageError } from '../../domain/errors.ts';
import type { Evidence, ToolOutcome } from '../../domain/evidence.ts';
import { formatConfidence } from '../../lib/text.ts';
import { cleanLine, stripEscapes } from '../../log/lines/clean.ts';
import type { Converse, Inquiry } from '../../ports/analyst.ts';
import type { ChatModel, ChatTool } from '../../ports/chat-model.ts';
import type { ToolDescription } from '../../ports/toolbox.ts';
import {
  askModel,
  type ContextFit,
  createContextFit,
  JUDGMENTS,
  toJsonSchema,
  toPricedJudgment,
  toToolCalls,
} from './ask-model.ts';
import { cutLine } from './cut-line.ts';
import { getLiteralQuote } from './read-answer.ts';
import { showEvidence } from './show-evidence.ts';
import { showFacts } from './show-facts.ts';

const UnderstandReply = z.object({ shape: QuestionShape, about: z.string() });
const MAX_ABOUT = 120;

interface ConverseDeps {
  readonly model: ChatModel;
  readonly fitting: ContextFit;
}

/**
 * Creates a conversation about an analysis that asks a model: one call to understand the question, one per
 * round to choose tools, and one stream for the answer. Throws the errors of the
 * model.
 */
export function createLlmConverse(model: ChatModel, fitting: ContextFit = createContextFit()): Converse {
  const deps: ConverseDeps = { model, fitting };
  return {
    understand: (input, signal) => understand(deps, input, signal),
    chooseTools: (input, signal) => chooseTools(deps, input, signal),
    reply: (input, signal) => requestReply(deps, input, signal),
  };
}

async function understand(deps: ConverseDeps, input: Inquiry, signal: AbortSignal) {
  const values = { topic: showTopic(input), history: showMemory(input.memory), question: input.question };
  const schema = toJsonSchema(UnderstandReply);
  const asked = await askModel(
    deps,
    'ask-understand',
    () => values,
    (question) =>
      deps.model.ask({ ...question, schema, parse: (value) => UnderstandReply.parse(value) }, signal),
  );
  const about = asked.value.about.replace(/\s+/g, ' ').trim().slice(0, MAX_ABOUT);
  return toPricedJudgment(asked, { shape: asked.value.shape, about: about === '' ? 'the failure' : about });
}

async function chooseTools(
  deps: ConverseDeps,
  input: Parameters<Converse['chooseTools']>[0],
  signal: AbortSignal,
) {
  const values = createPromptValues(input, 'ask-choose-tools');
  const tools = describeTools(input.offered);
  const asked = await askModel(
    deps,
    'ask-choose-tools',
    () => values,
    (question) => deps.model.chooseTools({ ...question, tools }, signal),
  );
  return toPricedJudgment(asked, toToolCalls(asked));
}

/** Describes tools as functions that a model may call. */
export function describeTools(offered: readonly ToolDescription[]): ChatTool[] {
  return offered.map(({ name, question, parameters }) => ({
    name,
    description: question,
    parameters: { type: 'object', ...parameters },
  }));
}

async function requestReply(
  deps: ConverseDeps,
  input: Parameters<Converse['reply']>[0],
  signal: AbortSignal,
) {
  const values = { ...createPromptValues(input, 'ask-answer'), shape: input.understanding.shape };
  const onText = (text: string) => input.onText({ text });
  const asked = await askModel(
    deps,
    'ask-answer',
    () => values,
    ({ system, user, name }) =>
      deps.model.stream({ system, turns: [{ role: 'user', text: user }], name, onText }, signal),
  );
  const { answer } = input.topic.analysis;
  const common = [
    input.question,
    showMemory(input.memory),
    answer.title,
    answer.rootCause,
    answer.fixRecommendation,
  ].join('\n');
  const statements = readStatements(asked.value, input.evidence, common);
  if (statements.length === 0)
    throw new TriageError('upstream-failed', `The model ${asked.model} returned nothing`, {
      retryable: true,
    });
  return toPricedJudgment(asked, statements);
}

/**
 * Returns the prompt values for the conversation and its findings so far. Evidence found for the current
 * question comes first.
 */
function createPromptValues(input: Inquiry, name: 'ask-choose-tools' | 'ask-answer') {
  const { memory, outcomes, question, found } = input;
  const newest = new Set(found.map(({ id }) => id));
  const evidence = showEvidence(input.evidence, { room: JUDGMENTS[name].budget.evidence, newest });
  return {
    topic: showTopic(input),
    history: showMemory(memory),
    asked: showCalls(outcomes),
    question,
    evidence,
  };
}

/** The maximum length of an answer in characters. The rest is cut. */
const MAX_TEXT = 12_000;
const MAX_STATEMENTS = 80;
const MIN_QUOTE = 4;

/** The start of a line: spaces, a bullet or a number. */
const LINE_LEAD = /^[ \t]{0,20}(?:[-*•] {0,4}|\d{1,3}[.)] {1,4})?/;
/** The end of a sentence. Citations after the full stop belong to the sentence before them. */
const SENTENCE_END = /[.!?](?: ?\[E\d{1,5}(?:, ?E\d{1,5}){0,8}\]){0,6} {1,4}(?=[\p{Lu}"“(\d])/gu;
const GROUP = /[[(]([^\][()\n]{2,80})[\])]/g;
const QUOTED = /["“]([^"“”\n]{2,400})["”]/g;
const LINK = /!?\[([^\][\n]{0,200})\]\([^()\s]{1,500}\)/g;

/**
 * Splits the model's text into statements that can be checked. Each has the evidence that it cites and the
 * words that it quotes. `common` is text that is known to both sides. Its words in quotation marks do not
 * count as quotations of evidence.
 */
export function readStatements(text: string, evidence: readonly Evidence[], common: string): Statement[] {
  const plain = text
    .slice(0, MAX_TEXT)
    .replace(LINK, (_link, words: string) => (isCitation(words) ? `[${words}]` : words))
    .trim();
  const statements: Statement[] = [];
  let gap = '';
  for (const line of plain.split('\n')) {
    if (line.trim() === '') {
      gap = '\n';
      continue;
    }
    const mark = LINE_LEAD.exec(line)?.[0] ?? '';
    const start = statements.length === 0 ? '' : `${gap}\n`;
    gap = '';
    for (const [index, sentence] of splitSentences(line.slice(mark.length)).entries()) {
      statements.push(
        parseStatement(index === 0 ? `${start}${mark.trimStart()}` : ' ', sentence, evidence, common),
      );
    }
  }
  return statements.slice(0, MAX_STATEMENTS);
}

function splitSentences(line: string): string[] {
  const sentences: string[] = [];
  let from = 0;
  for (const end of line.matchAll(SENTENCE_END)) {
    const to = end.index + end[0].length;
    sentences.push(line.slice(from, to).trim());
    from = to;
  }
  return [...sentences, line.slice(from).trim()].filter((sentence) => sentence !== '');
}

function parseStatement(
  lead: string,
  text: string,
  evidence: readonly Evidence[],
  common: string,
): Statement {
  const ids = [
    ...new Set(
      [...text.matchAll(GROUP)].flatMap(([, words = '']) => (isCitation(words) ? listIds(words) : [])),
    ),
  ];
  // A summary holds the model's words and not those of the file.
  const texts = evidence.filter(({ tool }) => tool !== 'summarize_text');
  const cited = texts.filter(({ id }) => ids.includes(id));
  const words = [...text.matchAll(QUOTED)]
    .flatMap(([, quoted = '']) => splitQuotation(quoted))
    .filter((part) => !common.includes(part));
  const quotes = words.map((part) => locateQuote(part, ids.length === 0 ? texts : cited));
  if (isPartHeading(text)) return { lead, text, evidence: [], quotes: [], basis: 'record' };
  return { lead, text, evidence: ids, quotes, basis: ids.length === 0 ? 'none' : 'evidence' };
}

function isCitation(words: string): boolean {
  return listIds(words).every((id) => /^E\d{1,5}$/.test(id));
}

function listIds(words: string): string[] {
  return words.split(/[,;]| and /).map((id) => id.trim());
}

/**
 * Splits a quotation at ellipses and removes the punctuation mark at the end, which does not belong to the
 * quoted text.
 */
function splitQuotation(quoted: string): string[] {
  return quoted
    .split(/…|\.\.\./)
    .map((part) => part.trim().replace(/[.,;:]$/, ''))
    .filter((part) => part.length >= MIN_QUOTE);
}

/**
 * Finds the position of the quoted words. If they occur nowhere, returns a position that the quotation check
 * rejects.
 */
function locateQuote(words: string, items: readonly Evidence[]): Quote {
  for (const item of items) {
    const quote = findIn(words, item);
    if (quote !== null) return quote;
  }
  const [first] = items;
  return { source: first?.source ?? '', line: first?.lineStart ?? 1, text: words };
}

function findIn(words: string, item: Evidence): Quote | null {
  const { source, lineStart } = item;
  if (lineStart === undefined) return item.text.includes(words) ? { source, line: 1, text: words } : null;
  for (const [offset, raw] of item.text.split('\n').entries()) {
    const line = lineStart + offset;
    if (raw.includes(words)) return { source, line, text: words };
    const visible = cleanLine(stripEscapes(raw));
    if (visible.includes(words)) return getLiteralQuote({ source, line, text: words }, [item]);
    // Models shorten runs of spaces. The line counts as the same.
    if (squeeze(visible).includes(squeeze(words)) && raw.includes(visible.trim()))
      return { source, line, text: visible.trim() };
  }
  return null;
}

function squeeze(text: string): string {
  return text.replace(/\s+/g, ' ');
}

/** Formats the analysis under discussion as short lines. Its evidence is shown separately. */
function showTopic({ topic }: Pick<Inquiry, 'topic'>): string {
  const { analysis, subject, otherCauses } = topic;
  const { answer, verdict } = analysis;
  return [
    `category: ${analysis.category} (${analysis.kind}), ${formatConfidence(verdict.confidence)} ` +
      `sure, ${verdict.action}`,
    `answer: ${toOneLine(answer.title)}`,
    `cause: ${toOneLine(answer.rootCause)}`,
    `fix: ${toOneLine(answer.fixRecommendation)}`,
    ...answer.suspects
      .slice(0, 5)
      .map(
        ({ path, line, commit, author }) =>
          `suspect: ${toOneLine([path, line, commit, author].filter((part) => part != null).join(' '))}`,
      ),
    ...verdict.gaps.slice(0, 5).map((gap) => `not known: ${toOneLine(gap)}`),
    ...otherCauses
      .slice(0, 5)
      .map(({ title, category }) => `another cause of the same build: ${toOneLine(title)} (${category})`),
    showFacts(subject),
  ].join('\n');
}

/** Formats the conversation so far: one line for each older turn, and the latest turns in full. */
export function showMemory({ older, recent }: Memory): string {
  const lines = older.map((line) => `earlier: ${line}`);
  return [
    ...lines,
    ...recent.flatMap(({ question, answer }) => [`question: ${question}`, `answer: ${answer}`]),
  ].join('\n');
}

/** Formats the calls that were made for this question, with their outcomes. */
export function showCalls(outcomes: readonly ToolOutcome[]): string {
  return outcomes
    .map(
      ({ call, status, summary }) =>
        `${call.tool} ${cutLine(JSON.stringify(call.args))}: ${status}, ${cutLine(toOneLine(summary))}`,
    )
    .join('\n');
}

function toOneLine(text: string): string {
  return cutLine(text.replace(/\s+/g, ' ').trim());
}
