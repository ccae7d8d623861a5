import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type OpenAiServer,
  type OpenAiServerOptions,
  startOpenAiServer,
} from '../../support/openai-server.ts';
import { CHOICE, catchError, createModel, never } from './model-stage.ts';

const GREP = { name: 'grep_log', args: { text: 'Expected', limit: null, why: 'the values' } };
const GREP_READ = { name: 'grep_log', args: { text: 'Expected' }, why: 'the values' };
const IN_WORDS = {
  calls: [{ tool: 'grep_log', args: { text: 'Expected', limit: null }, why: 'the values' }],
};

let server: OpenAiServer;
beforeEach(async () => {
  server = await startOpenAiServer();
});
afterEach(() => server.close());

async function restart(options: OpenAiServerOptions) {
  await server.close();
  server = await startOpenAiServer(options);
}

const choose = () => createModel(server).chooseTools(CHOICE, never);

describe('function calling', () => {
  test('sends strict schemas and reads several independent calls with their reasons', async () => {
    server.script({ do: 'call', calls: [GREP, { name: 'view_log', args: { line: 9 } }] });
    const reply = await choose();
    expect(reply).toMatchObject({ calls: 1, inputTokens: 1000, outputTokens: 100 });
    expect(reply.value).toEqual([GREP_READ, { name: 'view_log', args: { line: 9 }, why: '' }]);
    expect(server.refused).toEqual([]);
    expect(server.requests[0]).toMatchObject({
      tools: ['grep_log', 'view_log'],
      body: { tool_choice: 'auto', parallel_tool_calls: true },
    });
    expect(server.requests[0]?.body.tools).toContainEqual({
      type: 'function',
      function: {
        name: 'grep_log',
        description: 'Which lines hold this text?',
        strict: true,
        parameters: {
          type: 'object',
          properties: {
            text: { type: 'string' },
            limit: { type: ['integer', 'null'] },
            why: { type: 'string' },
          },
          required: ['text', 'limit', 'why'],
          additionalProperties: false,
        },
      },
    });
  });

  test('accepts no call from a server that is known to call functions', async () => {
    server.script({ do: 'call', calls: [GREP] }, { do: 'text', text: 'Nothing would help.' });
    const model = createModel(server);
    await model.chooseTools(CHOICE, never);
    expect((await model.chooseTools(CHOICE, never)).value).toEqual([]);
    expect(server.requests).toHaveLength(2);
  });

  test('cuts off a model that repeats itself at the token limit, and uses the calls so far', async () => {
    const call = JSON.stringify(IN_WORDS.calls[0]);
    server.script(
      { do: 'text', text: 'Ready.' },
      { do: 'text', text: `{"calls": [${call}, ${call}, ${call.slice(0, 20)}`, finish: 'length' },
    );
    const model = createModel(server, { model: 'SmolLM2-135M-Instruct', outputTokens: 512 });
    expect((await model.chooseTools(CHOICE, never)).value).toEqual([GREP_READ]);
    expect(server.requests.map(({ body }) => body.max_tokens)).toEqual([512, 512]);
  });

  test('asks no model without tools', async () => {
    expect(await createModel(server).chooseTools({ ...CHOICE, tools: [] }, never)).toMatchObject({
      value: [],
      calls: 0,
      costUsd: 0,
    });
    expect(server.requests).toEqual([]);
  });

  test('keeps an argument called "why" that belongs to the tool', async () => {
    const tool = {
      name: 'ask',
      description: '',
      parameters: { type: 'object', properties: { why: { type: 'string' } }, required: ['why'] },
    };
    server.script({ do: 'call', calls: [{ name: 'ask', args: { why: 'mine' } }], text: 'To know.' });
    expect((await createModel(server).chooseTools({ ...CHOICE, tools: [tool] }, never)).value).toEqual([
      { name: 'ask', args: { why: 'mine' }, why: 'To know.' },
    ]);
  });
});

