import type { ModelUsage } from '../domain/analysis.ts';

/** A statement about lines of a text. */
export interface SummaryPoint {
  readonly text: string;
  readonly lineStart: number;
  readonly lineEnd: number;
}

/** Summarizes numbered lines with a model. Throws the errors of the model. */
export type Summarize = (
  text: {
    readonly title: string;
    /** The purpose of the summary. Empty for the whole text. */
    readonly focus: string;
    /** The number of the first line. */
    readonly lineStart: number;
    /** Masked lines. */
    readonly lines: readonly string[];
  },
  signal: AbortSignal,
) => Promise<{ readonly points: readonly SummaryPoint[]; readonly usage: ModelUsage }>;
