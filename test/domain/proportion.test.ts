import { describe, expect, it } from 'vitest';
import { computeProportion } from '../../src/lib/statistics.ts';

const rounded = (hits: number, of: number) => {
  const { low, high } = computeProportion(hits, of);
  return [Number(low.toFixed(4)), Number(high.toFixed(4))];
};

describe('a share with its Wilson interval', () => {
  // Newcombe 1998 (Statistics in Medicine 17:857), table I, method 3.
  it.each([
    [81, 263, [0.2553, 0.3662]],
    [15, 148, [0.0624, 0.1605]],
    [0, 20, [0, 0.1611]],
    [1, 29, [0.0061, 0.1718]],
  ])('is computed for %i of %i', (hits, of, expected) => {
    expect(rounded(hits, of)).toEqual(expected);
  });

  it('ends at one for everything, and is unknown for nothing', () => {
    expect(rounded(29, 29)).toEqual([0.883, 1]);
    expect(computeProportion(0, 0)).toEqual({ hits: 0, of: 0, share: 0, low: 0, high: 1 });
  });
});
