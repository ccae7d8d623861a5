import type {
  Better,
  ChangedCase,
  ComparedSide,
  Comparison,
  CostDifference,
  Difference,
  DifferenceVerdict,
  McNemar,
  Resampling,
  Sides,
  Spread,
} from '../../domain/comparison.ts';
import { bootstrapWeights, type Interval, type Weights } from '../../lib/statistics.ts';
import type { CaseOutcome } from '../cases/case.ts';
import { computeMean, MIN_PROJECTS } from '../figures/figure.ts';
import type { ReplayedCase } from '../run/replay.ts';
import type { CaseResult } from '../run/results.ts';
import type { RunResults } from '../run/results-file.ts';
import { computeWorth, MAIN_WORTHS, MEASURES, type Measure, type Prepared, type Side } from './measures.ts';
import { type PairedCase, pairCases } from './pair-cases.ts';
import { summarizeComparison } from './text.ts';

export interface CompareOptions {
  readonly dataset: string;
  readonly cases: AsyncIterable<CaseOutcome>;
  /** The results files of each side. Several files are repeats of one configuration. */
  readonly files: Sides<readonly RunResults[]>;
}

/**
 * Compares two runs on the same cases, in pairs. Deterministic: the same files always give the same
 * comparison, and exchanging the sides only changes signs. Throws if an id occurs twice or no case is on both
 * sides.
 */
export async function compareRuns({ dataset, cases, files }: CompareOptions): Promise<Comparison> {
  const { pairs, ...others } = await pairCases(cases, files);
  const measured = computeDifferences(pairs);
  const facts = {
    schema: 1 as const,
    dataset,
    sides: { a: createSide(pairs, 'a', files.a), b: createSide(pairs, 'b', files.b) },
    cases: { compared: pairs.length, ...others },
    ...measured,
    costs: computeCosts(pairs),
    ...listChangedCases(pairs, measured.differences),
  };
  return { ...facts, summary: summarizeComparison(facts) };
}

function createSide(pairs: readonly PairedCase[], side: Side, files: readonly RunResults[]): ComparedSide {
  const analysts = pairs
    .flatMap(({ runs }) => runs[side].map(({ result }) => result.analyst))
    .filter((analyst) => analyst !== null);
  return {
    files: files.map(({ path }) => path),
    analysts: [...new Set(analysts)].sort(),
    spread: computeSpread(pairs, side, files),
  };
}

/**
 * Returns the cases that B answers better, worse, or only differently, in the order of the data set. The
 * first main figure that can be compared decides.
 */
function listChangedCases(
  pairs: readonly PairedCase[],
  compared: readonly Pick<Difference, 'name'>[],
): Pick<Comparison, 'wonBy' | 'won' | 'lost' | 'changed'> {
  const main = MAIN_WORTHS.find(({ name }) => compared.some((difference) => difference.name === name));
  const [won, lost, changed]: [ChangedCase[], ChangedCase[], ChangedCase[]] = [[], [], []];
  for (const pair of pairs) {
    const { a, b } = pair.runs;
    const [before, after] =
      main === undefined ? [null, null] : [computeWorth(a, main.worth), computeWorth(b, main.worth)];
    const answers = { a: summarizeAnswers(a), b: summarizeAnswers(b) };
    const { id, line, row } = pair;
    const changedCase: ChangedCase = {
      id,
      line,
      url: toWebAddress(row.source),
      truth: describeTruth(pair, main?.name ?? null),
      said: answers,
    };
    if (before !== null && after !== null && before !== after)
      (after > before ? won : lost).push(changedCase);
    else if (answers.a !== answers.b) changed.push(changedCase);
  }
  return { wonBy: main?.name ?? null, won, lost, changed };
}

/**
 * Returns the most common answer of the repeats (the first one if there are several), and its count if not
 * all are equal. The answer is the category, or another result if the run did not classify.
 */
function summarizeAnswers(runs: readonly ReplayedCase[]): string {
  const answers = Map.groupBy(runs, describeAnswer);
  const [[answer, ones] = ['nothing', []]] = [...answers].sort(
    ([, left], [, right]) => right.length - left.length,
  );
  return ones.length === runs.length ? answer : `${answer} (${ones.length} of ${runs.length})`;
}

function describeAnswer({ row, result }: ReplayedCase): string {
  if (result.error !== null) return 'failed';
  if (result.category !== null && row?.category != null) {
    const published = result.action === 'auto_notify' ? ', published' : '';
    return `${result.category}${result.abstained === true ? ', abstained' : ''}${published}`;
  }
  if ((row?.faulty_files?.length ?? 0) > 0) return result.suspects[0]?.path ?? 'no suspect';
  const lines = result.excerpts.map(({ lineStart, lineEnd }) =>
    lineStart === lineEnd ? `${lineStart}` : `${lineStart}-${lineEnd}`,
  );
  return lines.length === 0 ? 'nothing' : `lines ${shorten(lines)}`;
}

