/** Reciprocal rank fusion (Cormack, Clarke, Büttcher: Reciprocal Rank Fusion outperforms Condorcet, SIGIR 2009) and its constant. */
const K = 60;

/** Something found, by what names it. `score` is 0..1, how well it fits. */
export interface Ranked {
  readonly key: string;
  readonly score: number;
}

/**
 * Fuses lists that are each in order, best first. The order of the result is that of the fused ranks, and where these are equal that of the
 * scores; the item itself comes from the list that scores it best. A single list stays as it is.
 */
export function fuse<Item extends Ranked>(lists: readonly (readonly Item[])[]): Item[] {
  const fused = new Map<string, { item: Item; rank: number }>();
  for (const list of lists) {
    for (const [index, item] of list.entries()) {
      const known = fused.get(item.key);
      const rank = (known?.rank ?? 0) + 1 / (K + index + 1);
      fused.set(item.key, { item: known === undefined || item.score > known.item.score ? item : known.item, rank });
    }
  }
  return [...fused.values()].sort((left, right) => right.rank - left.rank || right.item.score - left.item.score).map(({ item }) => item);
}
