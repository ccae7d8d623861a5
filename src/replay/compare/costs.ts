import { mean } from '../figures/figure.ts';
import type { CaseResult } from '../run/result.ts';
import type { CostDifference } from './comparison.ts';
import type { PairedCase } from './paired-cases.ts';
import { resamplePairs } from './resample.ts';

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
