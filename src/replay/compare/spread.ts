import { mean } from '../figures/figure.ts';
import type { Spread } from './comparison.ts';
import type { Side } from './measure.ts';
import { MEASURES } from './measures.ts';
import type { PairedCase } from './paired-cases.ts';
import type { RunResults } from './read-results.ts';

/** Each figure of each repeat by itself, on the cases that all repeats answered, and the cases that do not stay the same. Null for one file. */
export function spreadOf(pairs: readonly PairedCase[], side: Side, files: readonly RunResults[]): Spread | null {
  if (files.length < 2) return null;
  const whole = pairs.filter(({ runs }) => runs[side].length === files.length);
  const repeats = files.map((_, at) => whole.map((pair) => onlyRepeat(pair, side, at)));
  const figures = MEASURES.flatMap((measure) => {
    const values = repeats.map((ones) => measure.prepare(ones)?.value('a', null) ?? null).filter((value) => value !== null);
    return values.length < files.length ? [] : [{ name: measure.name, mean: mean(values), deviation: deviationOf(values), values }];
  });
  const flips = whole.filter(({ runs }) => new Set(runs[side].map(({ result }) => result.category)).size > 1);
  const partial = pairs.filter(({ runs }) => runs[side].length < files.length);
  return { repeats: files.length, figures, flips: flips.map(({ id }) => id), partial: partial.map(({ id }) => id) };
}

/** The pair as if this repeat were both sides: measures only count what both sides have. */
function onlyRepeat(pair: PairedCase, side: Side, at: number): PairedCase {
  const runs = pair.runs[side].slice(at, at + 1);
  return { ...pair, runs: { a: runs, b: runs } };
}

/** The standard deviation of a sample: by one less than its size. */
function deviationOf(values: readonly number[]): number {
  const middle = mean(values);
  return Math.sqrt(values.reduce((total, value) => total + (value - middle) ** 2, 0) / (values.length - 1));
}
