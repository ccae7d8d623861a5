/** One of the places of a worker, from when it is given until `leave`. */
export interface Slot {
  leave(): void;
  /** Leaves the slot while `wait` runs. Always takes one again, also if `wait` throws. */
  leaveFor<Value>(wait: () => Promise<Value>): Promise<Value>;
  /** Waits until nothing else runs, and keeps everything else out until `leave`. */
  becomeExclusive(): Promise<void>;
}

export type Slots = ReturnType<typeof createSlots>;

/**
 * Limits what runs concurrently to `size`. Exclusive work goes first, so that a steady stream of other work
 * does not delay it.
 */
export function createSlots(size: number) {
  let shared = 0;
  let exclusive = false;
  let queue: { readonly isExclusive: boolean; readonly start: () => void }[] = [];

  const admit = () => {
    for (;;) {
      const next = queue.find(({ isExclusive }) => isExclusive) ?? queue[0];
      if (next === undefined || exclusive || shared >= (next.isExclusive ? 1 : size)) return;
      queue = queue.filter((waiting) => waiting !== next);
      if (next.isExclusive) exclusive = true;
      else shared += 1;
      next.start();
    }
  };
  const enter = (isExclusive: boolean) =>
    new Promise<void>((start) => {
      queue.push({ isExclusive, start });
      admit();
    });
  const leave = (isExclusive: boolean) => {
    if (isExclusive) exclusive = false;
    else shared -= 1;
    admit();
  };

  return {
    /** Waits for a slot that other work shares; none is free while exclusive work runs or waits. */
    enter: async (): Promise<Slot> => {
      let isExclusive = false;
      await enter(isExclusive);
      return {
        leave: () => leave(isExclusive),
        leaveFor: async (wait) => {
          leave(isExclusive);
          try {
            return await wait();
          } finally {
            await enter(isExclusive);
          }
        },
        becomeExclusive: async () => {
          leave(isExclusive);
          isExclusive = true;
          await enter(isExclusive);
        },
      };
    },
  };
}
