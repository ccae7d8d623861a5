import type { Step } from '../domain/analysis.ts';

/** A finished step of a run that goes on; `position` rises with each, and may skip numbers. */
export interface RunStep {
  readonly position: number;
  readonly step: Step;
}

/** Steps of triages that are running, from whichever process works on them. Losing any of it costs a look only. */
export interface RunStepStore {
  add(buildId: string, step: Step): Promise<void>;
  /** Those of this build after a position, in order; at most 300. */
  after(buildId: string, position: number): Promise<RunStep[]>;
  /** The build's triage begins anew, or is over. */
  forget(buildId: string): Promise<void>;
}
