import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { VectorIndex, VectorItem } from '../../src/ports/vector-index.ts';

export interface VectorIndexUnderTest {
  /** An empty index whose embedder puts texts that share words closer together than texts that do not. */
  readonly index: VectorIndex;
  dispose(): Promise<void>;
}

const FULL_DISK = 'no space left on device while writing the cache';
const REFUSED = 'connection refused by the database server';
const TYPO = 'undefined variable in module checkout';

/** What every vector index promises. */
export function testVectorIndexContract(name: string, open: () => Promise<VectorIndexUnderTest>): void {
  describe(`vector index: ${name}`, () => {
    let under: VectorIndexUnderTest;
    let index: VectorIndex;

    beforeAll(async () => {
      under = await open();
      index = under.index;
    });
    afterAll(async () => under.dispose());
    beforeEach(async () => {
      for (const namespace of ['knowledge', 'error_library'] as const) {
        const all = await index.list(namespace);
        await index.remove(
          namespace,
          all.map(({ id }) => id),
        );
      }
      await index.upsert('knowledge', [
        createItem('disk', FULL_DISK, { category: 'INFRA_ERROR', kind: 'disk_full', order: 1 }),
        createItem('refused', REFUSED, { category: 'INFRA_ERROR', kind: 'network', order: 2 }),
        createItem('typo', TYPO, { category: 'CODE_ERROR', kind: 'null_reference', order: 3 }),
      ]);
    });

    function createItem(id: string, text: string, metadata: VectorItem['metadata'] = {}): VectorItem {
      return { id, text, metadata };
    }

    async function searchIds(...parameters: Parameters<VectorIndex['search']>): Promise<string[]> {
      return (await index.search(...parameters)).map((match) => match.id);
    }

    it('finds the text itself first, with a score of one', async () => {
      const [best, ...others] = await index.search('knowledge', { text: FULL_DISK, limit: 3 });

      expect(best).toMatchObject(
        createItem('disk', FULL_DISK, { category: 'INFRA_ERROR', kind: 'disk_full', order: 1 }),
      );
      expect(best?.score).toBeCloseTo(1, 4);
      expect(others).toHaveLength(2);
    });

    it('orders by score, and every score is between 0 and 1', async () => {
      const scores = (
        await index.search('knowledge', { text: 'connection refused while writing', limit: 3 })
      ).map((match) => match.score);

      expect(scores).toEqual(scores.toSorted((a, b) => b - a));
      for (const score of scores) expect(score >= 0 && score <= 1).toBe(true);
    });

    it('returns at most the limit', async () => {
      expect(await searchIds('knowledge', { text: REFUSED, limit: 1 })).toEqual(['refused']);
    });

    it('keeps namespaces apart', async () => {
      await index.upsert('error_library', [createItem('disk', 'another text altogether')]);

      expect(await searchIds('error_library', { text: FULL_DISK, limit: 9 })).toEqual(['disk']);
      expect(await index.count('error_library')).toBe(1);
      expect(await index.count('knowledge')).toBe(3);
      expect((await index.search('knowledge', { text: FULL_DISK, limit: 1 }))[0]?.text).toBe(FULL_DISK);
    });

    it('finds items whose metadata equals every field of the filter', async () => {
      const search = (filter: Record<string, string>) =>
        searchIds('knowledge', { text: FULL_DISK, limit: 9, filter });

      expect((await search({ category: 'INFRA_ERROR' })).toSorted()).toEqual(['disk', 'refused']);
      expect(await search({ category: 'INFRA_ERROR', kind: 'network' })).toEqual(['refused']);
      expect(await search({ category: 'nothing' })).toEqual([]);
      expect(await search({ absent: 'x' })).toEqual([]);
      expect(await search({})).toHaveLength(3);
    });

    it('lists the ids and metadata of one namespace', async () => {
      await index.upsert('error_library', [createItem('one', FULL_DISK, { category: 'INFRA_ERROR' })]);

      expect(await index.list('error_library')).toEqual([
        { id: 'one', metadata: { category: 'INFRA_ERROR' } },
      ]);
      expect((await index.list('knowledge')).map(({ id }) => id).toSorted()).toEqual([
        'disk',
        'refused',
        'typo',
      ]);
    });

    it('replaces an item with the same id', async () => {
      await index.upsert('knowledge', [createItem('disk', REFUSED, { category: 'CODE_ERROR' })]);

      expect(await index.count('knowledge')).toBe(3);
      const found = (await index.search('knowledge', { text: REFUSED, limit: 9 })).find(
        (match) => match.id === 'disk',
      );
      expect(found).toMatchObject(createItem('disk', REFUSED, { category: 'CODE_ERROR' }));
      expect(found?.metadata).not.toHaveProperty('kind');
    });

    it('stores the last of two items with the same id in one call', async () => {
      await index.upsert('knowledge', [createItem('twice', FULL_DISK), createItem('twice', TYPO)]);

      expect(await index.count('knowledge')).toBe(4);
      expect(
        (await index.search('knowledge', { text: TYPO, limit: 9 })).find((match) => match.id === 'twice')
          ?.text,
      ).toBe(TYPO);
    });

    it('removes items, and ignores unknown ones', async () => {
      await index.remove('knowledge', ['disk', 'unknown']);
      await index.remove('error_library', ['refused']);
      await index.remove('knowledge', []);

      expect((await searchIds('knowledge', { text: FULL_DISK, limit: 9 })).toSorted()).toEqual([
        'refused',
        'typo',
      ]);
    });

    it('returns nothing for an empty namespace, and accepts an empty list', async () => {
      await index.upsert('error_library', []);

      expect(await index.search('error_library', { text: FULL_DISK, limit: 5 })).toEqual([]);
      expect(await index.count('error_library')).toBe(0);
    });

    it('accepts many items and unusual texts', async () => {
      const many = Array.from({ length: 300 }, (_, number) =>
        createItem(`many-${number}`, `entry number ${number} about caches`),
      );

      await index.upsert('error_library', [
        ...many,
        createItem('empty', ''),
        createItem('nul', 'a\0b'),
        createItem('long', 'word '.repeat(20_000)),
      ]);

      expect(await index.count('error_library')).toBe(303);
      expect(
        await searchIds('error_library', { text: 'entry number 123 about caches', limit: 1 }),
      ).toHaveLength(1);
      const scores = (await index.search('error_library', { text: '', limit: 5 })).map(
        (match) => match.score,
      );
      for (const score of scores) expect(score >= 0 && score <= 1).toBe(true);
    });
  });
}
