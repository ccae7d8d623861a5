import { bootstrapWeights, type Interval, type Weights } from '../../lib/statistics.ts';
import { LEAST_PROJECTS, mean } from '../figures/figure.ts';
import type { CaseResult } from '../run/result.ts';
import type { Comparison, CostDifference, Difference, DifferenceVerdict, McNemar, Resampling } from './comparison.ts';
import { type Better, MEASURES, type Measure, type Prepared } from './measures.ts';
import type { PairedCase } from './paired-cases.ts';

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

/**
 * McNemar's test for paired proportions (McNemar 1947, Psychometrika 12:153) by the binomial distribution itself, however many pairs
 * disagree; the mid-p is what Fagerland, Lydersen & Laake 2013 (BMC Medical Research Methodology 13:91) recommend, because the exact
 * p is needlessly strict with few pairs. 1 where no pair disagrees.
 */
export function mcNemar(won: number, lost: number): McNemar {
  const pairs = won + lost;
  const fewer = Math.min(won, lost);
  if (pairs === 0) return { won, lost, exact: 1, midP: 1 };
  // Terms are kept as logarithms: half to the power of a thousand is no number.
  let logTerm = -pairs * Math.LN2;
  let below = 0;
  for (let count = 0; count < fewer; count++) {
    below += Math.exp(logTerm);
    logTerm += Math.log((pairs - count) / (count + 1));
  }
  const seen = Math.exp(logTerm);
  const exact = Math.min(1, 2 * (below + seen));
  const midP = won === lost ? 1 : 2 * below + seen;
  return { won, lost, exact, midP };
}

/**
 * 95 % intervals of statistics of pairs, which are drawn with replacement: both sides of a case together, and the cases of a project
 * together where there are enough projects. A statistic is given how often each pair was drawn. Null where it did not vary.
 */
function resamplePairs(
  pairs: readonly PairedCase[],
  statistics: (weights: Weights) => readonly number[],
): { readonly plan: Resampling; readonly intervals: readonly (Interval | null)[] } {
  const byProject = groupsOf(pairs.map(({ project }) => project));
  const units = byProject.length >= LEAST_PROJECTS ? byProject : groupsOf(pairs.map(({ id }) => id));
  const weights: Weights = new Uint32Array(pairs.length);
  const intervals = bootstrapWeights(units.length, pairs.length, (drawn) => {
    for (const [unit, members] of units.entries()) for (const member of members) weights[member] = drawn[unit] ?? 0;
    return statistics(weights);
  });
  return { plan: { by: units === byProject && units.length < pairs.length ? 'project' : 'case', units: units.length }, intervals };
}

/** The indexes of each group, by the groups' names, so that the order of the cases changes nothing. */
function groupsOf(names: readonly string[]): number[][] {
  const groups = Map.groupBy(names.keys(), (index) => names[index] ?? '');
  return [...groups].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, members]) => members);
}

const COSTS: readonly { readonly name: string; readonly unit: CostDifference['unit']; readonly of: (result: CaseResult) => number }[] = [
  { name: 'dollars a case', unit: 'dollars', of: ({ usage }) => usage.costUsd },
  { name: 'model tokens a case', unit: 'tokens', of: ({ usage }) => usage.inputTokens + usage.outputTokens },
  { name: 'log tokens kept a case', unit: 'tokens', of: ({ tokens }) => tokens },
  { name: 'rounds a case', unit: 'rounds', of: ({ iterations }) => iterations ?? 0 },
  { name: 'milliseconds a case', unit: 'milliseconds', of: ({ milliseconds }) => milliseconds },
];

interface Paid {
  readonly index: number;
  readonly a: number;
  readonly b: number;
}

/** What the answers cost, on the cases that failed on neither side. A cost that nobody paid is left out. */
export function costsOf(pairs: readonly PairedCase[]): CostDifference[] {
  const whole = pairs.filter(({ runs }) => [...runs.a, ...runs.b].every(({ result }) => result.error === null));
  const found = COSTS.map((cost) => {
    const worth = (runs: PairedCase['runs']['a']) => mean(runs.map(({ result }) => cost.of(result)));
    return { cost, paid: whole.map(({ runs }, index): Paid => ({ index, a: worth(runs.a), b: worth(runs.b) })) };
  }).filter(({ paid }) => paid.some(({ a, b }) => a > 0 || b > 0));
  const sorted = found.map(({ paid }) => paid.toSorted((left, right) => left.b - left.a - (right.b - right.a)));
  const { intervals, plan } = resamplePairs(whole, (weights) => sorted.map((paid) => medianDifference(paid, weights)));
  return found.map(({ cost, paid }, at) => {
    const difference = medianDifference(sorted[at] ?? [], null);
    const constant: CostDifference['interval'] = plan.units < 2 ? null : [difference, difference];
    return {
      name: cost.name,
      unit: cost.unit,
      cases: paid.length,
      a: medianOf(paid.map(({ a }) => a)),
      b: medianOf(paid.map(({ b }) => b)),
      difference,
      interval: intervals[at] ?? constant,
      totals: { a: sumOf(paid.map(({ a }) => a)), b: sumOf(paid.map(({ b }) => b)) },
    };
  });
}

/** The weighted median of what B costs more, of pairs sorted by it; the mean of the middle two where they are even. */
function medianDifference(sorted: readonly Paid[], weights: ArrayLike<number> | null): number {
  const total = weights === null ? sorted.length : sumOf(sorted.map(({ index }) => weights[index] ?? 0));
  const at = (place: number) => {
    let passed = 0;
    for (const { index, a, b } of sorted) {
      passed += weights === null ? 1 : (weights[index] ?? 0);
      if (passed > place) return b - a;
    }
    return Number.NaN;
  };
  return (at(Math.floor((total - 1) / 2)) + at(Math.floor(total / 2))) / 2;
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  const middle = (sorted.length - 1) / 2;
  return mean([sorted[Math.floor(middle)] ?? 0, sorted[Math.ceil(middle)] ?? 0]);
}

function sumOf(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
