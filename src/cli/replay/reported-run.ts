import type { FigureSection } from '../../replay/figures/figure.ts';
import type { ResultsFile } from '../../replay/run/results-file.ts';
import type { SourceRun } from './replay-source.ts';

/** One source replayed once, with what came of it. */
export interface ReportedRun {
  readonly heading: string;
  readonly run: SourceRun;
  readonly sections: readonly FigureSection[];
  /** 1-based. */
  readonly repeat: number;
  /** Where its results stand whole; null where nobody keeps them. */
  readonly results: ResultsFile | null;
}
