import { orAborted } from './resilience.ts';

/** Lets each owner do only so many things at once; owners do not wait for each other. */
export interface RunLimiter {
  /** Runs the work when its turn comes, first come, first served. Throws where `signal` ends before. */
  run<Value>(owner: string, signal: AbortSignal, work: () => Promise<Value>): Promise<Value>;
}

interface Lane {
  busy: number;
  readonly waiting: (() => void)[];
}

/** At most `limit` at once for each owner. */
export function createRunLimiter(limit: number): RunLimiter {
  const lanes = new Map<string, Lane>();
  return {
    run: async (owner, signal, work) => {
      const lane = lanes.get(owner) ?? { busy: 0, waiting: [] };
      lanes.set(owner, lane);
      try {
        if (lane.busy >= limit) await turnOf(lane, signal);
        else lane.busy += 1;
        return await whatever(work, () => handOn(lane));
      } finally {
        if (lane.busy === 0) lanes.delete(owner);
      }
    },
  };
}

async function whatever<Value>(work: () => Promise<Value>, then: () => void): Promise<Value> {
  try {
    return await work();
  } finally {
    then();
  }
}

async function turnOf(lane: Lane, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  lane.waiting.push(resolve);
  try {
    await orAborted(promise, signal);
  } catch (error) {
    const at = lane.waiting.indexOf(resolve);
    if (at >= 0) lane.waiting.splice(at, 1);
    // The place was given in the moment of the end.
    else handOn(lane);
    throw error;
  }
}

/** A free place goes to whoever waits longest, so that nobody who comes now takes it from them. */
function handOn(lane: Lane): void {
  const next = lane.waiting.shift();
  if (next === undefined) lane.busy -= 1;
  else next();
}
