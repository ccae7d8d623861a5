import { z } from 'zod';
import type { Answer, Quote } from '../../domain/analysis.ts';
import type { Category } from '../../domain/category.ts';
import { type Evidence, holdsQuote, type ToolOutcome } from '../../domain/evidence.ts';
import type { Diagnostic, FailingTest, ThrownException } from '../../domain/failure.ts';
import type { TriageSubject } from '../../domain/triage.ts';
import { cutAfter } from '../../lib/text.ts';
import { classifyRole } from '../../log/line-roles.ts';
import { cleanLine, stripEscapes } from '../../log/lines/clean.ts';
import type { Insight, Plan, PlanGap } from '../../ports/analyst.ts';
import type { ToolDescription } from '../../ports/toolbox.ts';
import { cutLine } from './cut-line.ts';

/** The maximum number of failing tests that are listed. An answer lists as many. */
const MAX_TESTS = 10;
const MAX_ITEMS = 8;
const MAX_MESSAGES = 4;
const MAX_FRAMES = 6;
const MAX_WARNINGS = 3;
/**
 * The maximum length of a message in characters. Longer messages are shown in full among the lines of the
 * log.
 */
const MAX_FACT = 300;

/**
 * Formats the failing step and the reader's findings as short lines. Omits facts that `shown`, the evidence
 * next to it, already states, and
 * repetitions. All of its text is external and masked.
 */
export function showFacts(subject: TriageSubject, page = ''): string {
  const { build, failures, failingTests } = subject;
  const known = flatten(page);
  const isNew = (text: string) => !known.includes(flatten(text).slice(0, WORDS));
  return [
    ...describeOrigin(build),
    ...describeSteps(subject),
    ...failures.slice(0, 1).map(({ message }) => `what failed: ${toOneLine(message)}`),
    ...(failures.length > 1 ? [`failures with this cause: ${failures.length}`] : []),
    ...(subject.toolchains.length === 0 ? [] : [`tools at work: ${subject.toolchains.join(', ')}`]),
    ...list(`failing tests (${failingTests.length})`, failingTests.map(showTest), MAX_TESTS),
    ...list(
      'exceptions',
      subject.exceptions.filter(({ message }) => message === '' || isNew(message)).map(showException),
    ),
    ...list(
      'diagnostics',
      listInformativeDiagnostics(subject.diagnostics)
        .filter(({ message }) => isNew(message))
        .map(showDiagnostic),
    ),
    ...list(
      'other error messages',
      subject.messages
        .filter(({ text }) => classifyRole(text) === 'cause' && isNew(text))
        .map(({ text }) => toOneLine(text)),
      MAX_MESSAGES,
    ),
    ...list('lines of other failures, answered apart', describeForeign(subject)),
    ...list('remarks of the reader', subject.notes.map(toOneLine)),
  ].join('\n');
}

/** The number of first characters by which a repeated message is recognized. */
const WORDS = 80;

function flatten(text: string): string {
  return stripEscapes(text).replace(/\s+/g, ' ').trim();
}

function describeOrigin({
  repository,
  pipeline,
  number,
  attempt,
  branch,
  commit,
  job,
}: TriageSubject['build']): string[] {
  const more = Object.entries({ branch, commit, job }).flatMap(([name, value]) =>
    value === null ? [] : [`${name} ${value}`],
  );
  return [
    `repository ${repository}, pipeline ${pipeline}, build ${number}, attempt ${attempt}`,
    ...(more.length === 0 ? [] : [more.join(', ')]),
  ];
}

/** Describes each failed step with its exit code. If no step is known, describes how the processes ended. */
function describeSteps({ failedSections, exits }: TriageSubject): string[] {
  const ended = [...new Set(exits.map(({ code, signal }) => signal ?? `exit code ${code}`))];
  const steps = failedSections.map(
    ({ name, exitCode }) => `${toOneLine(name)}${exitCode === undefined ? '' : ` (exit code ${exitCode})`}`,
  );
  if (steps.length === 0) return ended.length === 0 ? [] : [`ended with: ${ended.join(', ')}`];
  const isTold = failedSections.some(({ exitCode }) => exitCode !== undefined) || ended.length === 0;
  return [
    `failed step: ${[...new Set(steps)].join('; ')}${isTold ? '' : `, ended with ${ended.join(', ')}`}`,
  ];
}

