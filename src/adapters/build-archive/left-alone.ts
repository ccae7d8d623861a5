/** Remembers that somebody did not answer, so that not everybody waits for him. */
export interface LeftAlone {
  /** Whether he may be asked: he answered last, or it is time for one to try. */
  mayAsk(): boolean;
  answered(): void;
  failed(): void;
}

/** After a failure nobody asks for `restMs`; then one may in each such time, until there is an answer. */
export function createLeftAlone(restMs: number): LeftAlone {
  let until: number | null = null;
  return {
    mayAsk: () => {
      if (until === null) return true;
      if (performance.now() < until) return false;
      until = performance.now() + restMs;
      return true;
    },
    answered: () => {
      until = null;
    },
    failed: () => {
      until = performance.now() + restMs;
    },
  };
}
