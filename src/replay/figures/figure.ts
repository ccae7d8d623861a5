import { bootstrap, computeProportion, type Interval } from '../../lib/statistics.ts';
import { resolveProject } from '../cases/case.ts';
import type { ReplayedCase } from '../run/replay.ts';

/**
 * One figure of the table: its name, its value (0..1 unless `unit` says otherwise), and the number of cases
 * behind it.
 */
export interface Figure {
  /** The name. It is unique within a data set and stable, because scripts read it. */
  readonly name: string;
  readonly value: number;
  readonly cases: number;
  /**
   * The unit: a whole number, a measure of its own such as milliseconds, or US dollars. If absent, the value
   * is a share of 1.
   */
  readonly unit?: 'count' | 'measure' | 'dollars';
  /** The position in a small table, such as one with a row for each class. */
  readonly cell?: { readonly row: string; readonly column: string };
  /** The 95% interval of the value; absent if there is none. */
  readonly interval?: readonly [low: number, high: number];
  /**
   * The ids of the cases that count against the figure, in the order in which to look at them. Absent if
   * there are none.
   */
  readonly against?: readonly string[];
  /** True if a language model judged it. Gates must not use such figures. */
  readonly judged?: true;
}

/** Figures under one heading. */
export interface FigureSection {
  readonly title: string;
  readonly figures: readonly Figure[];
}

/**
 * Creates a figure for a share of counted items, with its Wilson interval and the cases against it, if any.
 */
export function shareFigure(name: string, hits: number, of: number, against: readonly string[] = []): Figure {
  const { share, low, high } = computeProportion(hits, of);
  return {
    name,
    value: share,
    cases: of,
    ...(of === 0 ? {} : { interval: [low, high] }),
    ...(against.length === 0 ? {} : { against }),
  };
}

/**
 * Creates a figure for the share of cases for which `holds` is true. The other cases count against it, or,
 * with `bad`, those for which it is true.
 */
export function createShareFigure<T extends { readonly one: ReplayedCase }>(
  name: string,
  among: readonly T[],
  holds: (entry: T) => boolean,
  bad: 'bad' | 'good' | 'neither' = 'good',
): Figure {
  const holding = among.filter(holds);
  const against = bad === 'neither' ? [] : bad === 'bad' ? holding : among.filter((entry) => !holds(entry));
  return shareFigure(name, holding.length, among.length, listIds(against));
}

export function listIds(entries: readonly { readonly one: ReplayedCase }[]): string[] {
  return entries.map(({ one }) => one.result.id);
}

/**
 * Adds an interval to a figure, if there is one, and extends it to contain the value. The bootstrap interval
 * of a value near 0 may be entirely above it.
 */
export function withInterval(
  figure: Figure,
  interval: readonly [low: number, high: number] | null | undefined,
): Figure {
  if (interval == null) return figure;
  const [low, high] = interval;
  return { ...figure, interval: [Math.min(low, figure.value), Math.max(high, figure.value)] };
}

/** Computes the mean. Returns 0 for no values. */
export function computeMean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((total, value) => total + value, 0) / values.length;
}

/** Divides a part by the whole. Returns 0 if the whole is 0. */
export function computeRatio(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole;
}

/** Computes the harmonic mean of precision and recall. Returns 0 if both are 0. */
export function computeF1(precision: number, recall: number): number {
  return computeRatio(2 * precision * recall, precision + recall);
}

/** A case with a known category, together with the answered one. */
export interface Judged {
  /** The label, or an accepted alternative if that was answered. */
  readonly truth: string;
  readonly said: string | null;
  /** The label and its accepted alternatives. */
  readonly accepted: readonly string[];
  readonly one: ReplayedCase;
}

/** Returns the cases with a labeled category. A failed case counts as a wrong answer. */
export function listJudgedCases(cases: readonly ReplayedCase[]): Judged[] {
  return cases.flatMap((replayedCase) => {
    const category = replayedCase.row?.category ?? null;
    if (category === null) return [];
    const answered = replayedCase.result.category;
    const accepted: readonly string[] = [
      category,
      replayedCase.row?.also_ok ?? [],
      replayedCase.row?.category_alternatives ?? [],
    ].flat();
    return [
      {
        truth: answered !== null && accepted.includes(answered) ? answered : category,
        said: answered,
        accepted,
        one: replayedCase,
      },
    ];
  });
}

