import type { Comparison } from '../domain/comparison.ts';

/** A replay of labeled failures whose results were kept, to be compared with another one. */
export interface KeptRun {
  readonly name: string;
  readonly startedAt: string;
  /** The release that answered. */
  readonly version: string;
  /** The sources of its cases. Two runs of the same cases have the same sources. */
  readonly sources: readonly {
    readonly name: string;
    readonly sha256: string | null;
    readonly cases: number | null;
  }[];
  /** Every setting on which an answer may depend, by its name for people; null if it is not set. */
  readonly settings: Readonly<Record<string, string | number | boolean | null>>;
}

/** Two runs, and the differences of their settings, a phrase each. */
export interface ComparedRuns {
  readonly comparison: Comparison;
  readonly changes: readonly string[];
}

export interface KeptRuns {
  /** Lists the runs, newest first. Returns null if the caller may not see them. */
  list(): Promise<readonly KeptRun[] | null>;
  /**
   * Compares two runs: the baseline is side A, the candidate side B. Throws `not-found`, and `invalid-input`
   * if the two cannot be compared.
   */
  compare(baseline: string, candidate: string): Promise<ComparedRuns>;
}
