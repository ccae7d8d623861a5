import { afterEach, describe, expect, it } from 'vitest';
import { createHashingEmbedder } from '../../../src/models/embedder/hashing.ts';
import type { Embedder } from '../../../src/ports/vector-index.ts';
import {
  checkPinecone,
  createPineconeIndex,
  createSemanticPineconeIndex,
  type PineconeOptions,
} from '../../../src/stores/vectors/pinecone.ts';
import { testVectorIndexContract } from '../../contract/vector-index-contract.ts';
import {
  PINECONE_INDEX,
  PINECONE_KEY,
  type PineconeApi,
  startPineconeApi,
} from '../../support/pinecone-api.ts';

const open: PineconeApi[] = [];
afterEach(async () => {
  for (const api of open.splice(0)) await api.close();
});

async function start(options: Parameters<typeof startPineconeApi>[0] = {}): Promise<PineconeApi> {
  const api = await startPineconeApi(options);
  open.push(api);
  return api;
}

function createOptions(api: PineconeApi, change: Partial<PineconeOptions> = {}): PineconeOptions {
  return {
    apiKey: PINECONE_KEY,
    index: PINECONE_INDEX,
    baseUrl: api.url,
    retryDelayMs: 1,
    timeoutMs: 5_000,
    ...change,
  };
}

function findIndexOfName(api: PineconeApi, change: Partial<PineconeOptions> = {}) {
  return createPineconeIndex(createOptions(api, change), createHashingEmbedder());
}

const ITEM = { id: 'a', text: 'no space left on device', metadata: { category: 'INFRA_ERROR' } };
const QUERY = { text: 'no space left on device', limit: 3 };
const listPaths = (api: PineconeApi) => api.requests.map(({ path }) => path.split('?')[0]);

testVectorIndexContract('pinecone, whose reads lag behind its writes', async () => {
  const api = await startPineconeApi({ lagMs: 15 });
  const dispose = async () => {
    await api.close();
    expect(api.refusals).toEqual([]);
  };
  return { index: findIndexOfName(api, { visibleMs: 5_000 }), dispose };
});

