/**
 * Two runs of the same cases, side by side, with everything that a table, a page or a script needs. The
 * format is stable.
 */
export interface Comparison {
  readonly schema: 1;
  readonly dataset: string;
  readonly sides: Sides<ComparedSide>;
  readonly cases: ComparedCases;
  readonly resampling: Resampling;
  readonly differences: readonly Difference[];
  readonly costs: readonly CostDifference[];
  /** The measure by which cases are won and lost. Null if the labels allow none. */
  readonly wonBy: string | null;
  readonly won: readonly ChangedCase[];
  readonly lost: readonly ChangedCase[];
  /** The cases with another answer that is neither better nor worse. */
  readonly changed: readonly ChangedCase[];
  readonly summary: readonly string[];
}

/** One side: the results files that are its repetitions. */
export interface ComparedSide {
  readonly files: readonly string[];
  readonly analysts: readonly string[];
  /** The variation among the repetitions. Null for one file. */
  readonly spread: Spread | null;
}

/** The variation among the repetitions of one side. */
export interface Spread {
  readonly repeats: number;
  readonly figures: readonly {
    readonly name: string;
    readonly mean: number;
    readonly deviation: number;
    readonly values: readonly number[];
  }[];
  /** The ids of cases whose category is not the same in all repetitions. */
  readonly flips: readonly string[];
  /** The ids of cases that are missing in some of its files. */
  readonly partial: readonly string[];
}

/** The number of compared cases, and the ids of cases that were not compared, by reason. */
interface ComparedCases extends Unpaired {
  readonly compared: number;
}

/**
 * The conclusion from a difference. `within-noise`: chance alone may explain it. `same`: no case differs.
 * `higher` and `lower` refer to B if neither direction is better.
 */
export type DifferenceVerdict = 'b-better' | 'a-better' | 'higher' | 'lower' | 'within-noise' | 'same';

/** One measure on both sides. */
export interface Difference extends Sides<number> {
  readonly name: string;
  readonly better: Better;
  readonly cases: number;
  /** The value of B minus the value of A. */
  readonly difference: number;
  /**
   * The 95 % interval of the difference, by resampling pairs. Null if there are too few cases for an
   * interval.
   */
  readonly interval: readonly [low: number, high: number] | null;
  /**
   * The number of pairs in which B is better, followed by the number in which it is worse. If neither
   * direction is better, higher and lower.
   */
  readonly won: number;
  readonly lost: number;
  /** The result of McNemar's test. Null unless every case has the value 0 or 1. */
  readonly mcNemar: McNemar | null;
  readonly verdict: DifferenceVerdict;
}

/**
 * The cost of a case on both sides: medians over the cases that failed on neither side, and the median of the
 * differences.
 */
export interface CostDifference extends Sides<number> {
  readonly name: string;
  readonly unit: 'dollars' | 'tokens' | 'milliseconds' | 'rounds';
  readonly cases: number;
  readonly difference: number;
  readonly interval: readonly [low: number, high: number] | null;
  /** The totals over all these cases, averaged over the repetitions. */
  readonly totals: Sides<number>;
}

/** A case that the two sides answer differently. */
export interface ChangedCase {
  readonly id: string;
  /** The line number in the data set, which together with the path forms an anchor. */
  readonly line: number;
  /** The URL of the case, if the row states an http(s) address. Null otherwise. */
  readonly url: string | null;
  readonly truth: string;
  readonly said: Sides<string>;
}

/** The result of McNemar's test over the cases on which the two sides disagree. */
export interface McNemar {
  /** The number of cases that only the second side got right. */
  readonly won: number;
  /** The number of cases that only the first side got right. */
  readonly lost: number;
  /**
   * The exact two-sided p-value: the probability that chance alone produces a result at least as one-sided.
   */
  readonly exact: number;
  /**
   * The two-sided mid-p-value, on which verdicts are based: the exact p-value minus half the probability of
   * the observed result.
   */
  readonly midP: number;
}

/** The unit that is resampled as a whole, and the number of such units. */
export interface Resampling {
  readonly by: 'project' | 'case';
  readonly units: number;
}

/** The direction that is better; null if neither is. */
export type Better = 'higher' | 'lower' | null;

/** A value of the first side and one of the second side. */
export interface Sides<T> {
  readonly a: T;
  readonly b: T;
}

/** The ids of cases that do not form a pair, or only half of a pair. */
export interface Unpaired {
  readonly onlyA: readonly string[];
  readonly onlyB: readonly string[];
  /** The cases of the data set that neither side answered. */
  readonly unanswered: readonly string[];
  /** The cases that were answered but are not in the data set. */
  readonly unlabelled: readonly string[];
  /** The paired cases that failed on that side at least once. Their answer counts as wrong. */
  readonly failed: Sides<readonly string[]>;
  /** Rows of the data set that could not be read: the line and the reason. */
  readonly unreadable: readonly string[];
}

