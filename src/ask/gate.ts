import { TriageError } from '../domain/errors.ts';

/** How soon a place may be free. */
const RETRY_MS = 5_000;

/** Lets so many pieces of work run at once. */
export interface Gate {
  /** Takes a place and returns how to give it back. Throws `rate-limited` where none is free: nobody is kept waiting unseen. */
  enter(): () => void;
}

export function createGate(places: number): Gate {
  let running = 0;
  return {
    enter: () => {
      if (running >= places) {
        const message = `${running} questions are already being answered. Try again in ${RETRY_MS / 1000} s.`;
        throw new TriageError('rate-limited', message, { retryable: true, retryAfterMs: RETRY_MS });
      }
      running += 1;
      let left = false;
      return () => {
        if (!left) running -= 1;
        left = true;
      };
    },
  };
}
