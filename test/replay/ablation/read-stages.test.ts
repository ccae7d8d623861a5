import { describe, expect, it } from 'vitest';
import { ReadStage } from '../../../src/domain/ablation.ts';
import type { Reading } from '../../../src/domain/reading.ts';
import { readSources } from '../../../src/log/read-sources.ts';
import { capturedFailure } from '../../support/captured-failures.ts';

/** A Maven build of five hundred lines, which no stage leaves as it is. */
const { log } = capturedFailure('loyalty-customer-null');
const sources = [{ name: 'log', kind: 'log' as const, text: log, notes: [] }];
/** So few that every stage has to choose. */
const BUDGET = 600;
const read = (...stages: ReadStage[]) => readSources(sources, { budgetTokens: BUDGET, without: new Set(stages) });
const whole = readSources(sources, { budgetTokens: BUDGET });
const changedBy = (reading: Reading) => {
  const other = new Map(Object.entries(reading));
  return Object.entries(whole).flatMap(([key, value]) => (JSON.stringify(value) === JSON.stringify(other.get(key)) ? [] : [key]));
};
const reasonsOf = (reading: Reading) => reading.excerpts.map(({ reason }) => reason);

describe('stages of the reader that are left out', () => {
  it('are none by default, and then nothing differs by a byte', () => {
    expect(JSON.stringify(read())).toBe(JSON.stringify(whole));
  });

  it.each(ReadStage.options.filter((stage) => stage !== 'extractors' && stage !== 'sections'))(
    'change the choice of lines and nothing that was found: %s',
    (stage) => {
      const changed = changedBy(read(stage));
      expect(changed).toContain('excerpts');
      expect(changed.filter((key) => key !== 'excerpts' && key !== 'tokens')).toEqual([]);
    },
  );

  it('keep to the budget', () => {
    for (const stage of ReadStage.options) expect(read(stage).tokens).toBeLessThanOrEqual(BUDGET);
  });

  it('sections: no step is known to have failed', () => {
    const reading = read('sections');
    expect(whole.failedSections).toHaveLength(1);
    expect(reading.failedSections).toEqual([]);
    expect(changedBy(reading).sort()).toEqual(['excerpts', 'failedSections']);
  });

  it('extractors: what general phrases find is all that is found', () => {
    const reading = read('extractors');
    expect(whole.failingTests).toHaveLength(1);
    expect([reading.failingTests, reading.exceptions, reading.diagnostics]).toEqual([[], [], []]);
    expect(reading.messages).not.toEqual([]);
    expect(reading.failedSections).toEqual(whole.failedSections);
  });

  it('context: nothing is shown for standing around something', () => {
    expect(reasonsOf(read('rarity')).join()).toContain('around:');
    expect(reasonsOf(read('rarity', 'context')).join()).not.toContain('around:');
  });

  it('ends: nothing is shown for standing at an end', () => {
    expect(reasonsOf(whole)).toContain('end of the log');
    expect(reasonsOf(read('ends')).filter((reason) => reason.startsWith('end of'))).toEqual([]);
  });

  it('reducer: the last lines of the log and no others', () => {
    const { excerpts } = read('reducer');
    const lines = log.split('\n').length;
    expect(excerpts.at(-1)?.lineEnd).toBe(lines);
    expect(new Set(reasonsOf(read('reducer')))).toEqual(new Set(['end of the log']));
  });
});
