import { CATEGORIES } from '../../domain/category.ts';
import type { Weights } from '../../lib/statistics.ts';
import { calibrationError } from '../figures/calibration-error.ts';
import { f1, ratio } from '../figures/figure.ts';
import { isRight, type Judged, judgedCases } from '../figures/judged.ts';
import type { ReplayedCase } from '../run/replay.ts';
import { changesOf, type Measure, type Prepared, type Side, worthOf } from './measure.ts';
import type { PairedCase, Sides } from './paired-cases.ts';

/** Macro-F1 of the category: no mean of cases, so it is counted anew in every resample. Repeats count a part of a case each. */
export const MACRO_F1: Measure = {
  name: 'category macro-F1',
  better: 'higher',
  prepare: (pairs) => {
    const judged = partsOf(pairs, (run) => judgedCases([run]));
    if (judged === null || !pairs.some(({ runs }) => [...runs.a, ...runs.b].some(({ result }) => result.category !== null))) return null;
    const rights = pairs.flatMap(({ runs }) => pairOf(runs, (run) => judgedCases([run]).map((one) => Number(isRight(one)))[0] ?? null));
    return { cases: judged.cases, value: (side, weights) => macroF1(judged.parts[side], weights), ...changesOf(rights), binary: false };
  },
};

/** Expected calibration error over ten bins of stated probability, as the scores of one run have it. */
export const CALIBRATION_ERROR: Measure = {
  name: 'expected calibration error',
  better: 'lower',
  prepare: (pairs) => {
    const stated = partsOf(pairs, statementsOf);
    if (stated === null) return null;
    const gaps = pairs.flatMap(({ runs }) =>
      pairOf(runs, (run) => statementsOf(run).map((one) => Math.abs(one.stated - Number(one.right)))[0] ?? null),
    );
    return {
      cases: stated.cases,
      value: (side, weights) => errorOf(stated.parts[side], weights),
      ...changesOf(gaps),
      binary: false,
    };
  },
};

/** Quotations that stand in the log, of all that were made: a case with many quotations counts for more. */
export const QUOTATIONS: Measure = {
  name: 'quotations literally in the log',
  better: 'higher',
  prepare: (pairs): Prepared | null => {
    const quoting = (run: ReplayedCase) => (run.result.quotes !== null ? [run.quotes] : []);
    const quotes = partsOf(pairs, quoting);
    if (quotes === null || !quotes.parts.a.some(({ one }) => one.made > 0) || !quotes.parts.b.some(({ one }) => one.made > 0)) return null;
    const shares = pairs.flatMap(({ runs }) => pairOf(runs, ({ quotes: { made, literal } }) => (made === 0 ? null : literal / made)));
    return {
      cases: quotes.cases,
      value: (side, weights) => quotationShare(quotes.parts[side], weights),
      ...changesOf(shares),
      binary: false,
    };
  },
};

/** One repeat of a case, and which part of the case it is. */
interface Part<T> {
  readonly index: number;
  readonly part: number;
  readonly one: T;
}

/** What the repeats of each pair give, of the pairs where both sides give something; null where none does. */
function partsOf<T>(
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
      for (const one of found[side]) parts[side].push({ index, part: 1 / found[side].length, one });
    }
  }
  return cases === 0 ? null : { cases, parts };
}

function pairOf(runs: Sides<readonly ReplayedCase[]>, worth: (run: ReplayedCase) => number | null): Sides<number>[] {
  const [a, b] = [worthOf(runs.a, worth), worthOf(runs.b, worth)];
  return a === null || b === null ? [] : [{ a, b }];
}

function statementsOf(run: ReplayedCase): { stated: number; right: boolean }[] {
  const { confidence } = run.result;
  return judgedCases([run]).flatMap((one) => (confidence === null ? [] : [{ stated: confidence, right: isRight(one) }]));
}

function macroF1(parts: readonly Part<Judged>[], weights: Weights | null): number {
  const counts = new Map(CATEGORIES.map((category) => [String(category), { hits: 0, said: 0, truly: 0 }]));
  for (const { index, part, one } of parts) {
    const weight = part * (weights?.[index] ?? 1);
    const truth = counts.get(one.truth);
    const said = one.said === null ? undefined : counts.get(one.said);
    if (truth !== undefined) truth.truly += weight;
    if (said !== undefined) said.said += weight;
    if (truth !== undefined && truth === said) truth.hits += weight;
  }
  const classes = [...counts.values()].filter(({ truly }) => truly > 0);
  const scores = classes.map(({ hits, said, truly }) => f1(ratio(hits, said), ratio(hits, truly)));
  return ratio(
    scores.reduce((total, score) => total + score, 0),
    scores.length,
  );
}

function errorOf(parts: readonly Part<{ stated: number; right: boolean }>[], weights: Weights | null): number {
  return calibrationError(parts.map(({ index, part, one }) => ({ ...one, weight: part * (weights?.[index] ?? 1) })));
}

function quotationShare(parts: readonly Part<{ made: number; literal: number }>[], weights: Weights | null): number {
  let [made, literal] = [0, 0];
  for (const { index, part, one } of parts) {
    const weight = part * (weights?.[index] ?? 1);
    made += weight * one.made;
    literal += weight * one.literal;
  }
  return ratio(literal, made);
}
