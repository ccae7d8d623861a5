import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { calibrate } from '../../../src/domain/calibration.ts';
import { fitIsotonic } from '../../../src/replay/calibrate/fit.ts';

describe('isotonic regression', () => {
  it('joins decreasing neighbors, as computed by hand', () => {
    // Shares: 0.1 → 0/1, 0.3 → 1/1, 0.5 → 0/1, 0.7 → 1/2, 0.9 → 1/1. 0.3 and 0.5 fall and join to 1/2; with 0.7 they make 2/4.
    const said: [number, boolean][] = [
      [0.1, false],
      [0.3, true],
      [0.5, false],
      [0.7, true],
      [0.7, false],
      [0.9, true],
    ];
    expect(fitIsotonic(said.map(([stated, right]) => ({ stated, right })))).toEqual([
      [0.1, 0.01],
      [0.3, 0.5],
      [0.7, 0.5],
      [0.9, 0.99],
    ]);
  });

  it('counts a weighted case as often as it represents', () => {
    const weighted = fitIsotonic([
      { stated: 0.9, right: true, weight: 3 },
      { stated: 0.9, right: false },
    ]);
    expect(weighted).toEqual([[0.9, 0.75]]);
  });

  it('never decreases, whatever was stated', () => {
    const statement = fc.record({
      stated: fc.integer({ min: 0, max: 100 }).map((at) => at / 100),
      right: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(statement, { minLength: 1, maxLength: 60 }), (statements) => {
        const points = fitIsotonic(statements);
        const along = Array.from({ length: 51 }, (_, at) => calibrate(points, at / 50));
        expect(along).toEqual([...along].sort((left, right) => left - right));
      }),
    );
  });
});
