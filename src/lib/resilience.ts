import { setTimeout as sleep } from 'node:timers/promises';
import {
  type BulkheadPolicy,
  bulkhead,
  CircuitState,
  circuitBreaker,
  DelegateBackoff,
  handleWhen,
  isBrokenCircuitError,
  retry,
} from 'cockatiel';
import { type Backoff, computeBackoff, settleOrAbort } from './time.ts';

export interface RetryPolicy {
  /** The maximum number of attempts after the first. */
  readonly retries: number;
  readonly backoff: Backoff;
  /** Checks whether another attempt may help; by default the error says so (`retryable`). */
  readonly mayHelp?: (error: unknown) => boolean;
  /** Returns the maximum useful pause, in milliseconds. If absent, every pause is useful. */
  readonly longestPauseMs?: () => number;
  /** The signal that ends a pause and the attempts. */
  readonly signal?: AbortSignal;
  readonly onRetry?: (error: unknown, pauseMs: number) => void;
}

/**
 * Repeats work after temporary errors. The pause is as long as the other side requested (`retryAfterMs` of
 * the error), otherwise exponential. Throws the error of the last attempt.
 */
export async function retryWithPolicy<Value>(
  policy: RetryPolicy,
  work: () => Promise<Value>,
): Promise<Value> {
  const {
    retries,
    backoff,
    mayHelp = isRetryable,
    longestPauseMs = () => Number.POSITIVE_INFINITY,
    signal,
  } = policy;
  let attempts = 0;
  let pauseMs = 0;
  const again = handleWhen((error) => {
    if (attempts > retries || signal?.aborted === true || !mayHelp(error)) return false;
    pauseMs = getRetryAfter(error) ?? computeBackoff(backoff, attempts);
    if (pauseMs > longestPauseMs()) return false;
    policy.onRetry?.(error, pauseMs);
    return true;
  });
  return await retry(again, { maxAttempts: retries }).execute(async () => {
    // The library's own pause cannot be ended by a signal.
    if (attempts > 0) await sleep(pauseMs, undefined, signal === undefined ? {} : { signal });
    attempts += 1;
    return await work();
  });
}

function isRetryable(error: unknown): boolean {
  return error instanceof Error && 'retryable' in error && error.retryable === true;
}

/** Returns the delay in milliseconds that the server requested, according to the error. */
export function getRetryAfter(error: unknown): number | undefined {
  const asked = error instanceof Error && 'retryAfterMs' in error ? error.retryAfterMs : undefined;
  return typeof asked === 'number' ? asked : undefined;
}

export interface TimeLimit {
  readonly limitMs: number;
  /** The signal that ends the work earlier. */
  readonly signal?: AbortSignal | undefined;
  /** Creates the error for work that took too long; by default the error of the work, or a `TimeoutError`. */
  readonly late?: (cause: unknown) => Error;
  /** Creates the error for work that `signal` ended; by default the error of the work, or its reason. */
  readonly canceled?: (cause: unknown) => Error;
}

/**
 * Runs work within a time limit. The signal that the work is given aborts at the limit and with the caller's
 * signal; the call settles then even if the work ignores it.
 */
export async function limitTime<Value>(
  { limitMs, signal, late, canceled }: TimeLimit,
  work: (signal: AbortSignal, timeLeftMs: () => number) => Promise<Value>,
): Promise<Value> {
  const end = performance.now() + limitMs;
  const deadline = new AbortController();
  const timer = setTimeout(
    () => deadline.abort(new DOMException(`No answer within ${limitMs} ms`, 'TimeoutError')),
    limitMs,
  );
  const either = signal === undefined ? deadline.signal : AbortSignal.any([signal, deadline.signal]);
  try {
    return await settleOrAbort(
      work(either, () => Math.max(1, end - performance.now())),
      either,
    );
  } catch (error) {
    if (signal?.aborted === true) throw canceled?.(error) ?? error;
    throw (deadline.signal.aborted ? late?.(error) : undefined) ?? error;
  } finally {
    clearTimeout(timer);
  }
}

