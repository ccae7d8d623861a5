import { proportion } from '../../lib/statistics.ts';
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
