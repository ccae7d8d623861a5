import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type OpenAiServer,
  type OpenAiServerOptions,
  type Script,
  startOpenAiServer,
} from '../support/openai-server.ts';
import {
  ANSWER,
  BOTH_SEARCHES,
  CLASSIFIED,
  createScript,
  DEFAULTS,
  judges,
  LOG,
  playOn,
  type Run,
  runGraph,
  type Turns,
} from './graph-llm-stage.ts';

let server: OpenAiServer;
beforeEach(async () => {
  server = await startOpenAiServer();
});
afterEach(() => server.close());

async function restart(options: OpenAiServerOptions) {
  await server.close();
  server = await startOpenAiServer(options);
}

const run = (options?: Run) => runGraph(server, options);
const play = (turns: Turns) => playOn(server, turns);
/** Every judgement meets the same trouble. */
const always = (script: Script) =>
  play(Object.fromEntries([...Object.keys(DEFAULTS), 'correct-call'].map((name) => [name, [script]])));
const CALLS = { calls: BOTH_SEARCHES };

describe('T33: a model that never answers: every run ends with the answer of the rules, and the reason', () => {
  test.each([
    ['401', { do: 'status', status: 401 }, 1, /rejected the API key \(HTTP 401\)/],
    [
      'no quota',
      { do: 'status', status: 429, error: { message: 'x', code: 'insufficient_quota' } },
      1,
      /quota is used up/,
    ],
    ['no credits', { do: 'status', status: 402 }, 1, /quota is used up/],
    ['429 without Retry-After', { do: 'status', status: 429 }, 4, /is rate limiting requests/],
    [
      '429 with a Retry-After too long',
      { do: 'status', status: 429, headers: { 'retry-after': '120' } },
      2,
      /is rate limiting requests/,
    ],
    ['500', { do: 'status', status: 500 }, 4, /failed \(HTTP 500\)/],
    ['a cut body', { do: 'cut' }, 4, /could not be reached/],
    ['a reset', { do: 'reset' }, 4, /could not be reached/],
    [
      'a redirect',
      { do: 'status', status: 307, headers: { location: 'http://elsewhere.test/v1' } },
      2,
      /redirects to elsewhere\.test/,
    ],
    [
      'an unknown model',
      { do: 'status', status: 404, error: { message: 'model not found' } },
      2,
      /does not know gpt-4o-mini/,
    ],
  ] as const)('%s', async (_name, script, requests, note) => {
    always(script);
    const state = await run();
    expect(server.heard).toHaveLength(requests);
    expect(judges(state).every((one) => one.endsWith('rules'))).toBe(true);
    expect(state.notes[0]).toMatch(note);
    expect(state.notes.at(-1)).toMatch(/^The model is paused for a while: .*; the rules were used\.$/);
    expect(state.classification?.category).toBe('TEST_FAILURE');
    expect(state.answer?.claims.length).toBeGreaterThan(0);
    expect(state.verdict).not.toBeNull();
  });

  test.each([
    ['an empty reply', { do: 'text', text: '' }],
    ['prose', { do: 'text', text: 'It is the network, trust me.' }],
    ['the wrong schema', { do: 'reply', value: { colour: 'green' } }],
    ['a reply of 2 MB', { do: 'huge', bytes: 2_000_000 }],
    ['a page of HTML', { do: 'body', body: '<html>It works!</html>' }],
    ['refusals to answer', { do: 'refuse-to-answer' }],
  ] as const)('%s', async (_name, script) => {
    always(script);
    const state = await run();
    expect(judges(state).every((one) => one.endsWith('rules'))).toBe(true);
    expect(state.notes).toContainEqual(
      expect.stringMatching(/^The model.*; the rules were used for the step "classify"\.$/),
    );
    expect(state.classification?.category).toBe('TEST_FAILURE');
    expect(state.answer).not.toBeNull();
  });

  test('a context of no tokens', async () => {
    always({
      do: 'status',
      status: 400,
      error: { message: 'the request exceeds the available context size', type: 'exceed_context_size_error' },
    });
    const state = await run();
    expect(state.notes[0]).toBe(
      'The question exceeds the context of the model gpt-4o-mini; the rules were used for the step "classify".',
    );
    expect(judges(state).every((one) => one.endsWith('rules'))).toBe(true);
    expect(state.verdict).not.toBeNull();
  });
});

describe('a model that is confident, wrong and then gone', () => {
  const refused = { do: 'status', status: 401 } as const;
  test.each(['DEPENDENCY_ERROR', 'CONFIG_ERROR', 'INFRA_ERROR', 'CODE_ERROR'] as const)(
    'is not believed: %s',
    async (category) => {
      const none = { CODE_ERROR: 0, INFRA_ERROR: 0, CONFIG_ERROR: 0, DEPENDENCY_ERROR: 0, TEST_FAILURE: 0 };
      const said = {
        ...CLASSIFIED,
        category,
        kind: 'unknown',
        confidence: 1,
        probabilities: { ...none, [category]: 1 },
      };
      play({
        classify: [said],
        'select-tool': [refused],
        reason: [refused],
        answer: [refused],
        verify: [refused],
      });
      const state = await run();
      expect(state.classification?.category).toBe(category);
      expect(state.verdict?.action).not.toBe('auto_notify');
      expect(state.verdict?.confidence).toBeLessThan(0.65);
    },
  );
});