/** Warnings are listed only if there are no errors. */
function listInformativeDiagnostics(all: readonly Diagnostic[]): readonly Diagnostic[] {
  const errors = all.filter((entry) => entry.severity === 'error');
  return errors.length > 0 ? errors : all.slice(0, MAX_WARNINGS);
}

/** Describes the lines of the build's other failures, which no tool shows. */
function describeForeign({ foreign = [] }: TriageSubject): string[] {
  return foreign.map(({ source, lineStart, lineEnd }) => `${source} ${lineStart}-${lineEnd}`);
}

function showTest(test: FailingTest): string {
  const name = test.suite === null ? test.name : `${test.suite} › ${test.name}`;
  const place = test.file === null ? '' : ` (${test.file}${test.line === null ? '' : `:${test.line}`})`;
  const values =
    test.expected === null || test.actual === null
      ? ''
      : ` expected: ${toOneLine(test.expected)} actual: ${toOneLine(test.actual)}`;
  return `${toOneLine(name)}${place}${values}${test.message === null ? '' : ` message: ${toOneLine(test.message)}`}`;
}

function showException(thrown: ThrownException): string {
  const frames = thrown.frames.filter((frame) => frame.own).slice(0, MAX_FRAMES);
  const places = frames.map((frame) => `${frame.file}${frame.line === null ? '' : `:${frame.line}`}`);
  const at = places.length === 0 ? '' : ` at ${places.join(', ')}`;
  return `${thrown.type}: ${toOneLine(thrown.message)}${at}`;
}

function showDiagnostic(entry: Diagnostic): string {
  const place = entry.file === null ? '' : ` ${entry.file}${entry.line === null ? '' : `:${entry.line}`}`;
  return `${entry.severity} of ${entry.tool}${place}${entry.code === null ? '' : ` ${entry.code}`}: ${toOneLine(entry.message)}`;
}

function list(title: string, all: readonly string[], most = MAX_ITEMS): string[] {
  const items = [...new Set(all)];
  if (items.length === 0) return [];
  const more = items.length > most ? [`- … and ${items.length - most} more`] : [];
  return [`${title}:`, ...items.slice(0, most).map((item) => `- ${item}`), ...more];
}

/** Returns the visible text on one line. */
function toOneLine(text: string): string {
  const seen = stripEscapes(text).split('\n').map(cleanLine).join(' ');
  return cutLine(seen.replace(/\s+/g, ' ').trim(), MAX_FACT);
}

/**
 * The maximum length of shown arguments, those that the rules chose (`SHORT`), and summaries, in characters.
 */
const [MAX_ARGUMENT, SHORT] = [240, 60];
const MAX_SUMMARY = 300;

/**
 * Describes the state of the inquiry: category, round, open gaps, and all calls with the evidence that they
 * returned.
 */
export function showSituation(insight: Insight, plan?: Plan): string {
  const { classification, round, gaps, outcomes, chosenRounds, conclusions = [] } = insight;
  return [
    `category so far: ${classification.category} (${classification.kind}), ` +
      `probability ${classification.confidence.toFixed(2)}${classification.abstained ? ', a guess' : ''}`,
    `because: ${classification.because}`,
    `round: ${round}`,
    ...(plan === undefined || plan.thought === '' ? [] : [`thought of this round: ${plan.thought}`]),
    ...formatList('open questions', (plan?.gaps ?? []).map(showGap)),
    ...formatList('the last answer was sent back because of', gaps),
    ...formatList('what investigators concluded', conclusions),
    ...(outcomes.length === 0
      ? ['asked so far: nothing']
      : formatList(
          'asked so far',
          outcomes.map((outcome) =>
            showOutcome(outcome, chosenRounds?.includes(outcome.round ?? 0) === false ? SHORT : MAX_ARGUMENT),
          ),
        )),
  ].join('\n');
}

function formatList(title: string, items: readonly string[]): string[] {
  return items.length === 0 ? [] : [`${title}:`, ...items.map((item) => `- ${item}`)];
}

function showGap({ missing, tool, blocks }: PlanGap): string {
  return `${missing}${blocks ? ' (blocks the answer)' : ''}${tool === null ? '' : `: ${tool}`}`;
}

/** Describes a tool for the prompt: its name, question and arguments. */
export function showTool(tool: ToolDescription): string {
  return `- ${tool.name}: ${tool.question} Arguments: ${JSON.stringify(tool.parameters)}`;
}

/**
 * Describes the question that a tool answers and its cost, so that a model can choose. Mentions if the tool
 * is rarely useful for the category.
 */
