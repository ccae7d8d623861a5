import { formatCount } from '../../lib/text.ts';
import type { Facts } from '../facts.ts';
import type { FailureBlock } from '../failure-block.ts';
import type { Value } from '../sentence.ts';
import { findReachedLimit, type ReachedLimit } from '../time-limit.ts';

type LimitReader = (block: FailureBlock, facts: Facts) => Value | null;

/** The slots for a time limit that had run out when the run was stopped. */
export const LIMIT_READERS: Readonly<Record<string, LimitReader>> = {
  /** The part that was canceled: "job", "step". */
  limited: readWith(({ of }) => (of === 'silence' ? null : of)),
  /** The limit: "20 minutes". */
  reached: readWith(({ minutes }) => formatCount(minutes, 'minute')),
  /** The limit of a run that printed nothing. */
  silentFor: readWith(({ of, minutes }) => (of === 'silence' ? formatCount(minutes, 'minute') : null)),
  /** The time until the run was stopped: "20 minutes and 7 seconds". */
  elapsed: readWith(({ of, stopped: { jobSeconds, stepSeconds, silentSeconds } }) =>
    formatSeconds({ job: jobSeconds, step: stepSeconds, silence: silentSeconds }[of] ?? 0),
  ),
};

function readWith(choose: (limit: ReachedLimit) => string | null): LimitReader {
  return (_block, { subject }) => {
    const limit = findReachedLimit(subject);
    const text = limit === null ? null : choose(limit);
    return limit === null || text === null ? null : { ...limit.stopped.at, near: 'line', text };
  };
}

function formatSeconds(seconds: number): string {
  const [minutes, rest] = [Math.floor(seconds / 60), seconds % 60];
  return rest === 0
    ? formatCount(minutes, 'minute')
    : `${formatCount(minutes, 'minute')} and ${formatCount(rest, 'second')}`;
}
