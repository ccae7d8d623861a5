import type { Weights } from '../../lib/statistics.ts';
import { mean } from '../figures/figure.ts';
import type { ReplayedCase } from '../run/replay.ts';
import type { PairedCase, Sides } from './paired-cases.ts';

export type Side = keyof Sides<unknown>;

/** Which way is good; null where neither is. */
export type Better = 'higher' | 'lower' | null;

/** Something that both sides are measured by, on the cases whose labels allow it. */
export interface Measure {
  /** As the scores of one run name it. */
  readonly name: string;
  readonly better: Better;
  /** Null where no pair has what it needs. */
  prepare(pairs: readonly PairedCase[]): Prepared | null;
}

/** A measure with all that it needs of the cases, ready to be asked for one resample after another. */
export interface Prepared {
  /** Pairs that count. */
  readonly cases: number;
  /** On that side, every pair counted as often as its weight says, once each without weights; NaN where none that counts was drawn. */
  value(side: Side, weights: Weights | null): number;
  /** Pairs on which the second side's own value is higher, lower. */
  readonly higher: number;
  readonly lower: number;
  /** Every case is worth 0 or 1 and nothing else: McNemar's test applies. */
  readonly binary: boolean;
}

/** The mean of what each case is worth; over repeats, the mean of the repeats. Null: the case does not count. */
export function meanMeasure(name: string, better: Better, worth: (run: ReplayedCase) => number | null): Measure {
  return { name, better, prepare: (pairs) => prepareMean(pairs, worth) };
}

/** What one case is worth on one side: the mean over its repeats; null where none of them counts. */
export function worthOf(runs: readonly ReplayedCase[], worth: (run: ReplayedCase) => number | null): number | null {
  const values = runs.map(worth).filter((value) => value !== null);
  return values.length === 0 ? null : mean(values);
}

function prepareMean(pairs: readonly PairedCase[], worth: (run: ReplayedCase) => number | null): Prepared | null {
  const worths = pairs.flatMap(({ runs }, index) => {
    const [a, b] = [worthOf(runs.a, worth), worthOf(runs.b, worth)];
    return a === null || b === null ? [] : [{ index, a, b }];
  });
  if (worths.length === 0) return null;
  return {
    cases: worths.length,
    value: (side, weights) => {
      let [total, counted] = [0, 0];
      for (const one of worths) {
        const weight = weights?.[one.index] ?? 1;
        total += weight * one[side];
        counted += weight;
      }
      return total / counted;
    },
    ...changesOf(worths),
    binary: worths.every(({ a, b }) => isBit(a) && isBit(b)),
  };
}

/** How many of the pairs are worth more, and less, on the second side. */
export function changesOf(worths: readonly Sides<number>[]): Pick<Prepared, 'higher' | 'lower'> {
  return { higher: worths.filter(({ a, b }) => b > a).length, lower: worths.filter(({ a, b }) => b < a).length };
}

function isBit(value: number): boolean {
  return value === 0 || value === 1;
}
