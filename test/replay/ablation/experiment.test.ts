import { describe, expect, it } from 'vitest';
import { compileTriageGraph } from '../../../graphs/triage/graph.ts';
import type { AblationStage } from '../../../src/domain/calibration.ts';
import { systemClock } from '../../../src/lib/time.ts';

import { createExperiment } from '../../../src/replay/ablation.ts';
import { type InvestigateDeps, investigate } from '../../../src/service/triage/investigate.ts';
import { createScriptedAnalyst } from '../../support/scripted-analyst.ts';
import { createScriptedToolbox } from '../../support/scripted-toolbox.ts';
import { sampleSubject } from '../../support/subject.ts';

const LIMITS = {
  maxIterations: 5,
  maxCorrections: 2,
  thresholds: { autoNotify: 0.85, humanReview: 0.65, selfCorrect: 0.5 },
};
const never = new AbortController().signal;

function readWhole(): InvestigateDeps {
  // Never sure and never done asking, so that only the limits end it.
  const calls = Array.from({ length: 20 }, (_, at) => [
    { tool: 'search_code', args: { text: `word ${at}` }, why: 'to know' },
  ]);
  const analyst = createScriptedAnalyst({ calls, assessments: [{ confidence: 0.55 }] });
  const toolbox = createScriptedToolbox({ search_code: {}, search_knowledge: {} });
  return {
    analyst,
    toolbox,
    clock: systemClock,
    graph: compileTriageGraph(),
    limits: LIMITS,
    timeLimitMs: 30_000,
    durable: false,
  };
}

async function runWithout(...stages: AblationStage[]) {
  const experiment = await createExperiment(stages);
  const analysis = await investigate(sampleSubject(), experiment?.change(readWhole()) ?? readWhole(), never);
  const verdicts = analysis?.steps.filter(({ node }) => node === 'verify').length;
  return { iterations: analysis?.usage.iterations, toolCalls: analysis?.usage.toolCalls, verdicts };
}

describe('an ablation experiment', () => {
  it('changes nothing for the whole system', async () => {
    expect(await createExperiment([])).toBeNull();
    expect(await createExperiment([], 'linear')).not.toBeNull();
  });

  it('keeps limits, analyst and graph if it concerns sources', async () => {
    const before = readWhole();
    const after = (await createExperiment(['web', 'sections']))?.change(before);
    expect(after?.limits).toEqual(LIMITS);
    expect([after?.analyst, after?.graph]).toEqual([before.analyst, before.graph]);
  });

  it('limits the loop to one round, corrections to one verdict, and tools to no calls', async () => {
    const usual = await runWithout('library');
    expect(usual.iterations).toBeGreaterThan(1);
    expect(await runWithout('loop')).toEqual({ iterations: 1, toolCalls: 1, verdicts: 1 });
    expect(await runWithout('tools')).toEqual({ iterations: 1, toolCalls: 0, verdicts: 1 });
    expect(await runWithout('corrections')).toMatchObject({ verdicts: 1 });
  });
});
