import { describe, expect, it } from 'vitest';
import { createCalibrationReader, loadCalibrationFile } from '../../src/app/investigation.ts';
import { COMMON } from '../../src/config/schema.ts';
import type { Calibration } from '../../src/domain/calibration.ts';
import { silentLogger } from '../../src/ports/telemetry.ts';

import { fitCalibration } from '../../src/replay/calibrate/calibrate.ts';
import { createLabeled } from '../replay/calibrate/labelled-answers.ts';

const made = (version: number): Calibration =>
  fitCalibration(createLabeled('CODE_ERROR', 0.9, 40, 10), {
    method: 'auto',
    risk: null,
    analyst: 'rules',
    prompts: [],
    createdBy: 'ann',
    now: 0,
    id: 'cal_1',
    version,
    sources: [],
    mask: (text) => text,
  }).calibration;

describe('the calibrations in force', () => {
  it('reach a running worker within seconds, and remain while the database is down', async () => {
    let [now, stored, away, asked] = [0, [made(1)], false, 0];
    const store = {
      inForce: async () => {
        asked++;
        if (away) throw new Error('away');
        return stored;
      },
    };
    const read = createCalibrationReader(store, { now: () => now }, silentLogger);
    const versions = async () => (await read()).map(({ version }) => version);

    expect(await versions()).toEqual([1]);
    stored = [made(2)];
    now = 9_000;
    expect(await versions()).toEqual([1]);
    expect(asked).toBe(1);
    now = 11_000;
    expect(await versions()).toEqual([2]);
    away = true;
    now = 60_000;
    expect(await versions()).toEqual([2]);
    expect(Object.keys((await read())[0] ?? {}).sort()).toEqual([
      'analyst',
      'categories',
      'prompts',
      'version',
    ]);
  });

  it('come from a file if there is no store; a broken file is refused with the wrong field', async () => {
    const triage = { ...COMMON.triage, greenBuilds: 0 } as const;
    expect(loadCalibrationFile({ triage })).toEqual({});
    const { calibrations } = loadCalibrationFile({ triage: { ...triage, calibration: { ...made(4) } } });
    expect((await calibrations?.())?.map(({ version }) => version)).toEqual([4]);
    expect(() =>
      loadCalibrationFile({ triage: { ...triage, calibration: { ...made(4), version: 'four' } } }),
    ).toThrow('FAULTLINE_CALIBRATION is not a calibration: field version');
  });
});
