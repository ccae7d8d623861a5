/** Steps out of a place for as long as `wait` takes; then comes back as it came, also where that throws. */
export type StepOut = <Value>(wait: () => Promise<Value>) => Promise<Value>;

/** Work that goes on together, and work that nothing else may go on beside. */
export interface CrashIsolation {
  /** Runs beside other shared work, once there is a place and nothing that must be alone runs or waits. */
  together<Result>(work: (stepOut: StepOut) => Promise<Result>): Promise<Result>;
  /** Waits for what runs to end, and keeps everything else out meanwhile. */
  alone<Result>(work: (stepOut: StepOut) => Promise<Result>): Promise<Result>;
}

/**
 * For jobs that a process died with: what they do alone, no other job can be blamed for. Who must be alone goes first, so
 * that a steady stream of others does not keep it waiting. `places` is how many go on together.
 */
export function createCrashIsolation(places = Number.POSITIVE_INFINITY): CrashIsolation {
  let shared = 0;
  let lonely = false;
  let queue: { readonly mustBeAlone: boolean; readonly start: () => void }[] = [];

  const admit = () => {
    for (;;) {
      const next = queue.find(({ mustBeAlone }) => mustBeAlone) ?? queue[0];
      if (next === undefined || lonely || shared >= (next.mustBeAlone ? 1 : places)) return;
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
  const leave = (mustBeAlone: boolean) => {
    if (mustBeAlone) lonely = false;
    else shared -= 1;
    admit();
  };
  const within = async <Result>(mustBeAlone: boolean, work: (stepOut: StepOut) => Promise<Result>): Promise<Result> => {
    await enter(mustBeAlone);
    try {
      return await work(async (wait) => {
        leave(mustBeAlone);
        try {
          return await wait();
        } finally {
          await enter(mustBeAlone);
        }
      });
    } finally {
      leave(mustBeAlone);
    }
  };

  return { together: (work) => within(false, work), alone: (work) => within(true, work) };
}
