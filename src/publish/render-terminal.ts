import { styleText } from 'node:util';
import { type Analysis, isJudged } from '../domain/analysis.ts';
import { maxOf } from '../lib/lists.ts';
import { confirmation, formOf, otherEvidence, percent, proofLines, recordOf, sinceGreen, usageParts } from './answer-facts.ts';
import { describeHypothesis, describeSuspect } from './render-plain.ts';
import { clip, disarmRunnerCommands, visibleLine, visibleLines } from './visible-text.ts';
import { wrap } from './wrap.ts';

export interface TerminalOptions {
  readonly color: boolean;
  /** Columns of the terminal; under 40 counts as 40. */
  readonly width: number;
}

type Style = Parameters<typeof styleText>[0];

const INDENT = 9;
const MAX_PROSE = 2000;

/**
 * The block a person reads, without the rules around it and without the hints below it. Ends with a line end. No line is
 * wider than `width`, except where a character is wider than one column. Without `color` it holds no escape.
 */
export function renderTerminal(analysis: Analysis, { color, width }: TerminalOptions): string {
  const columns = Math.max(40, width);
  const paint = (style: Style, text: string) => (color ? styleText(style, text, { validateStream: false }) : text);
  const { answer } = analysis;
  const lines = [
    ...heading(analysis, columns, paint),
    ...paragraph(answer.title, columns).map((line) => paint('bold', line)),
    ...(answer.rootCause.trim() === answer.title.trim() ? [] : paragraph(answer.rootCause, columns)),
    ...row('Fix', [answer.fixRecommendation], columns, paint),
    ...evidenceRows(analysis, columns, paint),
    ...row('New', [sinceGreen(analysis) ?? ''], columns, paint),
    ...row('Suspect', answer.suspects.map(describeSuspect), columns, paint),
    ...row(
      'Or',
      answer.hypotheses.map((hypothesis, index) => `${index + 1}. ${describeHypothesis(hypothesis)}`),
      columns,
      paint,
    ),
    ...row('Record', [recordOf(analysis) ?? ''], columns, paint),
    ...row('Note', analysis.notes, columns, paint),
    ...wrap([...usageParts(analysis), visibleLine(analysis.id)].join(' · '), columns).map((line) => paint('dim', line)),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

type Paint = (style: Style, text: string) => string;

function heading(analysis: Analysis, columns: number, paint: Paint): string[] {
  if (!isJudged(analysis)) return [paint('yellow', 'Not analyzed: needs review')];
  const what = `${analysis.category} · ${analysis.kind}`;
  const confidence = percent(analysis.verdict.confidence);
  switch (formOf(analysis)) {
    case 'known':
      return [...spread(what, 'known cause', columns, 'green', paint), ...paragraph(confirmation(analysis) ?? '', columns)];
    case 'sure':
      return spread(what, `${confidence} sure`, columns, 'green', paint);
    case 'unsure': {
      const guess = analysis.classification.abstained ? `best guess ${what}` : what;
      return spread(`Not sure: ${guess}`, `only ${confidence} sure`, columns, 'yellow', paint);
    }
  }
}

/** Left and right of one line, or on two lines where they do not fit. */
function spread(left: string, right: string, columns: number, style: Style, paint: Paint): string[] {
  const gap = columns - left.length - right.length;
  if (gap < 2) return [paint(['bold', 'cyan'], left), paint(style, right)];
  return [`${paint(['bold', 'cyan'], left)}${' '.repeat(gap)}${paint(style, right)}`];
}

function paragraph(text: string, columns: number): string[] {
  return visibleLines(clip(text, MAX_PROSE))
    .filter((line) => line.trim() !== '')
    .flatMap((line) => wrap(line.trim(), columns))
    .map(disarmRunnerCommands);
}

/** A key and its values; later values and continued lines stand under the first. */
function row(key: string, values: readonly string[], columns: number, paint: Paint): string[] {
  const lines = values.flatMap((value) => paragraph(value, columns - INDENT));
  return lines.map((line, index) => `${index === 0 ? paint('bold', key.padEnd(INDENT)) : ' '.repeat(INDENT)}${line}`);
}

/** Log lines are cut, never wrapped, so that each keeps its number. */
function evidenceRows(analysis: Analysis, columns: number, paint: Paint): string[] {
  const proof = proofLines(analysis);
  const oneSource = new Set(proof.map(({ source }) => source)).size === 1;
  const places = proof.map(({ source, line }) => (oneSource ? `${line}` : `${visibleLine(source)}:${line}`));
  const placeWidth = Math.min(
    columns - INDENT - 12,
    maxOf(
      places.map((place) => place.length),
      0,
    ),
  );
  const rows = proof.map(({ text }, index) => {
    const place = (places[index] ?? '').slice(-placeWidth).padStart(placeWidth);
    return `${paint('dim', place)}  ${cut(disarmRunnerCommands(visibleLines(text)[0] ?? ''), columns - INDENT - placeWidth - 2)}`;
  });
  const others = otherEvidence(analysis).flatMap(({ source, title }) => paragraph(`${source}: ${title}`, columns - INDENT));
  return [...rows, ...others].map(
    (line, index) => `${index === 0 ? paint('bold', 'Evidence '.padEnd(INDENT)) : ' '.repeat(INDENT)}${line}`,
  );
}

function cut(text: string, columns: number): string {
  const characters = Array.from(text);
  return characters.length <= columns ? text : `${characters.slice(0, columns - 1).join('')}…`;
}
