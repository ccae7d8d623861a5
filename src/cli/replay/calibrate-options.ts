import type { FitMethod, LabelledAnswer } from '../../replay/calibrate/fit.ts';
import type { DataOptions } from '../settings.ts';

/** What `faultline calibrate` was asked for, as commander reads it. */
export interface CalibrateCommandOptions extends DataOptions {
  readonly dataset?: readonly string[];
  readonly results?: readonly string[];
  readonly reviewed?: boolean;
  readonly analyst?: 'rules' | 'llm';
  readonly method: FitMethod;
  readonly risk?: number;
  readonly confidence: number;
  readonly concurrency: number;
  readonly out?: string;
  readonly apply?: boolean;
  readonly replaces?: number | 'none';
}

/** Answers whose truth is known, of one analyst. */
export interface GatheredAnswers {
  readonly answers: readonly LabelledAnswer[];
  readonly analyst: string;
  readonly sources: readonly string[];
  /** Answers a day brings, by category; null where no store was asked. */
  readonly perDay: ReadonlyMap<string, number> | null;
}
