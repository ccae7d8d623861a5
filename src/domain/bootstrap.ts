/** The 2.5th and the 97.5th percentile. */
export type Interval = readonly [low: number, high: number];

/** How often each unit stands in one resample. */
export type Weights = Uint32Array;

const MOST_DRAWS = 2000;
const LEAST_DRAWS = 200;
/** Draws times units: a hundred thousand units are answered in seconds too. */
const WORK = 20_000_000;
/** More units than this are dealt into so many groups, whose sums are drawn: the spread is the same, the work is bounded. */
const MOST_GROUPS = 1000;
const SEED = 20_261_122;
const OUTSIDE = 0.025;
/** A statistic that is undefined (NaN) in more than half of the draws has no interval. */
const LEAST_DEFINED = 0.5;

/**
 * 95 % percentile intervals of statistics over sums (Efron & Tibshirani 1993, chapter 13): whole clusters are drawn with replacement,
 * because what belongs together varies together (Field & Welsh 2007, J. R. Statist. Soc. B 69:369). A cluster is the vector of what its
 * members add up to; all are of one length. The same clusters always give the same intervals. Null for fewer than two clusters, and where every draw gives the
 * same value: that says that nothing varied in the sample, not that nothing varies.
 */
export function bootstrap(
  clusters: readonly (readonly number[])[],
  statistics: (sums: readonly number[]) => readonly number[],
): (Interval | null)[] {
  const groups = dealt(clusters);
  const width = groups[0]?.length ?? 0;
  return bootstrapWeights(groups.length, width * groups.length, (weights) => {
    const sums = new Array<number>(width).fill(0);
    for (const [at, weight] of weights.entries()) {
      const group = groups[at];
      if (weight === 0 || group === undefined) continue;
      for (let place = 0; place < width; place++) sums[place] = (sums[place] ?? 0) + weight * (group[place] ?? 0);
    }
    return statistics(sums);
  });
}

/** The same where a statistic is no function of sums: it is given how often each unit was drawn. `work` is what one draw costs, in steps. */
export function bootstrapWeights(units: number, work: number, statistics: (weights: Weights) => readonly number[]): (Interval | null)[] {
  const next = randomNumbers(SEED);
  const draws = Math.round(Math.min(MOST_DRAWS, Math.max(LEAST_DRAWS, WORK / Math.max(1, work))));
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
  return columns.map((values) => (units < 2 || values.length < draws * LEAST_DEFINED ? null : percentiles(values)));
}

function percentiles(values: number[]): Interval | null {
  const sorted = Float64Array.from(values).sort();
  const least = sorted[0] ?? 0;
  const most = sorted.at(-1) ?? 0;
  // Sums of the same numbers in another order differ in their last digits.
  if (most - least < 1e-12) return null;
  const at = (share: number) => sorted[Math.round(share * (sorted.length - 1))] ?? 0;
  return [at(OUTSIDE), at(1 - OUTSIDE)];
}

function dealt(clusters: readonly (readonly number[])[]): readonly (readonly number[])[] {
  if (clusters.length <= MOST_GROUPS) return clusters;
  const groups: number[][] = Array.from({ length: MOST_GROUPS }, () => []);
  for (const [at, cluster] of shuffled(clusters).entries()) {
    const group = groups[at % MOST_GROUPS];
    if (group === undefined) continue;
    for (const [place, value] of cluster.entries()) group[place] = (group[place] ?? 0) + value;
  }
  return groups;
}

/** Clusters come sorted: dealt as they come, what repeats by its name would be spread too evenly. */
function shuffled<T>(values: readonly T[]): T[] {
  const next = randomNumbers(SEED);
  const keyed = values.map((value) => ({ value, key: next() }));
  return keyed.sort((left, right) => left.key - right.key).map(({ value }) => value);
}

/** Numbers from 0 up to 1, the same ones for the same seed: Marsaglia's 32-bit xorshift (2003, J. Stat. Software 8:14). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
