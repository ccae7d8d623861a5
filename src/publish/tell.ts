import { performance } from 'node:perf_hooks';
import type { Analysis } from '../domain/analysis.ts';
import type { Build } from '../domain/build.ts';
import { TriageError } from '../domain/errors.ts';
import type { OutwardAct } from '../domain/notice.ts';
import type { Published, Publisher } from '../ports/notices.ts';

/** A call under a lease. */
export interface TimedCall {
  /** When the lease was asked for, on the monotonic clock, which goes on while the process is frozen. */
  readonly takenAt: number;
  readonly leaseMs: number;
  /** Of one call, in milliseconds. */
  readonly timeLimitMs: number;
  readonly signal: AbortSignal;
}

export interface Telling extends TimedCall {
  readonly act: OutwardAct;
  readonly build: Build;
  readonly analysis: Analysis;
}

/**
 * Tells once: a try before this one may have got through, so the other side is asked first where it can say. A call is begun only
 * where it must end within the lease, so that nobody else can make it at the same time. Throws what the publisher throws,
 * `timeout` and, where the lease is nearly over, `cancelled`; all of them may pass.
 */
export async function tell(publisher: Publisher, telling: Telling): Promise<Published> {
  const { act, build, analysis } = telling;
  if (act.lease > 1 && publisher.find !== undefined) {
    const find = publisher.find;
    const found = await inTime(telling, (signal) => find(build, analysis, { key: act.key, signal }));
    if (found !== null) return found;
  }
  return await inTime(telling, (signal) => publisher.publish(build, analysis, { key: act.key, signal }));
}

/** Makes a call that must end within its limit and its lease. Throws `timeout` and `cancelled`, both of which may pass, and what the call throws. */
export async function inTime<Result>(telling: TimedCall, call: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
  const { takenAt, leaseMs, timeLimitMs, signal } = telling;
  signal.throwIfAborted();
  if (performance.now() - takenAt > leaseMs - timeLimitMs) {
    throw new TriageError('cancelled', 'The lease is about to expire; another process may already be publishing this', { retryable: true });
  }
  const tooLong = AbortSignal.timeout(timeLimitMs);
  const late = (cause?: unknown) => new TriageError('timeout', `No answer within ${timeLimitMs} ms`, { retryable: true, cause });
  try {
    return await ended(call(AbortSignal.any([signal, tooLong])), tooLong, late);
  } catch (error) {
    if (tooLong.aborted && !signal.aborted) throw late(error);
    throw error;
  }
}

/** A publisher that does not hear the signal is left behind. */
async function ended<Result>(work: Promise<Result>, tooLong: AbortSignal, late: () => Error): Promise<Result> {
  work.catch(() => undefined);
  return await Promise.race([
    work,
    new Promise<never>((_resolve, reject) => tooLong.addEventListener('abort', () => reject(late()), { once: true })),
  ]);
}
