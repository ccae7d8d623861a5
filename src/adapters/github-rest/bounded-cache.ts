export interface BoundedCache<Value> {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
  delete(key: string): void;
}

/** Keeps what was used last, up to a total weight; a value that is heavier than half of it is not kept at all. */
export function createBoundedCache<Value>(maxWeight: number, weigh: (value: Value) => number): BoundedCache<Value> {
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
      // A map keeps the order of insertion: the newest use goes last.
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
