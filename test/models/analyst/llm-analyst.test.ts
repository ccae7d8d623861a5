import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { getErrorMessage } from '../../../src/domain/errors.ts';
import type { Evidence } from '../../../src/domain/evidence.ts';
import { createLlmAnalyst } from '../../../src/models/analyst/llm-analyst.ts';
import type { Insight } from '../../../src/ports/analyst.ts';
import type {
  ChatModel,
  ChatRequest,
  ChatToolCall,
  ToolChoiceRequest,
} from '../../../src/ports/chat-model.ts';
import type { ToolDescription } from '../../../src/ports/toolbox.ts';
import { sampleSubject } from '../../support/subject.ts';

const never = new AbortController().signal;
const subject = sampleSubject();
const PROBABILITIES = {
  CODE_ERROR: 0.1,
  INFRA_ERROR: 0,
  CONFIG_ERROR: 0,
  DEPENDENCY_ERROR: 0,
  TEST_FAILURE: 0.9,
};
const CLASSIFIED = {
  because: 'E1',
  category: 'TEST_FAILURE',
  kind: 'assertion',
  confidence: 0.9,
  probabilities: PROBABILITIES,
  abstained: false,
};
const RED = '\u001b[31m';
const OFF = '\u001b[0m';
const EVIDENCE: Evidence[] = [
  {
    id: 'E1',
    tool: 'log',
    title: 'failed test',
    text: `2026-01-05T10:00:00Z   ${RED}expected${OFF} 10.20, got 10.21\nat src/cart/tax.ts:41`,
    source: 'build.log',
    lineStart: 121,
    lineEnd: 122,
  },
  {
    id: 'E2',
    tool: 'search_knowledge',
    title: 'Rounding',
    text: 'Round once.',
    source: 'knowledge/ERR008',
    score: 0.71,
  },
];
const INSIGHT: Insight = {
  subject,
  classification: { ...CLASSIFIED, category: 'TEST_FAILURE', kind: 'assertion' },
  evidence: EVIDENCE,
  outcomes: [],
  round: 1,
  gaps: ['who changed the rounding'],
};
const ANSWER = {
  title: 'Cart total is a cent off',
  rootCause: 'Rounded twice (E1).',
  fixRecommendation: 'Round once.',
  claims: [
    {
      text: 'The total differs.',
      evidence: ['E1', 'E9', 'E1'],
      quotes: [{ source: 'build.log', line: 121, text: 'expected 10.20, got 10.21' }],
    },
  ],
  suspects: [
    {
      path: 'src/cart/tax.ts',
      line: 41,
      commit: 'deadbeef',
      author: 'mallory',
      score: 3,
      reason: 'in the trace',
    },
    { path: 'src/never/seen.ts', line: 1, commit: null, author: null, score: 1, reason: 'invented' },
  ],
  hypotheses: [],
  confidence: 7,
};

/** Creates a model that replies what it is given, through the request's own check. */
function createModelReplying(value: unknown, costKnown = true, calls: readonly ChatToolCall[] = []) {
  const requests: ChatRequest<unknown>[] = [];
  const choices: ToolChoiceRequest[] = [];
  const cost = { model: 'm-1', inputTokens: 10, outputTokens: 2, costUsd: 0, costKnown, calls: 1 };
  return {
    name: 'm',
    requests,
    choices,
    ask: async (request) => {
      requests.push(request);
      return { value: request.parse(value), ...cost };
    },
    chooseTools: async (request) => {
      choices.push(request);
      return { value: calls, ...cost };
    },
    stream: async () => expect.fail('not asked'),
  } satisfies ChatModel & { requests: ChatRequest<unknown>[]; choices: ToolChoiceRequest[] };
}

function createTool(name: string): ToolDescription {
  const parameters = {
    type: 'object',
    properties: { text: { type: 'string' }, limit: { type: 'integer' } },
    required: ['text'],
  };
  return {
    name,
    question: 'What?',
    categories: ['TEST_FAILURE'],
    always: false,
    costClass: 'low',
    usualLatencyMs: 1,
    fallback: false,
    parameters,
  };
}
const PLAN = { thought: 't', confidence: 0.5, enough: false, retrieval: 0 };

