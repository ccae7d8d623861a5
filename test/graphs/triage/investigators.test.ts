import { MemorySaver } from '@langchain/langgraph';
import { describe, expect, it } from 'vitest';
import { compileTriageGraph } from '../../../graphs/triage/graph.ts';
import { computeRecursionLimit, describeComplexity } from '../../../graphs/triage/routes.ts';
import type { TriageLimits } from '../../../graphs/triage/state.ts';
import type { Classification } from '../../../src/domain/analysis.ts';
import { systemClock } from '../../../src/lib/time.ts';
import type { Analyst } from '../../../src/ports/analyst.ts';
import { findWalkError } from '../../support/graph-walk.ts';
import { createScriptedAnalyst } from '../../support/scripted-analyst.ts';
import { createScriptedToolbox } from '../../support/scripted-toolbox.ts';
import { sampleSubject } from '../../support/subject.ts';

const thresholds = { autoNotify: 0.85, humanReview: 0.65, selfCorrect: 0.5 };
const limitsFor = (when: 'never' | 'complex' | 'always', rounds = 1): TriageLimits => ({
  maxIterations: 5,
  maxCorrections: 2,
  thresholds,
  investigators: { when, rounds },
});
const found = (text: string) => ({ findings: [{ title: text, text, source: text }] });
const TOOLS = {
  read_file: found('code'),
  read_failure_history: found('past'),
  search_knowledge: found('page'),
};

/** Asks every tool that is offered and was not asked yet. */
function createEagerAnalyst(
  classification: Partial<Classification> = {},
): Analyst & { readonly asked: string[] } {
  const analyst = createScriptedAnalyst({
    classification,
    plans: [{ enough: true, thought: 'it is known' }],
  });
  const { chooseTools } = analyst;
  analyst.chooseTools = async (input, signal) => {
    const known = new Set(input.outcomes.map((outcome) => outcome.call.tool));
    const value = input.offered
      .filter((tool) => !known.has(tool.name))
      .map((tool) => ({ tool: tool.name, args: {}, why: '' }));
    return { ...(await chooseTools(input, signal)), value };
  };
  return analyst;
}

const createContext = (analyst: Analyst, toolbox = createScriptedToolbox(TOOLS)) => ({
  analyst,
  fallbackAnalyst: undefined,
  toolbox,
  clock: systemClock,
  onStep: undefined,
});

function run(limits: TriageLimits, analyst: Analyst) {
  const config = { context: createContext(analyst), recursionLimit: computeRecursionLimit(limits) };
  return compileTriageGraph().invoke({ subject: sampleSubject(), limits }, config);
}

describe('investigators', () => {
  it('examine code, history and documents, each with its own tools, and their results are joined in one answer', async () => {
    const state = await run(limitsFor('always'), createEagerAnalyst());
    const steps = state.steps.filter((step) => step.node === 'investigate');

    expect(steps.map((step) => step.investigator).sort()).toEqual(['code', 'documents', 'history']);
    for (const step of steps) expect(step.outcomes).toHaveLength(1);
    expect(state.evidence.map((item) => [item.id, item.tool])).toEqual([
      ['E1', 'log'],
      ['E2', 'read_file'],
      ['E3', 'read_failure_history'],
      ['E4', 'search_knowledge'],
    ]);
    expect(state.conclusions.map(({ investigator, text }) => `${investigator}: ${text}`)).toEqual([
      'code: read_file: said',
      'history: read_failure_history: said',
      'documents: search_knowledge: said',
    ]);
    expect(state.steps.filter((step) => step.node === 'generate_answer')).toHaveLength(1);
    expect(state.reports).toEqual([]);
    expect(findWalkError(state.steps)).toBeNull();
    expect(state.usage.toolCalls).toBe(3);
  });

  it('have as many rounds as the profile allows, and stop without findings', async () => {
    const state = await run(limitsFor('always', 2), createEagerAnalyst());
    expect(state.steps.filter((step) => step.node === 'investigate')).toHaveLength(6);
    expect(state.investigations).toBe(2);
  });

  it('are used for complex failures only if the profile allows it', async () => {
    const sent = async (limits: TriageLimits, classification: Partial<Classification> = {}) =>
      (await run(limits, createEagerAnalyst(classification))).steps.some(
        (step) => step.node === 'investigate',
      );
    expect(await sent(limitsFor('complex'))).toBe(false);
    expect(await sent(limitsFor('complex'), { abstained: true })).toBe(true);
    expect(await sent(limitsFor('never'), { abstained: true })).toBe(false);
  });

  it('continue after one of them crashed, without repeating the others', async () => {
    const limits = limitsFor('always');
    const graph = compileTriageGraph(new MemorySaver());
    const config = {
      configurable: { thread_id: 't' },
      recursionLimit: computeRecursionLimit(limits),
      durability: 'sync' as const,
    };
    const dying = createScriptedToolbox(TOOLS);
    const { run: answer } = dying;
    dying.run = async (call, ...rest) => {
      if (call.tool !== 'read_failure_history') return answer(call, ...rest);
      // Dies when the two beside it are done.
      await new Promise((resolve) => setTimeout(resolve, 100));
      throw new Error('killed');
    };
    const first = graph.invoke(
      { subject: sampleSubject(), limits },
      { ...config, context: createContext(createEagerAnalyst(), dying) },
    );
    await expect(first).rejects.toThrow('killed');
    const living = createScriptedToolbox(TOOLS);
    const state = await graph.invoke(null, {
      ...config,
      context: createContext(createEagerAnalyst(), living),
    });

    expect(living.calls.map((call) => call.tool)).toEqual(['read_failure_history']);
    expect(state.evidence.map((item) => item.id)).toEqual(['E1', 'E2', 'E3', 'E4']);
    expect(state.steps.filter((step) => step.node === 'investigate')).toHaveLength(3);
  });
});

describe('the complexity of a failure', () => {
  const sure: Classification = {
    category: 'CODE_ERROR',
    kind: 'crash',
    confidence: 0.9,
    abstained: false,
    because: '',
    probabilities: {
      CODE_ERROR: 0.9,
      INFRA_ERROR: 0.02,
      CONFIG_ERROR: 0.03,
      DEPENDENCY_ERROR: 0.03,
      TEST_FAILURE: 0.02,
    },
  };
  it('is low for a plain failure', () => expect(describeComplexity(sampleSubject(), sure)).toBeNull());
  it('names categories with similar probabilities', () => {
    const close = { ...sure, probabilities: { ...sure.probabilities, CODE_ERROR: 0.5, TEST_FAILURE: 0.42 } };
    expect(describeComplexity(sampleSubject(), close)).toContain('almost equally likely');
  });
  it('is high with two signs together', () => {
    const trace = { type: 'E', message: 'm', chain: [], frames: [], at: null };
    expect(describeComplexity(sampleSubject({ exceptions: [trace] }), sure)).toBeNull();
    expect(
      describeComplexity(sampleSubject({ exceptions: [trace], toolchains: ['a', 'b', 'c'] }), sure),
    ).toBe('3 toolchains, no frame from the project');
  });
});
