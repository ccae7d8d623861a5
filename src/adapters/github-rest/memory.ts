import { createBoundedCache } from './bounded-cache.ts';
import { createTogether } from './in-flight.ts';

export interface Memory<Value> {
  /** What is remembered, else what `ask` says, kept for as long as `lifeMs` gives it. Several who ask at the same time ask once. */
  recall(key: string, question: Recalled<Value>): Promise<Value>;
  forget(key: string): void;
}

interface Recalled<Value> {
  readonly signal: AbortSignal;
  readonly lifeMs: (value: Value) => number;
  ask(): Promise<Value>;
}

/** Remembers the last so many answers for a while; an error is not remembered. */
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
