import { describe, expect, it } from 'vitest';
import { placeRanked, type RankedLine } from '../../../src/log/rank/rank.ts';

/** Lines two apart, so that none is told by its neighbor. */
const ranked = Array.from(
  { length: 40 },
  (_, i): RankedLine => ({
    line: 1 + 2 * i,
    text: `line ${i}`,
    role: 'cause',
    score: i === 30 ? 9 : -i,
    proof: 0,
  }),
);
const placed = ranked.map(({ line }, i) => ({
  start: line,
  end: line,
  weight: i === 20 ? 90 : 40 - i,
  reason: 'read',
}));

describe('combining two orders of lines', () => {
  it('places the first of each order among the first ten', () => {
    const first = placeRanked(ranked, placed)
      .toSorted((a, b) => b.weight - a.weight)
      .slice(0, 10)
      .map(({ start }) => start);
    expect(first).toContain(1 + 2 * 30);
    expect(first).toContain(1 + 2 * 20);
  });

  it('prefers the reason of the block with the greatest weight to that of a line', () => {
    const both = [...placed, { start: 1, end: 9, weight: 99, reason: 'whole passage' }];
    expect(placeRanked(ranked, both)[2]?.reason).toBe('whole passage');
  });
});
