/** Runs the work on all items, at most `atOnce` at a time, and keeps their order. */
export async function concurrently<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results = new Map<number, Result>();
  const waiting = items.entries();
  async function take(): Promise<void> {
    for (const [index, item] of waiting) results.set(index, await work(item));
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, take));
  return [...results].sort(([left], [right]) => left - right).map(([, result]) => result);
}
