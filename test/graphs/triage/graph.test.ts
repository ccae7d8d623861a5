import { MemorySaver } from '@langchain/langgraph';
import { describe, expect, it } from 'vitest';
import { compileTriageGraph } from '../../../graphs/triage/graph.ts';
import { computeRecursionLimit } from '../../../graphs/triage/routes.ts';
import type { TriageStateValue } from '../../../graphs/triage/state.ts';
import { judgeCorrection, listCorrections } from '../../../src/domain/analysis.ts';
import type { ToolCall } from '../../../src/domain/evidence.ts';
import { systemClock } from '../../../src/lib/time.ts';
import type { Toolbox } from '../../../src/ports/toolbox.ts';
import { createScriptedAnalyst, type Script, type ScriptedAnalyst } from '../../support/scripted-analyst.ts';
import { createScriptedToolbox, type Reply } from '../../support/scripted-toolbox.ts';
import { sampleSubject } from '../../support/subject.ts';

const LIMITS = {
  maxIterations: 5,
  maxCorrections: 2,
  thresholds: { autoNotify: 0.85, humanReview: 0.65, selfCorrect: 0.5 },
};
const ask = (tool: string, args: Record<string, unknown> = {}): ToolCall => ({ tool, args, why: 'to know' });
const hit: Reply = {
  status: 'ok',
  findings: [{ title: 'a hit', text: 'text of the hit', source: 'knowledge:ERR008', score: 0.8 }],
};
const nothing: Reply = { status: 'empty', summary: 'no hits' };
/** Something that no other call has brought. */
const another = (call: ToolCall): Reply => ({
  findings: [{ title: 'a hit', text: JSON.stringify(call.args), source: 'code', score: 0.8 }],
});

function triage(analyst: ScriptedAnalyst, toolbox: Toolbox): Promise<TriageStateValue> {
  return compileTriageGraph().invoke(
    { subject: sampleSubject(), limits: LIMITS },
    {
      context: { analyst, fallbackAnalyst: undefined, toolbox, clock: systemClock, onStep: undefined },
      recursionLimit: computeRecursionLimit(LIMITS),
    },
  );
}

function run(
  script: Script,
  replies: Parameters<typeof createScriptedToolbox>[0] = {},
): Promise<TriageStateValue> {
  return triage(createScriptedAnalyst(script), createScriptedToolbox(replies));
}

const listNodes = (state: TriageStateValue) => state.steps.map((step) => step.node).join(' ');
const distinct = (count: number) =>
  Array.from({ length: count }, (_, index) => [ask('search_code', { text: `word ${index}` })]);

