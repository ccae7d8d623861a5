import { describe, expect, it } from 'vitest';
import { type ConfidenceFacts, composeConfidence } from '../../../graphs/triage/compose-confidence.ts';
import type { Classification } from '../../../src/domain/analysis.ts';
import type { Assessment } from '../../../src/ports/analyst.ts';

const classification: Classification = {
  category: 'INFRA_ERROR',
  kind: 'network',
  confidence: 0.9,
  abstained: false,
  because: '',
  probabilities: {
    CODE_ERROR: 0.02,
    INFRA_ERROR: 0.9,
    CONFIG_ERROR: 0.03,
    DEPENDENCY_ERROR: 0.03,
    TEST_FAILURE: 0.02,
  },
};
const said = (confidence: number): Assessment => ({
  grades: { E1: 'relevant' },
  unsupportedClaims: [],
  gaps: [],
  confidence,
  against: [],
});
const compose = (facts: Partial<ConfidenceFacts>) =>
  composeConfidence({
    classification,
    assessment: said(0.9),
    reading: null,
    evidence: [],
    fingerprint: 'f00d',
    claims: { kept: 2, misquoted: 0, all: 2 },
    quotesBuild: true,
    cited: ['E1'],
    ...facts,
  });
const rules = (
  confidence: number,
  category: Classification['category'] = 'INFRA_ERROR',
  abstained = false,
) => ({
  category,
  kind: 'network' as const,
  confidence,
  abstained,
  assessment: said(confidence),
  claims: [],
});
const past = (category: string) => ({
  id: 'E2',
  tool: 'read_failure_history',
  title: '',
  text: '',
  source: 'history',
  data: { fingerprint: 'f00d', category },
});
const red = {
  id: 'E3',
  tool: 'count_consecutive_failures',
  title: '',
  text: '',
  source: 'history',
  data: { count: 7 },
};

describe('composeConfidence', () => {
  it('keeps the calibrated confidence of the rules if nothing contradicts it', () => {
    expect(compose({ assessment: said(0.913) }).confidence).toBe(0.913);
  });
  it("never exceeds a model's stated confidence, and limits it by the evidence", () => {
    expect(compose({ assessment: said(0.3), reading: rules(0.95) }).confidence).toBe(0.3);
    expect(
      compose({ assessment: said(1), reading: rules(0.95), claims: { kept: 1, misquoted: 0, all: 2 } })
        .confidence,
    ).toBeLessThan(0.75);
    expect(
      compose({ assessment: said(1), reading: rules(0.95), quotesBuild: false }).confidence,
    ).toBeLessThan(0.8);
  });
  it('lowers it for another interpretation, invented quotations, a different earlier cause, and a service that is down too long', () => {
    const sure = compose({ assessment: said(1), reading: rules(0.9) }).confidence;
    expect(compose({ assessment: said(1), reading: rules(0.9, 'CODE_ERROR') }).confidence).toBeLessThan(sure);
    expect(compose({ assessment: said(1), reading: rules(0.4, 'CODE_ERROR', true) }).confidence).toBe(0.6);
    const flaky = { ...classification, category: 'TEST_FAILURE' as const, kind: 'flaky_timing' as const };
    const real = { ...rules(0.9, 'TEST_FAILURE'), kind: 'assertion' as const };
    expect(compose({ classification: flaky, assessment: said(1), reading: real }).confidence).toBe(0.6);
    expect(
      compose({ classification: flaky, assessment: said(1), reading: { ...real, kind: 'flaky_timing' } })
        .confidence,
    ).toBe(sure);
    const code = { ...classification, category: 'CODE_ERROR' as const, kind: 'crash' as const };
    expect(
      compose({ classification: code, assessment: said(1), reading: rules(0.4, 'CONFIG_ERROR', true) })
        .confidence,
    ).toBe(sure);
    expect(compose({ claims: { kept: 1, misquoted: 1, all: 2 } }).confidence).toBeLessThan(0.9);
    expect(compose({ evidence: [past('CODE_ERROR')] }).confidence).toBeLessThan(0.9);
    expect(compose({ evidence: [past('CODE_ERROR'), past('INFRA_ERROR')] }).confidence).toBe(0.9);
    expect(compose({ evidence: [red] }).confidence).toBeLessThan(0.9);
  });
  it('raises it if the rules agree, but not beyond the value of the evidence', () => {
    const code = { ...classification, category: 'CODE_ERROR' as const, kind: 'crash' as const };
    const model = (
      confidence: number,
      reading: ConfidenceFacts['reading'],
      facts: Partial<ConfidenceFacts> = {},
    ) => compose({ classification: code, assessment: said(confidence), reading, ...facts }).confidence;
    expect(model(0.76, rules(0.95, 'CODE_ERROR'))).toBeGreaterThan(0.9);
    expect(model(0.76, rules(0.55, 'CODE_ERROR'))).toBeLessThan(0.8);
    expect(model(0.76, rules(0.3, 'CODE_ERROR'))).toBe(0.76);
    expect(model(0.76, rules(0.49, 'CODE_ERROR', true))).toBe(0.76);
    expect(model(0.6, rules(0.98, 'CODE_ERROR'))).toBe(0.6);
    expect(model(0.76, rules(0.95, 'CODE_ERROR'), { quotesBuild: false })).toBeLessThan(0.9);
    expect(compose({ assessment: said(0.76), reading: rules(0.95) }).confidence).toBe(0.76);
  });
  it('raises it if the pattern fits the cause, and lowers it for a service that is down for long', () => {
    const lasting = { ...red, data: { count: 7, same: 6, firstSameNumber: '21' } };
    const alone = (more: Partial<Classification>, evidence = [lasting]) =>
      compose({ classification: { ...classification, ...more }, assessment: said(0.8), evidence }).confidence;
    expect(alone({ kind: 'out_of_memory' })).toBe(0.856);
    expect(alone({ kind: 'network' })).toBeLessThan(0.8);
    const probabilities = {
      CODE_ERROR: 0.8,
      INFRA_ERROR: 0.15,
      CONFIG_ERROR: 0.02,
      DEPENDENCY_ERROR: 0.02,
      TEST_FAILURE: 0.01,
    };
    const code = { category: 'CODE_ERROR', kind: 'crash', probabilities } as const;
    expect(alone(code)).toBe(0.865);
    expect(alone({ ...code, probabilities: { ...probabilities, INFRA_ERROR: 0 } })).toBe(0.8);
    expect(alone({ ...code, category: 'TEST_FAILURE', kind: 'flaky_timing' })).toBe(0.8);
    // Other failures in a row tell nothing of this one.
    expect(alone(code, [{ ...red, data: { count: 7, same: 1, firstSameNumber: '27' } }])).toBe(0.8);
  });
  it('explains each adjustment', () => {
    const { factors } = compose({ assessment: said(1), reading: rules(0.9, 'CODE_ERROR'), evidence: [red] });
    expect(factors.map((factor) => factor.name)).toEqual(['evidence', 'agreement', 'history']);
  });
});
