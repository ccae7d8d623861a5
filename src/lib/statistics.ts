/** The 2.5th and the 97.5th percentile. */
export type Interval = readonly [low: number, high: number];

/** The number of times each unit occurs in one resample. */
export type Weights = Uint32Array;

const MAX_DRAWS = 2000;
const MIN_DRAWS = 200;
/** The number of draws times units. With it, a hundred thousand units take only seconds. */
const WORK = 20_000_000;
/**
 * The maximum number of groups. If there are more units, they are distributed over groups whose sums are
 * drawn, which keeps the spread and bounds the work.
 */
const MAX_GROUPS = 1000;
const SEED = 20_261_122;
const OUTSIDE = 0.025;
/** The minimum share of draws in which a statistic must be defined (not NaN) to have an interval. */
const MIN_DEFINED = 0.5;

/**
 * Computes 95 % percentile intervals of statistics over sums (Efron & Tibshirani 1993, chapter 13). Whole
 * clusters are drawn with replacement,
 * because members of a cluster vary together (Field & Welsh 2007, J. R. Statist. Soc. B 69:369). A cluster is
 * the vector of the sums of its
 * members; all have the same length. The same clusters always give the same intervals. An interval is null
 * for fewer than two clusters and if every draw gives the
 * same value: then nothing varied in the sample, which does not mean that nothing varies.
 */
export function bootstrap(
  clusters: readonly (readonly number[])[],
  statistics: (sums: readonly number[]) => readonly number[],
): (Interval | null)[] {
  const groups = deal(clusters);
  const width = groups[0]?.length ?? 0;
  return bootstrapWeights(groups.length, width * groups.length, (weights) => {
    const sums = new Array<number>(width).fill(0);
    for (const [at, weight] of weights.entries()) {
      const group = groups[at];
      if (weight === 0 || group === undefined) continue;
      for (let place = 0; place < width; place++)
        sums[place] = (sums[place] ?? 0) + weight * (group[place] ?? 0);
    }
    return statistics(sums);
  });
}

/**
 * Computes the same intervals for statistics that are not functions of sums: each is given the number of
 * times each unit was drawn. `work` is the cost of one draw, in steps.
 */
export function bootstrapWeights(
  units: number,
  work: number,
  statistics: (weights: Weights) => readonly number[],
): (Interval | null)[] {
  const next = createRandomNumbers(SEED);
  const draws = Math.round(Math.min(MAX_DRAWS, Math.max(MIN_DRAWS, WORK / Math.max(1, work))));
  const weights = new Uint32Array(units);
  const columns: number[][] = [];
  for (let draw = 0; draw < draws; draw++) {
    weights.fill(0);
    for (let unit = 0; unit < units; unit++) {
      const drawn = Math.floor(next() * units);
      weights[drawn] = (weights[drawn] ?? 0) + 1;
    }
    for (const [column, value] of statistics(weights).entries()) {
      columns[column] ??= [];
      if (!Number.isNaN(value)) columns[column].push(value);
    }
  }
  return columns.map((values) =>
    units < 2 || values.length < draws * MIN_DEFINED ? null : findPercentiles(values),
  );
}

function findPercentiles(values: number[]): Interval | null {
  const sorted = Float64Array.from(values).sort();
  const least = sorted[0] ?? 0;
  const most = sorted.at(-1) ?? 0;
  // Sums of the same numbers in another order differ in their last digits.
  if (most - least < 1e-12) return null;
  const at = (share: number) => sorted[Math.round(share * (sorted.length - 1))] ?? 0;
  return [at(OUTSIDE), at(1 - OUTSIDE)];
}

function deal(clusters: readonly (readonly number[])[]): readonly (readonly number[])[] {
  if (clusters.length <= MAX_GROUPS) return clusters;
  const groups: number[][] = Array.from({ length: MAX_GROUPS }, () => []);
  for (const [at, cluster] of shuffle(clusters).entries()) {
    const group = groups[at % MAX_GROUPS];
    if (group === undefined) continue;
    for (const [place, value] of cluster.entries()) group[place] = (group[place] ?? 0) + value;
  }
  return groups;
}

/**
 * Shuffles clusters. They come sorted; if they were distributed in that order, clusters with similar names
 * would be spread too evenly.
 */
function shuffle<T>(values: readonly T[]): T[] {
  const next = createRandomNumbers(SEED);
  const keyed = values.map((value) => ({ value, key: next() }));
  return keyed.sort((left, right) => left.key - right.key).map(({ value }) => value);
}

/**
 * Creates a generator of numbers from 0 up to 1, the same ones for the same seed: Marsaglia's 32-bit xorshift
 * (2003, J. Stat. Software 8:14).
 */
export function createRandomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

/** A share of counted items: `hits` out of `of`. `low` and `high` bound it with 95 % confidence. */
export interface Proportion {
  readonly hits: number;
  readonly of: number;
  /** hits / of; 0 if nothing was counted. */
  readonly share: number;
  readonly low: number;
  readonly high: number;
}

/** The 97.5th percentile of the normal distribution: 95 % lie within it on both sides. */
const Z = 1.959963984540054;

/**
 * Returns the share with its Wilson score interval (Wilson 1927, without continuity correction). The interval
 * stays within 0 and 1 and holds for few
 * cases and for shares near the ends, where the usual p ± 1.96·s does not (Brown, Cai & DasGupta 2001). If
 * nothing was counted: 0 to 1.
 */
export function computeProportion(hits: number, of: number): Proportion {
  if (of <= 0) return { hits: 0, of: 0, share: 0, low: 0, high: 1 };
  const share = hits / of;
  const weight = 1 + (Z * Z) / of;
  const middle = (share + (Z * Z) / (2 * of)) / weight;
  const reach = (Z / weight) * Math.sqrt((share * (1 - share)) / of + (Z * Z) / (4 * of * of));
  return {
    hits,
    of,
    share,
    low: hits === 0 ? 0 : Math.max(0, middle - reach),
    high: hits === of ? 1 : Math.min(1, middle + reach),
  };
}

