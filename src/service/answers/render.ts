import { styleText } from 'node:util';
import type { Analysis } from '../../domain/analysis.ts';
import type { ExplainedFailures } from '../../domain/explained-failures.ts';
import { judgeWithoutHistory } from '../../domain/judge-whose.ts';
import type { Whose } from '../../domain/whose.ts';
import { findMax } from '../../lib/collections.ts';
import { cutCharacters } from '../../lib/text.ts';
import { formatFactBlock, formatSmallPrint } from '../../notifications/answer-markdown.ts';
import {
  type AnswerFact,
  type AnswerView,
  answerView,
  formatFailureCount,
  type ProofLine,
} from '../../notifications/answer-view.ts';
import {
  clip,
  disarmRunnerCommands,
  toHtml,
  toInline,
  toVisibleLine,
  toVisibleLines,
  wrap,
} from '../../notifications/visible-text.ts';
import { createWhoseLine, formatWhoseSentence } from '../../notifications/whose-line.ts';

interface PlainOptions {
  /** The failures of the answer among those of its build. */
  readonly explains?: ExplainedFailures;
  /** The verdict on whose the failure is. If absent, only an experiment decides. */
  readonly whose?: Whose | null;
  /** True to leave out usage and id, so that two runs over the same log print the same. */
  readonly stable?: boolean;
}

const MAX_PROSE_PLAIN = 4000;

/**
 * Renders the answer as `Key<tab>value` lines for pipes and files: no color, no box, one value per line; keys
 * repeat if there are several values. Ends with a line break. Keys: Answer (known, sure or unsure), Whose, Category,
 * Kind, Confidence, Confirmed, Title, Tried, Cause, the names of the other facts, Usage, Id.
 */
export function renderPlain(analysis: Analysis, options: PlainOptions = {}): string {
  const { form, confidence, confirmed, title, facts, usageInFull, id } = answerView(
    analysis,
    undefined,
    options.explains,
  );
  const visibleFacts = facts.filter(({ name, reach }) => name !== 'Cause' && reach !== 'review');
  const toRows = (some: typeof visibleFacts) =>
    some.flatMap(({ name, values }) => values.map((value) => [name, value] as const));
  const rows: (readonly [string, string])[] = [
    ['Answer', form],
    ...describeWhose(analysis, options.whose).map((sentence) => ['Whose', sentence] as const),
    ['Category', analysis.category],
    ['Kind', analysis.kind],
    ['Confidence', confidence],
    ...(confirmed === null ? [] : [['Confirmed', confirmed] as const]),
    ['Title', title],
    ...toRows(visibleFacts.filter(({ name }) => name === 'Tried')),
    ['Cause', analysis.answer.rootCause],
    ...toRows(visibleFacts.filter(({ name }) => name !== 'Tried')),
    ...(options.stable
      ? []
      : [['Usage', usageInFull.slice(0, -1).join(' · ')] as const, ['Id', id] as const]),
  ];
  return rows
    .map(([key, value]) => `${key}\t${disarmRunnerCommands(clip(toVisibleLine(value), MAX_PROSE_PLAIN))}\n`)
    .join('');
}

interface TerminalOptions {
  readonly color: boolean;
  /** The width of the terminal in columns; at least 40 is used. */
  readonly width: number;
  /** The failures of the answer among those of its build. */
  readonly explains?: ExplainedFailures;
  /** The verdict on whose the failure is. If absent, only an experiment decides. */
  readonly whose?: Whose | null;
  /**
   * The reasons for the review. If present, conflicting evidence is shown as well. Absent if no review is
   * needed.
   */
  readonly why?: readonly string[];
}

type Style = Parameters<typeof styleText>[0];
type Paint = (style: Style, text: string) => string;

const MARGIN = 11;
const MAX_PROSE_TERMINAL = 2000;

/**
 * Renders the block for people, without lines around it and without hints below it. Ends with a line break.
 * No line is wider than `width`, unless a character is wider than one column. Without `color`, the result
 * contains no escape sequences.
 */
