import { describe, expect, it } from 'vitest';
import { compileTriageGraph } from '../../../graphs/triage/graph.ts';
import { computeRecursionLimit } from '../../../graphs/triage/routes.ts';
import type { TriageLimits, TriageStateValue } from '../../../graphs/triage/state.ts';
import type { ToolCall } from '../../../src/domain/evidence.ts';
import { systemClock } from '../../../src/lib/time.ts';
import type { Analyst } from '../../../src/ports/analyst.ts';
import type { Toolbox } from '../../../src/ports/toolbox.ts';
import { createScriptedAnalyst, type Script } from '../../support/scripted-analyst.ts';
import { createScriptedToolbox, type Reply } from '../../support/scripted-toolbox.ts';
import { sampleSubject } from '../../support/subject.ts';

const LIMITS: TriageLimits = {
  maxIterations: 5,
  maxCorrections: 2,
  thresholds: { autoNotify: 0.85, humanReview: 0.65, selfCorrect: 0.5 },
};
const ask = (tool: string, args: Record<string, unknown> = {}): ToolCall => ({ tool, args, why: 'to know' });
const words = (count: number) =>
  Array.from({ length: count }, (_, index) => [ask('search_code', { text: `word ${index}` })]);
const hit: Reply = { findings: [{ title: 'a hit', text: 'text', source: 'code' }] };

/** An analyst each of whose judgements costs 100 tokens and a cent. */
function createExpensiveAnalyst(script: Script): Analyst {
  return toModel(createScriptedAnalyst(script));
}

function toModel(analyst: Analyst): Analyst {
  const pay = <Input, Reply extends { usage: object }>(
    judge: (input: Input, signal: AbortSignal) => Promise<Reply>,
  ) => {
    return async (input: Input, signal: AbortSignal): Promise<Reply> => {
      const reply = await judge(input, signal);
      return {
        ...reply,
        by: 'llm',
        usage: { inputTokens: 80, outputTokens: 20, costUsd: 0.01, modelCalls: 1 },
      };
    };
  };
  return {
    ...analyst,
    name: 'llm',
    classify: pay(analyst.classify),
    plan: pay(analyst.plan),
    chooseTools: pay(analyst.chooseTools),
    answer: pay(analyst.answer),
    verify: pay(analyst.verify),
  };
}

function triage(
  limits: TriageLimits,
  analyst: Analyst,
  toolbox: Toolbox,
  fallbackAnalyst?: Analyst,
): Promise<TriageStateValue> {
  return compileTriageGraph().invoke(
    { subject: sampleSubject(), limits },
    {
      context: { analyst, fallbackAnalyst, toolbox, clock: systemClock, onStep: undefined },
      recursionLimit: computeRecursionLimit(limits),
    },
  );
}

const budget = (part: Partial<NonNullable<TriageLimits['budget']>>): TriageLimits => ({
  ...LIMITS,
  budget: { tokens: null, costUsd: null, seconds: null, ...part },
});

