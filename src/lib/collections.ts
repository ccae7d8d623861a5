import { setImmediate as nextTurn } from 'node:timers/promises';
/** Adds items to the end of a list. A call that spreads them instead overflows the stack at about 120,000. */
export function append<Item>(list: Item[], items: Iterable<Item>): void {
  for (const item of items) list.push(item);
}

/** The first item of each key, in the order of the items. */
export function firstOfEach<Item>(items: readonly Item[], keyOf: (item: Item) => unknown): Item[] {
  const seen = new Set<unknown>();
  return items.filter((item) => {
    const before = seen.size;
    return seen.add(keyOf(item)).size > before;
  });
}

/** The same numbers with room for as many more, or for `most` in all. */
export function withRoom(numbers: Uint32Array, most = Number.POSITIVE_INFINITY): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(Math.min(most, numbers.length * 2));
  larger.set(numbers);
  return larger;
}

/** The largest of any number of numbers, and of `least`; -Infinity of none. */
export function maxOf(numbers: Iterable<number>, least = Number.NEGATIVE_INFINITY): number {
  let most = least;
  for (const number of numbers) most = Math.max(most, number);
  return most;
}

/** The smallest of any number of numbers, and of `most`; Infinity of none. */
export function minOf(numbers: Iterable<number>, most = Number.POSITIVE_INFINITY): number {
  let least = most;
  for (const number of numbers) least = Math.min(least, number);
  return least;
}

/** What the numbers add up to; 0 of none. */
export function sumOf(numbers: Iterable<number>): number {
  let sum = 0;
  for (const number of numbers) sum += number;
  return sum;
}

/** Without its `undefined` fields: an absent filter and an undefined one are the same to a caller. */
export function present<Filter extends object>(filter: Filter): { [Key in keyof Filter]?: Exclude<Filter[Key], undefined> } {
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

/** Items that follow each other and have one key, together. */
export function neighbours<Item>(items: readonly Item[], keyOf: (item: Item) => string): [Item, ...Item[]][] {
  const groups: [Item, ...Item[]][] = [];
  for (const item of items) {
    const last = groups.at(-1);
    if (last !== undefined && keyOf(last[0]) === keyOf(item)) last.push(item);
    else groups.push([item]);
  }
  return groups;
}

/** The first of `count` places in ascending order that is not before what is searched for; `count` where all are. */
export function firstPlace(count: number, isBefore: (place: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Does work for each item, at most `limit` at a time; the results are in the order of the items. The first failure is thrown once nothing runs. */
export async function inParallel<Item, Result>(
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
  for (const one of lanes) if (one.status === 'rejected') throw one.reason;
  return results;
}

/** Consecutive items together: at most `most` of them, whose sizes add up to no more than `room`, unless one alone is larger. */
export function* batchesWithin<Item>(
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

/** Items that are handled before others have their turn. */
const IN_ONE_TURN = 2_000;

/** Maps any number of items without holding the event loop. */
export async function mapInTurns<Item, Result>(items: readonly Item[], map: (item: Item) => Result): Promise<Result[]> {
  const results: Result[] = [];
  for (const [at, item] of items.entries()) {
    results.push(map(item));
    if (at % IN_ONE_TURN === IN_ONE_TURN - 1) await nextTurn();
  }
  return results;
}
