import { TriageError } from '../../domain/errors.ts';
import type { Clock } from '../../lib/time.ts';

/** Remembers that somebody is not worth asking for a while. One per process and model. */
export interface Circuit {
  /** Why nobody is asked now, or null. */
  resting(): string | null;
  succeeded(): void;
  failed(error: unknown): void;
}

/** A refused key or a used-up quota does not mend itself in seconds. */
const REFUSED_REST_MS = 5 * 60_000;
/** After failures in a row that might pass: time-outs, overload. */
const FAILED_REST_MS = 60_000;
const FAILURES_IN_A_ROW = 2;

/**
 * Opens at once on a refused key or an empty quota, and after two passing failures in a row. After the rest one question goes
 * through: where that fails too, the rest begins anew.
 */
export function createCircuit(clock: Clock): Circuit {
  let until = 0;
  let reason = '';
  let inARow = 0;
  const rest = (milliseconds: number, error: TriageError) => {
    until = clock.now() + milliseconds;
    reason = error.message;
    inARow = FAILURES_IN_A_ROW - 1;
  };
  return {
    resting: () => (clock.now() < until ? reason : null),
    succeeded: () => {
      inARow = 0;
    },
    failed: (error) => {
      if (!(error instanceof TriageError)) return;
      if (error.code === 'upstream-auth' || error.code === 'quota-exhausted') rest(REFUSED_REST_MS, error);
      else if (['timeout', 'upstream-failed', 'rate-limited'].includes(error.code)) {
        inARow += 1;
        if (inARow >= FAILURES_IN_A_ROW) rest(Math.max(FAILED_REST_MS, error.retryAfterMs ?? 0), error);
      }
    },
  };
}