/** Returns the label that decided, or else the first label. */
function describeTruth({ row }: PairedCase, wonBy: string | null): string {
  const files = shorten(row.faulty_files ?? []);
  const lines = `lines ${shorten((row.expected_lines ?? []).map(([start, end]) => (start === end ? `${start}` : `${start}-${end}`)))}`;
  if (wonBy === 'recall of labelled lines') return lines;
  if (row.category != null && !wonBy?.startsWith('faulty file'))
    return [row.category, ...(row.also_ok ?? []), ...(row.category_alternatives ?? [])].join(' or ');
  return files === '' ? lines : files;
}

const MAX_NAMED = 3;

function shorten(names: readonly string[]): string {
  const more = names.length - MAX_NAMED;
  return names.slice(0, MAX_NAMED).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** Returns the URL if it is http or https, or else null, because a data set is untrusted text. */
function toWebAddress(source: string | null | undefined): string | null {
  const url = source == null ? null : URL.parse(source);
  return url !== null && (url.protocol === 'https:' || url.protocol === 'http:') ? url.href : null;
}

/**
 * Computes each figure of each repeat separately, on the cases that all repeats answered, and lists the cases
 * that vary. Returns null for a single file.
 */
function computeSpread(
  pairs: readonly PairedCase[],
  side: Side,
  files: readonly RunResults[],
): Spread | null {
  if (files.length < 2) return null;
  const whole = pairs.filter(({ runs }) => runs[side].length === files.length);
  const repeats = files.map((_, at) => whole.map((pair) => getOnlyRepeat(pair, side, at)));
  const figures = MEASURES.flatMap((measure) => {
    const values = repeats
      .map((ones) => measure.prepare(ones)?.value('a', null) ?? null)
      .filter((value) => value !== null);
    return values.length < files.length
      ? []
      : [{ name: measure.name, mean: computeMean(values), deviation: computeDeviation(values), values }];
  });
  const flips = whole.filter(({ runs }) => new Set(runs[side].map(({ result }) => result.category)).size > 1);
  const partial = pairs.filter(({ runs }) => runs[side].length < files.length);
  return {
    repeats: files.length,
    figures,
    flips: flips.map(({ id }) => id),
    partial: partial.map(({ id }) => id),
  };
}

/**
 * Returns the pair with this single repeat of `side` on both sides, because measures only count what both
 * sides have.
 */
function getOnlyRepeat(pair: PairedCase, side: Side, at: number): PairedCase {
  const runs = pair.runs[side].slice(at, at + 1);
  return { ...pair, runs: { a: runs, b: runs } };
}

/** Computes the standard deviation of a sample, with one less than its size as the divisor. */
function computeDeviation(values: readonly number[]): number {
  const middle = computeMean(values);
  return Math.sqrt(values.reduce((total, value) => total + (value - middle) ** 2, 0) / (values.length - 1));
}

/**
 * The minimum number of differing cases for a significant difference. With five, a two-sided sign test cannot
 * go below p = 0.06.
 */
const MIN_DIFFERING = 6;
const SIGNIFICANT = 0.05;
/** The tolerance for sums, whose last digits depend on the order of their terms. */
const ROUNDING = 1e-9;

/** Computes all differences of these measures that the labels allow, each with its interval. */
export function computeDifferences(
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
  const differences = prepared.map(({ measure, ready }, at) =>
    computeDifference(measure, ready, plan.units, intervals[at] ?? null),
  );
  return { differences, resampling: plan };
}

function computeDifference(
  { name, better }: Measure,
  ready: Prepared,
  units: number,
  drawn: Difference['interval'],
): Difference {
  const [a, b] = [ready.value('a', null), ready.value('b', null)];
  const difference = round(b - a);
  const [won, lost] = better === 'lower' ? [ready.lower, ready.higher] : [ready.higher, ready.lower];
  // Without variation, the interval is the difference itself. With fewer than two units, it is unknown.
  const constant: Difference['interval'] = units < 2 ? null : [difference, difference];
  const interval: Difference['interval'] = drawn === null ? constant : [round(drawn[0]), round(drawn[1])];
  const test = ready.binary ? computeMcNemar(won, lost) : null;
  const verdict = judgeDifference({
    better,
    difference,
    interval,
    changed: won + lost,
    midP: test?.midP ?? 0,
  });
  return { name, better, cases: ready.cases, a, b, difference, interval, won, lost, mcNemar: test, verdict };
}

interface Found {
  readonly better: Better;
  readonly difference: number;
  readonly interval: Difference['interval'];
  readonly changed: number;
  readonly midP: number;
}

/**
 * Judges a difference. It is beyond noise only if every applicable test agrees: the interval, McNemar's test,
 * and a minimum number of differing cases.
 */
function judgeDifference({ better, difference, interval, changed, midP }: Found): DifferenceVerdict {
  if (changed === 0 && difference === 0) return 'same';
  const apart = interval !== null && (interval[0] > 0 || interval[1] < 0);
  if (!apart || changed < MIN_DIFFERING || midP >= SIGNIFICANT) return 'within-noise';
  if (better === null) return difference > 0 ? 'higher' : 'lower';
  return difference > 0 === (better === 'higher') ? 'b-better' : 'a-better';
}

function round(value: number): number {
  return Math.abs(value) < ROUNDING ? 0 : value;
}

/**
 * Computes McNemar's test for paired proportions (McNemar 1947, Psychometrika 12:153) with the exact binomial
 * distribution, however many pairs disagree. Fagerland, Lydersen & Laake 2013 (BMC Medical Research
 * Methodology 13:91) recommend the mid-p, because the exact p is needlessly strict with few pairs. Returns 1
 * if no pair disagrees.
 */
export function computeMcNemar(won: number, lost: number): McNemar {
  const pairs = won + lost;
  const fewer = Math.min(won, lost);
  if (pairs === 0) return { won, lost, exact: 1, midP: 1 };
  // The terms are stored as logarithms, because 0.5 to the power of a thousand underflows.
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
 * Computes 95% intervals of statistics of pairs by drawing with replacement: both sides of a case together,
 * and all cases of a project together if there are enough projects. A statistic receives how often each pair
 * was drawn. An interval is null if the statistic did not vary.
 */
function resamplePairs(
  pairs: readonly PairedCase[],
  statistics: (weights: Weights) => readonly number[],
): { readonly plan: Resampling; readonly intervals: readonly (Interval | null)[] } {
  const byProject = groupIndexes(pairs.map(({ project }) => project));
  const units = byProject.length >= MIN_PROJECTS ? byProject : groupIndexes(pairs.map(({ id }) => id));
  const weights: Weights = new Uint32Array(pairs.length);
  const intervals = bootstrapWeights(units.length, pairs.length, (drawn) => {
    for (const [unit, members] of units.entries())
      for (const member of members) weights[member] = drawn[unit] ?? 0;
    return statistics(weights);
  });
  return {
    plan: {
      by: units === byProject && units.length < pairs.length ? 'project' : 'case',
      units: units.length,
    },
    intervals,
  };
}

/** Groups indexes by name and sorts the groups by name, so that the order of the cases does not matter. */
function groupIndexes(names: readonly string[]): number[][] {
  const groups = Map.groupBy(names.keys(), (index) => names[index] ?? '');
  return [...groups].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, members]) => members);
}

