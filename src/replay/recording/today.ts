import type { TriageLimits } from '../../../graphs/triage/state.ts';
import type { JudgementName, RecordedMaker } from '../../domain/recording.ts';
import type { Analyst } from '../../ports/analyst.ts';
import type { Toolbox } from '../../ports/toolbox.ts';

/** Today's code and configuration, as far as a recording is held against them. */
export interface Today {
  /** Who made it would be said of a recording of today. `model`: the configured one; null where none is. */
  readonly madeBy: Pick<RecordedMaker, 'faultline' | 'rules' | 'model'>;
  /** The configured limits; calibrations are not configured and stay as they were. */
  readonly limits: TriageLimits;
  /** Whether runs are bounded as they were, or as they would be now. */
  readonly boundBy: 'recorded' | 'configured';
  /** Is described, never asked. */
  readonly toolbox: Pick<Toolbox, 'offered' | 'describe'>;
  /** The rules as they judge alone. */
  readonly rules: Analyst;
  /** The rules as they judge in place of a model that does not answer. */
  readonly insteadOfModel: Analyst;
  /** Short hash of the prompt that a model would be asked with; null where there is none. */
  promptHash(name: JudgementName, input: object): string | null;
  /** Short hash of all that a model would be shown if `ask` asked its analyst; null where that cannot be said. */
  shown(ask: (analyst: Analyst) => Promise<unknown>): Promise<string | null>;
}
