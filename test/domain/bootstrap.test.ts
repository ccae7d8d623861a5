import { describe, expect, it } from 'vitest';
import { bootstrap, bootstrapWeights } from '../../src/lib/statistics.ts';

const share = ([hits = 0, all = 0]: readonly number[]) => [hits / all];

describe('a bootstrap over clusters', () => {
  it('of single cases has nearly the interval of a proportion', () => {
    const [interval] = bootstrap(
      Array.from({ length: 400 }, (_, at) => [Number(at % 4 === 0), 1]),
      share,
    );
    // 0.25 ± 1.96 · √(0.25 · 0.75 / 400) = 0.208 … 0.292
    expect(interval?.[0]).toBeCloseTo(0.208, 1.7);
    expect(interval?.[1]).toBeCloseTo(0.292, 1.7);
  });

  it('is wider if cases are correlated', () => {
    const alone = bootstrap(
      Array.from({ length: 200 }, (_, at) => [at % 2, 1]),
      share,
    )[0];
    const together = bootstrap(
      Array.from({ length: 10 }, (_, at) => [20 * (at % 2), 20]),
      share,
    )[0];
    expect(measureWidth(together)).toBeGreaterThan(2 * measureWidth(alone));
  });

  it('keeps its width if many clusters are combined into groups', () => {
    const [interval] = bootstrap(
      Array.from({ length: 40_000 }, (_, at) => [Number((at * 7919) % 40_000 < 10_000), 1]),
      share,
    );
    // 1.96 · √(0.25 · 0.75 / 40,000) = 0.0042 on both sides
    expect(measureWidth(interval)).toBeGreaterThan(0.0042);
    expect(measureWidth(interval)).toBeLessThan(0.0126);
  });

  it('gives the same result for the same clusters', () => {
    const clusters = [
      [1, 2],
      [0, 3],
      [4, 4],
    ]; // prettier-ignore
    expect(bootstrap(clusters, share)).toEqual(bootstrap(clusters, share));
  });

  it('gives no interval for one cluster, for none, for constant values, or for mostly undefined values', () => {
    expect(bootstrap([[1, 2]], share)).toEqual([null]);
    expect(bootstrap([], () => [1])).toEqual([null]);
    expect(
      bootstrap(
        [
          [1, 1],
          [1, 1],
        ],
        share,
      ),
    ).toEqual([null]); // prettier-ignore
    expect(bootstrapWeights(3, 3, (weights) => [weights[0] === 3 ? 1 : Number.NaN])).toEqual([null]);
  });

  it('draws as many units as there are', () => {
    const totals = new Set<number>();
    bootstrapWeights(7, 7, (weights) => {
      totals.add(weights.reduce((sum, weight) => sum + weight, 0));
      return [];
    });
    expect([...totals]).toEqual([7]);
  });
});

function measureWidth(interval: readonly [number, number] | null | undefined): number {
  return interval == null ? 0 : interval[1] - interval[0];
}
