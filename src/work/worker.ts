import { setTimeout as sleep } from 'node:timers/promises';
import { TriageError } from '../domain/errors.ts';
import type { WakeUp, WorkHandler } from '../ports/work.ts';
import type { WorkStore } from '../stores/work.ts';
import { processItems, takeItems, type WorkDeps } from './process-items.ts';
import { createServiceLanes } from './service-lanes.ts';
import { createSlots, type Slot } from './slots.ts';

export interface WorkerDeps extends WorkDeps {
  readonly work: WorkDeps['work'] & Pick<WorkStore, 'due'>;
  readonly handlers: readonly WorkHandler[];
  /** The driver that wakes this worker. If absent, it only checks for due items. */
  readonly wakeUp?: WakeUp;
  /** The interval between two checks for due items, in milliseconds; a wake-up comes sooner. */
  readonly intervalMs: number;
}

export type Worker = ReturnType<typeof startWorker>;

/**
 * The number of milliseconds that a stop waits for running work, because an interrupted call may have
 * succeeded.
 */
const STOP_GRACE_MS = 5_000;
/** The number of milliseconds within which interrupted work may release its items. */
const CUT_OFF_MS = 2_000;
/** The maximum number of groups that are remembered as served. */
const MAX_SERVED = 50;

/**
 * Starts a worker that processes work at once, every `intervalMs`, and when it is woken. All work is in the
 * database, so that a stop or crash loses nothing, and any number of processes may run a worker. Each topic
 * has its own slots, so that one that hangs does not delay others.
 */
export function startWorker({ handlers, wakeUp, intervalMs, ...deps }: WorkerDeps) {
  const [stopping, cutOff] = [new AbortController(), new AbortController()];
  const signals = { stopping: stopping.signal, cutOff: cutOff.signal };
  const topics = new Map(
    handlers.map((handler) => [handler.topic, createTopicWorker(handler, deps, signals, wakeUp)]),
  );
  const looking = serializeRuns(async () => {
    const asked = [...topics.keys()].filter((topic) => wakeUp?.brings(topic) !== true);
    try {
      const due = asked.length === 0 ? [] : await deps.work.due(asked);
      if (!stopping.signal.aborted) for (const topic of due) topics.get(topic)?.look();
    } catch (error) {
      if (!stopping.signal.aborted) deps.logger.warn({ error }, 'pending work could not be read; will retry');
    }
  });
  const wake = () => {
    if (!stopping.signal.aborted) looking.look();
  };
  const timer = setInterval(wake, intervalMs);
  timer.unref();
  wakeUp?.start({
    look: (topic) => topics.get(topic)?.look(),
    run: (topic, key) => topics.get(topic)?.run(key) ?? Promise.resolve(),
  });
  wake();
  return {
    /** Checks for work at once. */
    wake,
    /** Takes no more items, lets the current ones finish within `graceMs`, and releases the rest. */
    stop: async (graceMs = STOP_GRACE_MS) => {
      clearInterval(timer);
      stopping.abort();
      wakeUp?.stop();
      for (const topic of topics.values()) topic.stopWaiting();
      const ended = Promise.all([looking, ...topics.values()].map((topic) => topic.ended()));
      await Promise.race([ended, sleep(graceMs, undefined, { ref: false })]);
      cutOff.abort(new TriageError('cancelled', 'The process stops.', { retryable: true }));
      // An unresponsive store must not delay the stop. The items are free again when their lease has expired.
      await Promise.race([ended, sleep(CUT_OFF_MS, undefined, { ref: false })]);
    },
  };
}

