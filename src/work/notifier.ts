import { setTimeout as delay } from 'node:timers/promises';
import { getErrorMessage } from '../domain/errors.ts';
import type { Logger } from '../ports/telemetry.ts';
import type { WakeUp } from '../ports/work.ts';

/**
 * The maximum number of wake-ups that the queue has not accepted yet. If it is reached, the queue hangs and
 * gets no more; workers find the items themselves.
 */
const MAX_OUTSTANDING = 200;

export type WorkNotifier = ReturnType<typeof createWorkNotifier>;

/**
 * Creates a notifier that wakes workers for items in the database. Callers do not wait for the queue, and a
 * failed or hanging call delays no one, because workers also check the database.
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
    /** Notifies workers that this item is due. */
    notify: (topic: string, key: string): void => {
      if (outstanding.size >= MAX_OUTSTANDING) {
        silenced += 1;
        // A hanging queue is logged once, not for each item.
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
    /** Resolves when the queue has accepted every wake-up, or when the time is over. */
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
