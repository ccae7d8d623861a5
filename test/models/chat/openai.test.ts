import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { TriageError } from '../../../src/domain/errors.ts';
import { createOpenAiChatModel, type OpenAiChatModelOptions } from '../../../src/models/chat/openai.ts';
import type { ChatRequest } from '../../../src/ports/chat-model.ts';
import {
  type OpenAiServer,
  type OpenAiServerOptions,
  startOpenAiServer,
  TEST_KEY,
} from '../../support/openai-server.ts';

const Colour = z.object({ colour: z.enum(['red', 'green']), shade: z.number() });
const GREEN = { colour: 'green', shade: 3 };
const REQUEST: ChatRequest<z.infer<typeof Colour>> = {
  system: 'You name colours. Reply with JSON.',
  user: 'Which colour?',
  name: 'colour',
  schema: z.toJSONSchema(Colour),
  parse: (reply) => Colour.parse(reply),
};
const never = new AbortController().signal;

let server: OpenAiServer;
beforeEach(async () => {
  server = await startOpenAiServer();
});
afterEach(() => server.close());

async function restart(options: OpenAiServerOptions) {
  await server.close();
  server = await startOpenAiServer(options);
}

function createModel(options: Partial<OpenAiChatModelOptions> = {}) {
  return createOpenAiChatModel({
    baseUrl: server.baseUrl,
    apiKey: TEST_KEY,
    model: 'gpt-4o-mini',
    timeoutMs: 20_000,
    maxRetries: 2,
    retryDelayMs: 5,
    ...options,
  });
}

async function catchFailure(options: Partial<OpenAiChatModelOptions> = {}): Promise<TriageError> {
  const error = await createModel(options)
    .ask(REQUEST, never)
    .then(
      (reply) => expect.fail(`answered ${JSON.stringify(reply)}`),
      (thrown: unknown) => thrown,
    );
  if (!(error instanceof TriageError)) throw error;
  return error;
}

describe('a model that answers', () => {
  test('is asked with a strict schema, and its tokens and cost are counted', async () => {
    server.script({ do: 'reply', value: GREEN, usage: { input: 1_000_000, output: 500_000 } });
    const reply = await createModel().ask(REQUEST, never);
    expect(reply).toMatchObject({
      value: GREEN,
      model: 'gpt-4o-mini',
      inputTokens: 1_000_000,
      outputTokens: 500_000,
      calls: 1,
      costKnown: true,
    });
    expect(reply.costUsd).toBeCloseTo(0.15 + 0.3);
    expect(server.requests).toHaveLength(1);
    expect(server.requests[0]).toMatchObject({
      format: 'json_schema',
      schemaName: 'colour',
      body: { temperature: 0, max_tokens: 4096 },
    });
    expect(server.refused).toEqual([]);
  });

  test('has an unknown cost if its price is unknown', async () => {
    server.script({ do: 'reply', value: GREEN });
    expect(await createModel({ model: 'home-made-7b' }).ask(REQUEST, never)).toMatchObject({
      costUsd: 0,
      costKnown: false,
      inputTokens: 1000,
    });
  });

  test('is understood in prose or a code fence', async () => {
    server.script({
      do: 'text',
      text: `Sure {of course}! Here it is:\n\`\`\`json\n${JSON.stringify(GREEN)}\n\`\`\`\nAnything else?`,
    });
    expect((await createModel().ask(REQUEST, never)).value).toEqual(GREEN);
    expect(server.requests).toHaveLength(1);
  });

  test('is asked again about two different valid objects, without guessing', async () => {
    server.script(
      { do: 'text', text: '{"colour":"red","shade":1} or {"colour":"green","shade":3}' },
      { do: 'reply', value: GREEN },
    );
    expect((await createModel().ask(REQUEST, never)).value).toEqual(GREEN);
    expect(server.requests).toHaveLength(2);
  });
});

describe('an invalid reply', () => {
  test.each([
    ['wrong schema', { do: 'reply', value: { colour: 'blue', shade: 1 } }, 'Invalid option'],
    ['truncated JSON', { do: 'text', text: '{"colour":"gre', finish: 'length' }, 'cut off'],
    ['prose only', { do: 'text', text: 'It is green.' }, 'no complete JSON object'],
    ['an empty reply', { do: 'text', text: '' }, 'no complete JSON object'],
  ] as const)(
    '(%s) is sent back once with the reason, and both calls are paid',
    async (_name, script, reason) => {
      server.script(script, { do: 'reply', value: GREEN });
      const reply = await createModel().ask(REQUEST, never);
      expect(reply).toMatchObject({ value: GREEN, calls: 2, inputTokens: 2000, outputTokens: 200 });
      expect(server.requests[1]?.messages.at(-1)?.content).toContain(reason);
    },
  );

  test('twice is invalid-input, with its cost', async () => {
    server.script({ do: 'text', text: 'still no JSON' });
    const error = await catchFailure();
    expect(error).toMatchObject({
      code: 'invalid-input',
      retryable: false,
      details: { usage: { modelCalls: 2, inputTokens: 2000 } },
    });
    expect(server.requests).toHaveLength(2);
  });

  test.each([
    ['garbage', { do: 'body', body: '<html>503 nginx</html>' }],
    ['no choices', { do: 'body', body: '{"choices":[]}' }],
    ['a refusal', { do: 'refuse-to-answer' }],
    ['a filtered reply', { do: 'text', text: '{}', finish: 'content_filter' }],
    ['a huge reply', { do: 'huge', bytes: 3_000_000 }],
  ] as const)('(%s) is invalid-input at once', async (_name, script) => {
    server.script(script);
    expect(await catchFailure()).toMatchObject({ code: 'invalid-input', retryable: false });
    expect(server.requests).toHaveLength(1);
  });
});

