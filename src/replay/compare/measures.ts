import { CATEGORIES } from '../../domain/category.ts';
import type { Better, Sides } from '../../domain/comparison.ts';
import type { Weights } from '../../lib/statistics.ts';
import { CONFIDENT, computeCalibrationError } from '../figures/calibration.ts';
import { isInTopTwo } from '../figures/categories.ts';
import { findRank } from '../figures/explanation.ts';
import {
  computeF1,
  computeMean,
  computeRatio,
  isExcused,
  isRealFailure,
  isRight,
  type Judged,
  listJudgedCases,
} from '../figures/figure.ts';
import { computeLineRecall } from '../figures/reading.ts';
import type { ReplayedCase } from '../run/replay.ts';
import type { PairedCase } from './pair-cases.ts';

export type Side = keyof Sides<unknown>;

/** A measure of both sides, on the cases with the necessary labels. */
export interface Measure {
  /** The name of the measure, as in the scores of one run. */
  readonly name: string;
  readonly better: Better;
  /** Prepares the measure for these pairs. Returns null if no pair has the data it needs. */
  prepare(pairs: readonly PairedCase[]): Prepared | null;
}

/** A measure with all data of the cases that it needs, which can be computed for many resamples. */
export interface Prepared {
  readonly cases: number;
  /**
   * Returns the value of a side, with every pair counted by its weight, or once without weights. Returns NaN
   * if no counted pair was drawn.
   */
  value(side: Side, weights: Weights | null): number;
  /** The number of pairs for which the second side's value is higher, and lower. */
  readonly higher: number;
  readonly lower: number;
  /** True if every case has the value 0 or 1, so that McNemar's test applies. */
  readonly binary: boolean;
}

/**
 * Creates a measure that is the mean of the values of all cases. The value of a case is the mean of its
 * repeats. Cases with the value null are not counted.
 */
export function createMeanMeasure(
  name: string,
  better: Better,
  worth: (run: ReplayedCase) => number | null,
): Measure {
  return { name, better, prepare: (pairs) => prepareMean(pairs, worth) };
}

/** Computes the value of one case on one side: the mean over its repeats, or null if none of them counts. */
export function computeWorth(
  runs: readonly ReplayedCase[],
  worth: (run: ReplayedCase) => number | null,
): number | null {
  const values = runs.map(worth).filter((value) => value !== null);
  return values.length === 0 ? null : computeMean(values);
}

function prepareMean(
  pairs: readonly PairedCase[],
  worth: (run: ReplayedCase) => number | null,
): Prepared | null {
  const worths = pairs.flatMap(({ runs }, index) => {
    const [a, b] = [computeWorth(runs.a, worth), computeWorth(runs.b, worth)];
    return a === null || b === null ? [] : [{ index, a, b }];
  });
  if (worths.length === 0) return null;
  return {
    cases: worths.length,
    value: (side, weights) => {
      let [total, counted] = [0, 0];
      for (const pair of worths) {
        const weight = weights?.[pair.index] ?? 1;
        total += weight * pair[side];
        counted += weight;
      }
      return total / counted;
    },
    ...countChanges(worths),
    binary: worths.every(({ a, b }) => isBit(a) && isBit(b)),
  };
}

/** Counts the pairs whose value is higher, and lower, on the second side. */
function countChanges(worths: readonly Sides<number>[]): Pick<Prepared, 'higher' | 'lower'> {
  return {
    higher: worths.filter(({ a, b }) => b > a).length,
    lower: worths.filter(({ a, b }) => b < a).length,
  };
}

function isBit(value: number): boolean {
  return value === 0 || value === 1;
}

/**
 * Macro-F1 of the category. It is not a mean over cases, so it is computed again for every resample. With
 * repeats, each counts as a fraction of a case.
 */
const MACRO_F1: Measure = {
  name: 'category macro-F1',
  better: 'higher',
  prepare: (pairs) => {
    const judged = collectParts(pairs, (run) => listJudgedCases([run]));
    if (
      judged === null ||
      !pairs.some(({ runs }) => [...runs.a, ...runs.b].some(({ result }) => result.category !== null))
    )
      return null;
    const rights = pairs.flatMap(({ runs }) =>
      computePair(runs, (run) => listJudgedCases([run]).map((other) => Number(isRight(other)))[0] ?? null),
    );
    return {
      cases: judged.cases,
      value: (side, weights) => computeMacroF1(judged.parts[side], weights),
      ...countChanges(rights),
      binary: false,
    };
  },
};

