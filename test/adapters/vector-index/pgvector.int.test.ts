import { describe, expect, it } from 'vitest';
import { createPgvectorIndex } from '../../../src/adapters/vector-index/pgvector.ts';
import type { Embedder } from '../../../src/ports/embedder.ts';
import { vectorIndexContract } from '../../contract/vector-index-contract.ts';
import { openTestDatabase } from '../../support/pglite.ts';

/** One number per word: texts that share words are close. */
function wordEmbedder(name: string, dimensions: number): Embedder {
  const embedOne = (text: string): Float32Array => {
    const vector = new Float32Array(dimensions);
    for (const word of text.split(/\s+/).filter((part) => part !== '')) {
      const slot = [...word].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % dimensions, 7);
      vector[slot] = (vector[slot] ?? 0) + 1;
    }
    const length = Math.hypot(...vector);
    return length === 0 ? vector : vector.map((number) => number / length);
  };
  return { name, dimensions, embed: async (texts) => texts.map(embedOne) };
}

vectorIndexContract('pgvector', async () => {
  const db = await openTestDatabase();
  return { index: await createPgvectorIndex(db, wordEmbedder('words', 512)), dispose: db.dispose };
});

describe('pgvector and its embedder', () => {
  it('refuses an embedder of other dimensions and hides the vectors of another embedder', async () => {
    const db = await openTestDatabase();
    try {
      await expect(createPgvectorIndex(db, wordEmbedder('small', 8))).rejects.toMatchObject({ code: 'invalid-config' });

      const before = await createPgvectorIndex(db, wordEmbedder('before', 512));
      const after = await createPgvectorIndex(db, wordEmbedder('after', 512));
      await before.upsert('knowledge', [{ id: 'a', text: 'one two', metadata: {} }]);
      expect(await after.search('knowledge', { text: 'one two', limit: 5 })).toEqual([]);
      expect(await after.count('knowledge')).toBe(0);
      await after.upsert('knowledge', [{ id: 'a', text: 'one two', metadata: {} }]);
      expect(await after.count('knowledge')).toBe(1);
      expect(await before.count('knowledge')).toBe(0);
    } finally {
      await db.dispose();
    }
  });
});
