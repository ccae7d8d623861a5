import type { Section } from '../../domain/failure.ts';
import { cleanLine, stripEscapes } from '../../log/lines/clean.ts';
import { countTokens } from '../../log/reduce/tokens.ts';
import { holdsReadable } from '../../log/reports/passages.ts';
import type { CaseTexts, DatasetRow } from '../cases/case.ts';
import { type AdviceCheck, checkAdvice } from './check-advice.ts';
import type { CaseResult } from './results.ts';

/** The results of checks that need the log of a case. */
export interface CaseChecks {
  /** The number of quotations in the claims, and of those that are literally on their line. */
  readonly quotes: { readonly made: number; readonly literal: number };
  /** The number of tokens of the whole log, if its labeled lines are scored. A long log is sampled. */
  readonly logTokens?: number;
  readonly stepFound?: boolean;
  /** The names in the advice, if the row has a known fix. */
  readonly advice?: AdviceCheck | null;
  /** The duration of these checks. It is not part of a triage, so the run's time excludes it. */
  readonly checkMilliseconds?: number;
}

/**
 * Performs the checks that need the log: how many quotations are literal, how long the log is if that is
 * scored, and which names of the advice are in it or in `tree`, the paths of the repository's files.
 */
export function checkCase(
  row: DatasetRow,
  result: CaseResult,
  { sources }: CaseTexts,
  tree = '',
): CaseChecks {
  const startedAt = performance.now();
  const quotes = checkQuotes(result, sources);
  const logTokens = row.expected_lines == null ? {} : { logTokens: estimateTokens(sources[0]?.text ?? '') };
  const stepFound =
    row.step == null ? {} : { stepFound: isStepFound(row.step, result.failedSections, sources) };
  const atHand = [...sources.map(({ text }) => text), tree];
  const advice = checkAdvice(row, result.fixRecommendation, atHand);
  return { quotes, ...logTokens, ...stepFound, advice, checkMilliseconds: performance.now() - startedAt };
}

/** The placeholders of secrets, e-mail addresses and hosts. */
const HIDDEN = /\*\*\*|<(?:EMAIL|HOST)(?:_\d{1,9})?>/;

/**
 * Checks quotations against the logs before masking; a placeholder matches any characters. Lines of reports
 * are also read with entities and escapes decoded.
 */
function checkQuotes(result: CaseResult, sources: CaseTexts['sources']): CaseChecks['quotes'] {
  const logs = new Map(
    sources.map(({ name, kind, text }) => [name, { isReport: kind === 'report', lines: text.split('\n') }]),
  );
  const quotes = result.claims.flatMap((claim) => claim.quotes).filter((quote) => logs.has(quote.source));
  const literal = quotes.filter((quote) => {
    const log = logs.get(quote.source);
    const line = log?.lines[quote.line - 1] ?? '';
    const holds = (stored: string, words: string) => stands(words, stored);
    return log?.isReport === true ? holdsReadable(line, quote.text, holds) : holds(line, quote.text);
  });
  return { made: quotes.length, literal: literal.length };
}

