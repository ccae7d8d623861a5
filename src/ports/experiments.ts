import type { Experiment } from '../domain/experiment.ts';
import type { Sql } from './database.ts';

export interface ExperimentStore {
  /** Keeps what came of an experiment on a build's failure; `by` reported it. Throws `not-found` where there is no such build. */
  add(buildId: string, experiment: Experiment, by: string, sql: Sql): Promise<void>;
  /** Gives the newest experiment about each answer of a build to it; the ids of the answers that have one. */
  apply(buildId: string, sql: Sql): Promise<string[]>;
}
