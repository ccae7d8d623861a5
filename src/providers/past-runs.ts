import type { Reading } from './webhook.ts';

/** A run that has ended, as its CI lists it. */
export interface PastRun {
  readonly externalId: string;
  /** Null where the CI does not count: the run is known by its id alone. */
  readonly attempt: number | null;
  /** What its event would have said. Throws as `BuildSource.fetch` does, `not-found` where it was deleted. */
  load(signal: AbortSignal): Promise<Reading>;
}

/** The past of a repository's CI. */
export interface PastRuns {
  /** Runs that began, or changed, after `since`, the newest first. Throws as `BuildSource.fetch` does. */
  list(repository: string, since: Date, signal: AbortSignal): AsyncIterable<PastRun>;
}
