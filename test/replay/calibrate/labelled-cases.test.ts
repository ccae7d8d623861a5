import { describe, expect, it } from 'vitest';
import { listLabeledCases, listLabeledDecisions } from '../../../src/replay/calibrate/calibrate.ts';
import { toFailedResult } from '../../../src/replay/run/results.ts';
import type { DecidedAnswer } from '../../../src/stores/measurements.ts';

const decided: DecidedAnswer = {
  analysisId: 'ana_1',
  repository: 'acme/shop',
  analyst: 'rules',
  model: null,
  promptHashes: {},
  category: 'CODE_ERROR',
  stated: 0.9,
  right: true,
  origin: 'unsure',
  decidedAt: '2026-01-01T00:00:00.000Z',
};

describe('answers with a known result', () => {
  it('are answered cases with a category, compared with the accepted categories', () => {
    const row = {
      id: 'a',
      project: 'p',
      category: 'CODE_ERROR' as const,
      also_ok: ['TEST_FAILURE' as const],
    };
    const result = {
      ...toFailedResult('a', '', 0),
      error: null,
      category: 'TEST_FAILURE',
      answerConfidence: 0.8,
    };
    const quotes = { made: 0, literal: 0 };
    const found = listLabeledCases([
      { row, result, analysis: null, quotes },
      { row, result: toFailedResult('a', 'no log', 0), analysis: null, quotes },
      { row: { id: 'b' }, result, analysis: null, quotes },
    ]);
    expect(
      listLabeledCases([{ row, result: { ...result, rawConfidence: 0.95 }, analysis: null, quotes }])[0]
        ?.stated,
    ).toBe(0.95);
    expect(found).toEqual([
      { id: 'a', project: 'p', category: 'TEST_FAILURE', stated: 0.8, right: true, at: null },
    ]);
  });

  it('represent all published answers if they were sampled', () => {
    const [unsure, audit] = listLabeledDecisions([decided, { ...decided, origin: 'audit' }], 20);
    expect(unsure).not.toHaveProperty('weight');
    expect(audit).toMatchObject({ weight: 20, project: 'acme/shop', right: true });
  });

  it('count a wrong one that an outcome graded for those that outcomes cannot grade', () => {
    const graded = { ...decided, origin: 'outcome' as const };
    expect(listLabeledDecisions([{ ...graded, right: false }], 20)).toMatchObject([
      { right: false, weight: 5 },
    ]);
    expect(listLabeledDecisions([graded], 20)).toMatchObject([
      { right: true, weight: 0.995 },
      { right: false, weight: 0.005 },
    ]);
  });
});
