import { describe, expect, it } from 'vitest';
import { listSpreads, listUnsteadyCases, renderSpread } from '../../../src/replay/report.ts';
import type { ReplayedCase } from '../../../src/replay/run/replay.ts';
import { toFailedResult } from '../../../src/replay/run/results.ts';

describe('repeats of the same cases', () => {
  it('have a spread, which is the difference between them', () => {
    const sections = (accuracy: number) => [
      {
        title: 'category',
        figures: [
          { name: 'accuracy', value: accuracy, cases: 10 },
          { name: 'cases', value: 10, cases: 10 },
        ],
      },
    ];
    const spread = listSpreads([sections(0.7), sections(0.9), sections(0.8)]);
    expect(spread).toEqual([
      { name: 'accuracy', unit: undefined, mean: expect.closeTo(0.8), low: 0.7, high: 0.9, repeats: 3 },
    ]);
    const text = renderSpread('set', spread, { ids: ['x'], cases: 10 });
    expect(text).toContain('  accuracy       0.800  n=3  from 0.700 to 0.900');
    expect(text).toContain('9 of 10 cases are put into the same category each time; not x');
  });

  it('name the cases that differ, without those that one repeat did not reach', () => {
    const repeats = [
      createCases({ a: 'CODE_ERROR', b: 'CODE_ERROR', c: 'CODE_ERROR' }),
      createCases({ a: 'CODE_ERROR', b: 'TEST_FAILURE' }),
    ];
    expect(listUnsteadyCases(repeats)).toEqual({ ids: ['b'], cases: 2 });
  });
});

function createCases(said: Readonly<Record<string, string>>): ReplayedCase[] {
  return Object.entries(said).map(([id, category]) => ({
    row: null,
    result: { ...toFailedResult(id, '', 0), category },
    analysis: null,
    quotes: { made: 0, literal: 0 },
  }));
}
