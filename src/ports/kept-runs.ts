import type { Comparison } from '../domain/comparison.ts';

/** A replay of labeled failures whose results were kept for comparison with another replay. */
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
  /** Every setting on which an answer may depend, by its display name. Null if it is not set. */
  readonly settings: Readonly<Record<string, string | number | boolean | null>>;
}

/** Two runs, with a phrase for each difference between their settings. */
export interface ComparedRuns {
  readonly comparison: Comparison;
  readonly changes: readonly string[];
}

export interface KeptRuns {
  /** Lists the runs, newest first. Returns null if the caller may not see them. */
  list(): Promise<readonly KeptRun[] | null>;
  /**
   * Compares two runs: the baseline is side A, the candidate side B. Throws `not-found` if one does not
   * exist, and `invalid-input` if they cannot be compared.
   */
  compare(baseline: string, candidate: string): Promise<ComparedRuns>;
}
