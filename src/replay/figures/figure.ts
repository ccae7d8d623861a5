import { bootstrap, type Interval, proportion } from '../../lib/statistics.ts';
import { projectOf } from '../cases/case.ts';
import type { ReplayedCase } from '../run/replay.ts';

/** One figure of the table: its name, its value (0..1 unless `unit` says otherwise), and on how many cases it rests. */
export interface Figure {
  /** Unique within a data set; stable, scripts read it. */
  readonly name: string;
  readonly value: number;
  readonly cases: number;
  /** A whole number, a measure of its own such as milliseconds, or US dollars; a share of 1 where it is left out. */
  readonly unit?: 'count' | 'measure' | 'dollars';
  /** Where figures make a small table of their own, such as one row a class. */
  readonly cell?: { readonly row: string; readonly column: string };
  /** 95 % interval of the value; absent where none is meant. */
  readonly interval?: readonly [low: number, high: number];
  /** Ids of the cases that keep the figure from being better: what to look at first. Absent where no single case does. */
  readonly against?: readonly string[];
  /** True where a language model said it: no gate may rest on it. */
  readonly judged?: true;
}

/** Figures that are read together, under one heading. */
export interface FigureSection {
  readonly title: string;
  readonly figures: readonly Figure[];
}

/** A share of counted things with its Wilson interval, and the cases that are against it where any are. */
export function shareFigure(name: string, hits: number, of: number, against: readonly string[] = []): Figure {
  const { share, low, high } = proportion(hits, of);
  return { name, value: share, cases: of, ...(of === 0 ? {} : { interval: [low, high] }), ...(against.length === 0 ? {} : { against }) };
}

/** A share of cases: those that `holds` is true of. Those of which it is not are against it, or, where `bad`, those of which it is. */
export function caseShare<T extends { readonly one: ReplayedCase }>(
  name: string,
  among: readonly T[],
  holds: (entry: T) => boolean,
  bad: 'bad' | 'good' | 'neither' = 'good',
): Figure {
  const held = among.filter(holds);
  const against = bad === 'neither' ? [] : bad === 'bad' ? held : among.filter((entry) => !holds(entry));
  return shareFigure(name, held.length, among.length, idsOf(against));
}

export function idsOf(entries: readonly { readonly one: ReplayedCase }[]): string[] {
  return entries.map(({ one }) => one.result.id);
}

/**
 * A figure with its interval, where it has one, which holds the value at least: a bootstrap adds distance to what is nearly 0, and may lie
 * wholly above it.
 */
export function withInterval(figure: Figure, interval: readonly [low: number, high: number] | null | undefined): Figure {
  if (interval == null) return figure;
  const [low, high] = interval;
  return { ...figure, interval: [Math.min(low, figure.value), Math.max(high, figure.value)] };
}

/** 0 for no values. */
export function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((total, value) => total + value, 0) / values.length;
}

/** 0 where nothing is counted. */
export function ratio(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole;
}

/** The harmonic mean of precision and recall; 0 where both are. */
export function f1(precision: number, recall: number): number {
  return ratio(2 * precision * recall, precision + recall);
}

/** A case whose category is known, beside what was said of it. */
export interface Judged {
  /** The label; where an accepted alternative was said, that alternative. */
  readonly truth: string;
  readonly said: string | null;
  /** The label and the alternatives that its source accepts. */
  readonly accepted: readonly string[];
  readonly one: ReplayedCase;
}

/** The cases with a category label; a case that failed said nothing, which is wrong. */
export function judgedCases(cases: readonly ReplayedCase[]): Judged[] {
  return cases.flatMap((one) => {
    const category = one.row?.category ?? null;
    if (category === null) return [];
    const said = one.result.category;
    const accepted: readonly string[] = [category, one.row?.also_ok ?? [], one.row?.category_alternatives ?? []].flat();
    return [{ truth: said !== null && accepted.includes(said) ? said : category, said, accepted, one }];
  });
}

/** Whether the label or an accepted alternative was said. */
export function isRight({ truth, said }: Judged): boolean {
  return truth === said;
}

/** A failure of code or test that no label calls flaky or allows to be called infrastructure: to excuse it is the worst mistake. */
export function isRealFailure({ truth, accepted, one }: Judged): boolean {
  const real = truth === 'CODE_ERROR' || truth === 'TEST_FAILURE';
  return real && !accepted.includes('INFRA_ERROR') && one.row?.kind !== 'flaky_timing';
}

/** Whether the answer says "not your fault". */
export function isExcused({ said, one }: Judged): boolean {
  return said === 'INFRA_ERROR' || one.result.kind === 'flaky_timing';
}

/** Below so many projects, drawing projects says too little about how much they differ: cases are drawn instead. */
export const LEAST_PROJECTS = 10;

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
    const sums = clusters.get(key) ?? new Array<number>(width).fill(0);
    clusters.set(key, sums);
    add(sums, entry);
  }
  return [...clusters].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, sums]) => sums);
}

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
  const value = mean(pairs.map((pair) => pair.value));
  const interval = ratioInterval(pairs, (pair) => [pair.value, 1]);
  const against = good === undefined ? [] : pairs.filter((pair) => pair.value < good).sort((left, right) => left.value - right.value);
  return withInterval({ name, value, cases: pairs.length, ...(against.length > 0 && { against: idsOf(against) }) }, interval);
}

/** The mean of values that belong to clusters of their own, with its interval. */
export function groupMean(values: readonly { readonly cluster: string; readonly value: number }[]) {
  const clusters = [...Map.groupBy(values, ({ cluster }) => cluster)].sort(([left], [right]) => (left < right ? -1 : 1));
  const sums = clusters.map(([, members]) => [members.reduce((total, { value }) => total + value, 0), members.length]);
  const [interval = null] = bootstrap(sums, ([sum = 0, count = 0]) => [sum / count]);
  return { value: mean(values.map(({ value }) => value)), interval };
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
