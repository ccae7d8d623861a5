import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createOpenAiEmbedder, type OpenAiEmbedderOptions } from '../../../src/models/embedder/openai.ts';
import type { Embedder } from '../../../src/ports/vector-index.ts';
import { testEmbedderContract } from '../../contract/embedder-contract.ts';
import {
  EMBEDDING_KEY,
  type EmbeddingsScript,
  type EmbeddingsServer,
  startEmbeddingsServer,
} from '../../support/embeddings-server.ts';

let server: EmbeddingsServer;
beforeAll(async () => {
  server = await startEmbeddingsServer();
});
afterAll(async () => server.close());
beforeEach(() => server.script({ do: 'embed' }));

function open(changes: Partial<OpenAiEmbedderOptions> = {}): Embedder {
  return createOpenAiEmbedder({
    baseUrl: server.baseUrl,
    apiKey: EMBEDDING_KEY,
    model: 'test-embedding',
    timeoutMs: 5_000,
    maxRetries: 2,
    retryDelayMs: 1,
    ...changes,
  });
}

testEmbedderContract('openai', () => open());

describe('the OpenAI-compatible embedder', () => {
  it('sends batches, and returns vectors in the order of the texts', async () => {
    server.script({ do: 'embed', shuffled: true });
    const before = server.bodies.length;
    const texts = Array.from({ length: 150 }, (_, index) => `text about subject${index}`);
    const vectors = await open().embed(texts);
    const [alone] = await open().embed([texts[77] ?? '']);

    expect(server.bodies.slice(before, before + 3).map(({ input }) => input.length)).toEqual([64, 64, 22]);
    expect(vectors[77]).toEqual(alone);
  });

  it('takes the length of vectors from the first response', async () => {
    const learning = open();
    expect(learning.dimensions).toBeNull();
    await learning.embed(['a']);
    expect(learning.dimensions).toBe(512);
  });

  it('measures the similarity of unrelated texts, once', async () => {
    const direction = (text: string) => [
      1,
      ...Array.from({ length: 64 }, (_, index) => Number(text.length % 64 === index)),
    ];
    server.script({ do: 'vectors', of: direction });
    const embedder = open();
    const before = server.bodies.length;

    expect(await embedder.unrelated?.()).toBeCloseTo(0.5, 1);
    await embedder.unrelated?.();
    expect(server.bodies.length - before).toBe(1);
  });

  it.each<[string, readonly EmbeddingsScript[], string, number]>([
    ['401', [{ do: 'status', status: 401 }], 'upstream-auth', 1],
    [
      'a used-up quota',
      [
        {
          do: 'status',
          status: 429,
          error: { message: 'You exceeded your current quota', code: 'insufficient_quota' },
        },
      ],
      'quota-exhausted',
      1,
    ],
    ['429 that goes on', [{ do: 'status', status: 429, headers: { 'retry-after': '0' } }], 'rate-limited', 3],
    ['500 that goes on', [{ do: 'status', status: 500 }], 'upstream-failed', 3],
    ['a cut connection that stays', [{ do: 'reset' }], 'upstream-failed', 3],
    ['404', [{ do: 'status', status: 404 }], 'upstream-failed', 1],
    ['400', [{ do: 'status', status: 400 }], 'invalid-input', 1],
    ['prose', [{ do: 'body', body: 'I am a teapot' }], 'upstream-failed', 1],
    [
      'something else',
      [{ do: 'body', body: '{"data":[{"index":0,"embedding":["a"]}]}' }],
      'upstream-failed',
      1,
    ],
    ['too few vectors', [{ do: 'embed', drop: 1 }], 'upstream-failed', 1],
  ])('explains %s', async (_what, scripts, code, calls) => {
    server.script(...scripts);
    const before = server.bodies.length;

    await expect(open().embed(['one', 'two'])).rejects.toMatchObject({ name: 'TriageError', code });
    expect(server.bodies.length - before).toBe(calls);
  });

  it('continues if a second attempt succeeds', async () => {
    server.script({ do: 'status', status: 503 }, { do: 'embed' });

    expect(await open().embed(['one'])).toHaveLength(1);
  });

  it('refuses vectors of another length than before, or than one another', async () => {
    const learning = open();
    await learning.embed(['one']);
    server.script({ do: 'embed', dimensions: 16 });
    await expect(learning.embed(['one'])).rejects.toMatchObject({
      code: 'upstream-failed',
      message: expect.stringContaining('16 numbers where 512 were expected'),
      retryable: false,
    });
    server.script({ do: 'vectors', of: (text) => Array.from(text, () => 1) });
    await expect(open().embed(['one', 'three'])).rejects.toMatchObject({
      message: expect.stringContaining('different lengths'),
    });
  });

  it('ends at its time limit, on abort, and at its size limit', async () => {
    server.script({ do: 'hang' });
    await expect(open({ timeoutMs: 50 }).embed(['one'])).rejects.toMatchObject({
      code: 'timeout',
      retryable: true,
    });
    const stop = new AbortController();
    const asking = open().embed(['one'], stop.signal);
    stop.abort();
    await expect(asking).rejects.toMatchObject({ code: 'cancelled' });
    server.script({ do: 'embed' });
    await expect(open({ maxReplyBytes: 100 }).embed(['one'])).rejects.toMatchObject({
      message: expect.stringContaining('larger than 100'),
    });
  });

  it('requires a key for OpenAI itself', () => {
    expect(() => open({ baseUrl: null, apiKey: null })).toThrow(
      expect.objectContaining({ code: 'invalid-config' }),
    );
  });
});
