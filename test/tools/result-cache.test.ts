import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { TriageError } from '../../src/domain/errors.ts';
import type { Finding } from '../../src/domain/evidence.ts';
import type { TriageSubject } from '../../src/domain/triage.ts';
import type { ToolCacheStore } from '../../src/ports/stores.ts';
import { createMemoryToolCache } from '../../src/tools/result-cache.ts';
import { type CachePolicy, defineTool, type ToolContext } from '../../src/tools/tool.ts';
import { createToolbox, type ToolboxOptions } from '../../src/tools/toolbox.ts';
import { sampleSubject } from '../support/subject.ts';

const finding: Finding = { title: 'found', text: 'text', source: 'somewhere' };
const Parameters = z.strictObject({ path: z.string().optional(), depth: z.int().default(1) });
type Args = z.output<typeof Parameters>;
const kept: CachePolicy<Args> = { ttlMs: 60_000, key: () => ['commit a1'] };

interface World {
  readonly cache?: CachePolicy<Args> | null;
  readonly store?: ToolCacheStore;
  readonly run?: (context: ToolContext) => Promise<Finding[]>;
  readonly unavailable?: () => string | null;
  readonly options?: Partial<ToolboxOptions>;
}

/** One tool over one cache, and how often it was really asked. */
function createWorld({
  cache = kept,
  store = createMemoryToolCache(),
  run = async () => [finding],
  unavailable,
  options,
}: World = {}) {
  const count = { asked: 0 };
  const tool = defineTool({
    name: 'a',
    question: 'What does it say?',
    serves: { CODE_ERROR: 1, CONFIG_ERROR: 1 },
    asks: 'log',
    costClass: 'low',
    usualLatencyMs: 100,
    provider: 'p',
    parameters: Parameters,
    ...(cache === null ? {} : { cache }),
    ...(unavailable === undefined ? {} : { findUnavailableReason: async () => unavailable() }),
    run: async (_args, context) => {
      count.asked += 1;
      return run(context);
    },
  });
  const box = createToolbox([tool], {
    mask: (text) => text,
    cache: store,
    resilience: { firstDelayMs: 1 },
    ...options,
  });
  const ask = (
    args: Record<string, unknown> = {},
    subject: TriageSubject = sampleSubject(),
    signal = new AbortController().signal,
  ) => box.run({ tool: 'a', args, why: 'test' }, subject, 'CODE_ERROR', signal);
  return { ask, count, box };
}

describe('a cached tool answer', () => {
  it('is not requested again, and is marked as cached', async () => {
    const { ask, count } = createWorld();
    expect(await ask({ path: 'x' })).not.toHaveProperty('cached');

    expect(await ask({ path: 'x' })).toMatchObject({
      status: 'ok',
      cached: true,
      attempts: 0,
      findings: [finding],
      summary: '1 finding',
    });
    expect(count.asked).toBe(1);
  });

  it('is the same for arguments written differently', async () => {
    const { ask, count } = createWorld();
    await ask({ path: 'x', depth: 1 });
    expect(await ask({ depth: 1, path: 'x' })).toMatchObject({ cached: true });
    expect(await ask({ path: 'x', depth: null })).toMatchObject({ cached: true });
    expect(count.asked).toBe(1);
  });

  it('differs by arguments, repository, category and what it depends on', async () => {
    let commit = 'a1';
    const { ask, box, count } = createWorld({ cache: { ttlMs: 60_000, key: () => [commit] } });
    const subject = sampleSubject();
    const elsewhere = { ...subject, build: { ...subject.build, repository: 'other/project' } };
    const signal = new AbortController().signal;
    await ask({ path: 'x' });

    expect(await ask({ path: 'y' })).not.toHaveProperty('cached');
    expect(await ask({ path: 'x' }, elsewhere)).not.toHaveProperty('cached');
    expect(
      await box.run({ tool: 'a', args: { path: 'x' }, why: '' }, subject, 'CONFIG_ERROR', signal),
    ).not.toHaveProperty('cached');
    commit = 'b2';
    expect(await ask({ path: 'x' })).not.toHaveProperty('cached');
    expect(count.asked).toBe(5);
  });

  it('expires', async () => {
    const now = { value: 0 };
    const { ask, count } = createWorld({ store: createMemoryToolCache(10, () => now.value) });
    await ask();
    now.value = 60_000;
    expect(await ask()).not.toHaveProperty('cached');
    expect(count.asked).toBe(2);
  });

  it('is used while its provider is paused', async () => {
    let broken = false;
    const run = async () => {
      if (broken) throw new TriageError('upstream-failed', 'It answered 503.', { retryable: true });
      return [finding];
    };
    const { ask } = createWorld({
      run,
      options: { resilience: { firstDelayMs: 1, breakAfter: 2, restMs: 60_000 } },
    });
    await ask({ path: 'x' });
    broken = true;
    expect(await ask({ path: 'y' })).toMatchObject({ status: 'failed' });

    expect(await ask({ path: 'x' })).toMatchObject({ status: 'ok', cached: true });
  });

  it('is stored masked, and masked again when it is read', async () => {
    const store = createMemoryToolCache();
    const secret = async () => [{ ...finding, text: 'pw hunter2 by ada@example.com' }];
    const first = createWorld({
      store,
      run: secret,
      options: { mask: (text) => text.replace('hunter2', '***') },
    });
    await first.ask();
    const later = createWorld({
      store,
      options: { mask: (text) => text.replace('ada@example.com', '<EMAIL>').replace('***', 'still ***') },
    });

    expect((await later.ask()).findings[0]?.text).toBe('pw still *** by <EMAIL>');
  });
});