describe('the limits of Pinecone', () => {
  it('cut texts and metadata to the size of a record, never within a character, and keep short fields complete', async () => {
    const api = await start();
    const index = findIndexOfName(api);
    await index.upsert('error_library', [
      {
        id: 'long',
        text: '🦊'.repeat(30_000),
        metadata: { category: 'CODE_ERROR', rootCause: '"'.repeat(60_000), order: Number.NaN },
      },
      { id: 'text', text: 'x'.repeat(39_000), metadata: { category: 'CODE_ERROR' } },
    ]);

    const [long] = await index.search('error_library', {
      text: '🦊',
      limit: 1,
      filter: { category: 'CODE_ERROR' },
    });
    expect(long?.text.isWellFormed()).toBe(true);
    expect(long?.text.length).toBeGreaterThan(4_000);
    const items = new Map((await index.list('error_library')).map(({ id, metadata }) => [id, metadata]));
    expect(items.get('long')).toMatchObject({
      category: 'CODE_ERROR',
      rootCause: expect.stringMatching(/^"{2000,}$/),
    });
    expect(items.get('long')).not.toHaveProperty('order');
    expect(
      (await index.search('error_library', { text: 'x'.repeat(39_000), limit: 1 }))[0]?.text,
    ).toHaveLength(39_000);
    expect(api.refusals).toEqual([]);
  });

  it('split uploads into batches of at most 100 vectors and 2 MB', async () => {
    const api = await start({ dimension: 2_048 });
    const index = findIndexOfName(api);
    await index.upsert(
      'knowledge',
      Array.from({ length: 250 }, (_, number) => ({
        id: `i${number}`,
        text: `entry ${number} ${'word '.repeat(7_000)}`,
        metadata: {},
      })),
    );

    expect(await index.count('knowledge')).toBe(250);
    expect(listPaths(api).filter((path) => path === '/vectors/upsert').length).toBeGreaterThan(4);
    expect(api.refusals).toEqual([]);
  });

  it('allow removing more than a thousand items at once, listing in pages, and long ids', async () => {
    const api = await start();
    const index = findIndexOfName(api);
    const ids = Array.from({ length: 1_050 }, (_, number) => `${'long/'.repeat(number % 40)}${number}`);
    await index.upsert(
      'knowledge',
      ids.map((id) => ({ id, text: `entry ${id}`, metadata: {} })),
    );

    expect((await index.list('knowledge')).map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    await index.remove('knowledge', ids);
    expect(await index.count('knowledge')).toBe(0);
    expect(api.refusals).toEqual([]);
  });

  it('are enforced by the server of the tests as by Pinecone', async () => {
    const api = await start();
    const send = async (path: string, body: object, headers: object = {}) =>
      (
        await fetch(`${api.url}${path}`, {
          method: 'POST',
          body: JSON.stringify(body),
          headers: { 'api-key': PINECONE_KEY, 'x-pinecone-api-version': '2026-07', ...headers },
        })
      ).status;
    const values = Array.from({ length: 512 }, () => 0.1);
    const vectors = [{ id: 'a', values }];

    expect(await send('/vectors/upsert', { vectors })).toBe(200);
    expect(await send('/vectors/upsert', { vectors }, { 'x-pinecone-api-version': '2024-07' })).toBe(400);
    expect(await send('/vectors/upsert', { vectors }, { 'api-key': 'other' })).toBe(401);
    const refused: readonly [string, object][] = [
      ['/vectors/upsert', { vectors: [] }],
      ['/vectors/upsert', { vectors: [{ id: 'a', values: values.slice(1) }] }],
      ['/vectors/upsert', { vectors: [{ id: 'a', values: values.map(() => 0) }] }],
      ['/vectors/upsert', { vectors: [{ id: 'ü', values }] }],
      ['/vectors/upsert', { vectors: [{ id: 'a', values, metadata: { text: 'x'.repeat(41_000) } }] }],
      ['/vectors/upsert', { vectors: [{ id: 'a', values, metadata: { nothing: null } }] }],
      [
        '/vectors/upsert',
        {
          vectors: Array.from({ length: 1_001 }, (_, n) => ({
            id: `a${n}`,
            values: [1, ...values.slice(1).fill(0)],
          })),
        },
      ],
      ['/vectors/upsert', { namespace: 'knöwledge', vectors }],
      ['/query', { topK: 0, vector: values }],
      ['/query', { topK: 1, vector: values, filter: { category: { $like: 'x' } } }],
      ['/query', { topK: 1, vector: values, filter: {} }],
      ['/vectors/delete', { ids: [] }],
      ['/vectors/delete', { ids: ['a'], deleteAll: true }],
    ];
    for (const [path, body] of refused) expect([path, await send(path, body)]).toEqual([path, 400]);
    expect(
      await send('/vectors/upsert', {
        vectors: [{ id: 'a', values, metadata: { a: 'x'.repeat(2_200_000) } }],
      }),
    ).toBe(413);
  });
});

describe('embedders in Pinecone', () => {
  const words = (name: string, dimensions: number): Embedder => ({
    name,
    dimensions,
    embed: async (texts) =>
      texts.map((text) =>
        Float32Array.from({ length: dimensions }, (_, place) => (place === text.length % 8 ? 1 : 0)),
      ),
  });

  it('have separate vectors, shorter ones padded, and only those of models are deleted', async () => {
    const api = await start({ dimension: 512 });
    const vectorIndex = findIndexOfName(api);
    const other = createSemanticPineconeIndex(createOptions(api), words('openai:mini/model', 8), [
      'hashing-512-v1',
    ]);
    await vectorIndex.upsert('knowledge', [ITEM]);
    expect(await other.search('knowledge', QUERY)).toEqual([]);
    await other.upsert('knowledge', [ITEM]);

    expect((await other.search('knowledge', QUERY))[0]?.score).toBeCloseTo(1, 4);
    expect(api.spaces.names()).toEqual([
      'knowledge.hashing-512-v1',
      expect.stringMatching(/^knowledge\.openai_mini_model-[0-9a-f]{8}$/),
    ]);
    await other.clear();
    expect(api.spaces.names()).toEqual(['knowledge.hashing-512-v1']);
    expect(api.refusals).toEqual([]);
  });

  it("calibrate similarity by the embedder's results for unrelated texts", async () => {
    const api = await start();
    const plain = createPineconeIndex(createOptions(api), createHashingEmbedder());
    const raised = createPineconeIndex(createOptions(api), {
      ...createHashingEmbedder(),
      unrelated: async () => 0.5,
    });
    await plain.upsert('knowledge', [ITEM]);
    const query = { text: 'no space left on the device of the runner', limit: 1 };
    const [low, high] = [
      (await raised.search('knowledge', query))[0],
      (await plain.search('knowledge', query))[0],
    ];

    expect(low?.score).toBeCloseTo(((high?.score ?? 0) - 0.5) / 0.5, 5);
  });

  it.each([
    [
      'missing',
      null,
      /has no index named faultline-test\. Create one .*cosine.*at least 512 dimensions.*FAULTLINE_PINECONE_INDEX/,
    ],
    ['too short', { dimension: 256 }, /has 256 dimensions, but the embedder produces 512/],
    ['measuring otherwise', { metric: 'euclidean' }, /measures by euclidean/],
  ])('lead to advice for an index that is %s', async (_, index, message) => {
    const api = await start();
    api.setIndex(index);
    const refusal = { code: 'invalid-config', retryable: false, message: expect.stringMatching(message) };

    await expect(findIndexOfName(api).search('knowledge', QUERY)).rejects.toMatchObject(refusal);
    await expect(checkPinecone(createOptions(api), createHashingEmbedder())).rejects.toMatchObject(refusal);
    api.setIndex({});
    expect(await checkPinecone(createOptions(api), createHashingEmbedder())).toBe(
      'index faultline-test, cosine, 512 dimensions',
    );
  });
});

describe('T30: failures of Pinecone', () => {
  const run = async (api: PineconeApi, change: Partial<PineconeOptions> = {}, signal?: AbortSignal) => {
    const index = findIndexOfName(api, change);
    api.setIndex({});
    return index.search('knowledge', QUERY, signal);
  };

  it('are waited for as long as a 429 states', async () => {
    const api = await start();
    api.script([{ do: 'status', status: 429, headers: { 'retry-after': '0.3' } }, { do: 'answer' }]);
    const before = performance.now();
    expect(await run(api)).toEqual([]);
    expect(performance.now() - before).toBeGreaterThanOrEqual(290);
    expect(api.requests.filter(({ path }) => path === '/query')).toHaveLength(2);
  });

  it('with a delay beyond the limit are not waited for, but passed on with the delay', async () => {
    const api = await start();
    api.script([{ do: 'status', status: 429, headers: { 'retry-after': '60' } }]);
    await expect(run(api)).rejects.toMatchObject({
      code: 'rate-limited',
      retryable: true,
      retryAfterMs: 60_000,
    });
    expect(api.requests.filter(({ path }) => path === '/query')).toHaveLength(1);
  });

  it('such as server errors and resets are retried three times', async () => {
    const api = await start();
    api.script([{ do: 'status', status: 500 }]);
    await expect(run(api)).rejects.toMatchObject({
      code: 'upstream-failed',
      retryable: true,
      message: 'Pinecone failed (HTTP 500)',
    });
    expect(api.requests.filter(({ path }) => path === '/query')).toHaveLength(4);
    api.script([{ do: 'reset' }, { do: 'status', status: 503 }, { do: 'answer' }]);
    expect(await run(api)).toEqual([]);
  });

  it('such as a server that hangs end at the time limit, and at once on abort', async () => {
    const api = await start();
    api.script([{ do: 'hang' }]);
    await expect(run(api, { timeoutMs: 100 })).rejects.toMatchObject({ code: 'timeout', retryable: true });
    const cancelled = run(api, { timeoutMs: 60_000 }, AbortSignal.timeout(50));
    await expect(cancelled).rejects.toMatchObject({ code: 'cancelled', retryable: false });
  });

  it.each([
    ['a refused key', 401, '"Unauthorized"', 'upstream-auth'],
    ['a forbidden act', 403, '{"code":7,"message":"no"}', 'upstream-auth'],
    ['an unpaid bill', 402, '{"code":8,"message":"pay"}', 'quota-exhausted'],
    [
      'a used-up plan',
      429,
      '{"code":8,"message":"You reached your read unit limit for the current month (1000000)."}',
      'quota-exhausted',
    ],
    ['a refused request', 400, '{"code":3,"message":"bad"}', 'invalid-input'],
  ])('such as %s are final', async (_, status, body, code) => {
    const api = await start();
    api.script([{ do: 'status', status, body }]);
    await expect(run(api)).rejects.toMatchObject({
      code,
      retryable: false,
      message: expect.not.stringContaining(PINECONE_KEY),
    });
    expect(api.requests.filter(({ path }) => path === '/query')).toHaveLength(1);
  });

  it('include responses that are not JSON or too large', async () => {
    const api = await start();
    api.script([{ do: 'body', body: '<html>' }]);
    await expect(run(api)).rejects.toMatchObject({ code: 'upstream-failed', retryable: false });
    api.script([{ do: 'body', body: JSON.stringify({ matches: [], pad: 'x'.repeat(5_000) }) }]);
    await expect(run(api, { maxReplyBytes: 1_000 })).rejects.toMatchObject({
      code: 'upstream-failed',
      message: /larger than 1000 bytes/,
    });
    api.script([{ do: 'body', body: '{}' }]);
    expect(await run(api)).toEqual([]);
  });

  it('never lead the key to another host unless configured, and an index that is not ready is waited for', async () => {
    const api = await start({ ready: false });
    await expect(findIndexOfName(api, { maxRetries: 0 }).count('knowledge')).rejects.toMatchObject({
      code: 'upstream-failed',
      retryable: true,
    });
    api.setIndex({ host: 'ftp://elsewhere' });
    await expect(findIndexOfName(api).count('knowledge')).rejects.toMatchObject({
      code: 'upstream-failed',
      message: /strange host/,
    });
  });

  it('lead to a new request for the host if it was not reachable', async () => {
    const api = await start();
    const index = findIndexOfName(api, { maxRetries: 0 });
    await index.count('knowledge');
    await index.count('knowledge');
    expect(listPaths(api).filter((path) => path?.startsWith('/indexes'))).toHaveLength(1);
    api.script([{ do: 'reset' }, { do: 'answer' }]);
    await expect(index.count('knowledge')).rejects.toMatchObject({ code: 'upstream-failed' });
    await index.count('knowledge');
    expect(listPaths(api).filter((path) => path?.startsWith('/indexes'))).toHaveLength(2);
  });
});

describe('consistency after a write', () => {
  it('is reached when queries show it, so that other processes see it too', async () => {
    const api = await start({ lagMs: 150 });
    await findIndexOfName(api).upsert('error_library', [ITEM]);
    expect((await findIndexOfName(api).search('error_library', QUERY)).map(({ id }) => id)).toEqual(['a']);
    await findIndexOfName(api).remove('error_library', ['a']);
    expect(await findIndexOfName(api).search('error_library', QUERY)).toEqual([]);
  });

  it('is not waited for forever, or if the index returns no numbers', async () => {
    const slow = await start({ lagMs: 60_000 });
    await findIndexOfName(slow, { visibleMs: 50 }).upsert('error_library', [ITEM]);
    const mute = await start({ lagMs: 60_000, lsn: false });
    await findIndexOfName(mute).upsert('error_library', [ITEM]);
    expect(listPaths(mute).filter((path) => path === '/query')).toEqual([]);
  });
});
