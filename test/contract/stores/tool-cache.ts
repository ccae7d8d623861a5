import { describe, expect, it } from 'vitest';
import type { KeptResult } from '../../../src/ports/stores.ts';
import { createToolCacheStore, TOOL_CACHE_BOUNDS } from '../../../src/stores/tool-cache.ts';
import type { StoresWorld } from './world.ts';

const LONG = 60_000;
const said = (text: string): KeptResult => ({
  findings: [
    {
      title: 'src/cart.ts',
      text,
      source: 'src/cart.ts',
      lineStart: 3,
      lineEnd: 4,
      score: 0.5,
      data: { commit: 'a1', totals: [1, 2] },
    },
  ],
  summary: '1 finding',
});
/** Of two answers used within one tick of the database's clock neither is the older one. */
const TICK = 5;
const pause = (milliseconds: number) => new Promise((done) => setTimeout(done, milliseconds));

/** What the cache of tools' answers promises. */
export function testToolCacheContract(world: StoresWorld): void {
  describe('the cache of tools', () => {
    const entry = (key: string, ttlMs = LONG) => ({
      key: `${world.repository} ${key}`,
      tool: 'read_file',
      repository: world.repository,
      ttlMs,
    });
    const createKey = (key: string) => `${world.repository} ${key}`;

    it('returns what was stored, and nothing for another key', async () => {
      const { toolCache } = world.stores;
      await toolCache.put(entry('one'), said('tax = rate'));

      expect(await toolCache.get(createKey('one'))).toEqual(said('tax = rate'));
      expect(await toolCache.get(createKey('two'))).toBeNull();
    });

    it('keeps the newest answer for a key', async () => {
      const { toolCache } = world.stores;
      await Promise.all([toolCache.put(entry('one'), said('old')), toolCache.put(entry('one'), said('old'))]);
      await toolCache.put(entry('one'), said('new'));

      expect(await toolCache.get(createKey('one'))).toEqual(said('new'));
    });

    it('returns nothing after expiry', async () => {
      const { toolCache } = world.stores;
      await toolCache.put(entry('short', 1), said('brief'));
      await pause(5);

      expect(await toolCache.get(createKey('short'))).toBeNull();
      await toolCache.sweep();
      expect(await listKeys(world)).toEqual([]);
    });

    it('stores text with NUL characters without them', async () => {
      const { toolCache } = world.stores;
      await toolCache.put(entry('nul'), { ...said('a\0b \\u0000'), summary: 'one\0' });

      expect(await toolCache.get(createKey('nul'))).toMatchObject({
        findings: [{ text: 'ab \\u0000' }],
        summary: 'one',
      });
    });

    it('evicts the least recently used answers above the maximum number', async () => {
      await world.db.query('delete from tool_cache');
      const small = createToolCacheStore(world.db, { ...TOOL_CACHE_BOUNDS, rows: 2, sweepEvery: 1 });
      await small.put(entry('a'), said('a'));
      await pause(TICK);
      await small.put(entry('b'), said('b'));
      await pause(TICK);
      await small.get(createKey('a'));
      await pause(TICK);
      await small.put(entry('c'), said('c'));

      expect(await listKeys(world)).toEqual([createKey('a'), createKey('c')]);
    });

    it('evicts answers above the maximum size, and stores none that is too large', async () => {
      await world.db.query('delete from tool_cache');
      const narrow = createToolCacheStore(world.db, {
        rows: 100,
        bytes: 3_000,
        entryBytes: 2_000,
        sweepEvery: 1,
      });
      for (const key of ['a', 'b', 'c']) {
        await narrow.put(entry(key), said('x'.repeat(1_000)));
        await pause(TICK);
      }
      await narrow.put(entry('huge'), said('x'.repeat(5_000)));

      expect(await listKeys(world)).toEqual([createKey('b'), createKey('c')]);
    });

    it('ignores entries that another version wrote', async () => {
      const { toolCache } = world.stores;
      await toolCache.put(entry('odd'), said('x'));
      await world.db.query(`update tool_cache set findings = '{"other": 1}'::jsonb where key = $1`, [
        createKey('odd'),
      ]);

      expect(await toolCache.get(createKey('odd'))).toBeNull();
    });
  });
}

async function listKeys(world: StoresWorld): Promise<string[]> {
  const rows = await world.db.query<{ key: string }>(
    'select key from tool_cache where repository = $1 order by key',
    [world.repository],
  );
  return rows.map(({ key }) => key);
}