describe('a server that refuses', () => {
  test('the key causes upstream-auth after one request, and the key is not in the error', async () => {
    const error = await catchFailure({ apiKey: 'sk-wrong-key-123456' });
    expect(error).toMatchObject({ code: 'upstream-auth', retryable: false });
    expect(`${error.stack} ${JSON.stringify(error.details)}`).not.toContain('sk-wrong-key');
    expect(server.requests).toHaveLength(0);
  });

  test.each([
    ['403', { do: 'status', status: 403 }, 'upstream-auth'],
    [
      'no quota',
      {
        do: 'status',
        status: 429,
        error: { message: 'You exceeded your current quota', code: 'insufficient_quota' },
      },
      'quota-exhausted',
    ],
    ['unknown model', { do: 'status', status: 404, error: { message: 'no such model' } }, 'upstream-failed'],
    ['bad request', { do: 'status', status: 400, error: { message: 'no such parameter' } }, 'invalid-input'],
    [
      'a question too long',
      { do: 'status', status: 400, error: { message: 'x', code: 'context_length_exceeded' } },
      'too-large',
    ],
  ] as const)('(%s) is final', async (_name, script, code) => {
    server.script(script);
    expect(await catchFailure()).toMatchObject({ code, retryable: false });
    expect(server.requests).toHaveLength(1);
  });

  test('with 429 and Retry-After is asked again after that time', async () => {
    server.script(
      { do: 'status', status: 429, headers: { 'retry-after': '1' } },
      { do: 'reply', value: GREEN },
    );
    const started = performance.now();
    expect((await createModel().ask(REQUEST, never)).value).toEqual(GREEN);
    expect(performance.now() - started).toBeGreaterThan(950);
  });

  test('with a Retry-After beyond the time limit is not waited for', async () => {
    server.script({ do: 'status', status: 429, headers: { 'retry-after': '3600' } });
    expect(await catchFailure()).toMatchObject({
      code: 'rate-limited',
      retryable: true,
      retryAfterMs: 3_600_000,
    });
    expect(server.requests).toHaveLength(1);
  });

  test('with 429 or 500 repeatedly is asked a limited number of times', async () => {
    server.script({ do: 'status', status: 429 });
    expect(await catchFailure()).toMatchObject({ code: 'rate-limited' });
    server.script({ do: 'status', status: 500 });
    expect(await catchFailure({ maxRetries: 1 })).toMatchObject({ code: 'upstream-failed', retryable: true });
    expect(server.requests).toHaveLength(3 + 2);
  });

  test('once with 503 or a broken connection is asked again', async () => {
    server.script({ do: 'status', status: 503 }, { do: 'reset' }, { do: 'reply', value: GREEN });
    expect((await createModel().ask(REQUEST, never)).value).toEqual(GREEN);
  });

  test('connections causes upstream-failed', async () => {
    expect(await catchFailure({ baseUrl: 'http://127.0.0.1:1/v1' })).toMatchObject({
      code: 'upstream-failed',
      retryable: true,
    });
  });
});

describe('the time limit', () => {
  test.each(['hang', 'drip'] as const)('ends a server that makes us wait (%s) with timeout', async (kind) => {
    server.script({ do: kind });
    const error = await catchFailure({ timeoutMs: 300 });
    expect(error).toMatchObject({
      code: 'timeout',
      retryable: true,
      message: 'The model did not respond (timeout after 0.3 s)',
    });
  });

  test('is not needed when the run ends, which aborts the request', async () => {
    server.script({ do: 'hang' });
    const run = new AbortController();
    setTimeout(() => run.abort(), 50);
    await expect(createModel().ask(REQUEST, run.signal)).rejects.toMatchObject({ code: 'cancelled' });
  });
});

describe('servers that support less', () => {
  test('without JSON schema are asked for any JSON, and that is remembered', async () => {
    await restart({ formats: ['json_object', 'text'] });
    server.script({ do: 'reply', value: GREEN });
    const asked = createModel();
    await asked.ask(REQUEST, never);
    await asked.ask(REQUEST, never);
    expect(server.requests.map((request) => request.format)).toEqual(['json_object', 'json_object']);
    expect(server.refused).toHaveLength(1);
  });

  test('without JSON are asked for it in text', async () => {
    await restart({ formats: ['text'] });
    server.script({ do: 'text', text: `Colour: ${JSON.stringify(GREEN)}` });
    expect((await createModel().ask(REQUEST, never)).value).toEqual(GREEN);
    expect(server.requests[0]?.format).toBe('text');
  });

  test('without a temperature get none', async () => {
    await restart({ noTemperature: true });
    server.script({ do: 'reply', value: GREEN });
    expect((await createModel().ask(REQUEST, never)).value).toEqual(GREEN);
    expect(server.requests[0]?.body).not.toHaveProperty('temperature');
  });

  test('with reasoning models get none from the beginning', async () => {
    await restart({ noTemperature: true });
    server.script({ do: 'reply', value: GREEN });
    await createModel({ model: 'gpt-5-mini' }).ask(REQUEST, never);
    expect(server.refused).toEqual([]);
  });
});

test('OpenAI without a key is refused at once', () => {
  expect(() => createModel({ baseUrl: null, apiKey: null })).toThrow('API key');
});
