import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { calibrate } from '../../../../src/adapters/analyst/rules/calibration.ts';
import { evidenceOf, probabilitiesOf, ranked } from '../../../../src/adapters/analyst/rules/score.ts';
import { KINDS } from '../../../../src/domain/kind.ts';

const NOTHING = evidenceOf([]);
const anyEvidence = fc.record({
  CODE_ERROR: fc.double({ min: 0, max: 6, noNaN: true }),
  INFRA_ERROR: fc.double({ min: 0, max: 6, noNaN: true }),
  CONFIG_ERROR: fc.double({ min: 0, max: 6, noNaN: true }),
  DEPENDENCY_ERROR: fc.double({ min: 0, max: 6, noNaN: true }),
  TEST_FAILURE: fc.double({ min: 0, max: 6, noNaN: true }),
});

describe('calibrated probabilities', () => {
  test('name as runner-up what a kind is most often taken for', () => {
    const compile = probabilitiesOf({ ...NOTHING, CODE_ERROR: 5 });
    const order = ranked(calibrate(compile, { category: 'CODE_ERROR', kind: 'compile_error' }));
    expect(order.slice(0, 2)).toEqual(['CODE_ERROR', 'DEPENDENCY_ERROR']);
  });

  test('a kind under the category of its rival has its usual category as runner-up', () => {
    const crash = probabilitiesOf({ ...NOTHING, DEPENDENCY_ERROR: 5 });
    const order = ranked(calibrate(crash, { category: 'DEPENDENCY_ERROR', kind: 'compile_error' }));
    expect(order.slice(0, 2)).toEqual(['DEPENDENCY_ERROR', 'CODE_ERROR']);
  });

  test('are no longer sure of our own code where a library did not arrive either', () => {
    const compile = probabilitiesOf({ ...NOTHING, CODE_ERROR: 6 });
    const found = { category: 'CODE_ERROR', kind: 'compile_error' } as const;
    expect(calibrate(compile, found).CODE_ERROR).toBeGreaterThan(0.85);
    const unsure = calibrate(compile, { ...found, unresolved: true });
    expect(unsure.CODE_ERROR).toBeLessThan(0.85);
    expect(ranked(unsure).slice(0, 2)).toEqual(['CODE_ERROR', 'DEPENDENCY_ERROR']);
    const assertion = { category: 'CODE_ERROR', kind: 'assertion', unresolved: true } as const;
    expect(calibrate(compile, assertion)).toEqual(calibrate(compile, { ...assertion, unresolved: false }));
  });

  test('keep what was found first, sum to one and stay below certainty, whatever the evidence', () => {
    fc.assert(
      fc.property(anyEvidence, fc.constantFrom(...KINDS), (evidence, kind) => {
        const before = probabilitiesOf(evidence);
        const category = ranked(before)[0] ?? 'CODE_ERROR';
        const after = calibrate(before, { category, kind });
        expect(after[category]).toBe(Math.max(...Object.values(after)));
        expect(Object.values(after).reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 2);
        if (before[category] > 0.6) expect(after[category]).toBeLessThanOrEqual(0.9801);
      }),
    );
  });

  test('never fall where there is more evidence', () => {
    const stated = [1, 2, 3, 4, 5, 6].map((code) => {
      return calibrate(probabilitiesOf({ ...NOTHING, CODE_ERROR: code }), { category: 'CODE_ERROR', kind: 'crash' }).CODE_ERROR;
    });
    expect(stated).toEqual([...stated].sort((left, right) => left - right));
  });
});
