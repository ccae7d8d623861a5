import { bootstrap, type Interval } from '../../lib/statistics.ts';
import { projectOf } from '../cases/project-folds.ts';
import type { ReplayedCase } from '../run/replay.ts';
import { type Figure, withInterval } from './figure.ts';

/** Below so many projects, drawing projects says too little about how much they differ: cases are drawn instead. */
const LEAST_PROJECTS = 10;

/**
 * What each cluster of cases adds up to, for a bootstrap: a cluster is a project where at least ten are known, else a case. In the order of
 * their names, so that the order of the cases changes nothing. `add` adds one case to the `width` sums of its cluster.
 */
export function clusterSums<T extends { readonly one: ReplayedCase }>(
  entries: readonly T[],
  width: number,
  add: (sums: number[], entry: T) => void,
): number[][] {
  const projects = new Set(entries.map(({ one }) => clusterOf(one)));
  // An id twice is a mistake of the data set: such cases are one cluster.
  const keyOf = projects.size >= LEAST_PROJECTS ? clusterOf : (one: ReplayedCase) => one.result.id;
  const clusters = new Map<string, number[]>();
  for (const entry of entries) {
    const key = keyOf(entry.one);
    let sums = clusters.get(key);
    if (sums === undefined) {
      sums = new Array<number>(width).fill(0);
      clusters.set(key, sums);
    }
    add(sums, entry);
  }
  return [...clusters].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, sums]) => sums);
}

/** Adds to one of the sums. */
export function addAt(sums: number[], place: number, value: number): void {
  sums[place] = (sums[place] ?? 0) + value;
}

/** The mean of a value over cases, with its interval. `against`: the cases of the lowest value, where it is below `good`. */
export function meanFigure<T extends { readonly one: ReplayedCase }>(
  name: string,
  entries: readonly T[],
  worthOf: (entry: T) => number,
  good?: number,
): Figure {
  const pairs = entries.map((entry) => ({ one: entry.one, value: worthOf(entry) }));
  const value = pairs.reduce((total, pair) => total + pair.value, 0) / Math.max(1, pairs.length);
  const interval = ratioInterval(pairs, (pair) => [pair.value, 1]);
  const against = good === undefined ? [] : pairs.filter((pair) => pair.value < good).sort((left, right) => left.value - right.value);
  const figure = {
    name,
    value,
    cases: pairs.length,
    ...(against.length === 0 ? {} : { against: against.map(({ one }) => one.result.id) }),
  };
  return withInterval(figure, interval);
}

/** The mean of values that belong to clusters of their own, with its interval. */
export function groupMean(values: readonly { readonly cluster: string; readonly value: number }[]): {
  value: number;
  interval: Interval | null;
} {
  const clusters = [...Map.groupBy(values, ({ cluster }) => cluster)].sort(([left], [right]) => (left < right ? -1 : 1));
  const sums = clusters.map(([, members]) => [members.reduce((total, { value }) => total + value, 0), members.length]);
  const [interval = null] = bootstrap(sums, ([sum = 0, count = 0]) => [sum / count]);
  return { value: values.reduce((total, { value }) => total + value, 0) / Math.max(1, values.length), interval };
}

/** The interval of a ratio of two sums over cases, such as hits by things found; null where it has none. */
export function ratioInterval<T extends { readonly one: ReplayedCase }>(
  entries: readonly T[],
  pairOf: (entry: T) => readonly [part: number, whole: number],
): Interval | null {
  const clusters = clusterSums(entries, 2, (sums, entry) => {
    const [part, whole] = pairOf(entry);
    addAt(sums, 0, part);
    addAt(sums, 1, whole);
  });
  return bootstrap(clusters, ([part = 0, whole = 0]) => [part / whole])[0] ?? null;
}

function clusterOf({ row, result }: ReplayedCase): string {
  return row === null ? result.id : projectOf(row);
}