/** The expected calibration error over ten bins of stated probability, as in the scores of one run. */
const CALIBRATION_ERROR: Measure = {
  name: 'expected calibration error',
  better: 'lower',
  prepare: (pairs) => {
    const stated = collectParts(pairs, listStatements);
    if (stated === null) return null;
    const gaps = pairs.flatMap(({ runs }) =>
      computePair(
        runs,
        (run) =>
          listStatements(run).map((statement) => Math.abs(statement.stated - Number(statement.right)))[0] ??
          null,
      ),
    );
    return {
      cases: stated.cases,
      value: (side, weights) => computeError(stated.parts[side], weights),
      ...countChanges(gaps),
      binary: false,
    };
  },
};

/** The share of quotations that are literally in the log. A case with many quotations counts more. */
const QUOTATIONS: Measure = {
  name: 'quotations literally in the log',
  better: 'higher',
  prepare: (pairs): Prepared | null => {
    const quoting = (run: ReplayedCase) => (run.result.quotes !== null ? [run.quotes] : []);
    const quotes = collectParts(pairs, quoting);
    if (
      quotes === null ||
      !quotes.parts.a.some(({ one }) => one.made > 0) ||
      !quotes.parts.b.some(({ one }) => one.made > 0)
    )
      return null;
    const shares = pairs.flatMap(({ runs }) =>
      computePair(runs, ({ quotes: { made, literal } }) => (made === 0 ? null : literal / made)),
    );
    const value: Prepared['value'] = (side, weights) => computeQuotationShare(quotes.parts[side], weights);
    return { cases: quotes.cases, value, ...countChanges(shares), binary: false };
  },
};

/**
 * The values of a case, in order of precedence. The first one that the labels allow decides which cases are
 * won and lost.
 */
export const MAIN_WORTHS: readonly {
  readonly name: string;
  readonly worth: (run: ReplayedCase) => number | null;
}[] = [
  { name: 'category accuracy', worth: scoreJudged(isRight) },
  {
    name: 'faulty file: mean reciprocal rank',
    worth: scoreSuspects((rank) => (rank === null ? 0 : 1 / rank)),
  },
  { name: 'recall of labelled lines', worth: computeRecall },
];

/** All measures for a comparison of two sides, in the order of the table. */
export const MEASURES: readonly Measure[] = [
  createCategoryMeasure('category accuracy', 'higher', isRight),
  MACRO_F1,
  createCategoryMeasure('category top-2', 'higher', isInTopTwo),
  skipUnclassified(
    createMeanMeasure('kind accuracy', 'higher', ({ row, result }) =>
      row?.kind == null ? null : Number(result.kind === row.kind),
    ),
  ),
  createCategoryMeasure('published and right', 'higher', (judged) => isPublished(judged) && isRight(judged)),
  createCategoryMeasure('published and wrong', 'lower', (judged) => isPublished(judged) && !isRight(judged)),
  createCategoryMeasure('abstained', null, ({ one }) => one.result.abstained === true),
  skipUnclassified(createMeanMeasure('real failures called infrastructure or flaky', 'lower', scoreExcused)),
  createMeanMeasure('confident errors', 'lower', (run) =>
    scoreStated(run, (stated, right) => Number(!right && stated >= CONFIDENT)),
  ),
  CALIBRATION_ERROR,
  createMeanMeasure('Brier score', 'lower', (run) =>
    scoreStated(run, (stated, right) => (stated - Number(right)) ** 2),
  ),
  createMeanMeasure('recall of labelled lines', 'higher', computeRecall),
  QUOTATIONS,
  createSuspectsMeasure('faulty file first', (rank) => Number(rank === 1)),
  createSuspectsMeasure('faulty file in the first five', (rank) => Number(rank !== null && rank <= 5)),
  createSuspectsMeasure('faulty file: mean reciprocal rank', (rank) => (rank === null ? 0 : 1 / rank)),
];

function createCategoryMeasure(name: string, better: Better, holds: (judged: Judged) => boolean): Measure {
  return skipUnclassified(createMeanMeasure(name, better, scoreJudged(holds)));
}

function createSuspectsMeasure(name: string, worth: (rank: number | null) => number): Measure {
  const measure = createMeanMeasure(name, 'higher', scoreSuspects(worth));
  return {
    ...measure,
    prepare: (pairs) =>
      listRuns(pairs).some(({ result }) => result.action !== null) ? measure.prepare(pairs) : null,
  };
}

/**
 * Skips a measure if a run did not classify. Such a run says nothing about categories, and must not be
 * counted as always wrong.
 */
function skipUnclassified(measure: Measure): Measure {
  return {
    ...measure,
    prepare: (pairs) =>
      listRuns(pairs).some(({ result }) => result.category !== null) ? measure.prepare(pairs) : null,
  };
}

