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