/** Runs the work one call at a time. A call that is requested while one runs follows after it. */
function serializeRuns(work: () => Promise<void>): { look(): void; ended(): Promise<void> } {
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

interface Signals {
  /** The signal after which no new work is started. */
  readonly stopping: AbortSignal;
  /** The signal that interrupts work in progress. */
  readonly cutOff: AbortSignal;
}

/** Creates the worker of one topic. It processes the items that it finds, and those that it is woken for. */
function createTopicWorker(
  handler: WorkHandler,
  deps: WorkDeps,
  { stopping, cutOff }: Signals,
  wakeUp: WakeUp | undefined,
) {
  const { topic, concurrency = 1, batch = 1 } = handler;
  const slots = createSlots(concurrency);
  const running = new Set<Promise<unknown>>();
  const served: string[] = [];
  let isOtherSideAway = false;

  const wakeFor = (key: string) => {
    if (wakeUp?.brings(topic) !== true) return looking.look();
    wakeUp.wake(topic, key).catch((error: unknown) => {
      deps.logger.debug({ topic, key, error }, 'a wake-up failed; the item stays pending');
    });
  };
  const lanes = createServiceLanes({
    next: wakeFor,
    resize: (waiting) => wakeUp?.resize(topic, concurrency + waiting),
  });

  /**
   * Takes items for the slot. If a process crashed while it held an item, waits until nothing else runs in
   * this process.
   */
  async function take(slot: Slot, keys?: readonly string[]) {
    const taken = await takeItems(handler, deps, { keys, served, except: keys ? [] : lanes.full() });
    const [item] = taken.items;
    if (item === undefined) return taken;
    if (item.groupKey !== null) moveToEnd(served, item.groupKey);
    if (handler.resumable !== true || item.attempts < 2) return taken;
    // The release is not counted as an attempt: crashes of items running at the same time are not charged to
    // it.
    await deps.work.release(item, 'The process died during the last attempt; it is retried alone.', 0);
    await slot.becomeExclusive();
    return stopping.aborted ? { ...taken, items: [] } : await takeItems(handler, deps, { keys: [item.key] });
  }

  /** Starts processing due items until there are none. */
  async function pull(): Promise<void> {
    isOtherSideAway = false;
    for (;;) {
      const slot = await slots.enter();
      try {
        const isOver = stopping.aborted || isOtherSideAway || (await handler.isPaused?.()) === true;
        const taken = isOver ? null : await take(slot);
        if (taken === null || taken.items.length === 0) return slot.leave();
        track(
          processItems(taken, { handler, deps, lanes, slot, signal: cutOff })
            .then((ok) => {
              // If a batch fails, the external service is probably unavailable.
              if (!ok && batch > 1) isOtherSideAway = true;
            }, warn)
            .finally(() => slot.leave()),
        );
      } catch (error) {
        slot.leave();
        return warn(error);
      }
    }
  }

  /** Processes this item, repeatedly while it is due. */
  async function run(key: string): Promise<void> {
    while (!stopping.aborted) {
      const slot = await slots.enter();
      try {
        const taken = stopping.aborted ? null : await take(slot, [key]);
        if (taken === null || taken.items.length === 0) return;
        await processItems(taken, { handler, deps, lanes, slot, signal: cutOff });
      } finally {
        slot.leave();
      }
    }
  }

  function track<Value>(work: Promise<Value>): Promise<Value> {
    running.add(work);
    const forget = () => running.delete(work);
    work.then(forget, forget);
    return work;
  }

  function warn(error: unknown): void {
    if (!stopping.aborted) deps.logger.warn({ topic, error }, 'work could not be processed; will retry');
  }

  const looking = serializeRuns(pull);
  return {
    look: () => {
      if (!stopping.aborted) looking.look();
    },
    run: (key: string) => track(run(key)),
    /** Interrupts the items that wait for a service. */
    stopWaiting: lanes.stop,
    ended: async () => {
      await Promise.allSettled([looking.ended(), ...running]);
    },
  };
}

function moveToEnd(served: string[], group: string): void {
  const at = served.indexOf(group);
  if (at >= 0) served.splice(at, 1);
  served.push(group);
  if (served.length > MAX_SERVED) served.shift();
}
