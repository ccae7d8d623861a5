import type { TriageJob } from '../domain/triage.ts';
import type { TriageStore } from '../ports/stores.ts';
import type { Logger } from '../ports/telemetry.ts';

export interface LeaseDeps {
  readonly triages: Pick<TriageStore, 'renew'>;
  readonly logger: Logger;
  readonly leaseMs: number;
}

/**
 * Renews the lease at a third of its length. `lost` tells a holder to stop: the lease was taken over, or could not be
 * renewed for as long as it lasts, so that somebody else may have it by now.
 */
export function keepLease(job: TriageJob, deps: LeaseDeps): { readonly lost: AbortSignal; stop(): void } {
  const lost = new AbortController();
  let heldAt = performance.now();
  let waiting = 0;
  const giveUpIfExpired = () => {
    if (performance.now() - heldAt >= deps.leaseMs) lost.abort(new Error('the lease could not be renewed'));
  };
  const timer = setInterval(() => {
    // A renewal that does not answer is as good as one that fails.
    if (waiting > 0) giveUpIfExpired();
    const askedAt = performance.now();
    waiting += 1;
    deps.triages
      .renew(job, deps.leaseMs)
      .then(
        (held) => {
          if (held) heldAt = askedAt;
          else lost.abort(new Error('the lease was taken over'));
        },
        (error: unknown) => {
          deps.logger.warn({ jobId: job.id, error }, 'lease could not be renewed');
          giveUpIfExpired();
        },
      )
      .finally(() => {
        waiting -= 1;
      });
  }, deps.leaseMs / 3);
  return { lost: lost.signal, stop: () => clearInterval(timer) };
}
