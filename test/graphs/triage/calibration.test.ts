import { describe, expect, it } from 'vitest';
import { findCalibration } from '../../../graphs/triage/decide-action.ts';
import { compileTriageGraph } from '../../../graphs/triage/graph.ts';
import { computeRecursionLimit } from '../../../graphs/triage/routes.ts';
import type { TriageLimits } from '../../../graphs/triage/state.ts';
import { Verdict } from '../../../src/domain/analysis.ts';
import { type CalibrationInUse, createCappedMap } from '../../../src/domain/calibration.ts';
import { mapCategories } from '../../../src/domain/category.ts';
import { systemClock } from '../../../src/lib/time.ts';
import { scriptedAnalyst } from '../../support/scripted-analyst.ts';
import { scriptedToolbox } from '../../support/scripted-toolbox.ts';
import { sampleSubject } from '../../support/subject.ts';

const LIMITS: TriageLimits = {
  maxIterations: 5,
  maxCorrections: 2,
  thresholds: { autoNotify: 0.85, humanReview: 0.65, selfCorrect: 0.5 },
};
const of = (analyst: string, most: number): CalibrationInUse => ({
  version: 7,
  analyst,
  categories: mapCategories(() => createCappedMap(0, 0, most)),
});

async function verdictWith(calibrations: readonly CalibrationInUse[]) {
  const limits = { ...LIMITS, calibrations: [...calibrations] };
  const context = {
    analyst: scriptedAnalyst(),
    fallbackAnalyst: undefined,
    toolbox: scriptedToolbox({}),
    clock: systemClock,
    onStep: undefined,
  };
  const state = await compileTriageGraph().invoke(
    { subject: sampleSubject(), limits },
    { context, recursionLimit: computeRecursionLimit(limits) },
  );
  return Verdict.parse(state.verdict);
}

describe('a calibration in the state of a run', () => {
  it('is applied by verify, and the verdict says by which version and what it was before', async () => {
    const plain = await verdictWith([]);
    expect(plain.action).toBe('auto_notify');
    const verdict = await verdictWith([of('llm other', 0.1), of('scripted', 0.7)]);

    expect(verdict).toMatchObject({
      confidence: 0.7,
      action: 'human_review',
      calibration: { version: 7, raw: plain.confidence },
    });
    expect(verdict.factors?.map(({ name }) => name) ?? []).toContain('calibration');
  });

  it('is for the model that was requested, whatever date its server puts behind the name, and not for the rules in its place', () => {
    const limits = { ...LIMITS, calibrations: [of('rules', 0.5), of('llm gpt-4o', 0.7)] };
    const wrote = (by: string, model: string | null) => {
      const judgment = {
        name: 'answer',
        by,
        model,
        promptHash: null,
        milliseconds: 1,
        inputTokens: 0,
        outputTokens: 0,
        costUsd: 0,
      };
      const step = {
        node: 'generate_answer',
        round: 1,
        startedAt: '',
        milliseconds: 1,
        by,
        summary: '',
        judgements: [{ ...judgment, modelCalls: 1, note: null }],
      };
      return findCalibration({ limits, steps: [step], model })?.analyst ?? null;
    };
    expect(wrote('llm', 'gpt-4o')).toBe('llm gpt-4o');
    expect(wrote('llm', 'gpt-4o-2024-08-06')).toBe('llm gpt-4o');
    expect(wrote('llm', 'gpt-4o-mini')).toBeNull();
    expect(wrote('rules', null)).toBe('rules');
  });

  it('of another analyst changes nothing', async () => {
    expect(await verdictWith([of('rules', 0.1)])).toEqual(await verdictWith([]));
  });
});
