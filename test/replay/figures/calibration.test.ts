import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scoreCalibration } from '../../../src/replay/figures/calibration.ts';
import { createJudged, createReplayed, createStated, findFigure } from './cases.ts';

const SOME = createStated([0.95, true], [0.95, false], [0.6, true], [0.6, true], [0.2, false]);

describe('calibration figures', () => {
  it('weight bins of about equal size for the error by mass, with equal values in one bin', () => {
    // 0.2 | 0.6 0.6 | 0.95 0.95: (0.2 + |2 − 1.2| + |1 − 1.9|) / 5
    expect(
      findFigure(scoreCalibration(SOME), 'expected calibration error, bins of equal mass').value,
    ).toBeCloseTo((0.2 + 0.8 + 0.9) / 5);
  });

  it('have parts of the Brier score that add up to it', () => {
    const figures = scoreCalibration([...SOME, ...createStated([0.91, true], [0.99, false])]);
    const part = (name: string) => findFigure(figures, `Brier score: ${name}`).value;
    const sum = part('reliability') - part('resolution') + part('uncertainty') + part('within bins');
    expect(sum).toBeCloseTo(findFigure(figures, 'Brier score').value, 12);
    expect(part('uncertainty')).toBeCloseTo((4 / 7) * (3 / 7));
  });

  it('have no variance within bins for two bins with one value each', () => {
    const figures = scoreCalibration(createStated([0.9, true], [0.9, false], [0.1, false], [0.1, false]));
    // shares 0.5 and 0 against 0.9 and 0.1; base 0.25
    expect(findFigure(figures, 'Brier score: reliability').value).toBeCloseTo(
      0.5 * 0.4 ** 2 + 0.5 * 0.1 ** 2,
    );
    expect(findFigure(figures, 'Brier score: resolution').value).toBeCloseTo(0.25 ** 2);
    expect(findFigure(figures, 'Brier score: within bins').value).toBeCloseTo(0);
  });

  it("name the cases of confident errors, and include the answer's own probability", () => {
    const wrong = createJudged(
      'CODE_ERROR',
      'INFRA_ERROR',
      { id: 'wrong' },
      { confidence: 0.85, answerConfidence: 0.4 },
    );
    expect(findFigure(scoreCalibration([wrong, ...SOME]), 'confident errors')).toMatchObject({
      value: 2 / 6,
      against: ['s1', 'wrong'],
    });
    expect(findFigure(scoreCalibration([wrong], 'answer'), 'answer: confident errors')).toMatchObject({
      value: 0,
      cases: 1,
    });
    expect(scoreCalibration(SOME, 'answer')).toEqual([]);
  });

  it('lie within 0 and 1, and do not depend on the order of the cases', () => {
    const some = fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.boolean()), {
      minLength: 1,
      maxLength: 30,
    });
    fc.assert(
      fc.property(some, (of) => {
        const cases = createStated(...of);
        const figures = scoreCalibration(cases);
        const turned = new Map(scoreCalibration([...cases].reverse()).map((figure) => [figure.name, figure]));
        for (const { name, value, interval } of figures.filter(
          (figure) => !figure.name.endsWith('within bins'),
        )) {
          expect(value).toBeGreaterThanOrEqual(-1e-12);
          expect(value).toBeLessThanOrEqual(1 + 1e-12);
          expect(turned.get(name)?.value).toBeCloseTo(value, 9);
          if (interval !== undefined) expect(interval[0]).toBeLessThanOrEqual(interval[1]);
        }
      }),
      { numRuns: 15 },
    );
  });
});

describe('accuracy against coverage', () => {
  it('covers at least what the table states, and names the wrong cases', () => {
    const figures = scoreCalibration(SOME);
    expect(findFigure(figures, 'accuracy at 60 % coverage')).toMatchObject({
      value: 0.75,
      cases: 4,
      against: ['s1'],
    });
    expect(findFigure(figures, 'accuracy at 100 % coverage').value).toBe(0.6);
  });

  it('has the mean risk of the k most confident as the area, and ties share their errors', () => {
    // k = 1: 0.5/1, 2: 1/2, 3: 1/3, 4: 1/4, 5: 2/5
    const area = findFigure(scoreCalibration(SOME), 'area under risk and coverage').value;
    expect(area).toBeCloseTo((1 / 2 + 1 / 2 + 1 / 3 + 1 / 4 + 2 / 5) / 5);
    const best = findFigure(
      scoreCalibration(createStated([0.9, true], [0.8, true], [0.1, false])),
      'area under risk and coverage',
    ).value;
    expect(best).toBeCloseTo(1 / 9);
  });
});

it('a confidence interval contains its own value, even if the bootstrap is biased for calibrated data', () => {
  const levels = [0.25, 0.5, 0.75, 0.95];
  const cases = levels.flatMap((confidence) =>
    Array.from({ length: 100 }, (_, at) => {
      const category = at < confidence * 100 ? 'CODE_ERROR' : 'INFRA_ERROR';
      return createReplayed({ id: `${confidence}/${at}`, category: 'CODE_ERROR' }, { category, confidence });
    }),
  );
  const error = findFigure(scoreCalibration(cases), 'expected calibration error');
  expect(error.value).toBeCloseTo(0);
  expect(error.interval?.[0]).toBe(error.value);
  expect(error.interval?.[1]).toBeGreaterThan(0.01);
});
