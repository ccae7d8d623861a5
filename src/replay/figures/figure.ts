/** One figure of the table: its name, its value (0..1 unless the name says otherwise), and on how many cases it rests. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly cases: number;
}

/** 0 for no values. */
export function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((total, value) => total + value, 0) / values.length;
}