describe('classify', () => {
  test('makes the probabilities consistent', async () => {
    const reply = {
      ...CLASSIFIED,
      confidence: 40,
      probabilities: { ...PROBABILITIES, INFRA_ERROR: -3, CODE_ERROR: 0.9 },
    };
    const { value } = await createLlmAnalyst({ model: createModelReplying(reply) }).classify(
      { subject },
      never,
    );
    expect(Object.values(value.probabilities).reduce((sum, probability) => sum + probability, 0)).toBeCloseTo(
      1,
    );
    expect(value.confidence).toBe(0.5);
  });

  test('has a confidence below one half if the model abstains', async () => {
    const { value } = await createLlmAnalyst({
      model: createModelReplying({ ...CLASSIFIED, abstained: true }),
    }).classify({ subject }, never);
    expect(value.confidence).toBeLessThan(0.5);
  });

  test('refuses an unknown category but not an unknown kind', async () => {
    const ask = (reply: object) =>
      createLlmAnalyst({ model: createModelReplying({ ...CLASSIFIED, ...reply }) }).classify(
        { subject },
        never,
      );
    await expect(ask({ category: 'FLAKY' })).rejects.toBeInstanceOf(z.ZodError);
    expect((await ask({ kind: 'gremlins' })).value.kind).toBe('unknown');
  });

  test('sends a kind that contradicts the category back once', async () => {
    const askForKinds = async (category: string, ...kinds: readonly string[]) => {
      const refused: string[] = [];
      const model = createModelReplying(CLASSIFIED);
      // As the driver does: a reply that cannot be read is sent back with the reason.
      model.ask = async ({ parse }) => {
        for (const kind of kinds) {
          try {
            const value = parse({ ...CLASSIFIED, category, kind });
            return {
              value,
              model: 'm',
              inputTokens: 0,
              outputTokens: 0,
              costUsd: 0,
              costKnown: true,
              calls: 1,
            };
          } catch (error) {
            refused.push(getErrorMessage(error));
          }
        }
        return expect.fail('every reply was sent back');
      };
      const { value } = await createLlmAnalyst({ model }).classify({ subject }, never);
      return { kind: value.kind, refused };
    };

    expect(await askForKinds('TEST_FAILURE', 'assertion')).toEqual({ kind: 'assertion', refused: [] });
    expect(await askForKinds('INFRA_ERROR', 'docker_build')).toEqual({ kind: 'docker_build', refused: [] });
    const mended = await askForKinds('TEST_FAILURE', 'process_gate', 'threshold');
    expect(mended.kind).toBe('threshold');
    expect(mended.refused).toEqual([
      expect.stringContaining('the kind process_gate contradicts the category TEST_FAILURE'),
    ]);
    expect((await askForKinds('TEST_FAILURE', 'process_gate', 'process_gate')).kind).toBe('unknown');
  });

  test('notes once that the price is not known', async () => {
    const judgment = await createLlmAnalyst({ model: createModelReplying(CLASSIFIED, false) }).classify(
      { subject },
      never,
    );
    expect(judgment).toMatchObject({
      by: 'llm',
      model: 'm-1',
      usage: { inputTokens: 10, modelCalls: 1 },
      note: expect.stringContaining('No price'),
    });
    expect(judgment.promptHash).toMatch(/^[0-9a-f]{16}$/);
  });
});

