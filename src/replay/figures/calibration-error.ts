export const BINS = 10;

/** Which of ten bins of one width a stated probability lies in; 1 is in the last. */
export function binOf(stated: number): number {
  return Math.max(0, Math.min(BINS - 1, Math.floor(stated * BINS)));
}

/**
 * Expected calibration error over ten bins of one width (Guo et al. 2017, arXiv 1706.04599), 0..1: how far what was stated and the share that was right
 * lie apart, bin by bin, weighed by what is in the bin. `weight` is how many statements one stands for. 0 for none.
 */
export function calibrationError(
  statements: Iterable<{ readonly stated: number; readonly right: boolean; readonly weight: number }>,
): number {
  const gaps = new Array<number>(BINS).fill(0);
  let all = 0;
  for (const { stated, right, weight } of statements) {
    const bin = binOf(stated);
    gaps[bin] = (gaps[bin] ?? 0) + weight * (Number(right) - stated);
    all += weight;
  }
  return all === 0 ? 0 : gaps.reduce((sum, gap) => sum + Math.abs(gap), 0) / all;
}