describe('a tool answer is not cached', () => {
  it.each<[string, World]>([
    ['where the tool does not allow it', { cache: null }],
    ['where the tool cannot tell what it depends on', { cache: { ttlMs: 60_000, key: () => null } }],
    [
      'where asking that fails',
      {
        cache: {
          ttlMs: 60_000,
          key: () => {
            throw new Error('no commit');
          },
        },
      },
    ],
    ['where nothing was found', { run: async () => [] }],
  ])('%s', async (_name, given) => {
    const { ask, count } = createWorld(given);
    await ask();
    expect(await ask()).not.toHaveProperty('cached');
    expect(count.asked).toBe(2);
  });

  it('after a failure', async () => {
    const { ask, count } = createWorld({
      run: async () => {
        throw new TriageError('upstream-failed', 'broken');
      },
    });
    await ask();
    expect(await ask()).toMatchObject({ status: 'failed' });
    expect(count.asked).toBe(2);
  });

  it('and an earlier one is not used if the tool may no longer be called', async () => {
    let reason: string | null = null;
    const { ask } = createWorld({ unavailable: () => reason });
    await ask();
    reason = 'no longer configured';

    expect(await ask()).toMatchObject({ status: 'unavailable', findings: [] });
  });
});

describe('a cache that does not work', () => {
  const never = () => new Promise<never>(() => undefined);
  const fails = async () => {
    throw new TriageError('storage-failed', 'The disk is full.');
  };

  it.each<[string, Partial<ToolCacheStore>]>([
    ['fails to read', { get: fails }],
    ['fails to write', { put: fails }],
    ['hangs while it reads', { get: never }],
  ])('that %s costs no answer', async (_name, broken) => {
    const { ask } = createWorld({ store: { ...createMemoryToolCache(), ...broken } });
    expect(await ask()).toMatchObject({ status: 'ok', findings: [finding] });
  });

  it('does not delay a run that is aborted', async () => {
    const { ask } = createWorld({ store: { ...createMemoryToolCache(), get: never } });
    const controller = new AbortController();
    const asked = ask({}, sampleSubject(), controller.signal);
    controller.abort();

    await expect(asked).rejects.toMatchObject({ code: 'cancelled' });
  });
});

describe('the same call twice at a time', () => {
  function createSlowTool(cache: CachePolicy<Args> | null) {
    const gate = Promise.withResolvers<void>();
    const made = createWorld({
      cache,
      run: async () => {
        await gate.promise;
        return [finding];
      },
    });
    return { ...made, open: () => gate.resolve() };
  }

  it.each<[string, CachePolicy<Args> | null]>([
    ['a tool that keeps answers', kept],
    ['a tool that keeps none', null],
  ])('is made once: %s', async (_name, cache) => {
    const { ask, count, open } = createSlowTool(cache);
    const both = Promise.all([ask({ path: 'x' }), ask({ path: 'x' }), ask({ path: 'y' })]);
    open();
    const [first, second, other] = await both;

    expect(count.asked).toBe(2);
    expect(first).toMatchObject({ status: 'ok', attempts: 1 });
    expect(second).toMatchObject({ status: 'ok', attempts: 0, cached: true, findings: [finding] });
    expect(other).toMatchObject({ status: 'ok', attempts: 1 });
  });

  it('is made again if the first run is aborted', async () => {
    const { ask, count, open } = createSlowTool(kept);
    const controller = new AbortController();
    const first = ask({}, sampleSubject(), controller.signal);
    const second = ask({}, { ...sampleSubject(), triageId: 'another' });
    await new Promise((done) => setTimeout(done, 10));
    controller.abort();
    open();

    await expect(first).rejects.toMatchObject({ code: 'cancelled' });
    expect(await second).toMatchObject({ status: 'ok', attempts: 1 });
    expect(count.asked).toBe(2);
  });

  it('is made twice for two triages without a cache', async () => {
    const { ask, count, open } = createSlowTool(null);
    const both = Promise.all([ask({}), ask({}, { ...sampleSubject(), triageId: 'another' })]);
    open();
    await both;
    expect(count.asked).toBe(2);
  });
});

describe('the cache in memory', () => {
  it('evicts the least recently used entry', async () => {
    const cache = createMemoryToolCache(2);
    const put = (key: string) =>
      cache.put({ key, tool: 'a', repository: 'r', ttlMs: 60_000 }, { findings: [], summary: key });
    await put('a');
    await put('b');
    await cache.get('a');
    await put('c');

    expect(
      [await cache.get('a'), await cache.get('b'), await cache.get('c')].map((one) => one?.summary),
    ).toEqual(['a', undefined, 'c']);
  });

  it('removes expired entries', async () => {
    const now = { value: 0 };
    const cache = createMemoryToolCache(10, () => now.value);
    await cache.put({ key: 'a', tool: 'a', repository: 'r', ttlMs: 5 }, { findings: [], summary: '' });
    now.value = 5;
    expect(await cache.sweep()).toBe(1);
  });
});
