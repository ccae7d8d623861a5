import type { LabelledFailure } from '../../../src/replay/cases/labelled-failure.ts';
import { findAnswers } from '../../../src/replay/figures/builds/find-answers.ts';
import {
  holdsWords,
  normalizeMessage,
  normalizeWords,
  saysMessage,
} from '../../../src/replay/figures/builds/said-words.ts';
import type { AnalysisResult } from '../../../src/replay/run/results.ts';
import type { CapturedPart } from './captured-parts.ts';
import type { Join } from './choose-joins.ts';
import type { PartSpan } from './join-logs.ts';

/** The answers to a log, each with the messages of the failures that it concerns. */
export interface AnsweredLog {
  readonly failureFound: boolean;
  readonly answers: readonly AnalysisResult[];
  /** The failures of each answer, in order. */
  readonly failures: ReadonlyArray<
    ReadonlyArray<{ readonly test: string | null; readonly suite: string | null; readonly message: string }>
  >;
  readonly text: string;
}

/** The comparison of a joined log with the answers to its parts. */
export interface JudgedJoin {
  readonly join: Join;
  /** The number of failures that the parts have alone. */
  readonly failures: number;
  /** The number of failures that are answered with the same category, kind, message and place as alone. */
  readonly same: number;
  /** The number of failures that no answer names. */
  readonly missing: number;
  /** The number of answers that name something of another part in the title, cause, fix or suspects. */
  readonly bleeding: number;
  readonly answers: number;
  /**
   * The number of answers to failures of different causes, of causes with several answers, and of answers to
   * no failure.
   */
  readonly misgrouped: number;
  /** A sentence for each fault. Empty if the join is answered correctly. */
  readonly faults: readonly string[];
}

/** The pattern of a headline that says only that something failed. */
const NO_HEADLINE = /^##\[error\]Process completed with exit code|^No error was found/;

/**
 * Checks whether a part can be joined. It must be answered alone, and each failure must have an informative
 * message.
 */
export function isUsable({ failureFound, answers, failures }: AnsweredLog): boolean {
  return (
    failureFound && answers.length > 0 && !failures.flat().some(({ message }) => NO_HEADLINE.test(message))
  );
}

/**
 * Checks whether the parts of a join can be distinguished: different parts have no title and no message in
 * common.
 */
export function areTellable(join: Join, alone: ReadonlyMap<CapturedPart, AnsweredLog>): boolean {
  const parts = [...new Set(join.parts)];
  const words = parts.map((part) => listInformativeWords(alone.get(part)));
  return words.every((own, at) =>
    words.slice(at + 1).every((other) => !own.some((one) => other.includes(one))),
  );
}

function listInformativeWords(answered: AnsweredLog | undefined): string[] {
  const messages = answered?.failures.flat().map(({ message }) => normalizeMessage(message).join('\n')) ?? [];
  return [...messages, ...(answered?.answers ?? []).map(({ title }) => normalizeWords(title ?? ''))];
}

interface Expected {
  readonly part: CapturedPart;
  readonly failure: LabelledFailure;
  readonly alone: AnalysisResult;
}

/** Compares the answers to a joined log with those to its parts alone, in the same frame. */
export function judgeJoin(
  join: Join,
  spans: readonly PartSpan[],
  alone: ReadonlyMap<CapturedPart, AnsweredLog>,
  joined: AnsweredLog,
): JudgedJoin {
  const byPart = Map.groupBy(spans, ({ part }) => part);
  const expected = [...byPart].flatMap(([part, own]) => expectFailures(part, own, alone.get(part)));
  const naming = findAnswers(
    expected.map(({ failure }) => failure),
    joined.failureFound ? joined.answers : [],
  );
  const faults: string[] = [];
  let [same, bleeding] = [0, 0];
  for (const [at, one] of expected.entries()) {
    const differences = compareAnswers(one, naming[at] ?? null);
    if (differences.length === 0) same++;
    else faults.push(`${nameFailure(one)}: ${differences.join(', ')}`);
  }
  for (const answer of joined.answers) {
    const parts = new Set(expected.filter((_, at) => naming[at] === answer).map(({ part }) => part));
    const told = [...parts].flatMap((part) => findForeign(part, answer, join, alone));
    if (told.length > 0) bleeding++;
    for (const words of new Set(told)) faults.push(`"${answer.title}" tells of another part: ${words}`);
  }
  const grouping = findMisgrouped(expected, naming, joined.answers);
  const missing = naming.filter((answer) => answer === null).length;
  const counts = {
    failures: expected.length,
    same,
    missing,
    bleeding,
    answers: joined.answers.length,
    misgrouped: grouping.length,
  };
  return { join, ...counts, faults: [...faults, ...grouping] };
}

/**
 * Returns the expected failures of a part. A part that failed several times has several spans but counts as
 * one failure.
 */