function stands(quote: string, line: string): boolean {
  let at = 0;
  for (const part of quote.split(HIDDEN)) {
    const found = line.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return true;
}

type FailedStep = Pick<Section, 'name' | 'source' | 'lineStart' | 'lineEnd' | 'consequence'>;

/** Words that a label may add or omit. */
const COMMON_WORDS = new Set(['run', 'step', 'job', 'workflow', 'action', 'log']);
/** The maximum number of lines of a step's head that are searched for its command. */
const MAX_HEAD = 300;

/**
 * Checks whether a label describes one of the failed steps in its own words, such as "npm test (jest)". Steps
 * that failed as a consequence are skipped. The label must contain the significant words of the step's name,
 * or the step's name and script must contain those of the label, or of a part of the label with at least two
 * words.
 */
export function isStepFound(
  label: string,
  steps: readonly FailedStep[],
  texts: readonly { name: string; text: string }[],
): boolean {
  const labelWords = listDistinctiveWords(label);
  const parts = label.split(/[():;…]|->| \/ |, /).map(listDistinctiveWords);
  const wanted = [labelWords, ...parts.filter(({ size }) => size > 1)].filter(({ size }) => size > 0);
  return steps
    .filter(({ consequence }) => consequence !== true)
    .some((step) => {
      const all = step.name.split(' / ');
      const lines = all.length > 1 && all[0]?.startsWith('Run ') !== true ? all.slice(1) : all;
      if (lines.map(listDistinctiveWords).some((words) => words.size > 0 && areWithin(words, labelWords)))
        return true;
      const stepWords = listDistinctiveWords(`${step.name}\n${getStepHead(step, texts)}`);
      return wanted.some((words) => areWithin(words, stepWords));
    });
}

function listDistinctiveWords(text: string): Set<string> {
  return new Set(listContentWords(text).filter((word) => !COMMON_WORDS.has(word)));
}

function areWithin(words: ReadonlySet<string>, others: ReadonlySet<string>): boolean {
  return [...words].every((word) => others.has(word));
}

function getStepHead(
  { source, lineStart, lineEnd }: FailedStep,
  texts: readonly { name: string; text: string }[],
): string {
  const lines = texts.find(({ name }) => name === source)?.text.split('\n', lineStart + MAX_HEAD) ?? [];
  const head = lines
    .slice(lineStart - 1, Math.min(lineEnd, lineStart + MAX_HEAD))
    .map((line) => cleanLine(stripEscapes(line)));
  const end = head.findIndex((line) => line.startsWith('##[endgroup]'));
  return head.slice(0, end + 1).join('\n');
}

const PIECE = 4_000;
const PIECES = 24;

/**
 * Estimates the tokens of a text: exactly up to 96,000 characters, and beyond that from 24 evenly spread
 * samples. Deterministic.
 */
export function estimateTokens(text: string): number {
  if (text.length <= PIECE * PIECES) return countTokens(text);
  const stride = (text.length - PIECE) / (PIECES - 1);
  let tokens = 0;
  for (let piece = 0; piece < PIECES; piece++) {
    const start = Math.round(piece * stride);
    tokens += countTokens(text.slice(start, start + PIECE));
  }
  return Math.round((tokens * text.length) / (PIECE * PIECES));
}

/** Words that are ignored when texts are compared. */
const STOP_WORDS = new Set(
  (
    'a an and any are as at be been because but by can could did do does for from had has have if in ' +
    'into is it its itself more most no nor not of off on or ' +
    'our out over own so some such than that the their them then there these they this those through ' +
    'to too under until up was we were what when where ' +
    'which while who why will with would you your'
  ).split(' '),
);

/**
 * Splits a text into lowercase words. camelCase, snake_case, paths, and numbers next to letters are split.
 */
function splitWords(text: string): string[] {
  const parted = text
    .normalize('NFKC')
    .replace(/(\p{Ll})(?=\p{Lu})/gu, '$1 ')
    .replace(/(\p{Lu})(?=\p{Lu}\p{Ll})/gu, '$1 ')
    .replace(/(\p{L})(?=\p{N})/gu, '$1 ')
    .replace(/(\p{N})(?=\p{L})/gu, '$1 ');
  return parted.toLowerCase().match(/[\p{L}\p{M}]+|\p{N}+/gu) ?? [];
}

export function listContentWords(text: string): string[] {
  return splitWords(text).filter((word) => !STOP_WORDS.has(word));
}

/**
 * Creates a function that finds mentions in a text: the same words in the same order, in any notation.
 * `max_retries`, `maxRetries` and "max retries" are equal, and so are "time out" and "timeout". Only whole
 * words match: "port" is not in "report". A mention without letters and digits must occur literally.
 */
export function mentionFinder(text: string): (mention: string) => boolean {
  const words = splitWords(text);
  return (mention) => {
    const wanted = join(splitWords(mention));
    if (wanted === '') return text.includes(mention);
    return words.some((_, start) => startsAt(words, start, wanted));
  };
}

function startsAt(words: readonly string[], start: number, wanted: string): boolean {
  let found = '';
  for (let at = start; at < words.length && found.length < wanted.length; at++)
    found = joinCharacters(found, words[at] ?? '');
  return found === wanted;
}

function join(words: readonly string[]): string {
  return words.reduce(joinCharacters, '');
}

/** Digits are not joined: 1.2 is not 12. */
function joinCharacters(left: string, right: string): string {
  return /\p{N}$/u.test(left) && /^\p{N}/u.test(right) ? `${left}.${right}` : left + right;
}