export interface BreakerPolicy {
  /** The weight of failures without a success between them at which the circuit opens. */
  readonly opensAt: number;
  /** Weighs a failure: 1 by rule, 0 if it says nothing about the other side, Infinity to open the circuit. */
  readonly weigh: (error: unknown) => number;
  /** Computes how long the circuit stays open, in milliseconds, from the failure that opened it. */
  readonly restMs: (error: unknown) => number;
}

export type BreakerState = 'closed' | 'open' | 'half-open';

export interface Breaker {
  /**
   * Runs the work. While the circuit is open it throws {@link CircuitOpenError} instead. After the rest one
   * call is made, and others wait for its outcome; it closes the circuit or opens it again.
   */
  run<Value>(work: () => Promise<Value>): Promise<Value>;
  /** Opens the circuit for this number of milliseconds, because the server requested it. */
  holdOff(milliseconds: number): void;
  /** Returns the state. When the rest is over, the circuit stays open until the next call. */
  state(): BreakerState;
  /** Returns the last failure that counted. */
  lastFailure(): unknown;
}

/** The error that says that a call was not made because the circuit is open. */
export class CircuitOpenError extends Error {
  /**
   * The rest of the pause that the server requested, in milliseconds. Null if the circuit opened by itself.
   */
  readonly askedMs: number | null;

  constructor(askedMs: number | null) {
    super('The circuit is open.');
    this.askedMs = askedMs;
  }
}

const STATES: Readonly<Record<CircuitState, BreakerState>> = {
  [CircuitState.Closed]: 'closed',
  [CircuitState.Open]: 'open',
  [CircuitState.HalfOpen]: 'half-open',
  [CircuitState.Isolated]: 'open',
};

/** Creates a circuit breaker, which must live as long as the resource that it protects. */
export function createBreaker({ opensAt, weigh, restMs }: BreakerPolicy): Breaker {
  let weight = 0;
  let heldUntil = 0;
  const counts = handleWhen((error) => {
    const more = weigh(error);
    weight += more;
    return more > 0;
  });
  const circuit = circuitBreaker(counts, {
    breaker: {
      state: null,
      success: () => {
        weight = 0;
      },
      failure: () => weight >= opensAt,
    },
    halfOpenAfter: new DelegateBackoff(({ result }) => restMs('error' in result ? result.error : undefined)),
  });
  return {
    run: async (work) => {
      const askedMs = heldUntil - Date.now();
      if (askedMs > 0) throw new CircuitOpenError(askedMs);
      try {
        return await circuit.execute(work);
      } catch (error) {
        throw isBrokenCircuitError(error) ? new CircuitOpenError(null) : error;
      }
    },
    holdOff: (milliseconds) => {
      heldUntil = Date.now() + milliseconds;
    },
    state: () => (heldUntil > Date.now() ? 'open' : STATES[circuit.state]),
    lastFailure: () =>
      circuit.lastFailure !== undefined && 'error' in circuit.lastFailure
        ? circuit.lastFailure.error
        : undefined,
  };
}

/** Limits the number of concurrent tasks of each owner; owners do not wait for each other. */
export interface RunLimiter {
  /**
   * Runs the work in the order of requests, as soon as the limit allows. Throws if `signal` aborts before.
   */
  run<Value>(owner: string, signal: AbortSignal, work: () => Promise<Value>): Promise<Value>;
}

/** Creates a limiter that allows `limit` concurrent runs for each owner. */
export function createRunLimiter(limit: number): RunLimiter {
  const lanes = new Map<string, { readonly policy: BulkheadPolicy; users: number }>();
  return {
    run: async (owner, signal, work) => {
      const lane = lanes.get(owner) ?? { policy: bulkhead(limit, Number.POSITIVE_INFINITY), users: 0 };
      lanes.set(owner, lane);
      lane.users += 1;
      try {
        const begun = Promise.withResolvers<void>();
        // Not given the signal: a bulkhead whose waiting task is cancelled does not start the next one.
        const done = lane.policy.execute(() => {
          signal.throwIfAborted();
          begun.resolve();
          return work();
        });
        // A waiting caller is released as soon as the run ends; work that has started ends by itself.
        await Promise.race([done, settleOrAbort(begun.promise, signal)]);
        return await done;
      } finally {
        lane.users -= 1;
        if (lane.users === 0) lanes.delete(owner);
      }
    },
  };
}
