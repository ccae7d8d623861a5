import type { Analysis, Step } from '../../domain/analysis.ts';
import type { Recording } from '../../domain/recording.ts';
import type { Clock } from '../../lib/time.ts';

/** The clock of a recorded run: each step begins and ends when it did, so that a budget of seconds ends where it ended. */
export interface FrozenClock extends Clock {
  /** To be told of each finished step. */
  readonly onStep: (step: Step) => void;
}

export function frozenClock({ startedAt, analysis }: Pick<Recording, 'startedAt' | 'analysis'>): FrozenClock {
  const steps = analysis?.steps ?? [];
  const start = Date.parse(startedAt);
  let finished = 0;
  let asked = -1;
  let last = start;
  return {
    now: () => {
      const step = steps[finished];
      // The first question is the run's own, before any step.
      if (asked === -1 || step === undefined) {
        asked = Math.max(asked, 0);
        return last;
      }
      asked += 1;
      const begun = Date.parse(step.startedAt);
      last = asked === 1 ? begun : begun + step.milliseconds;
      return last;
    },
    onStep: () => {
      finished += 1;
      asked = 0;
    },
  };
}

/**
 * The answer of a frozen run, with the id and the times of the recorded one: each step's and each judgement's by its place. All else is the
 * run's own.
 */
export function withRecordedTimes(now: Analysis, recorded: Analysis): Analysis {
  return {
    ...now,
    id: recorded.id,
    createdAt: recorded.createdAt,
    milliseconds: recorded.milliseconds,
    steps: now.steps.map((step, index) => stepAt(step, recorded.steps[index])),
  };
}

function stepAt(step: Step, recorded: Step | undefined): Step {
  if (recorded === undefined) return step;
  const { judgements, outcomes } = step;
  return {
    ...step,
    startedAt: recorded.startedAt,
    milliseconds: recorded.milliseconds,
    ...(judgements === undefined ? {} : { judgements: timed(judgements, recorded.judgements) }),
    ...(outcomes === undefined ? {} : { outcomes: timed(outcomes, recorded.outcomes) }),
  };
}

function timed<Item extends { readonly milliseconds: number }>(
  items: readonly Item[],
  recorded: readonly { readonly milliseconds: number }[] | undefined,
): Item[] {
  return items.map((item, index) => ({ ...item, milliseconds: recorded?.[index]?.milliseconds ?? item.milliseconds }));
}
