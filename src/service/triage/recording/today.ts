import type { TriageLimits } from '../../../../graphs/triage/state.ts';
import type { JudgementName, RecordedMaker } from '../../../domain/recording.ts';
import type { Analyst } from '../../../ports/analyst.ts';
import type { Toolbox } from '../../../ports/toolbox.ts';

/** Today's code and configuration, as far as a recording is compared with them. */
export interface Today {
  /** The maker that a recording of today would name. `model`: the configured one; null if there is none. */
  readonly madeBy: Pick<RecordedMaker, 'faultline' | 'rules' | 'model'>;
  /** The configured limits; calibrations are not configured and stay as they were. */
  readonly limits: TriageLimits;
  /** The limits of the runs: the recorded ones, or those that are configured now. */
  readonly boundBy: 'recorded' | 'configured';
  /** The tools of today, which are described but never asked. */
  readonly toolbox: Pick<Toolbox, 'offered' | 'describe'>;
  /** The rules as they judge alone. */
  readonly rules: Analyst;
  /** The rules as they judge in place of a model that does not answer. */
  readonly insteadOfModel: Analyst;
  /** Returns the short hash of the prompt for a model, or null if there is none. */
  promptHash(name: JudgementName, input: object): string | null;
  /**
   * Returns the short hash of everything that a model would be shown if `ask` asked its analyst, or null if
   * that is unknown.
   */
  shown(ask: (analyst: Analyst) => Promise<unknown>): Promise<string | null>;
}
