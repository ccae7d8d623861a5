import type { Design } from '../../domain/calibration.ts';
import type { SliceBy } from '../../replay/figures/score.ts';
import type { DataOptions } from '../settings.ts';

/** What `faultline replay` was requested, as commander reads it. */
export interface ReplayCommandOptions extends StoredCaseOptions {
  /** Several are replayed one after the other, each with a table of its own. */
  readonly dataset?: readonly string[];
  /** Folders of logs, a table each. */
  readonly logs?: readonly string[];
  /** The main figures also by this. */
  readonly by?: SliceBy;
  /** So many cases of each source. */
  readonly sample?: number;
  /** The same cases so many times. */
  readonly repeat?: number;
  readonly out?: string;
  /** Go on behind what an earlier run left in `out`. */
  readonly resume?: boolean;
  /** Where recordings of the runs are written. */
  readonly record?: string;
  readonly maxUsd?: number;
  readonly maxMinutes?: number;
  /** A model compares explanations with their labels, each so many times. */
  readonly judge?: true | number;
  readonly junit?: string;
  /** A file of bars. */
  readonly gate?: string;
  readonly html?: string;
  readonly analyst?: 'rules' | 'llm';
  readonly model?: string;
  readonly profile?: 'fast' | 'balanced' | 'thorough';
  readonly budget?: number;
  readonly concurrency: number;
  readonly only?: 'read';
  readonly green: boolean;
  /** Names of stages that are left out, unchecked. */
  readonly without?: readonly string[];
  readonly design?: Design;
}

/** Which stored failures are meant, as commander reads it. */
export interface StoreFilterOptions {
  readonly repository?: string;
  readonly branch?: string;
  readonly fingerprint?: string;
  readonly category?: string;
  readonly since?: string;
  readonly until?: string;
}

/** Which stored failures are requested, and where they are. */
export interface StoredCaseOptions extends DataOptions, StoreFilterOptions {
  /** What people decided. */
  readonly reviewed?: true;
  /** Every stored failure. */
  readonly stored?: true;
}
