import type { FigureSection } from '../figures/figure.ts';
import type { ReplayedCase } from '../run/replay.ts';

/** One data set as it was replayed, with its figures. */
export interface GatedRun {
  /** The name of its file or folder: what bars call it. */
  readonly name: string;
  /** What people are told it is, such as "clean.jsonl, repeat 2 of 3". */
  readonly label: string;
  readonly sections: readonly FigureSection[];
  readonly cases: readonly ReplayedCase[];
  /** False where the replay ended before its last case. */
  readonly isAll: boolean;
}
