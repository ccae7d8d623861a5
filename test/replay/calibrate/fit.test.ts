import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Calibration, calibrate } from '../../../src/domain/calibration.ts';
import { CATEGORIES } from '../../../src/domain/category.ts';
import { fitCategories, ISOTONIC_FROM } from '../../../src/replay/calibrate/fit.ts';
import { createLabeled } from './labelled-answers.ts';

const along = Array.from({ length: 101 }, (_, at) => at / 100);
const many = [...createLabeled('CODE_ERROR', 0.92, 180, 60), ...createLabeled('CODE_ERROR', 0.7, 40, 40)];

describe('fitting by category', () => {
  it('keeps the stated confidence of a category with few cases, limited by their number', () => {
    const maps = fitCategories([...many, ...createLabeled('CONFIG_ERROR', 0.9, 3, 0)], 'auto');
    expect(maps.CONFIG_ERROR).toMatchObject({ method: 'capped', cases: 3, right: 3 });
    expect(calibrate(maps.CONFIG_ERROR.points, 0.95)).toBeLessThanOrEqual(9 / 11);
    expect(maps.INFRA_ERROR).toMatchObject({ method: 'capped', cases: 0 });
    expect(calibrate(maps.INFRA_ERROR.points, 0.99)).toBeLessThanOrEqual(0.75);
    for (const stated of along)
      expect(calibrate(maps.INFRA_ERROR.points, stated)).toBeLessThanOrEqual(stated + 1e-4);
  });

  it('uses all categories for one with some cases, and never raises the confidence', () => {
    const maps = fitCategories([...many, ...createLabeled('CONFIG_ERROR', 0.9, 15, 0)], 'auto');
    expect(maps.CONFIG_ERROR.method).toBe('pooled');
    for (const stated of along)
      expect(calibrate(maps.CONFIG_ERROR.points, stated)).toBeLessThanOrEqual(stated + 1e-4);
  });

  it('fits a category with enough cases by itself', () => {
    const maps = fitCategories([...many, ...createLabeled('TEST_FAILURE', 0.9, 99, 1)], 'auto');
    expect([maps.CODE_ERROR.method, maps.TEST_FAILURE.method]).toEqual(['platt', 'platt']);
    expect(calibrate(maps.CODE_ERROR.points, 0.92)).toBeLessThan(0.82);
    expect(calibrate(maps.TEST_FAILURE.points, 0.9)).toBeGreaterThan(0.93);
  });

  it('is isotonic with a great many cases, or on request', () => {
    const cases = createLabeled('CODE_ERROR', 0.9, ISOTONIC_FROM - 100, 100);
    expect(fitCategories(cases, 'auto').CODE_ERROR.method).toBe('isotonic');
    expect(calibrate(fitCategories(cases, 'auto').CODE_ERROR.points, 0.9)).toBeCloseTo(0.9, 1);
    expect(fitCategories(cases, 'platt').CODE_ERROR.method).toBe('platt');
    expect(fitCategories(many, 'isotonic').CODE_ERROR.method).toBe('isotonic');
  });

  it('raises no answer with a lower confidence than those that were seen', () => {
    const against = [...createLabeled('CODE_ERROR', 0.97, 45, 9), ...createLabeled('CODE_ERROR', 0.9, 45, 1)];
    const sure = Array.from({ length: 80 }, (_, at) =>
      createLabeled('CODE_ERROR', 0.8 + 0.002 * at, 14, 1),
    ).flat();
    for (const map of [
      fitCategories(against, 'auto'),
      fitCategories(against, 'isotonic'),
      fitCategories(sure, 'auto'),
    ]) {
      for (const stated of [0, 0.1, 0.3, 0.5, 0.7])
        expect(calibrate(map.CODE_ERROR.points, stated)).toBeLessThanOrEqual(stated);
      expect(calibrate(map.CODE_ERROR.points, 0.9)).toBeGreaterThan(0.85);
    }
  });

  it('weights sampled answers by their number, not by what they represent', () => {
    const drawn = (right: number) =>
      createLabeled('CONFIG_ERROR', 0.95, right, 0).map((labelledAnswer) => ({
        ...labelledAnswer,
        weight: 20,
      }));
    const one = fitCategories([...many, ...drawn(1)], 'auto').CONFIG_ERROR;
    expect(calibrate(one.points, 0.95)).toBeLessThanOrEqual(7 / 9 + 1e-4);
    const mixed = fitCategories(
      [...many, ...drawn(1), ...createLabeled('CONFIG_ERROR', 0.6, 20, 20)],
      'auto',
    ).CONFIG_ERROR;
    expect(mixed.method).toBe('capped');
    const weighted = many.map((each) => ({ ...each, weight: 20 }));
    expect(fitCategories(weighted, 'auto')).toEqual(fitCategories(many, 'auto'));
  });

  it('never decreases, and can be stored, whatever the cases', () => {
    const group = fc.tuple(
      fc.constantFrom(...CATEGORIES),
      fc.integer({ min: 0, max: 100 }),
      fc.nat(40),
      fc.nat(40),
    );
    fc.assert(
      fc.property(
        fc.array(group, { maxLength: 6 }),
        fc.constantFrom<'auto' | 'isotonic' | 'platt'>('auto', 'isotonic', 'platt'),
        (groups, method) => {
          const answers = groups.flatMap(([category, stated, right, wrong]) =>
            createLabeled(category, stated / 100, right, wrong),
          );
          for (const map of Object.values(fitCategories(answers, method))) {
            expect(Calibration.shape.categories.valueType.safeParse(map).success).toBe(true);
          }
        },
      ),
      { numRuns: 40 },
    );
  });
});
