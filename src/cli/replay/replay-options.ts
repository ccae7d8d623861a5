import type { Design } from '../../domain/ablation.ts';

/** What `faultline replay` was asked for, as commander reads it. */
export interface ReplayCommandOptions {
  /** Several are replayed one after the other, each with a table of its own. */
  readonly dataset?: readonly string[];
  readonly out?: string;
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
  readonly json?: boolean;
}
