import type { Quote } from '../domain/analysis.ts';
import type { Evidence } from '../domain/evidence.ts';
import type { Diagnostic, LogPosition } from '../domain/failure.ts';
import type { TriageSubject } from '../domain/triage.ts';
import { cleanLine, stripEscapes } from '../log/lines/clean.ts';
import { BREAK } from '../log/reports/passages.ts';
import type { Fact } from './facts.ts';

/**
 * Returns a text as one line of at most `most` characters, without punctuation at its end; the folder at the
 * end of a command ("./...") stays. It is cut between sentences if enough is left, or else between words.
 */
export function toOneLine(text: string, most: number): string {
  const line = text
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/(?<=[^\s./:;,])[.:;,]+$/, '');
  if (line.length <= most) return line;
  const cut = line.slice(0, most - 1);
  const sentence =
    /^(.{30,}?[\w)"'”]{2})(?:[.;] |(?<!, (?:Expected|Received)): (?=[A-Z]))/.exec(line)?.[1] ?? '';
  if (sentence.length >= most * 0.5 && sentence.length <= most) return sentence;
  const space = cut.lastIndexOf(' ');
  const whole = space > most * 0.6 ? cut.slice(0, space) : cut;
  return `${whole.replace(/[\s:;,]{1,20}$/, '')}…`;
}

