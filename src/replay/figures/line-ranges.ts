/** Lines of a log, 1-based and inclusive; one that ends before it begins holds none. */
export type LineRange = readonly [start: number, end: number];

/**
 * The share of the wanted lines that the others cover; 0 where none is wanted. A line that two wanted ranges hold counts in both. By
 * arithmetic on the ranges: a label may name lines 1 to a billion.
 */
export function coveredShare(wanted: readonly LineRange[], covering: readonly LineRange[]): number {
  const merged = mergeRanges(covering);
  let [lines, covered] = [0, 0];
  for (const [start, end] of wanted) {
    lines += lengthOf([start, end]);
    for (const [from, to] of merged) covered += lengthOf([Math.max(start, from), Math.min(end, to)]);
  }
  return lines === 0 ? 0 : covered / lines;
}

/** Whether a line lies in one of the ranges. */
export function holdsLine(ranges: readonly LineRange[], line: number): boolean {
  return ranges.some(([start, end]) => start <= line && line <= end);
}

function mergeRanges(ranges: readonly LineRange[]): LineRange[] {
  const merged: [number, number][] = [];
  for (const [start, end] of ranges.filter((range) => lengthOf(range) > 0).sort((left, right) => left[0] - right[0])) {
    const last = merged.at(-1);
    if (last !== undefined && start <= last[1] + 1) last[1] = Math.max(last[1], end);
    else merged.push([start, end]);
  }
  return merged;
}

function lengthOf([start, end]: LineRange): number {
  return Math.max(0, end - start + 1);
}
