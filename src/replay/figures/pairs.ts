import { bootstrapWeights, type Interval } from '../../lib/statistics.ts';

/** A case with the failure it truly is and the key it was given; cases without a key pair with none. */
export interface Keyed {
  readonly group: string;
  readonly key: string | null;
}

/** Pairs of cases that have one key, that are of one group, and both. */
export interface PairCounts {
  readonly both: number;
  readonly sameKey: number;
  readonly sameGroup: number;
}

export function countPairs(cases: readonly Keyed[]): PairCounts {
  const { groups, keys } = cellsOf(cases);
  return countWeighted(groups, keys, null);
}

/**
 * 95 % intervals of pair precision and pair recall: whole groups are drawn with replacement, and pairs across two groups count as often as both
 * were drawn. A group that is drawn twice is not paired with itself: its cases would agree by being the same.
 */
export function pairIntervals(cases: readonly Keyed[]): [precision: Interval | null, recall: Interval | null] {
  const { groups, keys, cells } = cellsOf(cases);
  const [precision = null, recall = null] = bootstrapWeights(groups.length, groups.length + cells, (weights) => {
    const { both, sameKey, sameGroup } = countWeighted(groups, keys, weights);
    return [both / sameKey, both / sameGroup];
  });
  return [precision, recall];
}

/** How many cases of a group have a key. */
interface Cell {
  readonly group: number;
  readonly count: number;
}

function cellsOf(cases: readonly Keyed[]): { groups: number[]; keys: Cell[][]; cells: number } {
  const byGroup = [...Map.groupBy(cases, ({ group }) => group)].sort(([left], [right]) => (left < right ? -1 : 1));
  const keys = new Map<string, Cell[]>();
  let cells = 0;
  for (const [group, [, members]] of byGroup.entries()) {
    for (const [key, ones] of Map.groupBy(members, (one) => one.key)) {
      if (key === null) continue;
      const cell = { group, count: ones.length };
      const known = keys.get(key);
      if (known === undefined) keys.set(key, [cell]);
      else known.push(cell);
      cells++;
    }
  }
  return { groups: byGroup.map(([, members]) => members.length), keys: [...keys.values()], cells };
}

function countWeighted(groups: readonly number[], keys: readonly (readonly Cell[])[], weights: Uint32Array | null): PairCounts {
  let [both, sameKey, sameGroup] = [0, 0, 0];
  for (const [at, size] of groups.entries()) sameGroup += (weights?.[at] ?? 1) * pairsOf(size);
  for (const cells of keys) {
    let [drawn, squares] = [0, 0];
    for (const { group, count } of cells) {
      const weight = weights?.[group] ?? 1;
      const within = weight * pairsOf(count);
      both += within;
      sameKey += within;
      drawn += weight * count;
      squares += (weight * count) ** 2;
    }
    sameKey += (drawn ** 2 - squares) / 2;
  }
  return { both, sameKey, sameGroup };
}

function pairsOf(count: number): number {
  return (count * (count - 1)) / 2;
}
