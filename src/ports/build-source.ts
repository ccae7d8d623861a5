import type { Build, NewBuild, SourceText, TestResult } from '../domain/build.ts';

export interface FetchedBuild {
  readonly sources: readonly SourceText[];
  /** The test results that the provider returns as data, not as a report file. */
  readonly testResults: readonly TestResult[];
  readonly notes: readonly string[];
}

/** Fetches the logs and reports of a build from the CI that ran it, with time and size limits. */
export interface BuildSource {
  readonly provider: Build['provider'];
  /**
   * Throws TriageError: `upstream-auth` (final), `not-found` (expired, final), `too-large`, `upstream-failed`
   * or `timeout` (retryable).
   */
  fetch(build: Build, signal: AbortSignal): Promise<FetchedBuild>;
  /**
   * Fetches the logs of the passed jobs of a passed build, named like the same logs of a failed build. They
   * have at most `maxBytes` in total after decompression. Some logs may be left out. Throws the same errors
   * as `fetch`.
   */
  fetchGreen(build: Build, signal: AbortSignal, maxBytes: number): Promise<readonly SourceText[]>;
  /**
   * Adds to a build what its event did not say. Never changes its pipeline, number or attempt. Absent if
   * events say all that the CI knows. Throws the same errors as `fetch`.
   */
  readonly complete?: (build: NewBuild, signal: AbortSignal) => Promise<NewBuild>;
}
