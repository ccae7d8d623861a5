import { setTimeout as sleep } from 'node:timers/promises';

/** Work in the background that looks regularly for what is owed. */
export interface BackgroundWorker {
  /** Looks at once: something is owed. */
  wake(): void;
  /** Takes nothing more, lets what is being told end for a moment, and gives back the rest. */
  stop(): Promise<void>;
}

/** `stopping`: nothing more is to be begun. `cutOff`: what is under way is to end. */
export interface StopSignals {
  readonly stopping: AbortSignal;
  readonly cutOff: AbortSignal;
}

/** A call cut off may have got through, so a stop waits for it; in milliseconds. */
const STOP_GRACE_MS = 5_000;

/**
 * Works for each of these in turns of its own, so that one that hangs holds up no other: at once, every `intervalMs`, and when it is woken.
 * `work` must not throw.
 */
export function keepTurns<Of>(
  all: readonly Of[],
  work: (one: Of, signals: StopSignals) => Promise<void>,
  intervalMs: number,
  stopGraceMs = STOP_GRACE_MS,
): BackgroundWorker {
  const [stopping, cutOff] = [new AbortController(), new AbortController()];
  const signals = { stopping: stopping.signal, cutOff: cutOff.signal };
  const turns = all.map((one) => turnOf(() => work(one, signals)));
  const wake = () => {
    if (!stopping.signal.aborted) for (const turn of turns) turn.look();
  };
  const timer = setInterval(wake, intervalMs);
  timer.unref();
  wake();
  return {
    wake,
    stop: async () => {
      clearInterval(timer);
      stopping.abort();
      const ended = Promise.all(turns.map((turn) => turn.ended()));
      await Promise.race([ended, sleep(stopGraceMs, undefined, { ref: false })]);
      cutOff.abort(new Error('the process stops'));
      await ended;
    },
  };
}

/** One look at a time; a look asked for meanwhile comes after it. */
function turnOf(work: () => Promise<void>): { look(): void; ended(): Promise<void> } {
  let running: Promise<void> | null = null;
  let again = false;
  const look = () => {
    again = running !== null;
    running ??= work().finally(() => {
      running = null;
      if (again) look();
    });
  };
  return { look, ended: () => running ?? Promise.resolve() };
}