export function describeTool(tool: ToolDescription, category: Category): string {
  const unusual = tool.categories.includes(category) ? '' : `, seldom of use for ${category}: say why`;
  return `${tool.question} (cost ${tool.costClass}${unusual})`;
}

/** Lists the available tools, one per line. */
export function listTools(offered: readonly ToolDescription[], category: Category): string {
  return offered.map((tool) => `- ${tool.name}: ${describeTool(tool, category)}`).join('\n') || '- none';
}

/** Lists the available tools with their arguments, for a plan that names calls. */
export function listToolsWithArguments(offered: readonly ToolDescription[], category: Category): string {
  const lines = offered.map((tool) => {
    const remarks = [
      ...(tool.costClass === 'low' ? [] : [`cost ${tool.costClass}`]),
      ...(tool.categories.includes(category) ? [] : ['seldom of use here: say why']),
    ];
    const remark = remarks.length === 0 ? '' : ` (${remarks.join(', ')})`;
    return `- ${tool.name}(${listArguments(tool.parameters)}): ${tool.question}${remark}`;
  });
  return lines.join('\n') || '- none';
}

const Parameters = z.object({
  properties: z.record(
    z.string(),
    z.object({
      type: z.string().optional(),
      description: z.string().optional(),
      enum: z.array(z.string()).optional(),
    }),
  ),
  required: z.array(z.string()).default([]),
});

/**
 * The maximum number of allowed values that are listed. If a tool rejects a value, its error lists all of
 * them.
 */
const MAX_CHOICES = 4;

/** Lists arguments. A question mark after the name marks optional ones. */
function listArguments(parameters: ToolDescription['parameters']): string {
  const schema = Parameters.safeParse(parameters);
  if (!schema.success) return '';
  const { properties, required } = schema.data;
  return Object.entries(properties)
    .map(([name, { type = 'string', description, enum: choices = [] }]) => {
      const listed = choices.length > MAX_CHOICES ? [] : choices;
      const kinds = listed.length > 0 ? [listed.join('|')] : type === 'string' ? [] : [type];
      const meaning = [...kinds, ...(description === undefined ? [] : [description])].join(', ');
      return `${name}${required.includes(name) ? '' : '?'}${meaning === '' ? '' : `: ${meaning}`}`;
    })
    .join('; ');
}

/**
 * Formats an answer with its claims numbered C1, C2, … for verification, and marks the quotations that were
 * found at their position.
 */
export function showAnswer(answer: Answer, evidence: readonly Evidence[]): string {
  const claims = answer.claims.flatMap((claim, index) => [
    `C${index + 1} (cites ${claim.evidence.join(', ') || 'nothing'}): ${claim.text}`,
    ...claim.quotes.map((quote) => `   quotes ${quote.source}:${quote.line}: ${showQuote(quote, evidence)}`),
  ]);
  return [
    `title: ${answer.title}`,
    `cause: ${answer.rootCause}`,
    `fix: ${answer.fixRecommendation}`,
    `its author's confidence: ${answer.confidence.toFixed(2)}`,
    claims.length === 0 ? 'claims: none' : 'claims:',
    ...claims,
  ].join('\n');
}

/** Returns the visible text of the quoted line, if the line contains the quotation. */
function showQuote(quote: Quote, evidence: readonly Evidence[]): string {
  const item = evidence.find((item) => holdsQuote(item, quote));
  if (item === undefined) return `${quote.text} [does NOT stand there]`;
  const line =
    item.lineStart === undefined
      ? quote.text
      : (item.text.split('\n')[quote.line - item.lineStart] ?? quote.text);
  return `${cutLine(cleanLine(stripEscapes(line)), 300)} [stands there]`;
}

function showOutcome({ call, status, summary, evidence = [] }: ToolOutcome, most: number): string {
  const args = Object.entries(call.args).map(
    ([name, value]) => `${name}=${cutAfter(JSON.stringify(value), most)}`,
  );
  const brought = evidence.length === 0 ? '' : ` (${evidence.join(', ')})`;
  return `${call.tool}(${args.join(', ')}): ${status}, ${cutAfter(summary, MAX_SUMMARY)}${brought}`;
}

/** Cuts a text to at most `limit` characters and appends the number of missing characters. */
export function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const mark = `\n[… ${text.length - limit} more characters are not shown …]`;
  return text.slice(0, Math.max(0, limit - mark.length)) + mark;
}
