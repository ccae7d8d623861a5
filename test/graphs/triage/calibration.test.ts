import { describe, expect, it } from 'vitest';
import { findCalibration } from '../../../graphs/triage/decide-action.ts';
import { compileTriageGraph } from '../../../graphs/triage/graph.ts';
import { computeRecursionLimit } from '../../../graphs/triage/routes.ts';
import type { TriageLimits } from '../../../graphs/triage/state.ts';
import { Verdict } from '../../../src/domain/analysis.ts';
import { type CalibrationInUse, createCappedMap } from '../../../src/domain/calibration.ts';
import { mapCategories } from '../../../src/domain/category.ts';
import { systemClock } from '../../../src/lib/time.ts';
import { createScriptedAnalyst } from '../../support/scripted-analyst.ts';
import { createScriptedToolbox } from '../../support/scripted-toolbox.ts';
import { sampleSubject } from '../../support/subject.ts';

const LIMITS: TriageLimits = {
  maxIterations: 5,
  maxCorrections: 2,
  thresholds: { autoNotify: 0.85, humanReview: 0.65, selfCorrect: 0.5 },
};
const of = (analyst: string, most: number, prompts?: string[]): CalibrationInUse => ({
  version: 7,
  analyst,
  categories: mapCategories(() => createCappedMap(0, 0, most)),
  ...(prompts === undefined ? {} : { prompts }),
});

async function createVerdictWith(calibrations: readonly CalibrationInUse[]) {
  const limits = { ...LIMITS, calibrations: [...calibrations] };
  const context = {
    analyst: createScriptedAnalyst(),
    fallbackAnalyst: undefined,
    toolbox: createScriptedToolbox({}),
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
  it('is applied by verify, and the verdict states its version and the former confidence', async () => {
    const plain = await createVerdictWith([]);
    expect(plain.action).toBe('auto_notify');
    const verdict = await createVerdictWith([of('llm other', 0.1), of('scripted', 0.7)]);

    expect(verdict).toMatchObject({
      confidence: 0.7,
      action: 'human_review',
      calibration: { version: 7, raw: plain.confidence },
    });
    expect(verdict.factors?.map(({ name }) => name) ?? []).toContain('calibration');
  });

  it('applies to the requested model, with any date suffix, and not to the rules in its place', () => {
    const calibrations = [of('rules', 0.5), of('llm gpt-4o', 0.7, ['w1', 'v1'])];
    expect(findFor(calibrations, 'llm', 'gpt-4o')).toBe('llm gpt-4o');
    expect(findFor(calibrations, 'llm', 'gpt-4o-2024-08-06')).toBe('llm gpt-4o');
    expect(findFor(calibrations, 'llm', 'gpt-4o-mini')).toBeNull();
    expect(findFor(calibrations, 'rules', null)).toBe('rules');
  });

  it('applies to the prompts whose answers it was fitted to', () => {
    const calibrations = [of('rules', 0.5), of('llm gpt-4o', 0.7, ['w1', 'w2', 'v1'])];
    expect(findFor(calibrations, 'llm', 'gpt-4o', { generate_answer: 'w2', verify: 'v1' })).toBe(
      'llm gpt-4o',
    );
    expect(findFor(calibrations, 'llm', 'gpt-4o', { generate_answer: 'w3', verify: 'v1' })).toBeNull();
    expect(findFor(calibrations, 'llm', 'gpt-4o', { generate_answer: 'w1', verify: 'v2' })).toBeNull();
    // The rules verified in place of the model.
    expect(findFor(calibrations, 'llm', 'gpt-4o', { generate_answer: 'w1' })).toBe('llm gpt-4o');
    expect(findFor(calibrations, 'llm', 'gpt-4o', {})).toBeNull();
  });

  it('that was stored before prompts were recorded applies to the rules only', () => {
    const calibrations = [of('rules', 0.5), of('llm gpt-4o', 0.7)];
    expect(findFor(calibrations, 'llm', 'gpt-4o')).toBeNull();
    expect(findFor(calibrations, 'rules', null)).toBe('rules');
  });

  it('of another analyst changes nothing', async () => {
    expect(await createVerdictWith([of('rules', 0.1)])).toEqual(await createVerdictWith([]));
  });
});

function findFor(
  calibrations: CalibrationInUse[],
  by: string,
  model: string | null,
  promptHashes: Record<string, string> = { generate_answer: 'w1', verify: 'v1' },
): string | null {
  const cost = { milliseconds: 1, inputTokens: 0, outputTokens: 0, costUsd: 0, modelCalls: 1 };
  const judgment = { name: 'answer', by, model, promptHash: null, note: null, ...cost };
  const step = { node: 'generate_answer', round: 1, startedAt: '', milliseconds: 1, by, summary: '' };
  const steps = [{ ...step, judgements: [judgment] }];
  const found = findCalibration({ limits: { ...LIMITS, calibrations }, steps, model, promptHashes });
  return found?.analyst ?? null;
}
