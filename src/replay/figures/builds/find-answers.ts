import { findMax } from '../../../lib/collections.ts';
import type { LabelledFailure } from '../../cases/labelled-failure.ts';
import type { AnalysisResult } from '../../run/results.ts';
import { holdsWords, normalizeWords } from './said-words.ts';

type NamedTest = AnalysisResult['failingTests'][number];

/** The quality of a match between a test that an answer lists and a labeled one; 0 means no match. */
const [NO_MATCH, WORDS_MATCH, NAME_MATCH, SUITE_MATCH] = [0, 1, 2, 3];
/** The minimum length of a name that is searched for in sentences. A shorter one occurs by chance. */
const MIN_MENTIONED = 5;

/**
 * Finds for each failure the answer that names it, or null.
 *
 * A failure with a test is named by the answer that lists the test: its exact name, with or without the suite
 * or file before it (if there are several, those of the same suite), or else the same words in any notation,
 * unless that listed test is another failure's. If no answer lists it, it is named by the first one that
 * contains its name in title, cause or a claim. A failure without a test is named by the answer with the most
 * quotations inside its `log_lines`. If several answers name it equally well, the one with more quotations
 * inside its `log_lines` is chosen, and then the first one.
 */
export function findAnswers(
  failures: readonly LabelledFailure[],
  answers: readonly AnalysisResult[],
): (AnalysisResult | null)[] {
  const listed = answers.flatMap(({ failingTests }) => failingTests);
  const taken = new Set(
    listed.filter((test) => failures.some((failure) => matchTest(failure, test) >= NAME_MATCH)),
  );
  return failures.map((failure) => {
    if (failure.test == null) return findMostQuoting(failure, answers, 1);
    const matches = answers.map((answer) => ({
      answer,
      match: computeBestMatch(failure, answer.failingTests, taken),
    }));
    const best = findMax(
      matches.map(({ match }) => match),
      NO_MATCH,
    );
    const naming =
      best === NO_MATCH
        ? listMentioning(failure.test, answers)
        : matches.filter(({ match }) => match === best).map((match) => match.answer);
    return findMostQuoting(failure, naming, 0);
  });
}

function computeBestMatch(
  failure: LabelledFailure,
  tests: readonly NamedTest[],
  taken: ReadonlySet<NamedTest>,
): number {
  let best = NO_MATCH;
  for (const test of tests) {
    const match = matchTest(failure, test);
    if (match > best && (match > WORDS_MATCH || !taken.has(test))) best = match;
  }
  return best;
}

function matchTest({ test, suite }: LabelledFailure, listed: NamedTest): number {
  if (test == null) return NO_MATCH;
  const wanted = toWords(test);
  const nameWords = toWords(listed.name);
  const all = toWords([listed.file, listed.suite, listed.name].filter(Boolean).join(' '));
  if (endsWith(all, wanted) || endsWith(wanted, nameWords)) {
    const isSuite =
      suite == null || listed.suite === null || haveSameEnd(toWords(suite), toWords(listed.suite));
    return isSuite ? SUITE_MATCH : NAME_MATCH;
  }
  const isWithin = (words: readonly string[], others: readonly string[]) =>
    words.every((word) => others.includes(word));
  return isWithin(wanted, all) || isWithin(nameWords, wanted) ? WORDS_MATCH : NO_MATCH;
}

function haveSameEnd(left: readonly string[], right: readonly string[]): boolean {
  return endsWith(left, right) || endsWith(right, left);
}

function endsWith(words: readonly string[], end: readonly string[]): boolean {
  return end.length > 0 && end.every((word, at) => words[words.length - end.length + at] === word);
}

function toWords(name: string): string[] {
  return name.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
}

function listMentioning(test: string, answers: readonly AnalysisResult[]): AnalysisResult[] {
  const name = normalizeWords(test);
  if (name.length < MIN_MENTIONED) return [];
  const isMentioned = ({ title, rootCause, claims }: AnalysisResult) =>
    [title ?? '', rootCause ?? '', ...claims.map(({ text }) => text)].some((text) =>
      holdsWords(normalizeWords(text), name),
    );
  return answers.filter(isMentioned);
}

/**
 * Returns the answer with the most quotations inside the lines of the failure, or the first of several.
 * Returns null if none has at least `least`.
 */
function findMostQuoting(
  failure: LabelledFailure,
  answers: readonly AnalysisResult[],
  least: number,
): AnalysisResult | null {
  let best: AnalysisResult | null = null;
  let most = least - 1;
  for (const answer of answers) {
    const count = countQuotes(failure, answer);
    if (count > most) [best, most] = [answer, count];
  }
  return best;
}

function countQuotes({ log, log_lines: ranges }: LabelledFailure, { claims }: AnalysisResult): number {
  const quotes = claims
    .flatMap((claim) => claim.quotes)
    .filter(({ source }) => log == null || source === log);
  return quotes.filter(({ line }) => (ranges ?? []).some(([from, to]) => from <= line && line <= to)).length;
}
