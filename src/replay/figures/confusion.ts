import { CATEGORIES } from '../../domain/category.ts';
import { f1, ratio } from './figure.ts';
import type { Judged } from './judged.ts';

/** What was said of a class; the last column is nothing at all. */
const SAID = CATEGORIES.length + 1;
const PLACES = new Map<string | null, number>(CATEGORIES.map((category, at) => [category, at]));

/** Precision, recall and F1 of a class, and what they are counted from. */
export interface ClassCounts {
  readonly category: string;
  /** Cases that are truly of the class, that were said to be, and both. */
  readonly truly: number;
  readonly said: number;
  readonly hits: number;
  readonly precision: number;
  readonly recall: number;
  readonly f1: number;
}

/** A case as a whole matrix, row by row, in which its own cell is 1: matrices of cases add up. */
export function matrixOf({ truth, said }: Judged): number[] {
  const cells = new Array<number>(CATEGORIES.length * SAID).fill(0);
  cells[placeOf(truth, said)] = 1;
  return cells;
}

/** The matrices of all cases, added up. */
export function sumMatrix(judged: readonly Judged[]): number[] {
  const sums = new Array<number>(CATEGORIES.length * SAID).fill(0);
  for (const entry of judged) for (const [at, count] of matrixOf(entry).entries()) sums[at] = (sums[at] ?? 0) + count;
  return sums;
}

/** How often a class was taken for another; `said` null: for nothing. */
export function cellOf(matrix: readonly number[], truth: string, said: string | null): number {
  return matrix[placeOf(truth, said)] ?? 0;
}

/** The classes that truly occur, in the order of the taxonomy. */
export function classCounts(matrix: readonly number[]): ClassCounts[] {
  return CATEGORIES.map((category) => countsOf(matrix, category)).filter(({ truly }) => truly > 0);
}

/** The mean F1 of the classes that truly occur. */
export function macroF1(matrix: readonly number[]): number {
  const counts = classCounts(matrix);
  return ratio(
    counts.reduce((total, one) => total + one.f1, 0),
    counts.length,
  );
}

function countsOf(matrix: readonly number[], category: string): ClassCounts {
  const truly = [...CATEGORIES, null].reduce((total, said) => total + cellOf(matrix, category, said), 0);
  const said = CATEGORIES.reduce((total, truth) => total + cellOf(matrix, truth, category), 0);
  const hits = cellOf(matrix, category, category);
  const precision = ratio(hits, said);
  const recall = ratio(hits, truly);
  return { category, truly, said, hits, precision, recall, f1: f1(precision, recall) };
}

function placeOf(truth: string, said: string | null): number {
  return (PLACES.get(truth) ?? 0) * SAID + (PLACES.get(said) ?? SAID - 1);
}
