import { describe, expect, it } from 'vitest';
import { ReadStage } from '../../../src/domain/calibration.ts';
import type { Reading } from '../../../src/domain/reading.ts';
import { readSources } from '../../../src/log/read-sources.ts';
import { readCapturedFailure } from '../../support/captured-failures.ts';

/** A Maven build of five hundred lines, which no stage leaves as it is. */
const { log } = readCapturedFailure('loyalty-customer-null');
const sources = [{ name: 'log', kind: 'log' as const, text: log, notes: [] }];
/** So few that every stage has to choose. */
const BUDGET = 600;
const read = (...stages: ReadStage[]) =>
  readSources(sources, { budgetTokens: BUDGET, without: new Set(stages) });
const whole = readSources(sources, { budgetTokens: BUDGET });
const changedBy = (reading: Reading) => {
  const other = new Map(Object.entries(reading));
  return Object.entries(whole).flatMap(([key, value]) =>
    JSON.stringify(value) === JSON.stringify(other.get(key)) ? [] : [key],
  );
};
const listReasons = (reading: Reading) => reading.excerpts.map(({ reason }) => reason);

describe('stages of the reader that are left out', () => {
  it('are none by default, with identical results', () => {
    expect(JSON.stringify(read())).toBe(JSON.stringify(whole));
  });

  it.each(['ranking', 'reducer'] as const)('change the choice of lines but no findings: %s', (stage) => {
    const changed = changedBy(read(stage));
    expect(changed).toContain('excerpts');
    expect(changed.filter((key) => !['excerpts', 'tokens', 'messages'].includes(key))).toEqual([]);
  });

  it('stay within the budget', () => {
    for (const stage of ReadStage.options) expect(read(stage).tokens).toBeLessThanOrEqual(BUDGET);
  });

  it('without sections, know no failed step', () => {
    const reading = read('sections');
    expect(whole.failedSections).toHaveLength(1);
    expect(reading.failedSections).toEqual([]);
    expect(changedBy(reading)).toContain('excerpts');
  });

  it('without extractors, use only the reader for unknown tools', () => {
    const reading = read('extractors');
    expect(changedBy(reading)).not.toEqual([]);
    expect(reading.messages).not.toEqual([]);
    expect(reading.failedSections).toEqual(whole.failedSections);
  });

  it('without the reducer, keep only the last lines of the log', () => {
    const { excerpts } = read('reducer');
    const lines = log.split('\n').length;
    expect(excerpts.at(-1)?.lineEnd).toBe(lines);
    expect(new Set(listReasons(read('reducer')))).toEqual(new Set(['end of the log']));
  });
});