/** Joins words for a sentence: "a", "a and b", "a, b and 3 more". `others` replaces "more". */
export function joinWords(words: readonly string[], most = 3, others = 'more'): string {
  if (words.length <= 1) return words[0] ?? '';
  if (words.length <= most) return `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
  return `${words.slice(0, most - 1).join(', ')} and ${words.length - most + 1} ${others}`;
}

const STEM = 6;

/**
 * Returns the words of names in camel, snake, or kebab case, in lower case and stemmed, without uninformative
 * words.
 */
export function listWords(names: string): ReadonlySet<string> {
  const words = names.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g) ?? [];
  return new Set(
    words
      .map((word) => word.toLowerCase().slice(0, STEM))
      .filter((word) => word.length > 2 && !EMPTY.has(word)),
  );
}

/** Returns the share of a file name's words that are among the given words, 0..1. */
export function computeLikeness(path: string, words: ReadonlySet<string>): number {
  const pathWords = listWords((path.split(/[\\/]/).at(-1) ?? '').replace(/\.\w{1,8}$/, ''));
  return pathWords.size === 0 ? 0 : [...pathWords].filter((word) => words.has(word)).length / pathWords.size;
}

const EMPTY: ReadonlySet<string> = new Set([
  'test',
  'tests',
  'should',
  'with',
  'and',
  'the',
  'java',
  'for',
  'from',
  'not',
  'get',
  'set',
]);

/** Returns the usual name of a tool. Extractors only recognize a format that several tools share. */
export function getToolName({ tool, code }: Pick<Diagnostic, 'tool' | 'code'>): string {
  if (/^TS\d/.test(code ?? '')) return 'tsc';
  if (/^CS\d/.test(code ?? '')) return 'csc';
  if (/^(?:Syntax|Indentation|Tab)Error$/.test(code ?? '')) return 'Python';
  if (tool === 'rustc' && code === 'internal') return 'rustfmt';
  if (tool === 'msvc') return 'MSVC';
  if (tool === 'compiler') return 'the compiler';
  // Only the format is known, not the tool.
  return tool === 'tool' ? 'the failed command' : tool;
}

/** Returns the text of a fact without the tool's name, which is added to a diagnostic for the rules. */
export function getFactText(fact: Fact): string {
  return fact.origin === 'diagnostic'
    ? fact.text.replace(/^[\w+.-]{1,40}: /, '')
    : fact.text.replace(/^##\[error\]|^(?:npm (?:ERR!|error)|\[ERROR\]|ERROR:|error:|E:) ?/, '');
}

/**
 * Returns at most `most` cleaned lines from a position on. Returns none if no excerpt contains the position.
 */
export function readLinesFrom(
  at: LogPosition | null,
  { excerpts }: Pick<TriageSubject, 'excerpts'>,
  most: number,
): string[] {
  if (at === null) return [];
  const excerpt = excerpts.find(
    (other) => other.source === at.source && other.lineStart <= at.line && at.line <= other.lineEnd,
  );
  if (excerpt === undefined) return [];
  const lines = excerpt.text
    .split('\n')
    .slice(at.line - excerpt.lineStart, at.line - excerpt.lineStart + most);
  return lines.map((line) => cleanLine(stripEscapes(line)).trimEnd());
}

/** Words that are literally on a line, with the evidence that contains the line. */
export interface Quotation {
  readonly evidenceId: string;
  readonly quote: Quote;
}

const MAX_QUOTE = 400;

/** Quotes the line of a fact from evidence that contains it. Returns null if none does. */
export function quoteFact(fact: Fact, evidence: readonly Evidence[]): Quotation | null {
  const atLine =
    fact.source === null || fact.line === null ? null : quoteLine(fact.source, fact.line, evidence);
  const text = getFactText(fact);
  if (atLine !== null && squeeze(atLine.quote.text).includes(squeeze(text).slice(0, 40))) return atLine;
  const elsewhere = quoteText(text, evidence);
  return elsewhere ?? (atLine !== null && shares(atLine.quote.text, fact.text) ? atLine : null);
}

/**
 * Quotes a line of a source by its number. If a line of a report has several texts, quotes the one that
 * contains `needle`, or the first one.
 */
export function quoteLine(
  source: string,
  line: number,
  evidence: readonly Evidence[],
  needle = '',
): Quotation | null {
  for (const item of evidence) {
    const { lineStart, lineEnd } = item;
    if (
      item.source !== source ||
      lineStart === undefined ||
      lineEnd === undefined ||
      line < lineStart ||
      line > lineEnd
    )
      continue;
    const parts = (item.text.split('\n')[line - lineStart] ?? '').split(BREAK);
    const text = findLiteral(parts.find((part) => squeeze(part).includes(needle)) ?? parts[0] ?? '');
    if (text !== '') return { evidenceId: item.id, quote: { source, line, text } };
  }
  return null;
}

/** Quotes the first line of the evidence that contains the beginning of a text. */
export function quoteText(text: string, evidence: readonly Evidence[]): Quotation | null {
  const wanted = squeeze(text.split('\n').find((line) => line.trim().length > 3) ?? '').slice(0, 120);
  const body = wanted.replace(/^[\w.+-]{1,30}: (?:[A-Z]{0,4}\d{1,6}: )?/, '');
  const needles = [wanted, body, wanted.slice(0, 60)].filter((needle) => needle.length >= 8);
  for (const needle of needles) {
    for (const item of evidence) {
      if (item.lineStart === undefined) continue;
      const offset = item.text
        .split('\n')
        .findIndex((raw) => squeeze(cleanLine(stripEscapes(raw))).includes(needle));
      const quotation = offset < 0 ? null : quoteLine(item.source, item.lineStart + offset, [item], needle);
      if (quotation !== null) return quotation;
    }
  }
  return null;
}

/** Returns the readable part of a stored line that occurs in it literally. */
function findLiteral(raw: string): string {
  const text = cleanLine(stripEscapes(raw)).trim();
  if (text !== '' && raw.includes(text)) return text.slice(0, MAX_QUOTE);
  // If there are escapes inside the line, only the longest part between two of them is literal.
  const pieces = raw.split(/\u001b\[[0-?]{0,60}[ -/]{0,10}[@-~]|[\u001b\r]/).map((piece) => piece.trim());
  return pieces
    .reduce((longest, piece) => (piece.length > longest.length ? piece : longest), '')
    .slice(0, MAX_QUOTE);
}

function shares(quoted: string, text: string): boolean {
  const wordsOfText = (some: string) => some.toLowerCase().match(/[\p{L}\p{N}_]{3,}/gu) ?? [];
  const words = new Set(wordsOfText(text));
  return wordsOfText(quoted).some((word) => words.has(word));
}

function squeeze(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