export function renderTerminal(
  analysis: Analysis,
  { color, width, why, explains, whose }: TerminalOptions,
): string {
  const columns = Math.max(40, width);
  const paint = (style: Style, text: string) =>
    color ? styleText(style, text, { validateStream: false }) : text;
  const view = answerView(analysis, why, explains);
  const visibleFacts = view.facts.filter(({ reach }) => why !== undefined || reach !== 'review');
  const verdict = describeWhose(analysis, whose).flatMap((sentence) => formatParagraph(sentence, columns));
  const lines = [
    ...verdict.map((line) => paint('bold', line)),
    ...formatHeading(view, analysis.classification.abstained, columns, paint),
    ...formatParagraph(view.title, columns).map((line) => paint('bold', line)),
    ...visibleFacts.flatMap((fact) =>
      fact.name === 'Cause'
        ? fact.values.flatMap((value) => formatParagraph(value, columns))
        : renderRow(fact, columns, paint),
    ),
    ...wrap(view.usageInFull.map(toVisibleLine).join(' · '), columns).map((line) => paint('dim', line)),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

/** Describes whose the failure is. Returns nothing if neither history nor an experiment is known. */
function describeWhose(analysis: Analysis, given: Whose | null | undefined): string[] {
  const whose = given ?? judgeWithoutHistory(analysis);
  return whose === null ? [] : [`${createWhoseLine(whose).question} ${formatWhoseSentence(whose)}`];
}

function formatHeading(
  { form, what, confidence, confirmed }: AnswerView,
  abstained: boolean,
  columns: number,
  paint: Paint,
): string[] {
  if (what === null) return [paint('yellow', 'Not analyzed: needs review')];
  switch (form) {
    case 'known':
      return [
        ...alignLeftAndRight(what, 'known cause', columns, 'green', paint),
        ...formatParagraph(confirmed ?? '', columns),
      ];
    case 'sure':
      return alignLeftAndRight(what, `${confidence} sure`, columns, 'green', paint);
    case 'unsure':
      return abstained
        ? alignLeftAndRight(
            `Not sure: best guess ${what}`,
            `only ${confidence} sure`,
            columns,
            'yellow',
            paint,
          )
        : alignLeftAndRight(`Needs review: ${what}`, `${confidence} sure`, columns, 'yellow', paint);
  }
}

/** Aligns two texts left and right on one line, or on two lines if they do not fit. */
function alignLeftAndRight(
  left: string,
  right: string,
  columns: number,
  style: Style,
  paint: Paint,
): string[] {
  const gap = columns - left.length - right.length;
  if (gap < 2) return [paint(['bold', 'cyan'], left), paint(style, right)];
  return [`${paint(['bold', 'cyan'], left)}${' '.repeat(gap)}${paint(style, right)}`];
}

function formatParagraph(text: string, columns: number): string[] {
  return toVisibleLines(clip(text, MAX_PROSE_TERMINAL))
    .filter((line) => line.trim() !== '')
    .flatMap((line) => wrap(line.trim(), columns))
    .map(disarmRunnerCommands);
}

/** Renders a fact with its name in the margin. */
function renderRow(fact: AnswerFact, columns: number, paint: Paint): string[] {
  const numbered =
    fact.kind === 'choices' ? fact.values.map((value, index) => `${index + 1}. ${value}`) : fact.values;
  const lines =
    fact.kind === 'lines'
      ? renderLogLines(fact.lines, columns - MARGIN, paint)
      : numbered.flatMap((value) => formatParagraph(value, columns - MARGIN));
  return lines.map(
    (line, index) => `${index === 0 ? paint('bold', fact.name.padEnd(MARGIN)) : ' '.repeat(MARGIN)}${line}`,
  );
}

/** Renders log lines. They are truncated instead of wrapped, so that each keeps its number. */
function renderLogLines(lines: readonly ProofLine[], columns: number, paint: Paint): string[] {
  const oneSource = new Set(lines.map(({ source }) => source)).size === 1;
  const places = lines.map(({ source, line }) =>
    oneSource ? `${line}` : `${toVisibleLine(source)}:${line}`,
  );
  const longest = findMax(
    places.map((place) => place.length),
    0,
  );
  const width = Math.min(columns - 12, longest);
  return lines.map(({ text }, index) => {
    const place = (places[index] ?? '').slice(-width).padStart(width);
    return `${paint('dim', place)}  ${cutCharacters(disarmRunnerCommands(toVisibleLines(text)[0] ?? ''), columns - width - 2)}`;
  });
}

const MAX_TITLE = 200;

/**
 * Renders one analysis as GitHub-flavored Markdown: a headline, the cause with its fix and proof, and the
 * cost. All text from logs, models, and people is neutralized: no mention, link, image, HTML, or comment
 * marker survives, and no text can break out of a code fence. The result has at most about 25,000 characters.
 */
export function renderMarkdown(analysis: Analysis, explains?: ExplainedFailures): string {
  const view = answerView(analysis, undefined, explains);
  const visibleFacts = view.facts.filter(({ reach }) => reach !== 'review');
  const count = formatFailureCount(analysis, explains);
  const small = visibleFacts.filter(({ kind }) => kind === 'note').flatMap(formatSmallPrint);
  const blocks = [
    ...(view.form === 'unsure' ? renderUnsureHead(analysis, view, count) : [renderAnsweredHead(view, count)]),
    ...visibleFacts.filter(({ kind }) => kind !== 'note').map((fact) => formatFactBlock(fact)),
    '</details>',
    // `<sub>` is inside a paragraph, so that Markdown in it is rendered.
    `<sub>${[...small, ...view.usage.map(toInline)].join(' · ')}</sub>`,
  ];
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`;
}

function renderAnsweredHead({ title, what, confirmed, standing }: AnswerView, count: string): string {
  const known = confirmed === null ? '' : 'known cause, ';
  return `<details open><summary><b>${toHtml(clip(title, MAX_TITLE))}</b>: ${what}, ${count}, ${known}${toHtml(standing)}</summary>`;
}

function renderUnsureHead(
  analysis: Analysis,
  { title, what, confidence }: AnswerView,
  count: string,
): string[] {
  const { length } = analysis.answer.hypotheses;
  const fits = length > 1 ? `${length} explanations fit` : clip(title, MAX_TITLE);
  const question =
    what === null
      ? 'Faultline could not analyze it. It needs review.'
      : `Faultline is not sure why (${confidence}). The answer needs review.`;
  return [
    `**${count}. ${question}**`,
    `<details open><summary><b>${toHtml(fits)}</b>${what === null ? '' : `: best guess ${what}`}</summary>`,
  ];
}

const ABOUT_FAILURES: readonly string[] = ['Test', 'Grouped', 'Log'];

/**
 * Renders workflow commands (`::error file=…,line=…,title=…::message`) for a step of GitHub Actions to print:
 * one per cause, at the first suspect with a known line, otherwise without a location, because a guessed
 * annotation would mislead. An uncertain answer is a `::warning`.
 */
export function renderGithubCommands(analysis: Analysis, explains?: ExplainedFailures): string {
  const { answer } = analysis;
  const { form, category, confidence, confirmed, facts } = answerView(analysis, undefined, explains);
  const standing = confirmed ?? `${form === 'unsure' ? 'not sure, ' : ''}${confidence}`;
  const title = escapeCommandProperty(`${clip(answer.title, 150)} (${category}, ${standing})`);
  const about = facts.filter(({ name }) => ABOUT_FAILURES.includes(name));
  const failures = about
    .map(({ label, values }) => ` ${label}: ${clip(values.join(', '), MAX_TITLE)}`)
    .join('');
  const message = escapeCommandData(
    `${clip(answer.rootCause, 1500)} Fix: ${clip(answer.fixRecommendation, 1500)}${failures}`,
  );
  const suspect = answer.suspects.find(({ line }) => line !== null);
  const place =
    suspect === undefined ? '' : `file=${escapeCommandProperty(suspect.path)},line=${suspect.line},`;
  return `::${form === 'unsure' ? 'warning' : 'error'} ${place}title=${title}::${message}\n`;
}

function escapeCommandData(text: string): string {
  return toVisibleLine(text).replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapeCommandProperty(text: string): string {
  return escapeCommandData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
