import { TriageError } from '../domain/errors.ts';

export interface Memory<Value> {
  /**
   * Returns the cached value, or else the result of `ask`, which is cached for the time that `lifeMs`
   * returns. Concurrent callers share one call.
   */
  recall(key: string, question: Recalled<Value>): Promise<Value>;
  forget(key: string): void;
}

interface Recalled<Value> {
  readonly signal: AbortSignal;
  readonly lifeMs: (value: Value) => number;
  ask(): Promise<Value>;
}

/** Creates a cache of the last answers, at most `entries`, for a limited time. Errors are not cached. */
export function createMemory<Value>(entries: number): Memory<Value> {
  const cache = createBoundedCache<{ readonly value: Value; readonly until: number }>(entries, () => 1);
  const together = createTogether<Value>();
  return {
    async recall(key, { signal, lifeMs, ask }) {
      const known = cache.get(key);
      if (known !== undefined && known.until > Date.now()) return known.value;
      return together(key, signal, async () => {
        const value = await ask();
        cache.set(key, { value, until: Date.now() + lifeMs(value) });
        return value;
      });
    },
    forget: (key) => cache.delete(key),
  };
}

/** A function that shares one call among concurrent callers with the same key. */
export type Together<Value> = (key: string, signal: AbortSignal, ask: () => Promise<Value>) => Promise<Value>;

/**
 * Creates a function that shares one call among concurrent callers, because parallel tools start with the
 * same question. If the caller that started it cancels, the next one asks again.
 */
export function createTogether<Value>(): Together<Value> {
  const asked = new Map<string, Promise<Value>>();
  return async (key, signal, ask) => {
    for (let other = asked.get(key); other !== undefined; other = asked.get(key)) {
      try {
        return await other;
      } catch (error) {
        if (signal.aborted || !(error instanceof TriageError) || error.code !== 'cancelled') throw error;
      }
    }
    const request = ask();
    asked.set(key, request);
    try {
      return await request;
    } finally {
      asked.delete(key);
    }
  };
}

export interface BoundedCache<Value> {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
  delete(key: string): void;
}

/**
 * Creates a cache of the most recently used values, up to a total weight. A value that is heavier than half
 * of it is not cached.
 */
export function createBoundedCache<Value>(
  maxWeight: number,
  weigh: (value: Value) => number,
): BoundedCache<Value> {
  const kept = new Map<string, { readonly value: Value; readonly weight: number }>();
  let total = 0;
  function drop(key: string): void {
    total -= kept.get(key)?.weight ?? 0;
    kept.delete(key);
  }
  return {
    get(key) {
      const entry = kept.get(key);
      if (entry === undefined) return undefined;
      // A map keeps the order of insertion, so the value used last is inserted again.
      kept.delete(key);
      kept.set(key, entry);
      return entry.value;
    },
    set(key, value) {
      const weight = weigh(value);
      drop(key);
      if (weight > maxWeight / 2) return;
      kept.set(key, { value, weight });
      total += weight;
      for (const oldest of kept.keys()) {
        if (total <= maxWeight) break;
        drop(oldest);
      }
    },
    delete: drop,
  };
}
