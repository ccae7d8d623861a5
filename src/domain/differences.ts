import { proportion } from './proportion.ts';

/** A build as it is compared: what it was (branch: "main"), by dimension; null where that is not known. */
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

/** Fewer builds on either side say nothing: a share of a handful jumps with every build. */
export const ENOUGH_BUILDS = 20;

const SHOWN = 5;

/**
 * What sets failing builds apart: for each value of each dimension its share among failing builds minus its share among passing ones, the
 * largest differences first, as long as their 95 % intervals lie apart. A build of which a dimension is not known counts with neither side there. Empty where either side has fewer
 * than `ENOUGH_BUILDS`. A difference is where to look, not a cause.
 */
export function whatDiffers(failing: readonly Traits[], passing: readonly Traits[]): Difference[] {
  if (failing.length < ENOUGH_BUILDS || passing.length < ENOUGH_BUILDS) return [];
  const dimensions = [...new Set(failing.flatMap((one) => Object.keys(one)))];
  return dimensions
    .flatMap((dimension) => inDimension(dimension, failing, passing))
    .toSorted((one, other) => Math.abs(other.difference) - Math.abs(one.difference))
    .slice(0, SHOWN);
}

function inDimension(dimension: string, failing: readonly Traits[], passing: readonly Traits[]): Difference[] {
  const [bad, good] = [countsOf(dimension, failing), countsOf(dimension, passing)];
  if (bad.of < ENOUGH_BUILDS || good.of < ENOUGH_BUILDS) return [];
  const values = [...new Set([...bad.counts.keys(), ...good.counts.keys()])];
  const found = values.flatMap((value) => {
    const [hits, passes] = [proportion(bad.counts.get(value) ?? 0, bad.of), proportion(good.counts.get(value) ?? 0, good.of)];
    const apart = hits.low > passes.high || hits.high < passes.low;
    return apart ? [{ dimension, value, failing: hits.share, passing: passes.share, difference: hits.share - passes.share }] : [];
  });
  // Of two values in all, the one that failing builds have more often says it; the other says the same turned round.
  return values.length === 2 ? found.filter(({ difference }) => difference > 0) : found;
}

function countsOf(dimension: string, builds: readonly Traits[]): { readonly counts: ReadonlyMap<string, number>; readonly of: number } {
  const counts = new Map<string, number>();
  let of = 0;
  for (const build of builds) {
    const value = build[dimension];
    if (value === null || value === undefined) continue;
    counts.set(value, (counts.get(value) ?? 0) + 1);
    of += 1;
  }
  return { counts, of };
}