const COSTS: readonly {
  readonly name: string;
  readonly unit: CostDifference['unit'];
  readonly of: (result: CaseResult) => number;
}[] = [
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

/**
 * Computes the costs of the answers, on the cases that failed on neither side. A cost that is zero on both
 * sides is left out.
 */
function computeCosts(pairs: readonly PairedCase[]): CostDifference[] {
  const whole = pairs.filter(({ runs }) =>
    [...runs.a, ...runs.b].every(({ result }) => result.error === null),
  );
  const found = COSTS.map((cost) => {
    const worth = (runs: PairedCase['runs']['a']) => computeMean(runs.map(({ result }) => cost.of(result)));
    return {
      cost,
      paid: whole.map(({ runs }, index): Paid => ({ index, a: worth(runs.a), b: worth(runs.b) })),
    };
  }).filter(({ paid }) => paid.some(({ a, b }) => a > 0 || b > 0));
  const sorted = found.map(({ paid }) =>
    paid.toSorted((left, right) => left.b - left.a - (right.b - right.a)),
  );
  const { intervals, plan } = resamplePairs(whole, (weights) =>
    sorted.map((paid) => computeMedianDifference(paid, weights)),
  );
  return found.map(({ cost, paid }, at) => {
    const difference = computeMedianDifference(sorted[at] ?? [], null);
    const constant: CostDifference['interval'] = plan.units < 2 ? null : [difference, difference];
    return {
      name: cost.name,
      unit: cost.unit,
      cases: paid.length,
      a: computeMedian(paid.map(({ a }) => a)),
      b: computeMedian(paid.map(({ b }) => b)),
      difference,
      interval: intervals[at] ?? constant,
      totals: { a: computeSum(paid.map(({ a }) => a)), b: computeSum(paid.map(({ b }) => b)) },
    };
  });
}

/**
 * Computes the weighted median of B's additional cost, from pairs sorted by it. For an even number, it is the
 * mean of the middle two.
 */
function computeMedianDifference(sorted: readonly Paid[], weights: ArrayLike<number> | null): number {
  const total = weights === null ? sorted.length : computeSum(sorted.map(({ index }) => weights[index] ?? 0));
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

function computeMedian(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  const middle = (sorted.length - 1) / 2;
  return computeMean([sorted[Math.floor(middle)] ?? 0, sorted[Math.ceil(middle)] ?? 0]);
}

function computeSum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
