import { z } from 'zod';
import type { Analysis } from '../domain/analysis.ts';
import type { Build } from '../domain/build.ts';
import { TriageError } from '../domain/errors.ts';
import type { WorkItem } from '../domain/work.ts';
import { limitTime } from '../lib/resilience.ts';
import type { Published, Publisher } from '../ports/notices.ts';
import type { WorkHandler, WorkLease } from '../ports/work.ts';
import type { PublicationStore } from '../stores/publications.ts';
import type { Stores } from '../stores/stores.ts';

/**
 * The retry policy of a call to the other service. The n-th retry after a temporary error waits about 2ⁿ
 * seconds, at most a quarter of an hour, or longer if the other service says so (Retry-After, at most a day).
 * After 100 retries, which is about a day, the news is too old to send. An attempt that never ended, for
 * example because the process died, counts separately: after five of them the call itself may be what crashes
 * the process.
 */
export const OUTWARD = { limits: { attempts: 5, retries: 100 }, longestDelayMs: 15 * 60_000, concurrency: 2 };

interface PublicationDeps {
  readonly stores: {
    readonly publications: Pick<PublicationStore, 'obsolete'>;
    readonly builds: Pick<Stores['builds'], 'find'>;
    readonly analyses: Pick<Stores['analyses'], 'find'>;
  };
  /** Time limit of one call to the other service, in milliseconds. */
  readonly timeLimitMs: number;
}

/**
 * A lease covers the question whether it was published before, the publishing, and as much again for
 * everything else.
 */
const LEASE_PER_LIMIT = 3;

const Payload = z.object({ analysisId: z.string() });

/** Publishes answers, each once, unless a person or a passed build has overtaken it. */
export function publicationHandler(
  publisher: Publisher,
  { stores, timeLimitMs }: PublicationDeps,
): WorkHandler {
  return {
    topic: `publish:${publisher.driver}`,
    leaseMs: timeLimitMs * LEASE_PER_LIMIT,
    ...OUTWARD,
    handle: async ([entry], lease) => {
      if (entry?.buildId == null)
        return { outcome: 'failed', error: 'The build of this answer is not named.' };
      const { analysisId } = Payload.parse(entry.payload);
      const why = await stores.publications.obsolete(analysisId);
      if (why !== null) return { outcome: 'superseded', error: why };
      const [build, analysis] = [
        await stores.builds.find(entry.buildId),
        await stores.analyses.find(analysisId),
      ];
      if (build === null || analysis === null)
        return { outcome: 'failed', error: 'The answer to publish is no longer stored.' };
      const { reference } = await publishOnce(publisher, { ...lease, entry, build, analysis, timeLimitMs });
      return { outcome: 'done', result: { reference } };
    },
  };
}

/** A call under a lease. */
export interface TimedCall extends WorkLease {
  /** Time limit of one call, in milliseconds. */
  readonly timeLimitMs: number;
}

export interface Publishing extends TimedCall {
  readonly entry: Pick<WorkItem, 'key' | 'lease'>;
  readonly build: Build;
  readonly analysis: Analysis;
}

/**
 * Publishes once. An earlier attempt may have succeeded, so the other service is asked first if it can tell.
 * A call is started only if it must end within the lease, so that no other process can make it at the same
 * time. Throws what the publisher throws, `timeout`, and, if the lease is nearly over, `cancelled`; all of
 * them may be temporary.
 */
export async function publishOnce(publisher: Publisher, publishing: Publishing): Promise<Published> {
  const { entry, build, analysis } = publishing;
  if (entry.lease > 1 && publisher.find !== undefined) {
    const find = publisher.find;
    const found = await inTime(publishing, (signal) => find(build, analysis, { key: entry.key, signal }));
    if (found !== null) return found;
  }
  return await inTime(publishing, (signal) => publisher.publish(build, analysis, { key: entry.key, signal }));
}

/**
 * Makes a call that must end within its limit and its lease. Throws `timeout` and `cancelled`, both of which
 * may pass, and what the call throws.
 */
export async function inTime<Result>(
  timed: TimedCall,
  call: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const { takenAt, leaseMs, timeLimitMs, signal } = timed;
  signal.throwIfAborted();
  if (performance.now() - takenAt > leaseMs - timeLimitMs) {
    throw new TriageError(
      'cancelled',
      'The lease is about to expire; another process may already be publishing this',
      { retryable: true },
    );
  }
  const late = (cause: unknown) =>
    new TriageError('timeout', `No answer within ${timeLimitMs} ms`, { retryable: true, cause });
  return await limitTime({ limitMs: timeLimitMs, late }, (limit) => call(AbortSignal.any([signal, limit])));
}
