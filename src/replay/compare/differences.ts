import type { Comparison, Difference, DifferenceVerdict } from './comparison.ts';
import { mcNemar } from './mcnemar.ts';
import type { Better, Measure, Prepared } from './measure.ts';
import { MEASURES } from './measures.ts';
import type { PairedCase } from './paired-cases.ts';
import { resamplePairs } from './resample.ts';

/** Differences on fewer cases than this are never beyond noise: with five, a two-sided sign test cannot go below p = 0.06. */
const LEAST_DIFFERING = 6;
const SIGNIFICANT = 0.05;
/** Sums in another order differ in their last digits; no figure means anything there. */
const ROUNDING = 1e-9;

/** Everything of these measures that the labels allow to compare, each with the interval of its difference. */
export function differencesOf(
  pairs: readonly PairedCase[],
  measures: readonly Measure[] = MEASURES,
): Pick<Comparison, 'differences' | 'resampling'> {
  const prepared = measures.flatMap((measure) => {
    const ready = measure.prepare(pairs);
    return ready === null ? [] : [{ measure, ready }];
  });
  const { plan, intervals } = resamplePairs(pairs, (weights) =>
    prepared.map(({ ready }) => ready.value('b', weights) - ready.value('a', weights)),
  );
  const differences = prepared.map(({ measure, ready }, at) => differenceOf(measure, ready, plan.units, intervals[at] ?? null));
  return { differences, resampling: plan };
}

function differenceOf({ name, better }: Measure, ready: Prepared, units: number, drawn: Difference['interval']): Difference {
  const [a, b] = [ready.value('a', null), ready.value('b', null)];
  const difference = rounded(b - a);
  const [won, lost] = better === 'lower' ? [ready.lower, ready.higher] : [ready.higher, ready.lower];
  // Nothing varied: with one unit because there is nothing to draw, else because it is alike in every case.
  const constant: Difference['interval'] = units < 2 ? null : [difference, difference];
  const interval: Difference['interval'] = drawn === null ? constant : [rounded(drawn[0]), rounded(drawn[1])];
  const test = ready.binary ? mcNemar(won, lost) : null;
  const verdict = verdictOf({ better, difference, interval, changed: won + lost, midP: test?.midP ?? 0 });
  return { name, better, cases: ready.cases, a, b, difference, interval, won, lost, mcNemar: test, verdict };
}

interface Found {
  readonly better: Better;
  readonly difference: number;
  readonly interval: Difference['interval'];
  readonly changed: number;
  readonly midP: number;
}

/** Beyond noise is only what every test that applies says to be: the interval, McNemar's, and enough cases that differ. */
function verdictOf({ better, difference, interval, changed, midP }: Found): DifferenceVerdict {
  if (changed === 0 && difference === 0) return 'same';
  const apart = interval !== null && (interval[0] > 0 || interval[1] < 0);
  if (!apart || changed < LEAST_DIFFERING || midP >= SIGNIFICANT) return 'within-noise';
  if (better === null) return difference > 0 ? 'higher' : 'lower';
  return difference > 0 === (better === 'higher') ? 'b-better' : 'a-better';
}

function rounded(value: number): number {
  return Math.abs(value) < ROUNDING ? 0 : value;
}
