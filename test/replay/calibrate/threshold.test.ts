import { describe, expect, it } from 'vitest';
import { type CategoryMap, calibrateConfidence, createCappedMap } from '../../../src/domain/calibration.ts';
import { mapCategories } from '../../../src/domain/category.ts';
import { computeCasesNeeded, computeUpperShare } from '../../../src/lib/binomial-bound.ts';
import { fitCategories, type LabelledAnswer } from '../../../src/replay/calibrate/fit.ts';
import { findThresholds } from '../../../src/replay/calibrate/threshold.ts';
import { createLabeled } from './labelled-answers.ts';

const AS_STATED = mapCategories(() => createCappedMap(0, 0, 1));

describe('the upper bound of a share', () => {
  it('agrees with the binomial distribution summed by hand', () => {
    expect(computeUpperShare(0, 59, 0.95)).toBeCloseTo(1 - 0.05 ** (1 / 59), 9);
    for (const [wrong, of] of [
      [1, 100],
      [3, 40],
      [12, 300],
    ] as const) {
      expect(computeChanceOfAtMost(wrong, of, computeUpperShare(wrong, of, 0.95))).toBeCloseTo(0.05, 6);
    }
    expect(computeUpperShare(0, 0, 0.95)).toBe(1);
    expect(computeUpperShare(5, 5, 0.95)).toBe(1);
  });
});

describe('a threshold for a risk', () => {
  it('requires a minimum of cases without a wrong one', () => {
    expect(computeCasesNeeded({ most: 0.03, confidence: 0.95 })).toBe(99);
    expect(computeCasesNeeded({ most: 0.05, confidence: 0.95 })).toBe(59);
  });

  it('equals the lowest that brute force finds, for one sequence', () => {
    const answers = [
      ...createLabeled('CODE_ERROR', 0.95, 60, 0),
      ...createLabeled('CODE_ERROR', 0.9, 30, 0),
      ...createLabeled('CODE_ERROR', 0.8, 8, 6),
    ];
    const risk = { most: 0.05, confidence: 0.95 };
    const brute = [0.95, 0.9, 0.8].filter((at) => {
      const above = answers.filter(({ stated }) => stated >= at);
      return (
        computeChanceOfAtMost(above.filter(({ right }) => !right).length, above.length, risk.most) <= 0.05
      );
    });
    const [code] = findThresholds(answers, AS_STATED, risk);
    expect(code).toMatchObject({ threshold: Math.min(...brute), published: 90, wrong: 0, cases: 104 });
    expect(code?.upper).toBeLessThanOrEqual(0.05);
  });

  it('is tested in several sequences if there are enough cases, each more strictly', () => {
    // The first answers hold a wrong one, so that a sequence from the top alone would end at once.
    const answers = [
      ...createLabeled('CODE_ERROR', 0.97, 59, 1),
      ...createLabeled('CODE_ERROR', 0.9, 240, 0),
    ];
    const [code] = findThresholds(answers, AS_STATED, { most: 0.05, confidence: 0.95 });
    expect(code).toMatchObject({ threshold: 0.9, published: 300, wrong: 1 });
  });

  it('is null if no threshold meets the risk, so that every answer needs review', () => {
    const answers = [
      ...createLabeled('CODE_ERROR', 0.9, 30, 0),
      ...createLabeled('TEST_FAILURE', 0.9, 150, 30),
      ...createLabeled('INFRA_ERROR', 0.6, 500, 0),
    ];
    const found = findThresholds(answers, AS_STATED, { most: 0.05, confidence: 0.95 });
    expect(found.map(({ threshold }) => threshold)).toEqual([null, null, null, null, null]);
    expect(found[0]).toMatchObject({ cases: 30, published: 0, needed: 59, upper: null });
  });

  it('keeps its guarantee: over many samples it fails no more often than stated', () => {
    const risk = { most: 0.1, confidence: 0.9 };
    let [broken, samples] = [0, 0];
    let state = 7;
    const random = () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return state / 2 ** 32;
    };
    for (let run = 0; run < 300; run++) {
      const answers = Array.from({ length: 200 }, (_, index) => {
        const stated = 0.66 + 0.34 * random();
        return {
          id: `${index}`,
          project: 'p',
          category: 'CODE_ERROR' as const,
          stated,
          right: random() < stated,
          at: null,
        };
      });
      const threshold = findThresholds(answers, AS_STATED, risk)[0]?.threshold ?? null;
      samples++;
      // An answer at s is right with probability s, so from t on (1 - t) / 2 of them are wrong.
      if (threshold !== null && (1 - threshold) / 2 > risk.most) broken++;
    }
    expect(broken / samples).toBeLessThanOrEqual(0.14);
  });
});

describe('a threshold applied by verify', () => {
  const answers = Array.from({ length: 300 }, (_, index): LabelledAnswer => {
    const stated = 0.7 + 0.0009 * index;
    return {
      id: `${index}`,
      project: `p${index % 10}`,
      category: 'CODE_ERROR',
      stated,
      right: index > 60 || index % 3 === 0,
      at: null,
    };
  });

  it('publishes exactly the answers that it was tested on', () => {
    for (const method of ['platt', 'isotonic'] as const) {
      for (const most of [0.03, 0.05, 0.1]) {
        const maps = fitCategories(answers, method);
        const [code] = findThresholds(answers, maps, { most, confidence: 0.9 });
        const points = maps.CODE_ERROR.points;
        const passing = answers.filter(
          ({ stated }) => code?.threshold != null && calibrateConfidence(points, stated) >= code.threshold,
        );
        expect(passing).toHaveLength(code?.published ?? -1);
      }
    }
  });

  it('is null if a flat map would publish what was never tested', () => {
    const flat = mapCategories((): CategoryMap => ({ ...createCappedMap(0, 0, 1), points: [[0, 0.95]] }));
    const sure = createLabeled('CODE_ERROR', 0.95, 200, 0);
    expect(findThresholds(sure, flat, { most: 0.05, confidence: 0.95 })[0]?.threshold).toBeNull();
  });

  it('is not found by joining a failed range with the next, which would use the results themselves', () => {
    // 1 of the 59 surest wrong does not keep to it; an isotonic map would tie them with the 21 right ones below.
    const tied = mapCategories(
      (): CategoryMap => ({
        ...createCappedMap(0, 0, 1),
        points: [
          [0.5, 0.5],
          [0.9, 0.95],
        ],
      }),
    );
    const mixed = [...createLabeled('CODE_ERROR', 0.97, 58, 1), ...createLabeled('CODE_ERROR', 0.92, 21, 0)];
    const [code] = findThresholds(mixed, tied, { most: 0.07, confidence: 0.95 });
    expect(code?.threshold).toBeNull();
  });
});

/** P(X ≤ wrong) for so many trials, summed term by term. */
function computeChanceOfAtMost(wrong: number, of: number, share: number): number {
  let [sum, choose] = [0, 1];
  for (let count = 0; count <= wrong; count++) {
    sum += choose * share ** count * (1 - share) ** (of - count);
    choose = (choose * (of - count)) / (count + 1);
  }
  return sum;
}
