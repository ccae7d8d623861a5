import { TriageError } from '../domain/errors.ts';
import type { WithoutSlot } from '../ports/work.ts';
import type { Slot } from './slots.ts';

/** The maximum number of items that wait for one service at once. */
const WAITING = 4;

interface Lane {
  readonly waiting: Set<AbortController>;
  /** The keys of items that may run when waiting ones continue, in the order of their arrival. */
  readonly turnedAway: Set<string>;
}

export type ServiceLanes = ReturnType<typeof createServiceLanes>;

/**
 * Lets items leave their slots while they wait for an external service, a few for each service. Calls
 * `resize` with the number of waiting items, and `next` with the key of a refused item that may try again.
 */
export function createServiceLanes({
  resize,
  next,
}: {
  readonly resize: (waiting: number) => void;
  readonly next: (key: string) => void;
}) {
  const lanes = new Map<string, Lane>();
  let isStopping = false;

  const openLane = (service: string) => {
    const lane = lanes.get(service) ?? { waiting: new Set(), turnedAway: new Set() };
    lanes.set(service, lane);
    return lane;
  };
  const listWaiting = () => [...lanes.values()].flatMap(({ waiting }) => [...waiting]);
  const callNext = ({ turnedAway }: Lane) => {
    const [key] = turnedAway;
    if (key === undefined || isStopping) return;
    turnedAway.delete(key);
    next(key);
  };

  return {
    /** Returns the services that have the maximum number of waiting items. */
    full: () => [...lanes].flatMap(([service, { waiting }]) => (waiting.size < WAITING ? [] : [service])),
    /** Creates the function by which an item leaves its slot. `controller` interrupts the item. */
    createWaiter: (key: string, slot: Slot, controller: AbortController): WithoutSlot => {
      return async (service, wait) => {
        const lane = openLane(service);
        if (lane.waiting.size >= WAITING) {
          lane.turnedAway.add(key);
          controller.abort(
            createCancelledError(`${WAITING} other items are waiting for ${service}; this one is next.`),
          );
        }
        if (isStopping) controller.abort(createCancelledError('The process stops.'));
        controller.signal.throwIfAborted();
        lane.turnedAway.delete(key);
        lane.waiting.add(controller);
        resize(listWaiting().length);
        const waiting = async () => {
          try {
            return await wait();
          } finally {
            lane.waiting.delete(controller);
            callNext(lane);
          }
        };
        try {
          return await slot.leaveFor(waiting);
        } finally {
          resize(listWaiting().length);
        }
      };
    },
    /** Interrupts all waiting items. */
    stop: () => {
      isStopping = true;
      for (const controller of listWaiting()) controller.abort(createCancelledError('The process stops.'));
    },
  };
}

function createCancelledError(sentence: string): TriageError {
  return new TriageError('cancelled', sentence, { retryable: true });
}
