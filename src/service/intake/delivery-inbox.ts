import { TriageError } from '../../domain/errors.ts';
import type { DeliveryStore, KeptDelivery, ReceivedDelivery } from '../../stores/deliveries.ts';

/**
 * The maximum number of deliveries in one statement. 500 take a few milliseconds, and each has at most some
 * kilobytes.
 */
const MAX_BATCH = 500;
/**
 * The maximum number of statements at once. One is enough, and makes the next one larger. Others begin if it
 * takes longer than `SLOW_MS`.
 */
const MAX_LANES = 4;
const SLOW_MS = 250;
/**
 * The number of senders within `FLOOD_MS` that counts as a flood: a hundred per second. Fewer leave the
 * database time for other work.
 */
const FLOOD = 10;
const FLOOD_MS = 100;
/** The limit of waiting deliveries: more than can be answered within the ten seconds that GitHub allows. */
const MAX_WAITING = 20_000;
/**
 * The time after which a failed statement is not tried again, in milliseconds. Its senders have then waited
 * long enough.
 */
const RETRY_WITHIN_MS = 2_000;

/**
 * The outcome of a stored delivery. `before` is the earlier delivery with the same id. Null if the delivery
 * is new.
 */
export interface StoreOutcome {
  readonly before: KeptDelivery | null;
}

export type DeliveryInbox = ReturnType<typeof createDeliveryInbox>;

type Deliveries = Pick<DeliveryStore, 'store' | 'find'>;

interface Waiting {
  readonly delivery: ReceivedDelivery;
  readonly resolve: (outcome: StoreOutcome) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Makes deliveries durable. Deliveries that arrive while a statement runs share the next one. Each gets its
 * own outcome.
 */
export function createDeliveryInbox(deliveries: Deliveries) {
  const queue: Waiting[] = [];
  let lanes = 0;
  let startedAt = Number.NEGATIVE_INFINITY;
  /** The arrival times of the last few deliveries. */
  const came: number[] = [];
  return {
    /**
     * Stores a delivery. Resolves once the delivery survives any crash. Throws `storage-failed`, which is
     * retryable if the delivery may be sent again.
     */
    store: (delivery: ReceivedDelivery) =>
      new Promise<StoreOutcome>((resolve, reject) => {
        came.push(performance.now());
        if (came.length > FLOOD) came.shift();
        if (queue.length >= MAX_WAITING) return reject(createTooManyWaitError());
        queue.push({ delivery, resolve, reject });
        if (lanes === 0 || (lanes < MAX_LANES && performance.now() - startedAt > SLOW_MS)) void runLane();
      }),
    /** Returns true if senders wait for the database or arrive in a flood. */
    busy: () => lanes > 0 || (came.length === FLOOD && performance.now() - (came[0] ?? 0) < FLOOD_MS),
  };

  async function runLane(): Promise<void> {
    lanes += 1;
    startedAt = performance.now();
    try {
      while (queue.length > 0) {
        // A pause of one turn lets deliveries that have already arrived join the batch.
        await new Promise((resolve) => setImmediate(resolve));
        startedAt = performance.now();
        await storeTogether(deliveries, queue.splice(0, MAX_BATCH));
      }
    } finally {
      lanes -= 1;
    }
  }
}

/** Stores deliveries in one statement. Never throws: each waiting sender gets the outcome or the error. */
async function storeTogether(deliveries: Deliveries, waiting: readonly Waiting[]): Promise<void> {
  if (waiting.length === 0) return;
  const { first, copies } = deduplicate(waiting);
  const startedAt = performance.now();
  try {
    const fresh = await deliveries.store(first.map(({ delivery }) => delivery));
    for (const [index, delivery] of first.entries()) {
      if (fresh[index] === true) delivery.resolve({ before: null });
      else copies.push(delivery);
    }
  } catch (error) {
    // The error may be caused by another delivery, or by a broken connection, so each delivery is tried
    // separately.
    const again = performance.now() - startedAt < RETRY_WITHIN_MS;
    for (const delivery of first) if (!again) delivery.reject(error);
    if (again) await Promise.all(first.map((delivery) => settle(deliveries, delivery, true)));
  }
  await Promise.all(copies.map((copy) => settle(deliveries, copy, false)));
}

/** Separates the first delivery of each id from its copies. */
function deduplicate(waiting: readonly Waiting[]): { readonly first: Waiting[]; readonly copies: Waiting[] } {
  const first = new Map<string, Waiting>();
  const copies: Waiting[] = [];
  for (const delivery of waiting) {
    const key = `${delivery.delivery.source} ${delivery.delivery.deliveryId}`;
    if (first.has(key)) copies.push(delivery);
    else first.set(key, delivery);
  }
  return { first: [...first.values()], copies };
}

/**
 * Reports the outcome of a delivery to its sender; the sender of a copy receives the outcome of the original.
 * With `again`, it first tries to store the delivery.
 */
async function settle(
  deliveries: Deliveries,
  { delivery, resolve, reject }: Waiting,
  again: boolean,
): Promise<void> {
  try {
    if (again && (await deliveries.store([delivery]))[0] === true) return resolve({ before: null });
    const before = await deliveries.find(delivery.source, delivery.deliveryId);
    if (before === null) throw createVanishedError(delivery);
    // The failed statement may have stored the delivery after all. Then the delivery that was found is this
    // one.
    const itself = again && before.state === 'landed' && before.bodySha256 === delivery.bodySha256;
    resolve({ before: itself ? null : before });
  } catch (error) {
    reject(error);
  }
}

/** Creates the error for a copy whose original was not stored, or was deleted between two statements. */
function createVanishedError({ deliveryId }: ReceivedDelivery): TriageError {
  return new TriageError('storage-failed', `The delivery ${deliveryId} could not be stored. Send it again.`, {
    retryable: true,
    retryAfterMs: 1000,
  });
}

function createTooManyWaitError(): TriageError {
  return new TriageError(
    'storage-failed',
    'Too many deliveries are waiting for the database. Send this one again later.',
    {
      retryable: true,
    },
  );
}
