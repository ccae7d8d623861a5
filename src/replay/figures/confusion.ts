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

/** Cells of a matrix, row by row. */
export const CELLS = CATEGORIES.length * SAID;

/** Counts a case in a matrix. */
export function addToMatrix(matrix: number[], { truth, said }: Judged): void {
  const place = placeOf(truth, said);
  matrix[place] = (matrix[place] ?? 0) + 1;
}

/** All cases in one matrix. */
export function sumMatrix(judged: readonly Judged[]): number[] {
  const matrix = new Array<number>(CELLS).fill(0);
  for (const entry of judged) addToMatrix(matrix, entry);
  return matrix;
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
