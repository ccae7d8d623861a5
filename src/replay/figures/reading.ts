import type { FailingTest } from '../../domain/failure.ts';
import type { ReplayedCase } from '../run/replay.ts';
import {
  computeF1,
  computeMean,
  computeRatio,
  computeRatioInterval,
  createMeanFigure,
  createShareFigure,
  type Figure,
  listIds,
  shareFigure,
  withInterval,
} from './figure.ts';

/**
 * Scores the mean recall of the labeled lines, the shares of logs with all and with none of them, and how
 * much of the log the excerpts contain, in tokens and in bytes.
 */
export function scoreLines(cases: readonly ReplayedCase[]): Figure[] {
  const labelled = cases
    .filter((replayedCase) => (replayedCase.row?.expected_lines?.length ?? 0) > 0)
    .map((replayedCase) => ({ one: replayedCase, recall: computeLineRecall(replayedCase) }));
  if (labelled.length === 0) return [];
  const kept = labelled.filter(({ one }) => one.result.logBytes > 0);
  const counted = kept.filter(({ one }) => (one.logTokens ?? 0) > 0);
  const tokens = kept.map(({ one }) => one.result.tokens);
  return [
    createMeanFigure('recall of labelled lines', labelled, ({ recall }) => recall, 1),
    createShareFigure('logs with every labelled line', labelled, ({ recall }) => recall === 1),
    createShareFigure('logs with no labelled line', labelled, ({ recall }) => recall === 0, 'bad'),
    ...(counted.length === 0
      ? []
      : [createMeanFigure('share of the log kept, in tokens', counted, ({ one }) => computeTokenShare(one))]),
    createMeanFigure('share of the log kept, in bytes', kept, ({ one }) => computeByteShare(one)),
    { name: 'tokens kept (mean)', value: computeMean(tokens), cases: kept.length, unit: 'measure' },
  ];
}

/**
 * Computes the share of the labeled lines that the excerpts contain; 0 if none is labeled. Excerpts of
 * every source count, although the labels are of the first log.
 */
export function computeLineRecall({ row, result }: ReplayedCase): number {
  const kept = result.excerpts.map(({ lineStart, lineEnd }): LineRange => [lineStart, lineEnd]);
  return computeCoveredShare(row?.expected_lines ?? [], kept);
}

function computeTokenShare({ result, logTokens }: ReplayedCase): number {
  return Math.min(1, result.tokens / (logTokens ?? 1));
}

function computeByteShare({ result, keptBytes }: ReplayedCase): number {
  return (
    (keptBytes ?? result.excerpts.reduce((total, excerpt) => total + Buffer.byteLength(excerpt.text), 0)) /
    result.logBytes
  );
}

/** A range of lines, 1-based and inclusive. A range that ends before it starts is empty. */
type LineRange = readonly [start: number, end: number];

/**
 * Computes the share of the wanted lines that `covering` contains; 0 if none is wanted. A line in two wanted
 * ranges counts twice. Works on ranges instead of single lines, because a label may span a billion lines.
 */
export function computeCoveredShare(wanted: readonly LineRange[], covering: readonly LineRange[]): number {
  const merged = mergeRanges(covering);
  let [lines, covered] = [0, 0];
  for (const [start, end] of wanted) {
    lines += countLines([start, end]);
    for (const [from, to] of merged) covered += countLines([Math.max(start, from), Math.min(end, to)]);
  }
  return computeRatio(covered, lines);
}

function holdsLine(ranges: readonly LineRange[], line: number): boolean {
  return ranges.some(([start, end]) => start <= line && line <= end);
}

function mergeRanges(ranges: readonly LineRange[]): LineRange[] {
  const merged: [number, number][] = [];
  for (const [start, end] of ranges
    .filter((range) => countLines(range) > 0)
    .sort((left, right) => left[0] - right[0])) {
    const last = merged.at(-1);
    if (last !== undefined && start <= last[1] + 1) last[1] = Math.max(last[1], end);
    else merged.push([start, end]);
  }
  return merged;
}

function countLines([start, end]: LineRange): number {
  return Math.max(0, end - start + 1);
}

/**
 * Scores whether the failed step was found, how many steps were named, and whether its exit code was found.
 * Leaves out figures without cases.
 */
export function scoreSteps(cases: readonly ReplayedCase[]): Figure[] {
  const named = cases.flatMap((replayedCase) =>
    replayedCase.row?.step == null ? [] : [{ one: replayedCase }],
  );
  const ended = cases.flatMap((replayedCase) =>
    replayedCase.row?.exit_code == null ? [] : [{ one: replayedCase, code: replayedCase.row.exit_code }],
  );
  const failed = ({ one }: { readonly one: ReplayedCase }) =>
    one.result.failedSections.filter(({ consequence }) => !consequence);
  const figures = [
    createShareFigure('failing step found', named, ({ one }) => one.result.stepFound === true),
    createMeanFigure('failed steps named, a case', named, (entry) => failed(entry).length),
    createShareFigure("failing step's exit code", ended, (entry) =>
      failed(entry).some(({ exitCode }) => exitCode === entry.code),
    ),
  ];
  return figures.filter(({ cases: of }) => of > 0);
}

/**
 * Scores precision, recall and F1 over the tests of all cases. Names are compared by their words, so that
 * notation does not matter.
 */
