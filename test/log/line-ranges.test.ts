import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { determineOwnership } from '../../src/log/causes/spans.ts';
import { joinRanges, subtractRanges } from '../../src/log/line-ranges.ts';

const range = fc
  .tuple(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 0, max: 12 }))
  .map(([start, more]) => ({ start, end: start + more }));
const listLines = (ranges: readonly { start: number; end: number }[]) =>
  new Set(ranges.flatMap(({ start, end }) => Array.from({ length: end - start + 1 }, (_, at) => start + at)));

describe('ranges of lines', () => {
  it('are joined and subtracted like sets of lines', () => {
    fc.assert(
      fc.property(fc.array(range, { maxLength: 8 }), fc.array(range, { maxLength: 8 }), (ranges, others) => {
        const joined = joinRanges(ranges);
        expect(listLines(joined)).toEqual(listLines(ranges));
        for (const [at, lineRange] of joined.entries())
          expect(lineRange.start).toBeGreaterThan((joined[at - 1]?.end ?? -1) + 1);
        const left = listLines(subtractRanges(joined, joinRanges(others)));
        expect(left).toEqual(new Set([...listLines(ranges)].filter((line) => !listLines(others).has(line))));
      }),
    );
  });
});

describe('the owner of a line', () => {
  const span = (lineStart: number, lineEnd: number, source = 'log') => ({ source, lineStart, lineEnd });
  it('is the inner block if one is inside another, and both if they are equal', () => {
    const lines = determineOwnership('log', [
      [span(1, 20)],
      [span(5, 8)],
      [span(30, 30)],
      [span(30, 30)],
      [span(2, 3, 'other log')],
    ]);
    expect(lines.own(new Set([0]))).toEqual([
      { start: 1, end: 4 },
      { start: 9, end: 20 },
    ]);
    expect(lines.own(new Set([1]))).toEqual([{ start: 5, end: 8 }]);
    expect(lines.own(new Set([2]))).toEqual([{ start: 30, end: 30 }]);
    expect(lines.foreign(new Set([2]))).toEqual([{ start: 1, end: 20 }]);
    expect(lines.own(new Set([4]))).toEqual([]);
  });
});
