import { describe, expect, it } from 'vitest';
import { describeExperiment, parseStages, toReadStages } from '../../../src/replay/ablation.ts';

describe('names of stages', () => {
  it('are read in one order, each once', () => {
    expect(parseStages(['reducer', 'web', 'reducer'])).toEqual(['web', 'reducer']);
    expect(parseStages([])).toEqual([]);
  });

  it('that are unknown are named, with all that exist', () => {
    expect(() => parseStages(['web', 'wisdom'])).toThrow(/no stage "wisdom".*library.*reducer/);
  });

  it('say which of them are the reader’s', () => {
    expect([...toReadStages(['web', 'ranking', 'green'])]).toEqual(['ranking']);
  });

  it('stand in a heading', () => {
    expect(describeExperiment([], 'loop')).toBe('');
    expect(describeExperiment(['library', 'web'], 'linear')).toBe(
      ', without library and web, linear baseline',
    );
  });
});