/** The properties of a build for a comparison (branch: "main"), by dimension; null if unknown. */
export type Traits = Readonly<Record<string, string | null>>;

/** Something that failing builds have more or less often than passing ones. */
export interface Difference {
  readonly dimension: string;
  readonly value: string;
  readonly failing: number;
  readonly passing: number;
  /** Share among failing builds minus share among passing ones, -1..1. */
  readonly difference: number;
}

/** The minimum number of builds on either side. With fewer builds, each one changes a share too much. */
export const ENOUGH_BUILDS = 20;

const SHOWN = 5;

/**
 * Finds what distinguishes failing builds: for each value of each dimension, its share among failing builds
 * minus its share among passing ones. The
 * largest differences come first; only those whose 95 % intervals do not overlap are returned. A build whose
 * value of a dimension is unknown is left out of that dimension. Empty if either side has fewer
 * than `ENOUGH_BUILDS`. A difference is a hint, not a cause.
 */
export function findDifferences(failing: readonly Traits[], passing: readonly Traits[]): Difference[] {
  if (failing.length < ENOUGH_BUILDS || passing.length < ENOUGH_BUILDS) return [];
  const dimensions = [...new Set(failing.flatMap((condition) => Object.keys(condition)))];
  return dimensions
    .flatMap((dimension) => compareDimension(dimension, failing, passing))
    .toSorted((left, right) => Math.abs(right.difference) - Math.abs(left.difference))
    .slice(0, SHOWN);
}

function compareDimension(
  dimension: string,
  failing: readonly Traits[],
  passing: readonly Traits[],
): Difference[] {
  const [bad, good] = [countValues(dimension, failing), countValues(dimension, passing)];
  if (bad.of < ENOUGH_BUILDS || good.of < ENOUGH_BUILDS) return [];
  const values = [...new Set([...bad.counts.keys(), ...good.counts.keys()])];
  const found = values.flatMap((value) => {
    const [hits, passes] = [
      computeProportion(bad.counts.get(value) ?? 0, bad.of),
      computeProportion(good.counts.get(value) ?? 0, good.of),
    ];
    const apart = hits.low > passes.high || hits.high < passes.low;
    return apart
      ? [
          {
            dimension,
            value,
            failing: hits.share,
            passing: passes.share,
            difference: hits.share - passes.share,
          },
        ]
      : [];
  });
  // If there are only two values, only the one that failing builds have more often is returned, because
  // the other says the same.
  return values.length === 2 ? found.filter(({ difference }) => difference > 0) : found;
}

function countValues(dimension: string, builds: readonly Traits[]) {
  const values = builds.flatMap((build) => build[dimension] ?? []);
  const groups = [...Map.groupBy(values, (value) => value)];
  return { counts: new Map(groups.map(([value, { length }]) => [value, length])), of: values.length };
}

/**
 * Checks whether an item is in a sample of one in `every`. The result depends only on the name, so it is the
 * same every time and on every machine. 0 samples nothing.
 */
export function isDrawn(name: string, every: number): boolean {
  return every > 0 && hash(name) % every === 0;
}

/**
 * Computes FNV-1a over UTF-16 units, followed by Murmur3's finalizer because names share their first
 * characters.
 */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}

/** The answers of one hundredth of stated confidence, and how many of them were right. */
export interface Judged {
  readonly at: number;
  readonly right: boolean;
  readonly count: number;
}

type Answered = Pick<Judged, 'at' | 'count'>;

/**
 * The answers that would be published without a review from this stated confidence on, and the share of them
 * that was right.
 */
export interface CoveragePoint extends Proportion {
  readonly threshold: number;
  /** The number of answers that state at least this confidence, and their share of all. */
  readonly published: number;
  readonly coverage: number;
}

/** The minimum number of decided answers above a threshold for which it can be chosen. */
const CHOSEN_FROM = 20;

export function computeCoverageAt(
  judged: readonly Judged[],
  answered: readonly Answered[],
  threshold: number,
): CoveragePoint {
  const isAbove = ({ at }: Answered) => at >= threshold - 1e-9;
  const sum = <One extends Answered>(group: readonly One[], isOne: (answer: One) => boolean) =>
    group.reduce((total, answer) => (isOne(answer) ? total + answer.count : total), 0);
  const published = sum(answered, isAbove);
  const total = sumCounts(answered);
  const right = sum(judged, (other) => other.right && isAbove(other));
  return {
    threshold,
    published,
    coverage: total === 0 ? 0 : published / total,
    ...computeProportion(right, sum(judged, isAbove)),
  };
}

/**
 * Returns one point for each hundredth of confidence at which an answer was decided, highest first.
 * `answered` counts all answers, decided or not.
 */
export function listCoveragePoints(
  judged: readonly Judged[],
  answered: readonly Answered[],
): CoveragePoint[] {
  const thresholds = [...new Set(judged.map((other) => other.at))].toSorted((left, right) => right - left);
  return thresholds.map((threshold) => computeCoverageAt(judged, answered, threshold));
}

/**
 * Returns the lowest threshold above which, with 97.5 % confidence, at most this share is wrong; null if
 * there is none.
 */
export function findThreshold(points: readonly CoveragePoint[], wrong: number): CoveragePoint | null {
  return points.findLast((point) => point.of >= CHOSEN_FROM && point.low >= 1 - wrong) ?? null;
}

export function sumCounts(group: readonly { readonly count: number }[]): number {
  return group.reduce((total, { count }) => total + count, 0);
}
