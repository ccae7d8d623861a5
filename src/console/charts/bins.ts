import { type Proportion, proportion } from '../../lib/statistics.ts';

/** Answers of one hundredth of stated confidence, and whether they were right. */
export interface Judged {
  readonly at: number;
  readonly right: boolean;
  readonly count: number;
}

/** Answers whose stated confidence lies from `from` up to `to`. */
export interface Bin extends Proportion {
  readonly from: number;
  readonly to: number;
  /** What they stated on average. */
  readonly stated: number;
}

/** Fewer decided answers make no curve. */
export const NO_CURVE_BELOW = 50;
/** Fewer decided answers are put into five bins of about as many each, more into ten of equal width. */
const FIVE_BINS_BELOW = 200;
/** Bins with fewer are drawn faded: chance speaks louder there. */
export const FADED_BELOW = 10;

/** The bins of a calibration curve; empty ones are left out. Nothing where there is too little for a curve. */
export function calibrationBins(judged: readonly Judged[]): Bin[] {
  const total = judged.reduce((sum, { count }) => sum + count, 0);
  if (total < NO_CURVE_BELOW) return [];
  return total < FIVE_BINS_BELOW ? equalMass(judged, total, 5) : equalWidth(judged, 10);
}

function equalWidth(judged: readonly Judged[], bins: number): Bin[] {
  const groups = Map.groupBy(judged, ({ at }) => Math.min(bins - 1, Math.floor(at * bins + 1e-9)));
  return [...groups].toSorted(([one], [other]) => one - other).map(([bin, group]) => binOf(group, bin / bins, (bin + 1) / bins));
}

/** Answers of one hundredth stay together, so bins are only about equal. */
function equalMass(judged: readonly Judged[], total: number, bins: number): Bin[] {
  const levels = [...Map.groupBy(judged, ({ at }) => at)].toSorted(([one], [other]) => one - other);
  let before = 0;
  const groups = Map.groupBy(levels, ([, group]) => {
    const middle = before + sum(group) / 2;
    before += sum(group);
    return Math.min(bins - 1, Math.floor((middle / total) * bins));
  });
  return [...groups.values()].map((group) => {
    const [first, last] = [group[0]?.[0] ?? 0, group.at(-1)?.[0] ?? 0];
    return binOf(
      group.flatMap(([, members]) => members),
      first,
      Math.min(1, last + 0.01),
    );
  });
}

function binOf(group: readonly Judged[], from: number, to: number): Bin {
  const of = sum(group);
  const right = sum(group.filter((one) => one.right));
  // a hundredth stands for what lies in it
  const stated = group.reduce((total, { at, count }) => total + Math.min(1, at + 0.005) * count, 0) / Math.max(1, of);
  return { from, to, stated, ...proportion(right, of) };
}

function sum(group: readonly Judged[]): number {
  return group.reduce((total, { count }) => total + count, 0);
}
