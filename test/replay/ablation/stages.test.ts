import { describe, expect, it } from 'vitest';
import { describeExperiment, parseStages, toReadStages } from '../../../src/replay/ablation.ts';

describe('the names of stages', () => {
  it('are listed in a fixed order, each once', () => {
    expect(parseStages(['reducer', 'web', 'reducer'])).toEqual(['web', 'reducer']);
    expect(parseStages([])).toEqual([]);
  });

  it('that are unknown are reported, with all that exist', () => {
    expect(() => parseStages(['web', 'wisdom'])).toThrow(/no stage "wisdom".*library.*reducer/);
  });

  it('include whether they belong to the reader', () => {
    expect([...toReadStages(['web', 'ranking', 'green'])]).toEqual(['ranking']);
  });

  it('are shown in a heading', () => {
    expect(describeExperiment([], 'loop')).toBe('');
    expect(describeExperiment(['library', 'web'], 'linear')).toBe(
      ', without library and web, linear baseline',
    );
  });
});