export function scoreTests(cases: readonly ReplayedCase[]): Figure[] {
  const labelled = cases.filter((replayedCase) => (replayedCase.row?.failing_tests?.length ?? 0) > 0);
  if (labelled.length === 0) return [];
  let [hits, wanted, named] = [0, 0, 0];
  for (const { row, result } of labelled) {
    const truth = [...new Set(row?.failing_tests ?? [])];
    wanted += truth.length;
    named += result.failingTests.length;
    hits += countNamed(truth, result.failingTests);
  }
  const [precision, recall] = [computeRatio(hits, named), computeRatio(hits, wanted)];
  const values = { precision, recall, F1: computeF1(precision, recall) };
  return Object.entries(values).map(([name, value]) => ({
    name: `failing tests: ${name}`,
    value,
    cases: labelled.length,
  }));
}

/**
 * Counts the labeled tests that were found. A label and a found test match if all words of one occur in the
 * other. Each found test matches at most one label.
 */
export function countNamed(
  truth: readonly string[],
  tests: readonly Pick<FailingTest, 'name' | 'suite' | 'file'>[],
): number {
  const found = tests.map((test) => ({
    all: splitWords(`${test.file ?? ''} ${test.suite ?? ''} ${test.name}`),
    own: splitWords(test.name),
  }));
  return matchTests(truth.map(splitWords), found);
}

function matchTests(truth: readonly string[][], found: readonly { all: string[]; own: string[] }[]): number {
  const free = new Set(found);
  let hits = 0;
  for (const words of truth) {
    const match = [...free].find(
      ({ all, own }) =>
        words.every((word) => all.includes(word)) ||
        (own.length > 0 && own.every((word) => words.includes(word))),
    );
    if (match === undefined) continue;
    free.delete(match);
    hits++;
  }
  return hits;
}

function splitWords(name: string): string[] {
  return name.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
}

/** An answered case. `quoted` has each quoted line as a range of one line. */
interface AnsweredCase {
  readonly one: ReplayedCase;
  readonly quoted: readonly LineRange[];
}

/**
 * Scores the share of quotations that are literally on the line they cite, how many answers quote nothing
 * and, if lines are labeled, how well the quotations match them. Returns none if nothing was answered.
 */
export function scoreQuotes(cases: readonly ReplayedCase[]): Figure[] {
  const answered = cases
    .filter((replayedCase) => replayedCase.result.action !== null || replayedCase.quotes.made > 0)
    .map((replayedCase) => ({ one: replayedCase, quoted: listQuotedLines(replayedCase) }));
  if (answered.length === 0) return [];
  const labelled = answered.filter(({ one }) => (one.row?.expected_lines?.length ?? 0) > 0);
  return [
    ...createLiteralFigure(answered),
    createShareFigure('answers without a quotation', answered, ({ one }) => one.quotes.made === 0, 'bad'),
    ...(labelled.length === 0 ? [] : scoreQuotedLabels(labelled)),
  ];
}

function createLiteralFigure(answered: readonly AnsweredCase[]): Figure[] {
  const made = answered.reduce((total, { one }) => total + one.quotes.made, 0);
  if (made === 0) return [];
  const literal = answered.reduce((total, { one }) => total + one.quotes.literal, 0);
  const wrong = answered.filter(({ one }) => one.quotes.literal < one.quotes.made);
  const interval = computeRatioInterval(answered, ({ one }) => [one.quotes.literal, one.quotes.made]);
  return [
    withInterval(shareFigure('quotations literally in the log', literal, made, listIds(wrong)), interval),
  ];
}

function scoreQuotedLabels(labelled: readonly AnsweredCase[]): Figure[] {
  const countQuotes = (entry: AnsweredCase) => entry.quoted.length;
  const countHits = ({ one, quoted }: AnsweredCase) =>
    quoted.filter(([line]) => holdsLine(one.row?.expected_lines ?? [], line)).length;
  const sum = (count: (entry: AnsweredCase) => number) =>
    labelled.reduce((total, entry) => total + count(entry), 0);
  const missed = listIds(labelled.filter((entry) => countHits(entry) < countQuotes(entry)));
  const precision = shareFigure('quotations on a labelled line', sum(countHits), sum(countQuotes), missed);
  const interval = computeRatioInterval(labelled, (entry) => [countHits(entry), countQuotes(entry)]);
  const recall = ({ one, quoted }: AnsweredCase) =>
    computeCoveredShare(one.row?.expected_lines ?? [], quoted);
  const countWanted = ({ one, quoted }: AnsweredCase) =>
    quoted.filter(([line]) =>
      holdsLine([...(one.row?.expected_lines ?? []), ...(one.row?.helpful_lines ?? [])], line),
    ).length;
  const hasHelpful = labelled.some(({ one }) => (one.row?.helpful_lines?.length ?? 0) > 0);
  return [
    createMeanFigure('recall of labelled lines, by quotations', labelled, recall, 1),
    createShareFigure('answers that quote a labelled line', labelled, (entry) => countHits(entry) > 0),
    ...(precision.cases === 0 ? [] : [withInterval(precision, interval)]),
    ...(hasHelpful && precision.cases > 0
      ? [shareFigure('quotations on a labelled or helpful line', sum(countWanted), sum(countQuotes), [])]
      : []),
  ];
}

/**
 * Returns each quoted line once. Only quotations of logs count, because findings of tools have no log lines.
 */
function listQuotedLines({ result }: ReplayedCase): LineRange[] {
  const logs = new Set(result.excerpts.map(({ source }) => source));
  const quotes = result.claims.flatMap((claim) => claim.quotes).filter(({ source }) => logs.has(source));
  return [...new Set(quotes.map(({ line }) => line))].map((line) => [line, line]);
}
