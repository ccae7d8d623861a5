/** The clock. It is injected so that tests and replays can control the time. */
export interface Clock {
  /** Returns the milliseconds since the epoch. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

export interface Backoff {
  /** The first pause, in milliseconds. Each further pause is twice as long. */
  readonly firstMs: number;
  /** The longest pause, in milliseconds. Unlimited if absent. */
  readonly longestMs?: number;
}

/**
 * Computes the pause after the n-th attempt, in milliseconds: exponential backoff. Half of it is random
 * jitter, so that clients that failed together do not retry together; with `random` 1 it has its full length.
 */
export function computeBackoff(
  { firstMs, longestMs = Number.POSITIVE_INFINITY }: Backoff,
  attempt: number,
  random: number = Math.random(),
): number {
  return (Math.min(firstMs * 2 ** (attempt - 1), longestMs) * (1 + random)) / 2;
}

/**
 * Settles with the work, or as soon as the signal aborts. Therefore an adapter that ignores its signal blocks
 * no caller.
 */
export function settleOrAbort<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const { promise, resolve, reject } = Promise.withResolvers<Value>();
  const stop = () => reject(signal.reason);
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  return promise;
}

/**
 * Runs `work` now and every `intervalMs` milliseconds, never concurrently with itself. `stop` aborts it and
 * waits until it has ended. `work` must not
 * throw.
 */
export function lookRegularly(
  intervalMs: number,
  work: (stopping: AbortSignal) => Promise<void>,
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  let running: Promise<void> | null = null;
  const look = () => {
    running ??= work(stopping.signal).finally(() => {
      running = null;
    });
  };
  const timer = setInterval(look, intervalMs);
  timer.unref();
  look();
  return {
    stop: async () => {
      clearInterval(timer);
      stopping.abort();
      await running;
    },
  };
}

/**
 * Returns the delay that a response requests, in milliseconds, from its `Retry-After` header in seconds or as
 * a date; null if it has none.
 */
export function retryAfter(headers: Headers, now = Date.now()): number | null {
  const value = headers.get('retry-after')?.trim() ?? '';
  if (value === '') return null;
  const seconds = Number(value);
  if (seconds >= 0) return seconds * 1000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}
