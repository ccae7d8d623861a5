import { describe, expect, it } from 'vitest';
import type { Embedder } from '../../src/ports/vector-index.ts';

/** What every embedder promises. */
export function testEmbedderContract(name: string, open: () => Embedder | Promise<Embedder>): void {
  describe(`embedder: ${name}`, () => {
    const TEXTS = [
      'connection refused by the database',
      'no space left on device',
      '',
      '\u0000\u001b[31m',
      '日本語のエラー',
      'x'.repeat(300_000),
    ];
    const length = (vector: Float32Array) => Math.hypot(...vector);
    const cosine = (left: Float32Array, right: Float32Array) =>
      left.reduce((sum, value, index) => sum + value * (right[index] ?? 0), 0);

    it('returns one vector of length 1 and the right dimensions for any text', async () => {
      const embedder = await open();
      const vectors = await embedder.embed(TEXTS);
      expect(vectors).toHaveLength(TEXTS.length);
      for (const vector of vectors) {
        expect(vector.length).toBe(embedder.dimensions);
        expect(length(vector)).toBeCloseTo(1, 4);
      }
    });

    it('returns nothing for an empty list', async () => {
      expect(await (await open()).embed([])).toEqual([]);
    });

    it('returns the same vector for the same text, alone or among others', async () => {
      const embedder = await open();
      const [alone] = await embedder.embed(['no space left on device']);
      const [, among] = await embedder.embed(TEXTS);
      expect(cosine(alone!, among!)).toBeCloseTo(1, 4);
    });

    it('places texts on one subject closer together than others', async () => {
      const [left, right, alien] = await (await open()).embed([
        'connect ECONNREFUSED 127.0.0.1:5432',
        'Error: connect ECONNREFUSED 10.0.0.8:6379',
        'Prettier would change the formatting of two files',
      ]);
      expect(cosine(left!, right!)).toBeGreaterThan(cosine(left!, alien!) + 0.2);
    });

    it('stops when its signal is aborted', async () => {
      await expect((await open()).embed(['text'], AbortSignal.abort())).rejects.toThrow();
    });
  });
}
