import { describe, expect, it } from 'vitest';
import { AblationStage } from '../../../src/domain/calibration.ts';

import { describeExperiment, parseStages, readStagesOf, STAGE_TEXTS } from '../../../src/replay/ablation.ts';

describe('names of stages', () => {
  it('are read in one order, each once', () => {
    expect(parseStages(['reducer', 'web', 'reducer'])).toEqual(['web', 'reducer']);
    expect(parseStages([])).toEqual([]);
  });

  it('that nobody knows are told, with all that there are', () => {
    expect(() => parseStages(['web', 'wisdom'])).toThrow(/no stage "wisdom".*library.*reducer/);
  });

  it('say what is missing, and which of them are the reader’s', () => {
    expect(Object.keys(STAGE_TEXTS).sort()).toEqual([...AblationStage.options].sort());
    expect([...readStagesOf(['web', 'ranking', 'green'])]).toEqual(['ranking']);
  });

  it('stand in a heading', () => {
    expect(describeExperiment([], 'loop')).toBe('');
    expect(describeExperiment(['library', 'web'], 'linear')).toBe(', without library and web, linear baseline');
  });
});
