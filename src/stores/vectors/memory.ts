import type { Embedder, VectorIndex, VectorItem, VectorNamespace } from '../../ports/vector-index.ts';

interface StoredItem {
  readonly item: VectorItem;
  readonly vector: Float32Array;
}

/**
 * Creates a vector index that lives as long as the process and compares with every item; for the command line
 * and for tests.
 */
export function createMemoryIndex(embedder: Embedder): VectorIndex {
  const namespaces: Record<VectorNamespace, Map<string, StoredItem>> = {
    knowledge: new Map(),
    team_knowledge: new Map(),
    error_library: new Map(),
  };
  return {
    driver: 'memory',
    async upsert(namespace, items, signal) {
      const vectors = await embedder.embed(
        items.map((item) => item.text),
        signal,
      );
      for (const [index, item] of items.entries()) {
        const vector = vectors[index];
        if (vector !== undefined)
          namespaces[namespace].set(item.id, { item: { ...item, metadata: { ...item.metadata } }, vector });
      }
    },
    async search(namespace, { text, limit, filter = {} }, signal) {
      if (limit < 1 || namespaces[namespace].size === 0) return [];
      const [query] = await embedder.embed([text], signal);
      if (query === undefined) return [];
      const floor = (await embedder.unrelated?.(signal)) ?? 0;
      const wanted = Object.entries(filter);
      const places = Uint32Array.from(query.keys()).filter((place) => query[place] !== 0);
      return [...namespaces[namespace].values()]
        .filter(({ item }) => wanted.every(([field, value]) => item.metadata[field] === value))
        .map(({ item, vector }) => ({
          ...item,
          score: toSimilarity(computeSimilarity(query, vector, places), floor),
        }))
        .sort((left, right) => right.score - left.score || left.id.localeCompare(right.id))
        .slice(0, limit);
    },
    list: async (namespace) =>
      [...namespaces[namespace].values()].map(({ item }) => ({
        id: item.id,
        metadata: { ...item.metadata },
      })),
    async remove(namespace, ids) {
      for (const id of ids) namespaces[namespace].delete(id);
    },
    count: async (namespace) => namespaces[namespace].size,
  };
}

/**
 * Computes the cosine of two vectors of length 1; negative values count as 0 (unrelated). `places` are those
 * where `left` is not 0; in a text hashed to words they are few.
 */
function computeSimilarity(left: Float32Array, right: Float32Array, places: Uint32Array): number {
  let dot = 0;
  for (const place of places) dot += (left[place] ?? 0) * (right[place] ?? 0);
  return Math.min(Math.max(dot, 0), 1);
}

/**
 * Converts a cosine to a similarity. Models give different cosines to unrelated texts (0.1 for some, 0.8 for
 * others); measured from this floor, 0 means unrelated and 1 the same text, for any model.
 */
export function toSimilarity(cosine: number, floor: number): number {
  if (floor >= 1) return 0;
  return Math.min(Math.max((cosine - floor) / (1 - floor), 0), 1);
}