/** Checks whether the answer is the label or an accepted alternative. */
export function isRight({ truth, said }: Judged): boolean {
  return truth === said;
}

/**
 * Checks whether a case is a failure of code or a test whose labels neither call it flaky nor accept
 * INFRA_ERROR. Excusing such a failure is the worst mistake.
 */
export function isRealFailure({ truth, accepted, one }: Judged): boolean {
  const real = truth === 'CODE_ERROR' || truth === 'TEST_FAILURE';
  return real && !accepted.includes('INFRA_ERROR') && one.row?.kind !== 'flaky_timing';
}

/** Checks whether the answer says that the author is not to blame. */
export function isExcused({ said, one }: Judged): boolean {
  return said === 'INFRA_ERROR' || one.result.kind === 'flaky_timing';
}

/**
 * The minimum number of projects for resampling projects. With fewer, cases are resampled instead, because so
 * few projects do not show how much projects differ.
 */
export const MIN_PROJECTS = 10;

/**
 * Sums the values of each cluster of cases for a bootstrap. A cluster is a project if at least ten projects
 * are known, or else a case. Clusters are sorted by name, so that the order of the cases does not matter.
 * `add` adds one case to the `width` sums of its cluster.
 */
export function listClusterSums<T extends { readonly one: ReplayedCase }>(
  entries: readonly T[],
  width: number,
  add: (sums: number[], entry: T) => void,
): number[][] {
  const projects = new Set(entries.map(({ one }) => getCluster(one)));
  // Cases with the same id, which is an error in the data set, form one cluster.
  const keyOf =
    projects.size >= MIN_PROJECTS ? getCluster : (replayedCase: ReplayedCase) => replayedCase.result.id;
  const clusters = new Map<string, number[]>();
  for (const entry of entries) {
    const key = keyOf(entry.one);
    const sums = clusters.get(key) ?? new Array<number>(width).fill(0);
    clusters.set(key, sums);
    add(sums, entry);
  }
  return [...clusters].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, sums]) => sums);
}

export function addAt(sums: number[], place: number, value: number): void {
  sums[place] = (sums[place] ?? 0) + value;
}

/**
 * Computes the mean of a value over cases, with its interval. The cases with the lowest values count against
 * it, if they are below `good`.
 */
export function createMeanFigure<T extends { readonly one: ReplayedCase }>(
  name: string,
  entries: readonly T[],
  worthOf: (entry: T) => number,
  good?: number,
): Figure {
  const pairs = entries.map((entry) => ({ one: entry.one, value: worthOf(entry) }));
  const value = computeMean(pairs.map((pair) => pair.value));
  const interval = computeRatioInterval(pairs, (pair) => [pair.value, 1]);
  const against =
    good === undefined
      ? []
      : pairs.filter((pair) => pair.value < good).sort((left, right) => left.value - right.value);
  return withInterval(
    { name, value, cases: pairs.length, ...(against.length > 0 && { against: listIds(against) }) },
    interval,
  );
}

/** Computes the mean of values that name their own clusters, with its interval. */
export function groupMean(values: readonly { readonly cluster: string; readonly value: number }[]) {
  const clusters = [...Map.groupBy(values, ({ cluster }) => cluster)].sort(([left], [right]) =>
    left < right ? -1 : 1,
  );
  const sums = clusters.map(([, members]) => [
    members.reduce((total, { value }) => total + value, 0),
    members.length,
  ]);
  const [interval = null] = bootstrap(sums, ([sum = 0, count = 0]) => [sum / count]);
  return { value: computeMean(values.map(({ value }) => value)), interval };
}

/**
 * Computes the interval of a ratio of two sums over cases, such as hits per items found. Returns null if it
 * has none.
 */
export function computeRatioInterval<T extends { readonly one: ReplayedCase }>(
  entries: readonly T[],
  pairOf: (entry: T) => readonly [part: number, whole: number],
): Interval | null {
  const clusters = listClusterSums(entries, 2, (sums, entry) => {
    const [part, whole] = pairOf(entry);
    addAt(sums, 0, part);
    addAt(sums, 1, whole);
  });
  return bootstrap(clusters, ([part = 0, whole = 0]) => [part / whole])[0] ?? null;
}

function getCluster({ row, result }: ReplayedCase): string {
  return row === null ? result.id : resolveProject(row);
}
