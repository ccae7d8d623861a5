import { startDeadline } from '../../graphs/triage/deadline.ts';

/** A signal that also ends by time, and whether it was the time that ended it. */
export interface TimeLimit {
  readonly signal: AbortSignal;
  readonly ranOut: () => boolean;
}

/** Does work under a time limit, in milliseconds, whose clock stops with the work. */
export async function withinTime<Value>(limitMs: number, signal: AbortSignal, work: (limit: TimeLimit) => Promise<Value>): Promise<Value> {
  const tooLong = startDeadline(limitMs);
  try {
    return await work({ signal: AbortSignal.any([signal, tooLong.signal]), ranOut: () => tooLong.signal.aborted });
  } finally {
    tooLong.stop();
  }
}