describe('invalid calls', () => {
  test.each([
    [
      'arguments that are no JSON',
      { name: 'view_log', args: '{"line": 9' },
      'arguments of view_log are not a JSON object: {"line": 9',
    ],
    [
      'arguments that are a list',
      { name: 'view_log', args: '[9]' },
      'arguments of view_log are not a JSON object',
    ],
    [
      'a tool that does not exist',
      { name: 'run_shell', args: { command: 'env' } },
      'no such tools: run_shell; offered are grep_log, view_log',
    ],
  ] as const)('(%s) are sent back once with the reason', async (_name, bad, reason) => {
    server.script({ do: 'call', calls: [bad] }, { do: 'call', calls: [GREP] });
    expect(await choose()).toMatchObject({ value: [GREP_READ], calls: 2 });
    expect(server.requests[1]?.messages.at(-1)?.content).toContain(reason);
    expect(server.requests[1]?.messages.at(-2)).toMatchObject({
      role: 'assistant',
      content: expect.stringContaining(bad.name),
    });
  });

  test('that are invalid again are invalid-input, with their cost', async () => {
    server.script({ do: 'call', calls: [{ name: 'run_shell', args: {} }] });
    const error = await catchError(choose());
    expect(error).toMatchObject({
      code: 'invalid-input',
      retryable: false,
      details: { usage: { modelCalls: 2 } },
    });
    expect(server.requests).toHaveLength(2);
  });

  test('do not invalidate valid ones', async () => {
    server.script({ do: 'call', calls: [GREP, { name: 'view_log', args: 'nine' }] });
    expect((await choose()).value).toEqual([GREP_READ]);
  });

  test('of a tool that does not exist, next to one that does, are reported to the caller without asking again', async () => {
    server.script({ do: 'call', calls: [GREP, { name: 'functions.run_shell', args: {} }] });
    expect((await choose()).value).toEqual([GREP_READ, { name: 'run_shell', args: {}, why: '' }]);
    expect(server.requests).toHaveLength(1);
  });

  test('are limited to 128, even if they are all the same', async () => {
    const calls = (count: number) => Array.from({ length: count }, () => GREP);
    server.script({ do: 'call', calls: calls(100) }, { do: 'call', calls: calls(1000) });
    const model = createModel(server);
    expect((await model.chooseTools(CHOICE, never)).value).toHaveLength(100);
    expect((await model.chooseTools(CHOICE, never)).value).toHaveLength(128);
  });

  test('are not requested again after a refusal or a filtered reply', async () => {
    server.script({ do: 'refuse-to-answer' });
    expect((await catchError(choose())).message).toContain('refused to answer');
    server.script({ do: 'text', text: '', finish: 'content_filter' });
    expect((await catchError(choose())).message).toContain('content filter');
    expect(server.requests).toHaveLength(2);
  });
});

describe('servers that support less', () => {
  test.each([
    ['know no strict functions', { tools: 'plain' }, 1],
    ['know no parallel_tool_calls', { unknownParameters: ['parallel_tool_calls'] }, 1],
    ['know neither', { tools: 'plain', unknownParameters: ['parallel_tool_calls'] }, 2],
  ] as const)('that %s are asked for less, once', async (_name, options, refusals) => {
    await restart(options);
    server.script({ do: 'call', calls: [GREP] });
    const model = createModel(server);
    for (let time = 0; time < 2; time++)
      expect((await model.chooseTools(CHOICE, never)).value).toEqual([GREP_READ]);
    expect(server.refused).toHaveLength(refusals);
    expect(server.requests).toHaveLength(2);
  });

  test.each([
    ['json_schema', ['json_schema', 'json_object', 'text'], 1],
    ['json_object', ['json_object', 'text'], 2],
    ['text', ['text'], 3],
  ] as const)('without functions are asked by %s, once that is known', async (format, formats, refusals) => {
    await restart({ tools: 'refused', formats });
    server.script({ do: 'reply', value: IN_WORDS });
    const model = createModel(server);
    for (let time = 0; time < 2; time++)
      expect((await model.chooseTools(CHOICE, never)).value).toEqual([GREP_READ]);
    expect(server.requests.map((request) => [request.format, request.tools.length])).toEqual([
      [format, 0],
      [format, 0],
    ]);
    expect(server.requests[0]?.messages[0]?.content).toContain('- view_log: What stands around this line?');
    expect(server.refused).toHaveLength(refusals);
  });

  test('without functions are remembered as such for tools only', async () => {
    await restart({ tools: 'refused' });
    server.script({ do: 'reply', value: IN_WORDS });
    const model = createModel(server);
    await model.chooseTools(CHOICE, never);
    expect(model.supports()).toEqual({ value: 'json_schema', tools: 'json_schema', calledFunctions: false });
  });

  test('that ignore functions silently are asked in words, and from then on always', async () => {
    server.script({ do: 'text', text: 'I would look at the log.' }, { do: 'reply', value: IN_WORDS });
    const model = createModel(server);
    expect((await model.chooseTools(CHOICE, never)).value).toEqual([GREP_READ]);
    await model.chooseTools(CHOICE, never);
    expect(server.requests.map((request) => request.tools.length)).toEqual([2, 0, 0]);
  });

  test('that always answer in prose cause invalid-input after three calls', async () => {
    server.script({ do: 'text', text: 'I am sure it is the network.' });
    expect(await catchError(choose())).toMatchObject({
      code: 'invalid-input',
      details: { usage: { modelCalls: 3 } },
    });
  });
});
