import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isTooLong, readRefusal, toRefusalError } from '../../../src/models/refusal.ts';
import type { ChatRequest } from '../../../src/ports/chat-model.ts';
import {
  type OpenAiServer,
  type OpenAiServerOptions,
  startOpenAiServer,
} from '../../support/openai-server.ts';
import { catchError, createModel, never } from './model-stage.ts';

const PING: ChatRequest<unknown> = {
  system: 'Reply with JSON.',
  user: 'Ready?',
  name: 'ping',
  schema: { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] },
  parse: (value) => value,
};
const OK = { do: 'reply', value: { ok: true } } as const;
const catchRefusal = (status: number, error: object | string) =>
  readRefusal(status, new Headers(), typeof error === 'string' ? error : JSON.stringify({ error }));

describe('a question that is too long', () => {
  test.each([
    [
      'OpenAI',
      400,
      {
        message:
          "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens (8800 in the messages, 200 in the functions).",
        code: 'context_length_exceeded',
      },
    ],
    [
      'Azure',
      400,
      {
        message: "This model's maximum context length is 4097 tokens, however you requested 5000 tokens",
        type: 'invalid_request_error',
        code: 'context_length_exceeded',
      },
    ],
    [
      'vLLM',
      400,
      {
        object: 'error',
        message:
          "This model's maximum context length is 2048 tokens. However, your request has 3000 input tokens. Please reduce the length of the input messages.",
        code: 400,
      },
    ],
    [
      'llama.cpp',
      400,
      {
        code: 400,
        message: 'the request exceeds the available context size, try increasing it',
        type: 'exceed_context_size_error',
      },
    ],
    [
      'an older llama.cpp',
      500,
      {
        code: 500,
        message:
          'the request exceeds the available context size. try increasing the context size or enable context shift',
      },
    ],
    ['llama-cpp-python', 400, { message: 'Requested tokens (5000) exceed context window of 2048' }],
    ['Ollama', 500, { message: 'the input length exceeds the context length' }],
    [
      'LiteLLM',
      400,
      {
        message: 'litellm.ContextWindowExceededError: prompt is too long: 210000 tokens > 200000 maximum',
        code: '400',
      },
    ],
    ['Groq', 413, { message: 'Request too large for model', code: 'rate_limit_exceeded' }],
    [
      "OpenAI's limit a minute",
      429,
      {
        message: 'Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 45000.',
        code: 'rate_limit_exceeded',
      },
    ],
  ] as const)('is too-large in the words of %s', (_name, status, error) => {
    const refusal = catchRefusal(status, error);
    expect(isTooLong(refusal)).toBe(true);
    expect(toRefusalError(refusal, 'm')).toMatchObject({ code: 'too-large', retryable: false });
  });

  test('is too-large for a proxy (413 without a message)', () => {
    expect(toRefusalError(catchRefusal(413, '<html>Request Entity Too Large</html>'), 'm').code).toBe(
      'too-large',
    );
  });
});

describe('a refusal that waiting does not resolve', () => {
  test.each([
    [
      'OpenAI',
      429,
      {
        message: 'You exceeded your current quota, please check your plan and billing details.',
        code: 'insufficient_quota',
      },
    ],
    [
      'OpenAI, hard limit',
      400,
      { message: 'Billing hard limit has been reached', code: 'billing_hard_limit_reached' },
    ],
    [
      'LiteLLM',
      400,
      {
        message: 'Budget has been exceeded! Current cost: 12.1, Max budget: 12.0',
        type: 'budget_exceeded',
        code: '400',
      },
    ],
    ['OpenRouter', 402, { message: 'Insufficient credits', code: 402 }],
    ['OpenRouter, key', 403, { message: 'Key limit exceeded (total limit)', code: 403 }],
    ['DeepSeek', 402, { message: 'Insufficient Balance' }],
  ] as const)('of %s is quota-exhausted', (_name, status, error) => {
    expect(toRefusalError(catchRefusal(status, error), 'm')).toMatchObject({
      code: 'quota-exhausted',
      retryable: false,
    });
  });

  test.each([
    [
      'Azure',
      {
        message:
          'Requests have exceeded call rate limit of your current OpenAI S0 pricing tier. Please retry after 6 seconds.',
        code: '429',
      },
    ],
    [
      'Google',
      {
        message:
          'You exceeded your current quota. Quota exceeded for metric: generate_requests_per_minute. Please retry in 21s.',
        code: 429,
      },
    ],
  ])('is not assumed if %s has a limit per minute', (_name, error) => {
    expect(toRefusalError(catchRefusal(429, error), 'm')).toMatchObject({
      code: 'rate-limited',
      retryable: true,
    });
  });
});