/** The verdicts as people read them. */
export const VERDICTS: Readonly<Record<DifferenceVerdict, string>> = {
  'b-better': 'B is better',
  'a-better': 'B is worse',
  higher: 'B is higher',
  lower: 'B is lower',
  'within-noise': 'within noise',
  same: 'same',
};

/** Formats a probability with two or three decimals; below 0.001 as "< 0.001". */
export function formatProbability(value: number): string {
  if (value < 0.001) return '< 0.001';
  return value < 0.01 ? value.toFixed(3) : value.toFixed(2);
}

/** Formats dollars with as many decimals as the cost of a case needs. */
export function formatDollars(value: number): string {
  const sign = value < 0 ? '−' : '';
  const size = Math.abs(value);
  return `${sign}$${size >= 1 || size === 0 ? size.toFixed(2) : size.toFixed(size >= 0.01 ? 3 : 5)}`;
}

/** Formats a count with its noun: 1 → "1 case", 12345 → "12,345 cases". */
export function toAmount(count: number, singular: string, many: string): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? singular : many}`;
}

/**
 * Lists what was not compared or was counted as wrong, one line for each reason, with the first `most` case
 * ids. Returns an empty list if there is nothing to report.
 */
export function listLeftOutLines({ cases }: Comparison, most: number): string[] {
  const groups: readonly (readonly [string, readonly string[]])[] = [
    ['only on side A, left out', cases.onlyA],
    ['only on side B, left out', cases.onlyB],
    ['in the data set, answered by neither', cases.unanswered],
    ['answered, but not in the data set', cases.unlabelled],
    ['failed on side A, counted as wrong', cases.failed.a],
    ['failed on side B, counted as wrong', cases.failed.b],
    ['rows of the data set that could not be read', cases.unreadable],
  ];
  return groups
    .filter(([, ids]) => ids.length > 0)
    .map(([title, ids]) => `${title}: ${ids.length}${formatIdList(ids, most)}`);
}

/** Formats ids as ": a, b, c …". Returns an empty text if there are no ids. */
export function formatIdList(ids: readonly string[], most: number): string {
  if (ids.length === 0) return '';
  return `: ${ids.slice(0, most).join(', ')}${ids.length > most ? ' …' : ''}`;
}

/** Formats a number with its sign and three decimals. A value that rounds to zero has no sign. */
export function formatSigned(value: number): string {
  const text = Math.abs(value).toFixed(3);
  return `${Number(text) === 0 ? '' : value > 0 ? '+' : '−'}${text}`;
}

/** Describes the units that were resampled for the intervals: "12 projects". */
export function describeDrawn({ by, units }: Comparison['resampling']): string {
  return `${units} ${by}s`;
}

export function formatCostText(value: number, unit: CostDifference['unit']): string {
  return unit === 'dollars' ? formatDollars(value) : value.toFixed(unit === 'rounds' ? 1 : 0);
}

/** Formats a share in percentage points: 0.032 → "3.2 points". */
export function formatPoints(value: number): string {
  const text = (value * 100).toFixed(1);
  return `${text} ${text === '1.0' ? 'point' : 'points'}`;
}

/** Formats a difference of shares with its sign: 0.032 → "+3.2 points". */
export function toSignedPoints(difference: number): string {
  return `${difference === 0 ? '' : difference > 0 ? '+' : '−'}${formatPoints(Math.abs(difference))}`;
}

/** Formats the interval of a difference in percentage points: "-1.0 to 15.2". */
export function formatInterval([low, high]: readonly [number, number]): string {
  return `${(low * 100).toFixed(1)} to ${(high * 100).toFixed(1)}`;
}

/**
 * Returns the cases that are neither won nor lost, grouped by what changed. Cases in which only publication
 * changed get a group of their own.
 */
export function groupChanged({ changed }: Comparison): [title: string, cases: ChangedCase[]][] {
  return [...Map.groupBy(changed, describeChange)];
}

function describeChange({ truth, said }: ChangedCase): string {
  const [before, after] = [said.a, said.b].map((answer) => answer.endsWith(', published'));
  if (before === after) return 'changed, neither better nor worse';
  const isRight = truth.split(' or ').includes(said.b.split(',')[0] ?? '');
  return `${after ? 'now' : 'no longer'} published, and ${isRight ? 'right' : 'wrong'}`;
}
