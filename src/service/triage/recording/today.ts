import type { TriageLimits } from '../../../../graphs/triage/state.ts';
import type { JudgmentName, RecordedMaker } from '../../../domain/recording.ts';
import type { Analyst } from '../../../ports/analyst.ts';
import type { Toolbox } from '../../../ports/toolbox.ts';

/** Today's code and configuration, with which a recording is compared. */
export interface Today {
  /**
   * The maker that a recording of today would have. `model` is the configured model; null if there is none.
   */
  readonly madeBy: Pick<RecordedMaker, 'faultline' | 'rules' | 'model'>;
  /** The configured limits. Calibrations are not configured, so the recorded ones are used. */
  readonly limits: TriageLimits;
  /** The limits to apply: the recorded or the configured ones. */
  readonly boundBy: 'recorded' | 'configured';
  /** Today's tools. They are described but never called. */
  readonly toolbox: Pick<Toolbox, 'offered' | 'describe'>;
  /** The rules for judging alone. */
  readonly rules: Analyst;
  /** The rules for judging in place of a model that does not answer. */
  readonly insteadOfModel: Analyst;
  /** Returns the short hash of the prompt for a judgment, or null if it has none. */
  promptHash(name: JudgmentName, input: object): string | null;
  /**
   * Returns the short hash of everything that a model would be shown if `ask` called its analyst, or null if
   * that is unknown.
   */
  shown(ask: (analyst: Analyst) => Promise<unknown>): Promise<string | null>;
}
