import type { Analysis } from '../domain/analysis.ts';
import type { DecisionInput, Review } from '../domain/review.ts';
import type { BuildArchive } from '../ports/build-archive.ts';
import type { ShownStores } from '../ports/stores.ts';
import type { Logger } from '../ports/telemetry.ts';

/** What is known of a pasted log: an analysis for each cause, the main one first. Nothing of it is kept. */
export type ExplainLog = (log: string, signal: AbortSignal) => Promise<readonly Analysis[]>;

/** Stores a decision under the reviewer's name, and says in one sentence what it taught. Throws TriageError. */
export type Decide = (request: {
  readonly review: Review;
  readonly reviewer: string;
  readonly input: DecisionInput;
}) => Promise<{ readonly teaching: string }>;

/** The review of an analysis, opened where there is none: a sure answer may be wrong too. Throws `not-found`. */
export type OpenReview = (analysisId: string, by: string) => Promise<Review>;

/** The installation that answers. */
export interface InstallationDeps {
  readonly stores: Pick<ShownStores, 'builds' | 'triages' | 'analyses' | 'failures' | 'history' | 'library' | 'reviews' | 'flakiness'>;
  readonly archive: Pick<BuildArchive, 'list' | 'lines'>;
}

/** What the tools ask; what is absent is not offered. */
export interface McpDeps {
  readonly installation?: InstallationDeps;
  readonly explainLog?: ExplainLog;
  /** Absent: feedback is not offered. */
  readonly feedback?: { readonly decide: Decide; readonly openReview: OpenReview; readonly reviewer: string };
  readonly logger: Logger;
}