describe('requests over HTTP', () => {
  let server: OpenAiServer;
  beforeEach(async () => {
    server = await startOpenAiServer();
  });
  afterEach(() => server.close());

  async function restart(options: OpenAiServerOptions) {
    await server.close();
    server = await startOpenAiServer(options);
  }

  test('have their retries and cached tokens counted', async () => {
    server.script(
      { do: 'status', status: 429 },
      { do: 'status', status: 503 },
      { ...OK, usage: { input: 2_000_000, output: 0, cached: 1_000_000 } },
    );
    const reply = await createModel(server).ask(PING, never);
    expect(reply).toMatchObject({ retries: 2, calls: 1, cachedInputTokens: 1_000_000 });
    expect(reply.costUsd).toBeCloseTo(0.15 + 0.075);
  });

  test('that failed permanently state the number of attempts', async () => {
    server.script({ do: 'status', status: 500 });
    const error = await catchError(createModel(server).ask(PING, never));
    expect(error).toMatchObject({
      code: 'upstream-failed',
      retryable: true,
      details: { usage: { modelCalls: 0, retries: 2 } },
    });
  });

  test('are repeated if the body is cut', async () => {
    server.script({ do: 'cut' }, OK);
    expect(await createModel(server).ask(PING, never)).toMatchObject({ value: { ok: true }, retries: 1 });
  });

  test('treat an error with a success status as an error', async () => {
    const failed = { error: { message: 'Provider returned error', code: 502 } };
    server.script({ do: 'body', body: JSON.stringify(failed) }, OK);
    expect(await createModel(server).ask(PING, never)).toMatchObject({ retries: 1 });
    server.script({
      do: 'body',
      body: JSON.stringify({ error: { message: 'Insufficient credits', code: 402 } }),
    });
    expect(await catchError(createModel(server).ask(PING, never))).toMatchObject({ code: 'quota-exhausted' });
  });

  test('ask for a short answer if there is no space for a long one, and that is remembered', async () => {
    const words =
      "This model's maximum context length is 8192 tokens. However, you requested 9096 tokens (5000 in the messages, 4096 in the completion).";
    server.script((request) =>
      Number(request.body.max_tokens) > 2_000
        ? { do: 'status', status: 400, error: { message: words, code: 'context_length_exceeded' } }
        : OK,
    );
    const model = createModel(server);
    for (let time = 0; time < 2; time++) await model.ask(PING, never);
    expect(server.requests.map((request) => request.body.max_tokens)).toEqual([4096, 1024, 1024]);
  });

  test.each([
    ['max_tokens', 'gpt-4o-mini', 'max_completion_tokens', 4096],
    ['max_completion_tokens', 'gpt-5-mini', 'max_tokens', 16_384],
  ])('use the other name if a server does not know %s (%s)', async (unknown, name, known, most) => {
    await restart({ unknownParameters: [unknown] });
    server.script(OK);
    const model = createModel(server, { model: name });
    for (let time = 0; time < 2; time++) await model.ask(PING, never);
    expect(server.requests.map((request) => [request.body[known], request.body[unknown]])).toEqual([
      [most, undefined],
      [most, undefined],
    ]);
    expect(server.refused).toHaveLength(1);
  });

  test('contain the system message in the question for a chat template without one', async () => {
    await restart({ noSystem: true });
    server.script(OK);
    await createModel(server).ask(PING, never);
    expect(server.requests[0]?.messages).toEqual([{ role: 'user', content: 'Reply with JSON.\n\nReady?' }]);
  });

  test('contain the schema in words for a server without schemas', async () => {
    await restart({ formats: ['text'] });
    server.script({ do: 'text', text: '<think>{"ok": false} or {"ok": true}?</think>\n{"ok": true}' });
    expect((await createModel(server).ask(PING, never)).value).toEqual({ ok: true });
    expect(server.requests[0]?.messages[0]?.content).toContain('"required":["ok"]');
  });

  test('find a reply that was put among the thoughts', async () => {
    server.script({ do: 'text', text: '', reasoning: 'The answer: {"ok": true}' });
    expect((await createModel(server).ask(PING, never)).value).toEqual({ ok: true });
  });
});
