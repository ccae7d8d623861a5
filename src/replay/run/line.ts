/** Those that are finished wait for a slow one before them, so many to each that runs. */
const WAITING = 8;

/** Cases that run or wait to be handed over. */
export interface Line<T> {
  /** Waits until another may run. */
  room(): Promise<void>;
  /** Takes one that runs, and hands over those that are finished in front. */
  add(one: Promise<T>): Promise<void>;
  /** Waits for the rest: how many were handed over in all. */
  end(): Promise<number>;
}

/** Hands over what runs at once, so many at most, in the order in which it was begun. */
export function createLine<T>(most: number, onDone: (done: T) => Promise<void> | void): Line<T> {
  const waiting: Promise<T>[] = [];
  const running = new Set<Promise<T>>();
  const settled = new Set<Promise<T>>();
  let count = 0;
  const handOver = async () => {
    const first = waiting.shift();
    if (first === undefined) return;
    const done = await first;
    settled.delete(first);
    await onDone(done);
    count++;
  };
  return {
    async room(): Promise<void> {
      while (running.size >= most) await Promise.race(running);
    },
    async add(one: Promise<T>): Promise<void> {
      waiting.push(one);
      running.add(one);
      const leave = () => {
        running.delete(one);
        settled.add(one);
      };
      // Who waits for it hears of a failure; this only keeps the process from ending over it.
      one.then(leave, leave);
      await this.room();
      while (waiting[0] !== undefined && (settled.has(waiting[0]) || waiting.length >= most * WAITING)) await handOver();
    },
    async end(): Promise<number> {
      while (waiting.length > 0) await handOver();
      return count;
    },
  };
}