describe('the triage graph', () => {
  it('publishes a confident answer after one round', async () => {
    const state = await run(
      { calls: [[ask('search_knowledge')]], plans: [{}, { enough: true, confidence: 0.8 }] },
      { search_knowledge: hit },
    );

    expect(listNodes(state)).toBe(
      'classify reason select_tool execute_tool observe reason generate_answer verify',
    );
    expect(state.termination).toBe('enough_information');
    expect(state.verdict?.action).toBe('auto_notify');
    expect(state.evidence.map((item) => [item.id, item.tool])).toEqual([
      ['E1', 'log'],
      ['E2', 'search_knowledge'],
    ]);
    expect(state.usage).toMatchObject({ toolCalls: 1, iterations: 2 });
  });

  it('ends as confident from 0.9 on', async () => {
    const state = await run(
      { calls: [[ask('search_knowledge')]], plans: [{}, { confidence: 0.93 }] },
      { search_knowledge: hit },
    );

    expect(state.termination).toBe('confident');
  });

  it('makes at most five rounds', async () => {
    const state = await run({ calls: distinct(9) }, { search_code: hit });

    expect(state.rounds).toBe(5);
    expect(state.termination).toBe('max_iterations');
  });

  it('ends after two rounds without a relevant tool', async () => {
    const state = await run({ calls: [[ask('search_knowledge')], []] }, { search_knowledge: hit });

    expect(state.rounds).toBe(3);
    expect(listNodes(state)).toContain('reason select_tool reason select_tool generate_answer');
    expect(state.termination).toBe('no_relevant_tool');
  });

  it('ends after two rounds without findings', async () => {
    const state = await run({ calls: distinct(5) }, { search_code: nothing });

    expect(state.rounds).toBe(2);
    expect(state.termination).toBe('no_progress');
  });

  it('never makes the same call twice', async () => {
    const same = [
      [ask('search_code', { text: 'x', limit: 3 })],
      [ask('search_code', { limit: 3, text: 'x' })],
    ];
    const toolbox = createScriptedToolbox({ search_code: hit });
    const state = await triage(createScriptedAnalyst({ calls: same }), toolbox);

    expect(toolbox.calls).toHaveLength(1);
    expect(state.outcomes.map((outcome) => outcome.status)).toEqual(['ok', 'refused', 'refused']);
    expect(state.outcomes[1]?.summary).toContain('already made with the same arguments');
    expect(state.termination).toBe('no_progress');
    expect(state.notes.join()).toContain('not made');
  });

  it('makes the most valuable calls first, and the others in the next round, whatever the plan says', async () => {
    const names = [
      'search_code',
      'read_file',
      'find_files',
      'read_blame',
      'search_knowledge',
      'search_error_library',
      'changed_since_green',
    ];
    const toolbox = createScriptedToolbox(
      Object.fromEntries([...names, 'read_failure_history'].map((name) => [name, hit])),
    );
    const plans = [{}, { enough: true, confidence: 0.97 }];
    const state = await triage(
      createScriptedAnalyst({
        calls: [[...names, 'read_failure_history'].map((name) => ask(name)), []],
        plans,
      }),
      toolbox,
    );

    const made = toolbox.calls.map(({ tool }) => tool);
    expect(made).toHaveLength(8);
    expect(made.slice(0, 6)).toContain('changed_since_green');
    expect(made.slice(6).toSorted()).toEqual(['read_failure_history', 'read_file']);
    expect(state.outcomes.every(({ status }) => status === 'ok')).toBe(true);
    expect(state.rounds).toBe(3);
  });

  it('refuses calls that do not fit into the next round either', async () => {
    const toolbox = createScriptedToolbox({ search_code: hit });
    const many = Array.from({ length: 20 }, (_, index) => ask('search_code', { text: `word ${index}` }));
    const state = await triage(createScriptedAnalyst({ calls: [many, []] }), toolbox);

    expect(toolbox.calls).toHaveLength(12);
    expect(state.outcomes.filter(({ status }) => status === 'refused')[0]?.summary).toContain(
      'Too many calls were chosen',
    );
  });

  it('does not call tools that were not offered', async () => {
    const analyst = createScriptedAnalyst({ calls: [[ask('delete_repository')], [ask('search_code')], []] });
    const toolbox = createScriptedToolbox({ search_code: hit });
    const state = await triage(analyst, toolbox);

    expect(toolbox.calls.map((call) => call.tool)).toEqual(['search_code']);
    expect(state.outcomes[0]).toMatchObject({ status: 'refused', call: { tool: 'delete_repository' } });
    expect(state.outcomes[0]?.summary).toContain(
      'not one of the tools offered now; choose one of: search_code',
    );
    expect(state.steps.find((step) => step.node === 'select_tool')?.outcomes).toHaveLength(1);
    expect(state.notes.join()).toContain('delete_repository');
  });

  it('returns refused arguments to the analyst once', async () => {
    const analyst = createScriptedAnalyst({
      calls: [[ask('read_file', { path: 7 })], []],
      corrected: ask('read_file', { path: 'a.ts' }),
    });
    const toolbox = createScriptedToolbox({
      read_file: (call) =>
        call.args.path === 'a.ts' ? hit : { status: 'invalid-arguments', summary: 'path: expected string' },
    });
    const state = await triage(analyst, toolbox);

    expect(toolbox.calls.map((call) => call.args.path)).toEqual([7, 'a.ts']);
    expect(state.outcomes[0]).toMatchObject({ status: 'ok', attempts: 2 });
  });

  it('calls the same tool again, whatever tool the correction names', async () => {
    const corrected = ask('search_web', { query: 'x' });
    const analyst = createScriptedAnalyst({ calls: [[ask('read_file', { path: 7 })], []], corrected });
    const toolbox = createScriptedToolbox({
      read_file: { status: 'invalid-arguments', summary: 'path: expected string' },
      search_web: hit,
    });
    await triage(analyst, toolbox);

    expect(toolbox.calls.map((call) => call.tool)).toEqual(['read_file', 'read_file']);
  });

  it.each([
    ['that cites the log and quotes nothing', { text: 'it was the network', evidence: ['E1'], quotes: [] }],
    [
      'that quotes a document',
      {
        text: 'it was the network',
        evidence: ['E2'],
        quotes: [{ source: 'knowledge:ERR008', line: 1, text: 'text' }],
      },
    ],
  ])('publishes no label on a claim %s', async (_which, claim) => {
    const state = await run(
      {
        classification: { category: 'INFRA_ERROR', kind: 'network', confidence: 1 },
        calls: [[ask('search_knowledge')]],
        plans: [{}, { confidence: 1, enough: true }],
        answers: [{ claims: [claim] }],
        assessments: [{ confidence: 1, grades: { E1: 'relevant', E2: 'relevant' } }],
      },
      { search_knowledge: hit },
    );

    expect(state.answer?.claims).toHaveLength(1);
    expect(state.verdict?.action).toBe('human_review');
  });

  it('sends an uncertain answer back at most twice, each time only after more calls', async () => {
    const [look, answer] = [{}, { enough: true }];
    const plans = [look, answer, look, answer, look, answer];
    const assessments = [0.55, 0.6, 0.58].map((confidence) => ({ confidence, gaps: ['the input'] }));
    const state = await run({ calls: distinct(5), plans, assessments }, { search_code: another });

    expect(state.steps.filter((step) => step.node === 'generate_answer')).toHaveLength(3);
    expect(state.corrections).toBe(2);
    expect(state.verdict?.action).toBe('human_review');
    expect(state.outcomes).toHaveLength(3);
    expect(listCorrections(state.verdicts).map(judgeCorrection)).toEqual(['helped', 'did_not_help']);
  });

  it.each([
    ['no tool is chosen', [[ask('search_code')], []], another],
    [
      'a call finds nothing',
      distinct(9),
      (call: ToolCall) => (call.args.text === 'word 0' ? another(call) : nothing),
    ],
    ['a call finds what is known', distinct(9), hit],
  ])('does not repeat an answer: %s', async (_when, calls, search_code) => {
    const plans = [{}, { enough: true }, {}];
    const assessments = [{ confidence: 0.55, gaps: ['the input'] }];
    const state = await run({ calls, plans, assessments }, { search_code });

    expect(state.steps.filter((step) => step.node === 'generate_answer')).toHaveLength(1);
    expect(state.steps.at(-1)?.node).toBe('hand_over');
    expect(state.verdict).toMatchObject({
      action: 'human_review',
      reasons: expect.arrayContaining(['no further lookup would change the result']),
    });
    expect(listCorrections(state.verdicts).map(judgeCorrection)).toEqual(['nothing_new']);
  });

  it('hands an answer over for review if no tool is chosen for a correction', async () => {
    const calls = [[ask('search_code')], []];
    const plans = [{}, { enough: true }, {}];
    const state = await run({ calls, plans, assessments: [{ confidence: 0.55 }] }, { search_code: another });

    expect(listNodes(state)).toMatch(/ verify reason select_tool hand_over$/);
  });

  it('hands an answer over for review if it was sent back and nothing more can be looked up', async () => {
    const plans = [{}, { enough: true }];
    const state = await run(
      { calls: distinct(5), plans, assessments: [{ confidence: 0.55, gaps: ['the input'] }] },
      { search_code: hit },
    );

    expect(state.steps.filter((step) => step.node === 'generate_answer')).toHaveLength(1);
    expect(state.verdict).toMatchObject({
      action: 'human_review',
      reasons: expect.arrayContaining(['no further lookup would change the result']),
    });
    expect(state.outcomes).toHaveLength(1);
  });

  it('lets a later round revise the category, and offers its tools', async () => {
    const revised = { category: 'CODE_ERROR', kind: 'null_reference' } as const;
    const state = await run(
      { calls: distinct(1), plans: [{}, { enough: true, confidence: 0.8, revised }] },
      { search_code: hit },
    );

    expect(state.classification).toMatchObject({ ...revised, confidence: 0.8 });
    expect(
      Object.values(state.classification?.probabilities ?? {}).reduce(
        (sum, probability) => sum + probability,
        0,
      ),
    ).toBeCloseTo(1);
  });

  it('searches the web once for a weak answer, then asks for review', async () => {
    const script = {
      calls: [[ask('search_knowledge')], [ask('search_web', { query: 'x' })], []],
      plans: [{}, { enough: true }],
      assessments: [{ confidence: 0.3 }],
    };
    const state = await run(script, {
      search_knowledge: hit,
      search_web: { status: 'unavailable', summary: 'no web search configured' },
    });

    expect(state.outcomes.map((outcome) => outcome.call.tool)).toEqual(['search_knowledge', 'search_web']);
    expect(state.verdict?.action).toBe('human_review');
    expect(state.webAsked).toBe(true);
  });

  describe('the web search with a model', () => {
    const web = (query: string) => ask('search_web', { query });

    /**
     * A weak answer of a model, then what its queries found; the fallback analyst has one query of its own.
     */
    async function search(...calls: readonly (readonly ToolCall[])[]) {
      const model = createScriptedAnalyst({
        calls,
        plans: [{}, { enough: true }],
        assessments: [{ confidence: 0.3 }, { confidence: 0.9 }],
        answers: [{ title: 'before the web' }, { title: 'after the web' }],
      });
      const fallbackAnalyst = {
        ...createScriptedAnalyst({ calls: [[web('the telling line')]] }),
        name: 'rules',
      };
      const toolbox = createScriptedToolbox({ search_knowledge: hit, search_web: another });
      const state = await compileTriageGraph().invoke(
        { subject: sampleSubject(), limits: LIMITS },
        {
          context: { analyst: model, fallbackAnalyst, toolbox, clock: systemClock, onStep: undefined },
          recursionLimit: computeRecursionLimit(LIMITS),
        },
      );
      const searches = toolbox.calls.filter(({ tool }) => tool === 'search_web');
      return { state, queries: searches.map(({ args }) => args.query) };
    }

    it('uses up to three queries of the model, each once', async () => {
      const words = [
        'socket closed early',
        'Closed early: socket',
        'grpc goaway',
        'http2 goaway',
        'a fourth',
      ];
      const asked = words.map(web);
      const { state, queries } = await search([ask('search_knowledge')], asked);

      expect(queries).toEqual(['socket closed early', 'grpc goaway', 'http2 goaway']);
      expect(state.answer?.title).toBe('after the web');
    });

    it('uses the query of the rules if the model has none', async () => {
      const { state, queries } = await search(
        [ask('search_knowledge')],
        [ask('search_knowledge', { again: true })],
      );

      expect(queries).toEqual(['the telling line']);
      expect(state.answer?.title).toBe('after the web');
    });

    it('runs early if the model asks for it, and not again with the same words', async () => {
      const { state, queries } = await search(
        [ask('search_knowledge'), web('own words')],
        [web('Own words!'), web('other words')],
      );

      expect(queries).toEqual(['own words', 'other words']);
      expect(state.outcomes.filter(({ status }) => status === 'refused')).toEqual([]);
    });
  });

  it.each([
    ['llm', 0.96, 1],
    ['llm', 0.9, 2],
    ['rules', 0.96, 2],
  ])('a classification by %s at %d leads to at most %d rounds', async (by, confidence, rounds) => {
    const scripted = createScriptedAnalyst({
      calls: distinct(3),
      plans: [{}, { enough: true }],
      assessments: [{ confidence: 0.9 }],
    });
    const classify: typeof scripted.classify = async (input, signal) => {
      const judgment = await scripted.classify(input, signal);
      return { ...judgment, by, value: { ...judgment.value, confidence } };
    };
    const state = await triage({ ...scripted, classify }, createScriptedToolbox({ search_code: hit }));
    expect(state.rounds).toBe(rounds);
    if (rounds === 1)
      expect(state).toMatchObject({
        termination: 'confident',
        outcomes: [{ call: { tool: 'search_code' } }],
      });
  });

  it('offers a model the tools of other categories after those of its own', async () => {
    const offered: string[][] = [];
    const model = createScriptedAnalyst({});
    const chooseTools: typeof model.chooseTools = async (input, signal) => {
      offered.push(input.offered.map(({ name }) => name));
      return await model.chooseTools(input, signal);
    };
    const own = createScriptedToolbox({ read_test_file: hit, read_file: hit });
    const byCategory = {
      ...own,
      offered: (category: string) =>
        own
          .offered('CODE_ERROR')
          .filter(({ name }) => (name === 'read_file') === (category === 'CODE_ERROR')),
    };
    const context = {
      analyst: { ...model, chooseTools },
      fallbackAnalyst: { ...createScriptedAnalyst(), name: 'rules' },
      toolbox: byCategory,
      clock: systemClock,
      onStep: undefined,
    };
    await compileTriageGraph().invoke(
      { subject: sampleSubject(), limits: LIMITS },
      { context, recursionLimit: computeRecursionLimit(LIMITS) },
    );
    expect(offered[0]?.toSorted()).toEqual(['read_file', 'read_test_file']);
  });

  it('does not offer the web search before it is needed', async () => {
    const toolbox = createScriptedToolbox({ search_web: hit });
    await triage(createScriptedAnalyst({ calls: [[ask('search_web', { query: 'x' })]] }), toolbox);

    expect(toolbox.calls).toHaveLength(0);
  });

  it('continues from the last finished node', async () => {
    const checkpointer = new MemorySaver();
    const graph = compileTriageGraph(checkpointer);
    const config = {
      configurable: { thread_id: 't1' },
      recursionLimit: computeRecursionLimit(LIMITS),
      durability: 'sync' as const,
    };
    const dying = createScriptedAnalyst({ calls: [[ask('search_knowledge')]] });
    dying.answer = async () => {
      throw new Error('killed');
    };
    const toolbox = createScriptedToolbox({ search_knowledge: hit });
    const context = {
      analyst: dying,
      fallbackAnalyst: undefined,
      toolbox,
      clock: systemClock,
      onStep: undefined,
    };
    await expect(
      graph.invoke({ subject: sampleSubject(), limits: LIMITS }, { ...config, context }),
    ).rejects.toThrow('killed');

    const living = createScriptedAnalyst();
    const state = await graph.invoke(null, { ...config, context: { ...context, analyst: living } });

    expect(living.asked).toEqual(['answer', 'verify']);
    expect(toolbox.calls).toHaveLength(1);
    expect(new Set(state.steps.map((step) => `${step.node} ${step.round}`)).size).toBe(state.steps.length);
  });

  it('reports what is missing without a context', async () => {
    await expect(compileTriageGraph().invoke({ subject: sampleSubject(), limits: LIMITS })).rejects.toThrow(
      /needs its analyst/,
    );
  });
});
