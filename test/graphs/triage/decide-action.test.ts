import { describe, expect, it } from 'vitest';
import { type ActionFacts, decideAction } from '../../../graphs/triage/decide-action.ts';
import type { TriageLimits } from '../../../graphs/triage/state.ts';
import type { Classification } from '../../../src/domain/analysis.ts';
import type { CalibrationInUse, CategoryMap } from '../../../src/domain/calibration.ts';
import { mapCategories } from '../../../src/domain/category.ts';

const LIMITS = {
  maxIterations: 5,
  maxCorrections: 2,
  thresholds: { autoNotify: 0.85, humanReview: 0.65, selfCorrect: 0.5 },
};
const classification: Classification = {
  category: 'CODE_ERROR',
  kind: 'crash',
  confidence: 0.9,
  probabilities: {
    CODE_ERROR: 0.9,
    INFRA_ERROR: 0.02,
    CONFIG_ERROR: 0.03,
    DEPENDENCY_ERROR: 0.03,
    TEST_FAILURE: 0.02,
  },
  abstained: false,
  because: '',
};
const infra: Classification = { ...classification, category: 'INFRA_ERROR', kind: 'network' };
const line = { id: 'E1', tool: 'log', title: '', text: 'x', source: 'a.log' };
const decide = (facts: Partial<ActionFacts>, thresholds = LIMITS.thresholds, limits: TriageLimits = LIMITS) =>
  decideAction(
    {
      classification,
      confidence: 0.95,
      grades: { E1: 'relevant' },
      evidence: [line],
      against: [],
      isClosable: true,
      claimsKept: 1,
      quotesBuild: true,
      corrections: 0,
      rounds: 1,
      webAsked: false,
      spent: null,
      calibration: null,
      route: null,
      ...facts,
    },
    { ...limits, thresholds },
  );