describe('T34: after a temporary error of a model, the run continues with it', () => {
  test('a 429 with an acceptable Retry-After is waited for, and the retry is in the trace', async () => {
    const limited: Script = { do: 'status', status: 429, headers: { 'retry-after-ms': '20' } };
    play({ classify: [limited, ...(DEFAULTS.classify ?? [])] });
    const state = await run();
    expect(judges(state).every((one) => one.endsWith('llm'))).toBe(true);
    expect(state.notes).toEqual([]);
    expect(state.steps.flatMap((step) => step.judgements ?? [])[0]).toMatchObject({
      name: 'classify',
      retries: 1,
      modelCalls: 1,
    });
  });

  test('a context that is too small gets half of the input, with one note, and is never asked in full again', async () => {
    const word = (index: number) =>
      index.toString(26).replace(/\d/g, (digit) => 'qrstuvwxyz'[Number(digit)] ?? '');
    const lines = Array.from(
      { length: 300 },
      (_, index) => `error: the part ${word(index)} of the cart is gone`,
    );
    const log = `${LOG}\n${lines.join('\n')}\n`;
    const sizes: number[] = [];
    const error = {
      message: "This model's maximum context length is 2048 tokens.",
      code: 'context_length_exceeded',
    };
    const scripted = createScript({});
    server.script((request) => {
      const size = JSON.stringify(request.messages).length;
      sizes.push(size);
      return sizes.length === 1 ? { do: 'status', status: 400, error } : scripted(request);
    });
    const state = await run({ log });
    expect(judges(state).every((one) => one.endsWith('llm'))).toBe(true);
    expect(new Set(state.notes.filter((note) => note.includes('context')))).toEqual(
      new Set(["The model's context is too small for the usual question; it was shown half of it."]),
    );
    expect(sizes[1]).toBeLessThan(sizes[0] ?? 0);
  });

  test('of a hundred equal tool calls one is made, and the others are reported', async () => {
    const calls = Array.from({ length: 100 }, () => ({
      name: 'search_knowledge',
      args: { query: 'a cent', category: null, limit: null },
    }));
    play({ 'select-tool': [{ do: 'call', calls }] });
    const state = await run();
    const outcomes = state.outcomes.filter((outcome) => outcome.call.tool === 'search_knowledge');
    expect(outcomes.filter((outcome) => outcome.status !== 'refused')).toHaveLength(1);
    expect(outcomes.length).toBeLessThan(10);
    expect(state.notes.join(' ')).toMatch(/repeated|surplus|already/);
    expect(state.answer?.title).toBe(ANSWER.title);
  });

  test('an unknown tool next to a known one is reported and does not crash', async () => {
    play({
      'select-tool': [
        { calls: [...BOTH_SEARCHES, { tool: 'run_shell', args: { command: 'env' }, why: 'x' }] },
      ],
    });
    const state = await run();
    expect(judges(state)).toContain('select_tool llm');
    expect(`${state.notes.join(' ')} ${JSON.stringify(state.outcomes)}`).toContain('run_shell');
    expect(
      state.outcomes.some((outcome) => outcome.call.tool === 'run_shell' && outcome.status === 'ok'),
    ).toBe(false);
    expect(state.answer?.title).toBe(ANSWER.title);
  });

  test('arguments that are not JSON are returned once', async () => {
    play({
      'select-tool': [
        { do: 'call', calls: [{ name: 'search_knowledge', args: '{"query": "a cent' }] },
        CALLS,
      ],
    });
    const state = await run();
    expect(judges(state)).toContain('select_tool llm');
    expect(state.outcomes.map((outcome) => outcome.call.tool).sort()).toEqual([
      'find_files',
      'search_error_library',
      'search_knowledge',
    ]);
  });

  test('a choice in prose, twice, is replaced by the choice of the rules, and the model continues', async () => {
    play({ 'select-tool': [{ do: 'text', text: 'I would search.' }] });
    const state = await run();
    expect(judges(state)).toContain('select_tool rules');
    expect(judges(state)).toContain('generate_answer llm');
    expect(state.notes).toContainEqual(
      expect.stringMatching(/the rules were used for the step "chooseTools"\.$/),
    );
    expect(state.outcomes.length).toBeGreaterThan(0);
  });
});

describe('servers of other vendors give the same run and the same answer', () => {
  test.each([
    ['without strict functions', { tools: 'plain' }],
    ['without functions', { tools: 'refused' }],
    ['without functions and schemas', { tools: 'refused', formats: ['json_object', 'text'] }],
    ['of text alone', { tools: 'refused', formats: ['text'] }],
    [
      'without system messages and temperature',
      { noSystem: true, noTemperature: true, unknownParameters: ['max_tokens'] },
    ],
  ] as const)('%s', async (_name, options) => {
    await restart(options);
    server.script(createScript({}));
    const state = await run();
    expect(judges(state).every((one) => one.endsWith('llm'))).toBe(true);
    expect(state.answer?.title).toBe(ANSWER.title);
    expect(state.outcomes.map((outcome) => outcome.call.tool)).toEqual([
      'find_files',
      'search_knowledge',
      'search_error_library',
    ]);
    expect(state.notes).toEqual([]);
  });
});
