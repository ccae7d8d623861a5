import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { OpenAiChatModelOptions } from '../../../src/models/chat/openai.ts';
import {
  type OpenAiServer,
  type OpenAiServerOptions,
  startOpenAiServer,
} from '../../support/openai-server.ts';
import { catchError, createModel, never } from './model-stage.ts';

let server: OpenAiServer;
beforeEach(async () => {
  server = await startOpenAiServer();
});
afterEach(() => server.close());

async function restart(options: OpenAiServerOptions) {
  await server.close();
  server = await startOpenAiServer(options);
}

/** Streams an answer and keeps the pieces that were told. */
function listen(options: Partial<OpenAiChatModelOptions> = {}, signal = never) {
  const told: string[] = [];
  const turns = [
    { role: 'user', text: 'What failed?' },
    { role: 'assistant', text: 'A test.' },
    { role: 'user', text: 'Why?' },
  ] as const;
  const request = {
    system: 'You explain.',
    turns,
    name: 'ask-answer',
    onText: (piece: string) => told.push(piece),
  };
  return { told, asked: createModel(server, options).stream(request, signal) };
}

describe('a stream', () => {
  test('arrives piece by piece, and its tokens, including cached ones, are counted', async () => {
    const usage = { input: 1_000_000, output: 500_000, cached: 400_000 };
    server.script({ do: 'pieces', pieces: ['It was ', 'rounded', ' twice.'], usage });
    const { told, asked } = listen();
    const reply = await asked;
    expect(told).toEqual(['It was ', 'rounded', ' twice.']);
    expect(reply).toMatchObject({
      value: 'It was rounded twice.',
      model: 'gpt-4o-mini',
      inputTokens: 1_000_000,
      cachedInputTokens: 400_000,
      calls: 1,
    });
    expect(reply.costUsd).toBeCloseTo(0.6 * 0.15 + 0.4 * 0.075 + 0.3);
    expect(server.requests[0]?.body).toMatchObject({
      stream: true,
      stream_options: { include_usage: true },
      temperature: 0,
      max_tokens: 4096,
    });
    expect(server.requests[0]?.messages.map(({ role, content }) => [role, content])).toEqual([
      ['system', 'You explain.'],
      ['user', 'What failed?'],
      ['assistant', 'A test.'],
      ['user', 'Why?'],
    ]);
  });

  test('of a reasoning model begins after its thoughts', async () => {
    server.script({
      do: 'pieces',
      pieces: ['<thi', 'nk>It could be', ' the net</th', 'ink>\n\nIt was ', 'rounded.'],
    });
    const { told, asked } = listen();
    expect((await asked).value).toBe('It was rounded.');
    expect(told.join('')).toBe('It was rounded.');
  });

  test('from a server that does not stream arrives in one piece', async () => {
    const message = { role: 'assistant', content: 'It was rounded.' };
    server.script({
      do: 'body',
      body: JSON.stringify({
        choices: [{ message, finish_reason: 'stop' }],
        usage: { prompt_tokens: 7, completion_tokens: 3 },
      }),
    });
    const { told, asked } = listen();
    expect(await asked).toMatchObject({ value: 'It was rounded.', inputTokens: 7, outputTokens: 3 });
    expect(told).toEqual(['It was rounded.']);
  });

  test('from a server that does not know stream_options works without usage', async () => {
    await restart({ unknownParameters: ['stream_options'] });
    server.script({ do: 'text', text: 'It was rounded twice.' });
    expect(await listen().asked).toMatchObject({ value: 'It was rounded twice.', inputTokens: 0 });
    expect(server.refused).toHaveLength(1);
  });
});

describe('a stream that breaks', () => {
  test.each(['closed', 'reset'] as const)(
    '(%s) after the first text is upstream-failed, and not retried',
    async (cut) => {
      server.script({ do: 'pieces', pieces: ['It was ', 'rou'], cut, pauseMs: 20 });
      const { told, asked } = listen();
      expect(await catchError(asked)).toMatchObject({ code: 'upstream-failed', retryable: false });
      expect(told.join('')).toBe('It was rou');
      expect(server.requests).toHaveLength(1);
    },
  );

  test('before the first text is retried, and the retry is counted', async () => {
    server.script(
      { do: 'pieces', pieces: [], cut: 'closed' },
      { do: 'reset' },
      { do: 'status', status: 500 },
      { do: 'text', text: 'It was rounded.' },
    );
    const { told, asked } = listen({ maxRetries: 3 });
    expect(await asked).toMatchObject({ value: 'It was rounded.', retries: 3, calls: 1 });
    expect(told.join('')).toBe('It was rounded.');
  });

  test('with an error of the server is upstream-failed', async () => {
    server.script({ do: 'stream-error', message: 'the engine died' });
    expect(await catchError(listen().asked)).toMatchObject({ code: 'upstream-failed', retryable: false });
    expect(server.requests).toHaveLength(1);
  });

  test.each([
    ['is empty', { do: 'text', text: '' }, 'is empty'],
    ['is larger than allowed', { do: 'huge', bytes: 2_000_000 }, 'larger than 1048576 bytes'],
    ['is garbage', { do: 'body', body: '<html>' }, 'did not return a chat completion'],
  ] as const)('or %s is invalid-input', async (_name, script, message) => {
    server.script(script);
    const error = await catchError(listen().asked);
    expect(error).toMatchObject({ code: 'invalid-input', retryable: false });
    expect(error.message).toContain(message);
    expect(server.requests).toHaveLength(1);
  });

  test.each([
    [401, 'upstream-auth'],
    [402, 'quota-exhausted'],
  ] as const)('or is refused with %d is final', async (status, code) => {
    server.script({ do: 'status', status });
    expect(await catchError(listen().asked)).toMatchObject({ code, retryable: false });
    expect(server.requests).toHaveLength(1);
  });
});

describe('the time limit of a stream', () => {
  test('ends it after silence, but not while text arrives', async () => {
    server.script({ do: 'pieces', pieces: ['a', 'b', 'c', 'd', 'e'], pauseMs: 100 });
    expect((await listen({ timeoutMs: 300 }).asked).value).toBe('abcde');
    server.script({ do: 'hang' });
    const error = await catchError(listen({ timeoutMs: 300 }).asked);
    expect(error).toMatchObject({
      code: 'timeout',
      message: 'The model did not respond (timeout after 0.3 s)',
    });
  });

  test('is not needed when the run ends, which aborts the stream', async () => {
    server.script({ do: 'pieces', pieces: Array.from({ length: 100 }, () => 'on and on '), pauseMs: 20 });
    const run = new AbortController();
    const { told, asked } = listen({}, run.signal);
    setTimeout(() => run.abort(), 200);
    expect(await catchError(asked)).toMatchObject({ code: 'cancelled' });
    expect(told.length).toBeLessThan(50);
  });
});
