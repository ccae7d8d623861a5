/** Work that goes on together, and work that nothing else may go on beside. */
export interface Solitude {
  /** Runs beside other shared work, once nothing that must be alone runs or waits. */
  together<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Waits for what runs to end, and keeps everything else out meanwhile. */
  alone<Result>(work: () => Promise<Result>): Promise<Result>;
}

/**
 * For jobs that a process died with: what they do alone, no other job can be blamed for. Who must be alone goes first, so
 * that a steady stream of others does not keep it waiting.
 */
export function createSolitude(): Solitude {
  let shared = 0;
  let lonely = false;
  let queue: { readonly mustBeAlone: boolean; readonly start: () => void }[] = [];

  const admit = () => {
    for (;;) {
      const next = queue.find(({ mustBeAlone }) => mustBeAlone) ?? queue[0];
      if (next === undefined || lonely || (next.mustBeAlone && shared > 0)) return;
      queue = queue.filter((one) => one !== next);
      if (next.mustBeAlone) lonely = true;
      else shared += 1;
      next.start();
    }
  };
  const enter = (mustBeAlone: boolean) =>
    new Promise<void>((start) => {
      queue.push({ mustBeAlone, start });
      admit();
    });

  return {
    together: async (work) => {
      await enter(false);
      try {
        return await work();
      } finally {
        shared -= 1;
        admit();
      }
    },
    alone: async (work) => {
      await enter(true);
      try {
        return await work();
      } finally {
        lonely = false;
        admit();
      }
    },
  };
}