describe('decideAction', () => {
  it('asks for review if an answer blames the change although a rerun may pass', () => {
    const withRerun = (transient: number, other: Partial<ActionFacts> = {}) =>
      decide({ route: 'tool error', transient, ...other });
    expect(withRerun(0.6).action).toBe('human_review');
    expect(withRerun(0.6).reasons).toContain('a re-run may pass (60 %), and CODE_ERROR does not say so');
    expect(withRerun(0.05).action).toBe('auto_notify');
    expect(withRerun(0.6, { classification: infra }).action).toBe('auto_notify');
  });

  it('publishes no answer of a model alone, unless a calibration or a bound covers such answers', () => {
    const map = (most: number): CategoryMap => ({
      method: 'pooled',
      cases: 90,
      right: 90,
      points: [[most, most]],
    });
    const calibration = { version: 1, analyst: 'llm m', categories: mapCategories(() => map(0.95)) };
    expect(decide({ route: 'model', confidence: 0.99 })).toMatchObject({
      action: 'human_review',
      reasons: [expect.stringContaining('the rules do not find the same cause')],
    });
    expect(decide({ route: 'model', calibration }).action).toBe('auto_notify');
    expect(decide({ route: 'test and words' }).action).toBe('auto_notify');
  });

  it('asks for review if answers of its route are not proven to meet the bound, whatever the confidence', () => {
    const standing = { outcomes: 146, wrong: 9, upper: 0.04, missing: 164 };
    const routes = [
      { ...standing, route: 'telling rule and words' as const, published: false },
      { ...standing, route: 'test' as const, published: true },
    ];
    const limits = { ...LIMITS, bound: { maxWrong: 0.03, confidence: 0.9, routes } };
    const of = (route: ActionFacts['route']) => decide({ route }, LIMITS.thresholds, limits);
    expect(of('telling rule and words').action).toBe('human_review');
    expect(of('telling rule and words').reasons).toContain(
      '9 of 146 answers like this were wrong; 164 more must be right before they are published without a person',
    );
    expect(of('test').action).toBe('auto_notify');
    expect(of('model').action).toBe('human_review');
  });

  it.each([
    [0.85, 'auto_notify'],
    [0.84, 'human_review'],
    [0.65, 'human_review'],
    [0.64, 'self_correct'],
    [0.5, 'self_correct'],
    [0.49, 'web_search'],
  ])('turns confidence %d into %s', (confidence, action) => {
    expect(decide({ confidence }).action).toBe(action);
  });
  it('states by how much the confidence is too low', () => {
    expect(decide({ confidence: 0.8 }).reasons).toEqual(['confidence 80 % is below 85 %']);
    expect(decide({ confidence: 0.847 }).reasons).toEqual(['confidence 84 % is below 85 %']);
  });
  it('asks for review if corrections, rounds or the web search are used up', () => {
    expect(decide({ confidence: 0.55, corrections: 2 }).action).toBe('human_review');
    expect(decide({ confidence: 0.55, rounds: 5 }).action).toBe('human_review');
    expect(decide({ confidence: 0.3, webAsked: true }).action).toBe('human_review');
  });
  it('asks for review if no offered tool can close a gap', () => {
    expect(decide({ confidence: 0.55, isClosable: false }).action).toBe('human_review');
    expect(decide({ confidence: 0.55 }).action).toBe('self_correct');
  });
  it('publishes INFRA_ERROR only with positive evidence from the failing step', () => {
    expect(decide({ classification: infra }).action).toBe('auto_notify');
    expect(decide({ classification: infra, grades: { E1: 'ambiguous' } }).action).toBe('human_review');
    expect(decide({ classification: infra, against: ['E1'] }).action).toBe('human_review');
  });
  it('requires the same of a flaky test', () => {
    const flaky: Classification = { ...classification, category: 'TEST_FAILURE', kind: 'flaky_timing' };
    expect(decide({ classification: flaky, grades: {} }).action).toBe('human_review');
  });
  it('asks for review, whatever the confidence, if no claim quotes the output of the build', () => {
    const decision = decide({ quotesBuild: false, confidence: 1 });
    expect(decision).toMatchObject({ action: 'human_review', confidence: 0.65 });
    expect(decision.reasons).toContain("no claim quotes a line of this build's logs");
    expect(decide({ quotesBuild: false, confidence: 0.3 }).confidence).toBe(0.3);
  });
  it.each<[string, Partial<ActionFacts>]>([
    ['without a claim', { claimsKept: 0 }],
    ['without a quoted line', { quotesBuild: false }],
    ['after abstaining', { classification: { ...classification, abstained: true } }],
    ['excusing without evidence', { classification: infra, grades: {} }],
    ['excusing against evidence', { classification: infra, against: ['E1'] }],
  ])('publishes at no threshold an answer %s', (_which, facts) => {
    for (const autoNotify of [0, 0.3, 0.65, 1]) {
      for (const humanReview of [0.9, 1]) {
        expect(
          decide({ confidence: 1, ...facts }, { autoNotify, humanReview, selfCorrect: 0.1 }).action,
        ).not.toBe('auto_notify');
      }
    }
  });
  it('never counts as confident without a claim, or after abstaining', () => {
    expect(decide({ claimsKept: 0, webAsked: true })).toMatchObject({
      action: 'human_review',
      confidence: 0.49,
    });
    expect(
      decide({ classification: { ...classification, abstained: true }, webAsked: true }).confidence,
    ).toBeLessThan(0.5);
  });

  describe('with a calibration', () => {
    const points: CategoryMap['points'] = [
      [0.5, 0.3],
      [0.9, 0.95],
    ];
    const map = (given: Partial<CategoryMap> = {}): CategoryMap => ({
      method: 'platt',
      cases: 60,
      right: 40,
      points,
      ...given,
    });
    const calibration = (given: Partial<CategoryMap> = {}): CalibrationInUse => ({
      version: 3,
      analyst: 'rules',
      categories: mapCategories(() => map(given)),
    });

    it('uses the calibrated confidence, and states the original', () => {
      const decided = decide({ confidence: 0.7, calibration: calibration() });
      expect(decided).toMatchObject({
        confidence: 0.625,
        action: 'human_review',
        calibrated: { version: 3, raw: 0.7 },
      });
      expect(decide({ confidence: 0.86, calibration: calibration() })).toMatchObject({
        confidence: 0.885,
        action: 'auto_notify',
      });
    });

    it('does not investigate a well-founded answer again only because its calibrated confidence is low', () => {
      for (const most of [0.6, 0.4]) {
        const low = calibration({
          points: [
            [0, 0],
            [most, most],
          ],
        });
        expect(decide({ confidence: 0.9, calibration: low })).toMatchObject({
          confidence: most,
          action: 'human_review',
          stopped: false,
        });
        expect(decide({ confidence: 0.55, calibration: low }).action).toBe('self_correct');
        expect(decide({ confidence: 0.3, calibration: low }).action).toBe('web_search');
      }
    });

    it('publishes from the threshold of the category on, and never if it has none', () => {
      expect(decide({ confidence: 0.9, calibration: calibration({ threshold: 0.96 }) }).action).toBe(
        'human_review',
      );
      expect(decide({ confidence: 0.8, calibration: calibration({ threshold: 0.7 }) }).action).toBe(
        'auto_notify',
      );
      const never = decide({ confidence: 0.9, calibration: calibration({ threshold: null }) });
      expect(never.action).toBe('human_review');
      expect(never.reasons.join()).toContain('requires review for every CODE_ERROR');
    });

    it('never publishes against a doubt, whatever the calibrated confidence and the threshold', () => {
      const sure = calibration({ points: [[0, 1]], threshold: 0.5 });
      for (const doubt of [
        { quotesBuild: false },
        { claimsKept: 0 },
        { classification: infra, evidence: [] },
      ]) {
        const decided = decide({ ...doubt, calibration: sure });
        expect(decided.action).not.toBe('auto_notify');
        expect(decided.confidence).toBeLessThanOrEqual(0.65);
      }
    });
  });
});
