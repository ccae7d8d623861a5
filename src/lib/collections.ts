import { setImmediate as nextTurn } from 'node:timers/promises';
/** Adds items to the end of a list. A call that spreads them instead overflows the stack at about 120,000. */
export function append<Item>(list: Item[], items: Iterable<Item>): void {
  for (const item of items) list.push(item);
}

/** Returns the first item of each key, in the order of the items. */
export function takeFirstOfEach<Item>(items: readonly Item[], keyOf: (item: Item) => unknown): Item[] {
  const seen = new Set<unknown>();
  return items.filter((item) => {
    const before = seen.size;
    return seen.add(keyOf(item)).size > before;
  });
}

/** Returns a copy with twice the capacity, or with the capacity `most` if that is smaller. */
export function growCapacity(
  numbers: Uint32Array,
  most = Number.POSITIVE_INFINITY,
): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(Math.min(most, numbers.length * 2));
  larger.set(numbers);
  return larger;
}

/** Returns the largest of any number of numbers and `least`; -Infinity if there is none. */
export function findMax(numbers: Iterable<number>, least = Number.NEGATIVE_INFINITY): number {
  let most = least;
  for (const number of numbers) most = Math.max(most, number);
  return most;
}

/** Returns the smallest of any number of numbers and `most`; Infinity if there is none. */
export function findMin(numbers: Iterable<number>, most = Number.POSITIVE_INFINITY): number {
  let least = most;
  for (const number of numbers) least = Math.min(least, number);
  return least;
}

/** Returns the sum of the numbers; 0 if there is none. */
export function sumNumbers(numbers: Iterable<number>): number {
  let sum = 0;
  for (const number of numbers) sum += number;
  return sum;
}

/**
 * Returns the filter without its `undefined` fields. An absent field and an undefined one mean the same to a
 * caller.
 */
export function omitUndefined<Filter extends object>(
  filter: Filter,
): { [Key in keyof Filter]?: Exclude<Filter[Key], undefined> } {
  const given: { [Key in keyof Filter]?: Exclude<Filter[Key], undefined> } = {};
  for (const key in filter) {
    const value = filter[key];
    if (isGiven(value)) given[key] = value;
  }
  return given;
}

function isGiven<Value>(value: Value): value is Exclude<Value, undefined> {
  return value !== undefined;
}

/** Groups neighboring items that have the same key. */
export function groupNeighbors<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
): [Item, ...Item[]][] {
  const groups: [Item, ...Item[]][] = [];
  for (const item of items) {
    const last = groups.at(-1);
    if (last !== undefined && keyOf(last[0]) === keyOf(item)) last.push(item);
    else groups.push([item]);
  }
  return groups;
}

/**
 * Returns the first of `count` sorted positions for which `isBefore` is false, by binary search; `count` if
 * there is none.
 */
export function findFirstPlace(count: number, isBefore: (place: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Does work for each item, at most `limit` at a time. The results are in the order of the items. The first
 * error is thrown once no work is running.
 */
export async function mapInParallel<Item, Result>(
  items: readonly Item[],
  limit: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  let failed = false;
  const lane = async () => {
    while (next < items.length && !failed) {
      const at = next++;
      const item = items[at];
      if (item === undefined) continue;
      try {
        results[at] = await work(item);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  const lanes = await Promise.allSettled(Array.from({ length: Math.min(limit, items.length) }, lane));
  for (const promiseSettledResult of lanes)
    if (promiseSettledResult.status === 'rejected') throw promiseSettledResult.reason;
  return results;
}

/**
 * Yields batches of consecutive items: at most `most` items whose sizes add up to at most `room`. A single
 * item that is larger forms its own batch.
 */
export function* splitIntoBatches<Item>(
  items: readonly Item[],
  { most, room }: { readonly most: number; readonly room: number },
  sizeOf: (item: Item) => number,
): Generator<Item[]> {
  let batch: Item[] = [];
  let taken = 0;
  for (const item of items) {
    const size = sizeOf(item);
    if (batch.length === most || (batch.length > 0 && taken + size > room)) {
      yield batch;
      [batch, taken] = [[], 0];
    }
    batch.push(item);
    taken += size;
  }
  if (batch.length > 0) yield batch;
}

/** The number of items that are handled before other work may run. */
const IN_ONE_TURN = 2_000;

/** Maps any number of items without blocking the event loop. */
export async function mapInTurns<Item, Result>(
  items: readonly Item[],
  map: (item: Item) => Result,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const [at, item] of items.entries()) {
    results.push(map(item));
    if (at % IN_ONE_TURN === IN_ONE_TURN - 1) await nextTurn();
  }
  return results;
}
