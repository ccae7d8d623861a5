/** A slot of a worker, from its acquisition until `leave`. */
export interface Slot {
  leave(): void;
  /** Releases the slot while `wait` runs. Always reacquires one, even if `wait` throws. */
  leaveFor<Value>(wait: () => Promise<Value>): Promise<Value>;
  /** Waits until nothing else runs, and prevents other work until `leave`. */
  becomeExclusive(): Promise<void>;
}

export type Slots = ReturnType<typeof createSlots>;

/**
 * Creates slots for at most `size` concurrent tasks. Exclusive work takes precedence, so that a steady stream
 * of other work does not delay it.
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
    /** Waits for a shared slot. None is free while exclusive work runs or waits. */
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