describe('T36: a run ends', () => {
  it.each([
    ['enough_information', { calls: words(1), plans: [{}, { enough: true, confidence: 0.8 }] }],
    ['confident', { calls: words(1), plans: [{}, { confidence: 0.95 }] }],
    ['max_iterations', { calls: words(9) }],
    ['no_relevant_tool', { calls: [[]] }],
    ['no_progress', { calls: [[ask('no_such_tool')]] }],
  ] as const)('as %s', async (termination, script) => {
    const state = await triage(
      LIMITS,
      createScriptedAnalyst(script),
      createScriptedToolbox({ search_code: hit }),
    );
    expect(state.termination).toBe(termination);
    expect(state.verdict).not.toBeNull();
  });

  it.each([
    ['tokens', budget({ tokens: 250 })],
    ['dollars', budget({ costUsd: 0.025 })],
    ['seconds', budget({ seconds: 0 })],
  ])('if its %s are used up, with an answer for review that costs nothing more', async (_what, limits) => {
    const unsure = { calls: words(9), assessments: [{ confidence: 0.55 }] };
    const fallbackAnalyst = { ...createScriptedAnalyst(unsure), name: 'rules' };
    const toolbox = createScriptedToolbox({ search_code: hit });
    const state = await triage(limits, createExpensiveAnalyst(unsure), toolbox, fallbackAnalyst);

    expect(state.termination).toBe('budget_exhausted');
    expect(state.usage.inputTokens + state.usage.outputTokens).toBeLessThanOrEqual(300);
    expect(fallbackAnalyst.asked).toEqual(expect.arrayContaining(['answer', 'verify']));
    expect(state.steps.at(-1)).toMatchObject({ node: 'verify', by: 'scripted' });
    expect(state.verdict?.action).toBe('human_review');
    expect(state.verdict?.reasons.join()).toContain('budget');
    expect(state.notes.join()).toContain('The budget of this run');
  });

  it.each([
    ['no token may be used', budget({ tokens: 0 })],
    ['no dollar may be spent', budget({ costUsd: 0 })],
    ['more corrections are allowed than rounds', { ...LIMITS, maxIterations: 1, maxCorrections: 50 }],
    [
      'its thresholds are in the wrong order',
      { ...LIMITS, thresholds: { autoNotify: 0.4, humanReview: 0.9, selfCorrect: 0.95 } },
    ],
  ])('with an answer if %s', async (_what, limits) => {
    const unsure = { calls: words(9), assessments: [{ confidence: 0.55 }] };
    const fallbackAnalyst = { ...createScriptedAnalyst(unsure), name: 'rules' };
    const state = await triage(
      limits,
      createExpensiveAnalyst(unsure),
      createScriptedToolbox({ search_code: hit }),
      fallbackAnalyst,
    );
    expect(state.answer).not.toBeNull();
    expect(state.verdict).not.toBeNull();
  });

  it('if a model made calls and learned nothing new, since its next input would be the same', async () => {
    const analyst = createScriptedAnalyst({ calls: words(9) });
    const state = await triage(
      LIMITS,
      toModel(analyst),
      createScriptedToolbox({ search_code: { findings: [] } }),
    );
    expect(analyst.asked.filter((judgement) => judgement === 'plan')).toHaveLength(1);
    expect(state.termination).toBe('no_progress');
  });

  it('in time, even if a judgment and a tool never return', async () => {
    const hanging = { ...createExpensiveAnalyst({}), chooseTools: () => new Promise<never>(() => undefined) };
    const fallbackAnalyst = { ...createScriptedAnalyst({ calls: words(1) }), name: 'rules' };
    const state = await triage(
      budget({ seconds: 0.2 }),
      hanging,
      createScriptedToolbox({ search_code: hit }),
      fallbackAnalyst,
    );

    expect(state.termination).toBe('budget_exhausted');
    expect(state.notes.join()).toContain('0.2 seconds');
  });

  it('and publishes a proven answer even then', async () => {
    const fallbackAnalyst = {
      ...createScriptedAnalyst({ assessments: [{ confidence: 0.95 }] }),
      name: 'rules',
    };
    const state = await triage(
      budget({ tokens: 100 }),
      createExpensiveAnalyst({}),
      createScriptedToolbox({}),
      fallbackAnalyst,
    );

    expect(state.termination).toBe('budget_exhausted');
    expect(state.verdict?.action).toBe('auto_notify');
  });
});

describe('execute_tool', () => {
  it('calls independent tools in parallel', async () => {
    let arrived = 0;
    const both = Promise.withResolvers<void>();
    const toolbox = createScriptedToolbox({ read_file: hit, search_code: hit });
    const { run } = toolbox;
    // Neither answers before the other was asked: one after the other would wait for ever.
    toolbox.run = async (...call) => {
      arrived += 1;
      if (arrived === 2) both.resolve();
      await both.promise;
      return run(...call);
    };
    const state = await triage(
      LIMITS,
      createScriptedAnalyst({ calls: [[ask('read_file'), ask('search_code')], []] }),
      toolbox,
    );
    expect(state.outcomes.map((outcome) => outcome.call.tool)).toEqual(['read_file', 'search_code']);
  });

  it('lists the correction of a call among its judgments', async () => {
    const toolbox = createScriptedToolbox({
      read_file: (call) =>
        call.args.path === 'a.ts' ? hit : { status: 'invalid-arguments', summary: 'no path' },
    });
    const analyst = createScriptedAnalyst({
      calls: [[ask('read_file')], []],
      corrected: ask('read_file', { path: 'a.ts' }),
    });
    const state = await triage(LIMITS, analyst, toolbox);
    const step = state.steps.find((other) => other.node === 'execute_tool');
    expect(step?.judgements?.map((judgment) => judgment.name)).toEqual(['correct_call']);
  });
});
