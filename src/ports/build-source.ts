import type { Build, SourceText, TestResult } from '../domain/build.ts';

export interface FetchedBuild {
  readonly sources: readonly SourceText[];
  /** Test results that the provider gives as data rather than as a report file. */
  readonly testResults: readonly TestResult[];
  readonly notes: readonly string[];
}

/** Fetches the logs and reports of a build from the CI that ran it, with time and size limits. */
export interface BuildSource {
  readonly provider: Build['provider'];
  /** Throws TriageError: `upstream-auth` (final), `not-found` (expired, final), `too-large`, `upstream-failed` or `timeout` (retryable). */
  fetch(build: Build, signal: AbortSignal): Promise<FetchedBuild>;
  /**
   * The logs of what passed in a passed build, named as the same logs of a failed build are, `maxBytes` in all once
   * decompressed; some may be left out. Throws as `fetch` does.
   */
  fetchGreen(build: Build, signal: AbortSignal, maxBytes: number): Promise<readonly SourceText[]>;
}
