import type { WorkItem } from '../domain/work.ts';
import type { Logger } from '../ports/telemetry.ts';
import type { WorkStore } from '../stores/work.ts';

interface LeaseDeps {
  readonly work: Pick<WorkStore, 'renew'>;
  readonly logger: Logger;
  readonly leaseMs: number;
}

/**
 * Renews the lease on items at a third of its duration. `lost` is aborted if the lease was taken over, or
 * could not be renewed for its whole duration, so that another process may hold it.
 */
export function keepLease(
  items: readonly WorkItem[],
  { work, logger, leaseMs }: LeaseDeps,
): { readonly lost: AbortSignal; stop(): void } {
  const lost = new AbortController();
  let heldAt = performance.now();
  let waiting = 0;
  const giveUpIfExpired = () => {
    if (performance.now() - heldAt >= leaseMs) lost.abort(new Error('the lease could not be renewed'));
  };
  const renew = async () => {
    // A renewal that does not respond counts as failed.
    if (waiting > 0) giveUpIfExpired();
    const askedAt = performance.now();
    waiting += 1;
    try {
      const renewed = await Promise.all(items.map((item) => work.renew(item, leaseMs)));
      if (renewed.includes(true)) heldAt = askedAt;
      else lost.abort(new Error('the lease was taken over'));
    } catch (error) {
      logger.warn({ topic: items[0]?.topic, key: items[0]?.key, error }, 'a lease could not be renewed');
      giveUpIfExpired();
    } finally {
      waiting -= 1;
    }
  };
  const timer = setInterval(() => void renew(), leaseMs / 3);
  return { lost: lost.signal, stop: () => clearInterval(timer) };
}
