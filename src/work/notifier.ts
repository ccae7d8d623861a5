import { setTimeout as delay } from 'node:timers/promises';
import { getErrorMessage } from '../domain/errors.ts';
import type { Logger } from '../ports/telemetry.ts';
import type { WakeUp } from '../ports/work.ts';

/**
 * The limit of wake-ups that the queue has not accepted yet. A queue that hangs is not asked further; workers
 * find the items by themselves.
 */
const MAX_OUTSTANDING = 200;

export type WorkNotifier = ReturnType<typeof createWorkNotifier>;

/**
 * Wakes workers for items that are already in the database. Callers do not wait for the queue, and a call
 * that fails or hangs delays no one: the item is pending in the database, and workers look for it too.
 */
export function createWorkNotifier({
  wakeUp,
  logger,
}: {
  readonly wakeUp: Pick<WakeUp, 'wake'>;
  readonly logger: Logger;
}) {
  const outstanding = new Set<Promise<void>>();
  let silenced = 0;
  return {
    /** Tells workers that this item is due. */
    notify: (topic: string, key: string): void => {
      if (outstanding.size >= MAX_OUTSTANDING) {
        silenced += 1;
        // One line for a queue that hangs, not one for each item.
        if (silenced === 1)
          logger.warn(
            { topic, key, outstanding: outstanding.size },
            'the queue does not answer; work stays pending',
          );
        return;
      }
      silenced = 0;
      const sending = wake(topic, key);
      outstanding.add(sending);
      void sending.finally(() => outstanding.delete(sending));
    },
    /** Resolves when the queue has accepted every wake-up, or after the time. */
    settle: async (timeoutMs: number) => {
      const timer = new AbortController();
      const late = delay(timeoutMs, undefined, { signal: timer.signal, ref: false }).catch(() => undefined);
      await Promise.race([Promise.all(outstanding), late]);
      timer.abort();
    },
  };

  async function wake(topic: string, key: string): Promise<void> {
    try {
      await wakeUp.wake(topic, key);
    } catch (error) {
      logger.warn(
        { topic, key, error: getErrorMessage(error) },
        'the queue did not take a wake-up; the work stays pending',
      );
    }
  }
}
