/** One figure of the table: its name, its value (0..1 unless `unit` says otherwise), and on how many cases it rests. */
export interface Figure {
  /** Unique within a data set; stable, scripts read it. */
  readonly name: string;
  readonly value: number;
  readonly cases: number;
  /** A whole number, or a measure of its own such as milliseconds; a share of 1 where it is left out. */
  readonly unit?: 'count' | 'measure';
  /** Where figures make a small table of their own, such as one row a class. */
  readonly cell?: { readonly row: string; readonly column: string };
  /** 95 % interval of the value; absent where none is meant. */
  readonly interval?: readonly [low: number, high: number];
  /** Ids of the cases that keep the figure from being better: what to look at first. Absent where no single case does. */
  readonly against?: readonly string[];
}

/** Figures that are read together, under one heading. */
export interface FigureSection {
  readonly title: string;
  readonly figures: readonly Figure[];
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
