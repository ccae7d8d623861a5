import type { LineRange } from './sections/system.ts';

/** Tells whether one of the ranges contains a line from `start` to `end`. The ranges must ascend. */
export function overlaps(ranges: readonly LineRange[], start: number, end: number): boolean {
  return ranges.some((range) => range.start <= end && range.end >= start);
}

/** Merges ranges that overlap or touch. The result ascends. */
export function joinRanges(ranges: readonly LineRange[]): LineRange[] {
  const joined: LineRange[] = [];
  for (const { start, end } of ranges.toSorted((left, right) => left.start - right.start)) {
    const last = joined.at(-1);
    if (last === undefined || start > last.end + 1) joined.push({ start, end });
    else joined[joined.length - 1] = { start: last.start, end: Math.max(last.end, end) };
  }
  return joined;
}

/** Subtracts the lines of other ranges. Both lists must ascend. */
export function subtractRanges(ranges: readonly LineRange[], others: readonly LineRange[]): LineRange[] {
  return ranges.flatMap((range) => {
    const left: LineRange[] = [];
    let { start } = range;
    for (const other of others) {
      if (other.end < start || other.start > range.end) continue;
      if (other.start > start) left.push({ start, end: other.start - 1 });
      start = other.end + 1;
    }
    return start <= range.end ? [...left, { start, end: range.end }] : left;
  });
}