function listRuns(pairs: readonly PairedCase[]): ReplayedCase[] {
  return pairs.flatMap(({ runs }) => [...runs.a, ...runs.b]);
}

function scoreJudged(holds: (judged: Judged) => boolean): (run: ReplayedCase) => number | null {
  return (run) => listJudgedCases([run]).map((judged) => Number(holds(judged)))[0] ?? null;
}

function scoreSuspects(worth: (rank: number | null) => number): (run: ReplayedCase) => number | null {
  return (run) => ((run.row?.faulty_files?.length ?? 0) === 0 ? null : worth(findRank(run)));
}

function computeRecall(run: ReplayedCase): number | null {
  return (run.row?.expected_lines?.length ?? 0) === 0 ? null : computeLineRecall(run);
}

function scoreStated(run: ReplayedCase, worth: (stated: number, right: boolean) => number): number | null {
  const { confidence } = run.result;
  return confidence === null
    ? null
    : (listJudgedCases([run]).map((judged) => worth(confidence, isRight(judged)))[0] ?? null);
}

function isPublished({ one }: Judged): boolean {
  return one.result.action === 'auto_notify';
}

/**
 * Returns 1 if a real failure was excused, which is the worst mistake, and 0 if not. Returns null for cases
 * in which that is impossible: only failures of code or tests that are not labeled flaky count.
 */
function scoreExcused(run: ReplayedCase): number | null {
  const [judged] = listJudgedCases([run]);
  return judged !== undefined && isRealFailure(judged) ? Number(isExcused(judged)) : null;
}

/** One repeat of a case, and the fraction of the case that it represents. */
interface Part<T> {
  readonly index: number;
  readonly part: number;
  readonly one: T;
}

/**
 * Collects the values of the repeats of each pair, from pairs where both sides have values. Returns null if
 * there are none.
 */
function collectParts<T>(
  pairs: readonly PairedCase[],
  read: (run: ReplayedCase) => readonly T[],
): { cases: number; parts: Sides<readonly Part<T>[]> } | null {
  const parts: { a: Part<T>[]; b: Part<T>[] } = { a: [], b: [] };
  let cases = 0;
  for (const [index, { runs }] of pairs.entries()) {
    const found = { a: runs.a.flatMap(read), b: runs.b.flatMap(read) };
    if (found.a.length === 0 || found.b.length === 0) continue;
    cases++;
    for (const side of ['a', 'b'] satisfies Side[]) {
      for (const value of found[side]) parts[side].push({ index, part: 1 / found[side].length, one: value });
    }
  }
  return cases === 0 ? null : { cases, parts };
}

function computePair(
  runs: Sides<readonly ReplayedCase[]>,
  worth: (run: ReplayedCase) => number | null,
): Sides<number>[] {
  const [a, b] = [computeWorth(runs.a, worth), computeWorth(runs.b, worth)];
  return a === null || b === null ? [] : [{ a, b }];
}

function listStatements(run: ReplayedCase): { stated: number; right: boolean }[] {
  const { confidence } = run.result;
  return listJudgedCases([run]).flatMap((judged) =>
    confidence === null ? [] : [{ stated: confidence, right: isRight(judged) }],
  );
}

function computeMacroF1(parts: readonly Part<Judged>[], weights: Weights | null): number {
  const counts = new Map(CATEGORIES.map((category) => [String(category), { hits: 0, said: 0, truly: 0 }]));
  for (const { index, part, one } of parts) {
    const weight = part * (weights?.[index] ?? 1);
    const truth = counts.get(one.truth);
    const counted = one.said === null ? undefined : counts.get(one.said);
    if (truth !== undefined) truth.truly += weight;
    if (counted !== undefined) counted.said += weight;
    if (truth !== undefined && truth === counted) truth.hits += weight;
  }
  const classes = [...counts.values()].filter(({ truly }) => truly > 0);
  const scores = classes.map(({ hits, said, truly }) =>
    computeF1(computeRatio(hits, said), computeRatio(hits, truly)),
  );
  return computeMean(scores);
}

function computeError(
  parts: readonly Part<{ stated: number; right: boolean }>[],
  weights: Weights | null,
): number {
  return computeCalibrationError(
    parts.map(({ index, part, one }) => ({ ...one, weight: part * (weights?.[index] ?? 1) })),
  );
}

function computeQuotationShare(
  parts: readonly Part<{ made: number; literal: number }>[],
  weights: Weights | null,
): number {
  let [made, literal] = [0, 0];
  for (const { index, part, one } of parts) {
    const weight = part * (weights?.[index] ?? 1);
    made += weight * one.made;
    literal += weight * one.literal;
  }
  return computeRatio(literal, made);
}
