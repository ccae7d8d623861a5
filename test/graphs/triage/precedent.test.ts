import { describe, expect, it } from 'vitest';
import { applyPrecedent, withSimilarCases } from '../../../graphs/triage/nodes/generate-answer.ts';
import type { Answer, Classification } from '../../../src/domain/analysis.ts';
import type { Evidence } from '../../../src/domain/evidence.ts';

const unsure: Classification = {
  category: 'CODE_ERROR',
  kind: 'unknown',
  confidence: 0.4,
  abstained: true,
  because: '',
  probabilities: {
    CODE_ERROR: 0.5,
    INFRA_ERROR: 0.1,
    CONFIG_ERROR: 0.2,
    DEPENDENCY_ERROR: 0.1,
    TEST_FAILURE: 0.1,
  },
};
const decided = (score: number, confirmedBy: string | null = 'ida'): Evidence => ({
  id: 'E7',
  tool: 'search_error_library',
  title: 'pump not primed',
  text: 'x',
  source: 'error-library/1',
  score,
  data: { category: 'CONFIG_ERROR', kind: 'environment', confirmedBy },
});

describe('a decision of a person', () => {
  it('sets the category if the log does not show it, is named as the source, and never counts as confident', () => {
    const found = applyPrecedent(unsure, [decided(0.9)]);
    expect(found).toMatchObject({
      category: 'CONFIG_ERROR',
      kind: 'environment',
      confidence: 0.6,
      abstained: false,
    });
    expect(found.because).toBe('ida decided this way for a similar failure (E7)');
    expect(found.witnesses).toEqual([{ by: 'precedent', name: 'pump not primed', at: null }]);
    expect(Object.values(found.probabilities).reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 3);
  });

  it('corrects the category that the log alone suggests, and says so', () => {
    const sure = { ...unsure, confidence: 0.9, abstained: false };
    const found = applyPrecedent(sure, [decided(0.9)]);
    expect(found).toMatchObject({ category: 'CONFIG_ERROR', confidence: 0.6 });
    expect(found.because).toBe(
      'ida decided this way for a similar failure (E7); the log alone suggests CODE_ERROR',
    );
  });

  it('changes nothing if the log agrees, if it is not similar, or if it is not confirmed', () => {
    const sure = { ...unsure, category: 'CONFIG_ERROR' as const, confidence: 0.9, abstained: false };
    expect(applyPrecedent(sure, [decided(0.9)])).toBe(sure);
    const shown = { ...decided(0.9), data: { ...decided(0.9).data, proposes: false } };
    expect(applyPrecedent(unsure, [shown])).toBe(unsure);
    expect(applyPrecedent(unsure, [decided(0.6)])).toBe(unsure);
    expect(applyPrecedent(unsure, [decided(0.9, null)])).toBe(unsure);
  });

  it('is listed with the answer, most similar first', () => {
    const answer: Answer = {
      title: '',
      rootCause: '',
      fixRecommendation: '',
      confidence: 0.5,
      claims: [],
      suspects: [],
      hypotheses: [],
    };
    expect(withSimilarCases(answer, [])).toBe(answer);
    const cases = withSimilarCases(answer, [decided(0.6, null), { ...decided(0.9), id: 'E8' }]).similarCases;
    expect(cases?.map(({ evidence, confirmedBy }) => [evidence, confirmedBy])).toEqual([
      ['E8', 'ida'],
      ['E7', null],
    ]);
  });
});
