/** A triage job that is owed now and that nobody holds, and what decides when its turn is. */
export interface Turn {
  readonly id: string;
  readonly repository: string;
  /** It is of the branch that everybody works from. */
  readonly urgent: boolean;
  /** Jobs of its repository that are in work now, anywhere. */
  readonly working: number;
}

/** A triage job that ended without an answer that could be stored. */
export interface FailedJob {
  readonly id: string;
  readonly buildId: string;
  readonly repository: string;
  readonly error: string | null;
  readonly at: string;
}

/** Whose turn it is, so that one noisy repository cannot starve the others. Ask the lease who really gets a job. */
export interface JobTurns {
  /** One of each repository after another, each repository's urgent ones first. */
  next(limit: number): Promise<Turn[]>;
  /** Null where the job is unknown. */
  place(jobId: string): Promise<Pick<Turn, 'repository' | 'urgent'> | null>;
  /** The newest first. */
  failed(limit: number): Promise<FailedJob[]>;
  /**
   * Owes a job anew that failed for good or waits for its next try, as if there were news of its build. `done` and `in-work`:
   * nothing is changed. Null where it is unknown.
   */
  oweAnew(jobId: string): Promise<'owed' | 'in-work' | 'done' | null>;
}
