import { describe, expect, it } from 'vitest';
import type { Embedder } from '../../../src/ports/vector-index.ts';
import { createPgvectorIndex, createSemanticPgvectorIndex } from '../../../src/stores/vectors/pgvector.ts';
import { testVectorIndexContract } from '../../contract/vector-index-contract.ts';
import { openEmbeddedDatabase } from '../../support/pglite.ts';

/** One number per word: texts that share words are close. */
function createWordEmbedder(name: string, dimensions: number): Embedder {
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

testVectorIndexContract('pgvector', async () => {
  const db = await openEmbeddedDatabase();
  return { index: createPgvectorIndex(db, createWordEmbedder('words', 512)), dispose: db.dispose };
});

describe('pgvector and its embedder', () => {
  it('store the vectors of several embedders separately, whatever their length', async () => {
    const db = await openEmbeddedDatabase();
    try {
      const vectorIndex = createPgvectorIndex(db, createWordEmbedder('one', 512));
      const other = createSemanticPgvectorIndex(db, createWordEmbedder('other', 8), ['one']);
      await vectorIndex.upsert('knowledge', [{ id: 'a', text: 'one two', metadata: {} }]);
      expect(await other.search('knowledge', { text: 'one two', limit: 5 })).toEqual([]);
      expect(await other.count('knowledge')).toBe(0);

      await other.upsert('knowledge', [{ id: 'a', text: 'one two', metadata: {} }]);
      expect((await other.search('knowledge', { text: 'one two', limit: 5 }))[0]?.score).toBeCloseTo(1, 4);
      await vectorIndex.remove('knowledge', ['a']);
      expect([await vectorIndex.count('knowledge'), await other.count('knowledge')]).toEqual([0, 1]);
    } finally {
      await db.dispose();
    }
  });

  it('refuse vectors of another length than the stored ones under the same name, until all are deleted', async () => {
    const db = await openEmbeddedDatabase();
    try {
      const item = { id: 'a', text: 'one two', metadata: {} };
      const kept = createPgvectorIndex(db, createWordEmbedder('kept', 512));
      await kept.upsert('knowledge', [item]);
      const before = createSemanticPgvectorIndex(db, createWordEmbedder('model', 8), ['kept']);
      await before.upsert('knowledge', [item]);
      const after = createSemanticPgvectorIndex(db, createWordEmbedder('model', 16), ['kept']);

      const refusal = {
        code: 'invalid-config',
        message: expect.stringContaining('faultline knowledge reindex'),
      };
      await expect(after.upsert('knowledge', [{ ...item, id: 'b' }])).rejects.toMatchObject(refusal);
      await expect(after.search('knowledge', { text: 'one', limit: 1 })).rejects.toMatchObject(refusal);
      expect(await after.count('knowledge')).toBe(1);
      await after.clear();
      await after.upsert('knowledge', [item]);
      expect((await after.search('knowledge', { text: 'one two', limit: 1 }))[0]?.score).toBeCloseTo(1, 4);
      expect(await kept.count('knowledge')).toBe(1);
    } finally {
      await db.dispose();
    }
  });

  it("calibrate similarity by the embedder's results for unrelated texts", async () => {
    const db = await openEmbeddedDatabase();
    try {
      const plain = createPgvectorIndex(db, createWordEmbedder('words', 512));
      const raised = createPgvectorIndex(db, {
        ...createWordEmbedder('words', 512),
        unrelated: async () => 0.5,
      });
      await plain.upsert('knowledge', [{ id: 'a', text: 'one two three four', metadata: {} }]);
      const query = { text: 'one two three five', limit: 1 };

      expect((await plain.search('knowledge', query))[0]?.score).toBeCloseTo(0.75, 2);
      expect((await raised.search('knowledge', query))[0]?.score).toBeCloseTo(0.5, 2);
    } finally {
      await db.dispose();
    }
  });
});
