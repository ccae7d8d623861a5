import { describe, expect, it } from 'vitest';
import { Calibration, parseCalibration } from '../../../src/domain/calibration.ts';
import {
  type CalibrateOptions,
  computeBrierScore,
  computeCalibrationError,
  fitCalibration,
  withInterval,
} from '../../../src/replay/calibrate/calibrate.ts';
import { createLabeled } from './labelled-answers.ts';

const OPTIONS: CalibrateOptions = {
  method: 'auto',
  risk: null,
  analyst: 'rules',
  prompts: [],
  createdBy: 'ann',
  now: 0,
  id: 'cal_1',
  version: 1,
  sources: ['a.jsonl'],
  mask: (text) => text.replace('secret', '***'),
};
const answers = [...createLabeled('CODE_ERROR', 0.95, 90, 30), ...createLabeled('CODE_ERROR', 0.7, 30, 30)];

describe('fitting a calibration', () => {
  it('brings the stated confidence nearer to the actual accuracy, on unseen projects', () => {
    const { calibration, rows } = fitCalibration(answers, OPTIONS);
    expect(Calibration.parse(calibration)).toEqual(calibration);
    expect(calibration.before.ece.value).toBeCloseTo(0.2, 9);
    expect(calibration.after?.ece.value).toBeLessThan(0.06);
    expect(calibration.fittedOn).toMatchObject({ cases: 180, projectCount: 10, sources: ['a.jsonl'] });
    expect(rows[0]).toMatchObject({ category: 'all', cases: 180, right: 120 });
    expect(rows[1]).toMatchObject({ category: 'CODE_ERROR', method: 'platt' });
  });

  it('holds nothing out if all cases are of one project, and masks what must not be stored', () => {
    const { calibration, held } = fitCalibration(
      answers.map((answer) => ({ ...answer, project: 'my secret' })),
      OPTIONS,
    );
    expect([held, calibration.after]).toEqual([null, null]);
    expect(calibration.fittedOn.projects).toEqual([{ name: 'my ***', cases: 180 }]);
  });

  it('includes the thresholds for a given risk', () => {
    const { calibration } = fitCalibration(createLabeled('TEST_FAILURE', 0.9, 100, 0), {
      ...OPTIONS,
      risk: { most: 0.05, confidence: 0.95 },
    });
    expect(calibration.categories.TEST_FAILURE.threshold).toBeGreaterThan(0.85);
    expect(calibration.categories.CODE_ERROR.threshold).toBeNull();
  });

  it('is refused without known results', () => {
    expect(() => fitCalibration([], OPTIONS)).toThrow('nothing to calibrate with');
  });
});

describe('a stored calibration', () => {
  it('with an error is refused with the wrong field', () => {
    const { calibration } = fitCalibration(answers, OPTIONS);
    const falling = structuredClone(calibration);
    falling.categories.CODE_ERROR.points = [
      [0.1, 0.9],
      [0.9, 0.1],
    ];
    expect(() => parseCalibration(falling, 'FAULTLINE_CALIBRATION')).toThrow(
      'FAULTLINE_CALIBRATION is not a calibration: field categories.CODE_ERROR.points',
    );
    expect(() => parseCalibration([], 'x.json')).toThrow('x.json is not a calibration');
  });
});

describe('scores', () => {
  it('equal those computed by hand', () => {
    const said = [...createLabeled('CODE_ERROR', 0.95, 1, 1), ...createLabeled('CODE_ERROR', 0.55, 1, 0)];
    expect(computeCalibrationError(said)).toBeCloseTo((2 / 3) * 0.45 + (1 / 3) * 0.45, 9);
    expect(computeBrierScore(said)).toBeCloseTo((0.0025 + 0.9025 + 0.2025) / 3, 9);
    const { low, high } = withInterval(answers, computeCalibrationError);
    expect(low).toBeLessThanOrEqual(high);
    expect(withInterval(answers, computeCalibrationError)).toEqual(
      withInterval(answers, computeCalibrationError),
    );
  });
});
