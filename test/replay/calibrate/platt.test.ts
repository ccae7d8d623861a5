import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fitPlatt, type Statement } from '../../../src/replay/calibrate/fit.ts';

describe('a Platt calibration', () => {
  it('maps the stated confidence to the actual accuracy, and never decreases', () => {
    const calibrated = fitPlatt([...createStated(0.9, 700, 300), ...createStated(0.6, 550, 450)]);
    expect(calibrated(0.9)).toBeCloseTo(0.7, 1);
    expect(calibrated(0.6)).toBeCloseTo(0.55, 1);
    const along = [0, 0.1, 0.3, 0.5, 0.7, 0.9, 1].map(calibrated);
    expect(along).toEqual([...along].sort((left, right) => left - right));
  });

  it('is the share of right answers if higher confidence was right less often', () => {
    const calibrated = fitPlatt([...createStated(0.9, 2, 8), ...createStated(0.3, 8, 2)]);
    expect(calibrated(0.1)).toBeCloseTo(0.5);
    expect(calibrated(0.9)).toBeCloseTo(0.5);
  });

  it('equals the solution by hand: all at one half, three of four right', () => {
    // With every statement at a half the slope stays 1, and 4 (σ(offset) - (3 · 4/5 + 1/3) / 4) + offset = 0 gives the offset.
    const value = fitPlatt(createStated(0.5, 3, 1))(0.5);
    const offset = Math.log(value / (1 - value));
    expect(4 * (value - (3 * 0.8 + 1 / 3) / 4) + offset).toBeCloseTo(0, 6);
    expect(value).toBeCloseTo(0.591, 3);
    const weighted = [
      { stated: 0.5, right: true, weight: 3 },
      { stated: 0.5, right: false, weight: 1 },
    ];
    expect(fitPlatt(weighted)(0.5)).toBeCloseTo(value, 9);
  });

  it('converges for overconfident values, for which whole Newton steps would oscillate', () => {
    for (const [low, right, wrong] of [
      [0.99, 10, 10],
      [0.9, 24, 24],
      [0.9, 5, 100],
    ] as const) {
      const cases = Array.from({ length: right + wrong }, (_, at) => ({
        stated: low + 0.0009 * ((at * 7) % 11),
        right: at < right,
      }));
      expect(fitPlatt(cases)(low)).toBeCloseTo(right / (right + wrong), 1);
    }
  });

  it('minimizes its loss, whatever the cases', () => {
    const statement = fc.record({
      stated: fc.double({ min: 0, max: 1, noNaN: true }),
      right: fc.boolean(),
      weight: fc.constantFrom(1, 20),
    });
    fc.assert(
      fc.property(fc.array(statement, { minLength: 1, maxLength: 60 }), (cases) => {
        const calibrated = fitPlatt(cases);
        const offset = log(calibrated(0.5));
        const slope = log(calibrated(1 / (1 + Math.exp(-1)))) - offset;
        if (slope === 0) return;
        const all = cases.reduce((sum, { weight }) => sum + weight, 0);
        const right = cases.reduce((sum, one) => sum + (one.right ? one.weight : 0), 0);
        const target = (isRight: boolean) => (isRight ? (right + 1) / (right + 2) : 1 / (all - right + 2));
        const pull = cases.reduce(
          (sum, one) => sum + one.weight * (calibrated(one.stated) - target(one.right)),
          offset,
        );
        expect(Math.abs(pull)).toBeLessThan(1e-4);
      }),
      { numRuns: 60 },
    );
  });

  it('stays between 0 and 1 if all were right, or none is known', () => {
    for (const statements of [createStated(1, 5, 0), createStated(0, 0, 5), []]) {
      const value = fitPlatt(statements)(0.8);
      expect(value).toBeGreaterThan(0);
      expect(value).toBeLessThan(1);
    }
  });
});

function createStated(probability: number, right: number, wrong: number): Statement[] {
  return Array.from({ length: right + wrong }, (_, index) => ({ stated: probability, right: index < right }));
}

function log(probability: number): number {
  return Math.log(probability / (1 - probability));
}