describe('plan', () => {
  const gap = { missing: 'who set it', tool: 'grep_log', blocks: true };
  const reply = { thought: 'x', gaps: [], revised: null, confidence: 0.7, next: 'look' };
  const planned = async (
    changed: object,
    offered: ToolDescription[] = [createTool('grep_log')],
    insight = INSIGHT,
  ) =>
    (
      await createLlmAnalyst({ model: createModelReplying({ ...reply, ...changed }) }).plan(
        { ...insight, offered },
        never,
      )
    ).value;

  test('takes the quality of retrieval from the evidence, not from the model', async () => {
    expect(await planned({ confidence: 2, next: 'answer' })).toEqual({
      thought: 'x',
      confidence: 1,
      enough: true,
      retrieval: 0.71,
      gaps: [],
      calls: [],
    });
  });

  test('names the calls to make, so that no separate judgment has to choose them', async () => {
    const calls = [{ tool: 'grep_log', args: '{"text":"10.21","limit":null}', why: 'where it is set' }];
    const plan = await planned({ calls });
    expect(plan.calls).toEqual([{ tool: 'grep_log', args: { text: '10.21' }, why: 'where it is set' }]);
    const model = createModelReplying({});
    const offered = [createTool('grep_log')];
    const chosen = await createLlmAnalyst({ model }).chooseTools({ ...INSIGHT, plan, offered }, never);
    expect(chosen).toMatchObject({ value: plan.calls, usage: { modelCalls: 0 } });
    expect(model.choices).toEqual([]);
  });

  test('has enough without a call to make', async () => {
    expect((await planned({ calls: [] })).enough).toBe(true);
  });

  test('refuses arguments that are not a JSON object', async () => {
    await expect(planned({ calls: [{ tool: 'grep_log', args: '10.21', why: '' }] })).rejects.toThrow(
      'the arguments of grep_log are not a JSON object in a string',
    );
  });

  test.each([
    ['unsure', {}, false],
    ['unsure, and nothing can tell', { next: 'stop' }, true],
    ['sure, and a gap would be nice to close', { confidence: 0.9, gaps: [{ ...gap, blocks: false }] }, true],
    [
      'sure, and no offered tool closes the gap',
      { confidence: 0.9, gaps: [{ ...gap, tool: 'ask_oracle' }] },
      true,
    ],
    ['sure, and an offered tool closes a gap that blocks', { confidence: 0.9, gaps: [gap] }, false],
    ['unsure, and an offered tool closes a gap', { gaps: [{ ...gap, blocks: false }] }, false],
    ['unsure, and what is missing cannot be known from here', { gaps: [{ ...gap, tool: null }] }, true],
  ])('%s: continues or not', async (_when, changed, enough) => {
    expect((await planned(changed)).enough).toBe(enough);
  });

  test('never has enough without evidence', async () => {
    expect((await planned({ next: 'answer' }, [], { ...INSIGHT, evidence: [] })).enough).toBe(false);
  });

  test('may name another category, and none if it is the same', async () => {
    const revised = { category: 'CODE_ERROR', kind: 'null_reference' };
    const kind = { category: 'TEST_FAILURE', kind: 'threshold' };
    expect((await planned({ revised: kind })).revised).toEqual(kind);
    expect((await planned({ revised })).revised).toEqual(revised);
    expect(
      (await planned({ revised: { category: 'TEST_FAILURE', kind: 'assertion' } })).revised,
    ).toBeUndefined();
  });

  test('gets the available tools, and which of them are rarely useful', async () => {
    const model = createModelReplying(reply);
    const offered = [
      createTool('grep_log'),
      { ...createTool('read_file'), categories: ['CODE_ERROR' as const] },
    ];
    await createLlmAnalyst({ model }).plan({ ...INSIGHT, offered }, never);
    expect(model.requests[0]?.user).toContain(
      '- grep_log(text; limit?: integer): What?\n' +
        '- read_file(text; limit?: integer): What? (seldom of use here: say why)',
    );
  });
});

describe('chooseTools', () => {
  test('lets the model call the tools with their own schemas, and keeps its reasons', async () => {
    const model = createModelReplying({}, true, [
      { name: 'grep_log', args: { text: 'x' }, why: 'w' },
      { name: 'rm_rf', args: {}, why: '' },
    ]);
    const offered = [{ ...createTool('grep_log'), always: true }];
    const judgment = await createLlmAnalyst({ model }).chooseTools(
      { ...INSIGHT, plan: PLAN, offered },
      never,
    );
    expect(judgment.value).toEqual([
      { tool: 'grep_log', args: { text: 'x' }, why: 'w' },
      { tool: 'rm_rf', args: {}, why: '' },
    ]);
    const { system, tools } = model.choices[0] ?? { system: '', tools: [] };
    expect(tools).toEqual([
      { name: 'grep_log', description: 'What? (cost low)', parameters: createTool('grep_log').parameters },
    ]);
    expect(system).not.toContain('grep_log');
  });

  test('asks no model if nothing is offered', async () => {
    const model = createModelReplying({});
    const judgment = await createLlmAnalyst({ model }).chooseTools(
      { ...INSIGHT, plan: PLAN, offered: [] },
      never,
    );
    expect(judgment).toMatchObject({ value: [], usage: { modelCalls: 0 } });
    expect(model.choices).toHaveLength(0);
  });
});

