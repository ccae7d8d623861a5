import { describe, expect, it } from 'vitest';
import { computeMcNemar } from '../../../src/replay/compare/compare-runs.ts';

describe("McNemar's test", () => {
  it('gives the published values of a small table', () => {
    // Fagerland, Lydersen & Laake 2013, airway hyper-responsiveness: 1 and 7 discordant pairs.
    const { exact, midP } = computeMcNemar(7, 1);
    expect(exact).toBeCloseTo(18 / 256, 12);
    expect(midP).toBeCloseTo(10 / 256, 12);
  });

  it('gives the published values of a large table', () => {
    // Agresti, approval of the prime minister: 86 and 150; his chi-squared of 17.36 has p = 3.1e-5.
    const { exact, midP } = computeMcNemar(86, 150);
    expect(exact).toBeCloseTo(3.7e-5, 5);
    expect(midP).toBeCloseTo(3.1e-5, 5);
    expect(midP).toBeLessThan(exact);
  });

  it.each([
    [0, 0, 1, 1],
    [3, 3, 1, 1],
    [1, 0, 1, 0.5],
    [5, 0, 2 / 32, 1 / 32],
    [2, 1, 1, 0.625],
  ])('is right for %i against %i', (won, lost, exact, midP) => {
    expect(computeMcNemar(won, lost)).toEqual({
      won,
      lost,
      exact: expect.closeTo(exact, 12),
      midP: expect.closeTo(midP, 12),
    });
  });

  it('is symmetric in its sides', () => {
    expect(computeMcNemar(9, 2).midP).toBe(computeMcNemar(2, 9).midP);
  });

  it('stays finite for as many pairs as a data set may have', () => {
    expect(computeMcNemar(50_000, 50_000)).toMatchObject({ exact: 1, midP: 1 });
    expect(computeMcNemar(49_000, 51_000).exact).toBeGreaterThan(0);
    expect(computeMcNemar(49_000, 51_000).exact).toBeLessThan(1e-8);
    expect(computeMcNemar(0, 100_000).exact).toBe(0);
  });
});
