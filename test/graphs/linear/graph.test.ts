import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { compileLinearGraph, type LinearStateValue, useLinearGraph } from '../../../graphs/linear/graph.ts';
import { createTerminalApp } from '../../../src/app/terminal-app.ts';
import { createEmbeddedPreset } from '../../../src/config/load.ts';
import { parseConfig } from '../../../src/config/schema.ts';
import { Analysis } from '../../../src/domain/analysis.ts';
import { systemClock } from '../../../src/lib/time.ts';
import { silentLogger } from '../../../src/ports/telemetry.ts';

import { createExperiment } from '../../../src/replay/ablation.ts';
import { readCapturedFailure } from '../../support/captured-failures.ts';
import { sampleBuild } from '../../support/sample-analysis.ts';
import { createScriptedAnalyst } from '../../support/scripted-analyst.ts';
import { createScriptedToolbox, type Reply } from '../../support/scripted-toolbox.ts';
import { sampleSubject } from '../../support/subject.ts';

const HOME = resolve(import.meta.dirname, '../../..');
const LIMITS = {
  maxIterations: 5,
  maxCorrections: 2,
  thresholds: { autoNotify: 0.85, humanReview: 0.65, selfCorrect: 0.5 },
};
const HIT: Reply = { findings: [{ title: 'a hit', text: 'text', source: 'knowledge:ERR008', score: 0.8 }] };
const given = () => ({ subject: sampleSubject(), limits: LIMITS });

function run(
  confidence: number,
  replies: Readonly<Record<string, Reply>> = {
    search_knowledge: HIT,
    search_error_library: {},
    read_file: HIT,
  },
) {
  const parts = {
    analyst: createScriptedAnalyst({ classification: { confidence } }),
    toolbox: createScriptedToolbox(replies),
  };
  const context = { ...parts, fallbackAnalyst: undefined, clock: systemClock, onStep: undefined };
  const state: Promise<LinearStateValue> = compileLinearGraph().invoke(given(), { context });
  return { ...parts, state };
}

describe('the linear baseline', () => {
  it('makes two judgments and two searches, once and in one order', async () => {
    const { analyst, toolbox, state } = run(0.9);
    const { steps, usage, evidence, termination } = await state;
    expect(steps.map(({ node }) => node)).toEqual([
      'classify',
      'search_similar',
      'name_files',
      'generate_answer',
    ]);
    expect(analyst.asked).toEqual(['classify', 'answer']);
    expect(toolbox.calls.map(({ tool }) => tool)).toEqual(['search_knowledge', 'search_error_library']);
    expect(usage).toMatchObject({ toolCalls: 2, iterations: 0 });
    expect(evidence.map(({ id, tool }) => [id, tool])).toEqual([
      ['E1', 'log'],
      ['E2', 'search_knowledge'],
    ]);
    expect(termination).toBe('linear');
  });

  it('suspects the files that the log names', async () => {
    const { answer } = await run(0.9).state;
    expect(answer?.suspects.map(({ path, line }) => [path, line])).toEqual([
      ['test/cart.test.ts', null],
      ['src/cart/tax.ts', 41],
    ]);
  });

  it.each([
    [0.85, 'auto_notify'],
    [0.849, 'human_review'],
    [0.1, 'human_review'],
  ])('publishes by the confidence of the classification alone: %f → %s', async (confidence, action) => {
    const { verdict, answer } = await run(confidence).state;
    expect(verdict).toMatchObject({ action, confidence, grades: {} });
    expect(answer?.confidence).toBe(confidence);
  });

  it('makes the searches that are available: one that is omitted or fails ends nothing', async () => {
    const { toolbox, state } = run(0.9, { search_error_library: { status: 'failed', summary: 'down' } });
    expect((await state).verdict?.action).toBe('auto_notify');
    expect(toolbox.calls.map(({ tool }) => tool)).toEqual(['search_error_library']);
  });

  it('is not used to continue a run', async () => {
    await expect(useLinearGraph().invoke(null)).rejects.toThrow(/cannot be resumed/);
  });

  it('answers a captured failure as the loop does, except for what the loop adds', async () => {
    const { log, category } = readCapturedFailure('cart-discount-rounding');
    const config = parseConfig(createEmbeddedPreset('.faultline', join(HOME, 'knowledge')));
    const source = { name: 'build.log', kind: 'log' as const, text: log, notes: [] };
    const [linear, loop] = await Promise.all(
      (['linear', 'loop'] as const).map(async (design) => {
        const app = await createTerminalApp(
          config,
          silentLogger,
          systemClock,
          await createExperiment([], design),
        );
        const { analyses } = await app.triage(sampleBuild(), [source], AbortSignal.timeout(30_000));
        return Analysis.parse(analyses[0]);
      }),
    );
    expect(linear).toMatchObject({
      category,
      analyst: 'rules',
      terminationReason: 'linear',
      classification: loop?.classification,
    });
    expect(linear?.reduction).toEqual(loop?.reduction);
    expect(linear?.steps.map(({ node }) => node)).not.toContain('verify');
    expect(loop?.steps.map(({ node }) => node)).toContain('verify');
  });
});