describe('correctCall', () => {
  const call = { tool: 'grep_log', args: { text: '' }, why: 'w' };
  const ask = (args: unknown) =>
    createLlmAnalyst({ model: createModelReplying({ why: '', args }) }).correctCall(
      { call, error: 'too short', tool: createTool('grep_log'), subject },
      never,
    );

  test.each([
    [
      { text: 'got 10.21', limit: null },
      { ...call, args: { text: 'got 10.21' } },
    ],
    [null, null],
    [{ text: '' }, null],
  ])('turns %j into %j', async (args, expected) => {
    expect((await ask(args)).value).toEqual(expected);
  });
});

describe('answer', () => {
  test('cites only evidence that was shown, and its quotations are in the stored line', async () => {
    const { value } = await createLlmAnalyst({ model: createModelReplying(ANSWER) }).answer(INSIGHT, never);
    expect(value.claims[0]?.evidence).toEqual(['E1']);
    expect(value.claims[0]?.quotes).toEqual([{ source: 'build.log', line: 121, text: '10.20, got 10.21' }]);
    expect(EVIDENCE[0]?.text).toContain('10.20, got 10.21');
    expect(value.suspects).toEqual([
      { path: 'src/cart/tax.ts', line: 41, commit: null, author: null, score: 1, reason: 'in the trace' },
    ]);
    expect(value.confidence).toBe(1);
  });

  test('keeps addresses in a diff of the code and in a quoted test, and no others', async () => {
    const failing = {
      name: 'links',
      suite: null,
      file: null,
      line: null,
      message: null,
      expected: 'https://a.test/2',
      actual: 'https://a.test/1',
      framework: 'vitest',
      at: null,
    };
    const asked = { ...INSIGHT, subject: sampleSubject({ failingTests: [failing] }) };
    const code = {
      id: 'E3',
      tool: 'read_file',
      title: 'src/cart/api.ts',
      text: "const base = 'https://api.example/v1';",
      source: 'src/cart/api.ts',
      lineStart: 1,
    };
    const diff = (address: string) =>
      `Not tried:\n\`\`\`diff\n--- a/src/cart/api.ts\n+++ b/src/cart/api.ts\n-const base = 'https://api.example/v1';\n+const base = '${address}/';\n\`\`\``;
    const answered = async (address: string) => {
      const reply = {
        ...ANSWER,
        rootCause: "It got 'https://a.test/1', see https://a.test/1.",
        fixRecommendation: diff(address),
      };
      const analyst = createLlmAnalyst({ model: createModelReplying(reply) });
      return (await analyst.answer({ ...asked, evidence: [...EVIDENCE, code] }, never)).value;
    };
    const kept = await answered('https://api.example/v1');
    expect(kept.rootCause).toBe("It got 'https://a.test/1', see [address left out]");
    expect(kept.fixRecommendation).toContain("+const base = 'https://api.example/v1/'");
    expect((await answered('https://evil.example/v1')).fixRecommendation).not.toContain('diff');
  });

  test('cuts long texts between words', async () => {
    const reply = { ...ANSWER, title: `The ${'cart '.repeat(60)}is off` };
    const { value } = await createLlmAnalyst({ model: createModelReplying(reply) }).answer(INSIGHT, never);
    expect(value.title).toMatch(/^The (?:cart )+cart…$/);
  });

  test('keeps a false quotation unchanged, for the graph to refuse', async () => {
    const quotes = [{ source: 'build.log', line: 121, text: 'all tests passed' }];
    const reply = { ...ANSWER, claims: [{ ...ANSWER.claims[0], quotes }] };
    const { value } = await createLlmAnalyst({ model: createModelReplying(reply) }).answer(INSIGHT, never);
    expect(value.claims[0]?.quotes).toEqual(quotes);
  });

  test('is requested with the guidance of its category, facts before raw text, and lines in readable form', async () => {
    const model = createModelReplying(ANSWER);
    await createLlmAnalyst({ model }).answer(INSIGHT, never);
    const { system, user } = model.requests[0] ?? { system: '', user: '' };
    expect(system).toContain('which side is probably wrong');
    expect(user).toContain('121|   expected 10.20, got 10.21');
    expect(user).toContain('- who changed the rounding');
    expect(user).not.toContain('\u001b');
    expect(user.indexOf('repository shop/api')).toBeLessThan(user.indexOf('121|'));
  });

  test('is requested within its size limit, with a note on what could not be shown', async () => {
    const long = Array.from(
      { length: 30 },
      (_, index): Evidence => ({
        id: `E${index + 1}`,
        tool: 'log',
        title: 't',
        text: Array.from({ length: 40 }, (_line, at) => `error: ${index}.${at} ${'x'.repeat(900)}`).join(
          '\n',
        ),
        source: 's',
        lineStart: index * 100 + 1,
      }),
    );
    const model = createModelReplying(ANSWER);
    await createLlmAnalyst({ model }).answer({ ...INSIGHT, evidence: long }, never);
    const user = model.requests[0]?.user ?? '';
    expect(user.length).toBeLessThan(26_000);
    expect(user).toContain('Not shown here:');
    expect(user).toContain('E30');
  });
});