function expectFailures(
  part: CapturedPart,
  spans: readonly PartSpan[],
  answered: AnsweredLog | undefined,
): Expected[] {
  const log = spans.length === 1 ? spans[0]?.source : null;
  const lines = spans.map(({ lineStart, lineEnd }): [number, number] => [lineStart, lineEnd]);
  return (answered?.answers ?? []).flatMap((alone, at) =>
    (answered?.failures[at] ?? []).map(({ test, suite, message }) => {
      const category = alone.category as LabelledFailure['category'];
      return {
        part,
        alone,
        failure: { test, suite, message, log, log_lines: lines, cause: `${part.id} ${at + 1}`, category },
      };
    }),
  );
}

function nameFailure({ part, failure }: Expected): string {
  return failure.test == null ? part.id : `${part.id}, ${failure.test}`;
}

/** Lists the differences between an answer and the part's own: its category, kind, message, or place. */
function compareAnswers({ alone, failure }: Expected, answer: AnalysisResult | null): string[] {
  if (answer === null) return ['not answered'];
  const differences: string[] = [];
  if (answer.category !== alone.category) differences.push(`${answer.category} instead of ${alone.category}`);
  if (answer.kind !== alone.kind) differences.push(`${answer.kind} instead of ${alone.kind}`);
  if (saysMessage(toTexts(alone), failure.message) && !saysMessage(toTexts(answer), failure.message))
    differences.push(
      `does not say "${failure.message.split('\n')[0]?.slice(0, 80)}" but "${answer.title?.slice(0, 80)}"`,
    );
  const [wanted, place] = [nameTestPlace(alone, failure), nameTestPlace(answer, failure)];
  if (wanted !== null && place !== wanted) differences.push(`the test is at ${place} instead of ${wanted}`);
  const [suspect, first] = [nameSuspect(alone), nameSuspect(answer)];
  if (suspect !== null && first !== suspect) differences.push(`suspects ${first} instead of ${suspect}`);
  return differences;
}

function toTexts({ title, rootCause, fixRecommendation, claims }: AnalysisResult): string[] {
  const claimed = claims.flatMap(({ text, quotes }) => [text, ...quotes.map((quote) => quote.text)]);
  return [title ?? '', rootCause ?? '', fixRecommendation ?? '', ...claimed];
}

function nameTestPlace({ failingTests }: AnalysisResult, { test, suite }: LabelledFailure): string | null {
  const found =
    failingTests.find((failingTest) => failingTest.name === test && failingTest.suite === suite) ??
    failingTests.find(({ name }) => name === test);
  return found?.file == null ? null : `${found.file}:${found.line}`;
}

function nameSuspect({ suspects }: AnalysisResult): string | null {
  return suspects[0] === undefined ? null : `${suspects[0].path}:${suspects[0].line}`;
}

/** The minimum length of a name. A shorter one may be any word. */
const MIN_NAME = 5;

/**
 * Finds what an answer to a part says about the other parts of its join: their messages, titles and tests,
 * and suspects that are only in their files.
 */
function findForeign(
  part: CapturedPart,
  answer: AnalysisResult,
  { parts }: Join,
  alone: ReadonlyMap<CapturedPart, AnsweredLog>,
): string[] {
  const others = parts.filter((other) => other !== part).flatMap((other) => alone.get(other) ?? []);
  const own = [alone.get(part)?.text ?? '', ...(alone.get(part)?.answers ?? []).flatMap(toTexts)].map(
    normalizeWords,
  );
  const isOwn = (words: string) => own.some((text) => holdsWords(text, words));
  const told = [answer.title ?? '', answer.rootCause ?? '', answer.fixRecommendation ?? ''];
  const names = others.flatMap((other) => [
    ...other.failures
      .flat()
      .flatMap(({ test, message }) => [message, ...(test !== null && test.length >= MIN_NAME ? [test] : [])]),
    ...other.answers.map(({ title }) => title ?? ''),
  ]);
  const foreign = new Set(
    names.filter((name) => saysMessage(told, name) && !normalizeMessage(name).every(isOwn)),
  );
  const suspects = answer.suspects.filter(
    ({ path }) => !own[0]?.includes(path.toLowerCase()) && others.some(({ text }) => text.includes(path)),
  );
  return [...foreign, ...new Set(suspects.map(({ path }) => path))].map(
    (words) => words.split('\n')[0] ?? '',
  );
}

function findMisgrouped(
  expected: readonly Expected[],
  naming: ReadonlyArray<AnalysisResult | null>,
  answers: readonly AnalysisResult[],
): string[] {
  const named = expected.flatMap(({ failure }, at) =>
    naming[at] == null ? [] : [{ cause: failure.cause, answer: naming[at] }],
  );
  const faults: string[] = [];
  for (const answer of answers) {
    const causes = new Set(named.filter((one) => one.answer === answer).map(({ cause }) => cause));
    if (causes.size === 0) faults.push(`"${answer.title}" answers no failure`);
    if (causes.size > 1) faults.push(`"${answer.title}" is one answer for ${[...causes].join(' and ')}`);
  }
  for (const [cause, ones] of Map.groupBy(named, (one) => one.cause)) {
    const count = new Set(ones.map(({ answer }) => answer)).size;
    if (count > 1) faults.push(`${cause} has ${count} answers`);
  }
  return faults;
}
