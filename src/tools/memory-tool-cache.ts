import type { KeptResult, ToolCacheStore } from '../ports/stores.ts';

const MAX_ENTRIES = 500;

/** Keeps answers for the life of the process: for the terminal, which has no database. Its bound is a number of answers. */
export function createMemoryToolCache(maxEntries = MAX_ENTRIES, now: () => number = Date.now): ToolCacheStore {
  // In the order of use: a Map keeps insertion order, and what is used is inserted anew.
  const kept = new Map<string, { readonly result: KeptResult; readonly endsAt: number }>();
  const sweep = async () => {
    const before = kept.size;
    for (const [key, { endsAt }] of kept) if (endsAt <= now()) kept.delete(key);
    for (const key of kept.keys()) {
      if (kept.size <= maxEntries) break;
      kept.delete(key);
    }
    return before - kept.size;
  };
  return {
    get: async (key) => {
      const entry = kept.get(key);
      if (entry === undefined) return null;
      kept.delete(key);
      if (entry.endsAt <= now()) return null;
      kept.set(key, entry);
      return entry.result;
    },
    put: async ({ key, ttlMs }, result) => {
      kept.delete(key);
      kept.set(key, { result, endsAt: now() + ttlMs });
      if (kept.size > maxEntries) await sweep();
    },
    sweep,
  };
}