test('verify names claims by number and only evidence that exists', async () => {
  const reply = {
    grades: [
      { evidence: 'E1', grade: 'relevant' },
      { evidence: 'E7', grade: 'relevant' },
    ],
    unsupportedClaims: ['C1', 'C8'],
    gaps: [
      { missing: 'who set it', tool: 'grep_log' },
      { missing: 'what it was meant to be', tool: null },
      { missing: 'the weather', tool: 'ask_oracle' },
    ],
    against: ['E2', 'E7'],
    confidence: 0.4,
  };
  const analyst = createLlmAnalyst({ model: createModelReplying(ANSWER) });
  const { value: answer } = await analyst.answer(INSIGHT, never);
  const model = createModelReplying(reply);
  const offered = [createTool('grep_log')];
  const { value } = await createLlmAnalyst({ model }).verify({ ...INSIGHT, answer, offered }, never);
  expect(model.requests[0]?.user).toContain('Tools that could still be asked:\n- grep_log: What? (cost low)');
  expect(value).toEqual({
    grades: { E1: 'relevant' },
    unsupportedClaims: ['The total differs.'],
    gaps: ['who set it', 'what it was meant to be', 'the weather'],
    closable: ['who set it'],
    against: ['E2'],
    confidence: 0.4,
  });
});

test('a cheaper model makes all judgments except the answer', async () => {
  const plan = { thought: 'x', gaps: [], revised: null, confidence: 0.9, next: 'answer', calls: [] };
  const verdict = { grades: [], unsupportedClaims: [], gaps: [], against: [], confidence: 0.9 };
  const model = createModelReplying(ANSWER);
  const cheap = createModelReplying({ ...CLASSIFIED, ...plan, ...verdict });
  const analyst = createLlmAnalyst({ model, small: cheap });
  await analyst.classify({ subject }, never);
  await analyst.plan({ ...INSIGHT, offered: [createTool('grep_log')] }, never);
  await analyst.chooseTools({ ...INSIGHT, plan: PLAN, offered: [createTool('grep_log')] }, never);
  const { value: answer } = await analyst.answer(INSIGHT, never);
  await analyst.verify({ ...INSIGHT, answer }, never);
  expect(model.requests.map(({ name }) => name)).toEqual(['answer']);
  expect(cheap.requests.map(({ name }) => name)).toEqual(['classify', 'reason', 'verify']);
  expect(cheap.choices).toHaveLength(1);
});
