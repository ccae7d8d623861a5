import { isRetryable, TriageError, type TriageErrorCode } from '../domain/errors.ts';
import {
  type Breaker,
  type BreakerState,
  CircuitOpenError,
  createBreaker,
  getRetryAfter,
  limitTime,
  retryWithPolicy,
} from '../lib/resilience.ts';
import { settleOrAbort } from '../lib/time.ts';

/** The maximum number of retries after the first attempt. */
const MAX_RETRIES = 3;
/** Errors that a retry would not change, even if they claim to be retryable. */
const NEVER_AGAIN: readonly TriageErrorCode[] = [
  'upstream-auth',
  'quota-exhausted',
  'unauthenticated',
  'forbidden',
  'invalid-input',
  'invalid-config',
];
/** The maximum wait in milliseconds that a provider can request by Retry-After. */
const MAX_DEMANDED_REST_MS = 15 * 60_000;

export interface ResilienceOptions {
  /** The delay before the first retry in milliseconds. It doubles each time, with jitter. */
  readonly firstDelayMs: number;
  /** The number of consecutive failures at which the breaker opens. */
  readonly breakAfter: number;
  /** Milliseconds for which the breaker stays open. */
  readonly restMs: number;
  /**
   * Checks whether a failure counts toward the breaker. By default timeouts, failures of the provider, and
   * rejections of our identity count.
   */
  readonly speaksAgainst?: (error: unknown) => boolean;
}

/** The result of calling one provider: the value or the last error, and the number of attempts. */
export type Attempted<Value> =
  | { readonly value: Value; readonly attempts: number }
  | { readonly error: unknown; readonly attempts: number };

export interface Resilience {
  /**
   * Runs the work with retries for retryable errors, behind the provider's circuit breaker, within `limitMs`
   * in total. A wait that the provider requests (Retry-After) is observed if it fits the limit. Otherwise
   * there is no further attempt, and the provider is not called before that time. Never throws, except
   * `cancelled` when `signal` aborts.
   */
  attempt<Value>(
    provider: string,
    limitMs: number,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<Value>,
  ): Promise<Attempted<Value>>;
  /**
   * Runs the work once, behind the same breaker, without a time limit. Throws the errors of `work`, and a
   * retryable error with the remaining time if the breaker is open.
   */
  once<Value>(provider: string, work: () => Promise<Value>): Promise<Value>;
  /** Returns the state of the breaker of each provider that was called. */
  breakers(): Readonly<Record<string, BreakerState>>;
}

/** Creates one circuit breaker per provider, kept for the life of the process. */
export function createResilience(options: ResilienceOptions): Resilience {
  const breakers = new Map<string, Breaker>();
  const speaksAgainst = options.speaksAgainst ?? isProvidersFault;
  function getBreaker(provider: string): Breaker {
    const known = breakers.get(provider);
    if (known !== undefined) return known;
    const weigh = (error: unknown) => Number(speaksAgainst(error));
    const made = createBreaker({ opensAt: options.breakAfter, weigh, restMs: () => options.restMs });
    breakers.set(provider, made);
    return made;
  }
  /** Observes a wait that the failure requests, and returns the failure in words for people. */
  function recordFailure(provider: string, error: unknown): unknown {
    if (error instanceof CircuitOpenError) {
      return error.askedMs === null
        ? createRestingError(provider, options.restMs)
        : createMustWaitError(provider, error.askedMs);
    }
    const demandedMs = getRetryAfter(error);
    if (demandedMs !== undefined) getBreaker(provider).holdOff(Math.min(demandedMs, MAX_DEMANDED_REST_MS));
    return error;
  }
  return {
    breakers: () =>
      Object.fromEntries([...breakers].map(([provider, breaker]) => [provider, breaker.state()])),
    async once(provider, work) {
      try {
        return await getBreaker(provider).run(work);
      } catch (error) {
        throw recordFailure(provider, error);
      }
    },
    async attempt(provider, limitMs, signal, work) {
      const breaker = getBreaker(provider);
      const late = () => new TriageError('timeout', `No answer within ${limitMs} ms.`);
      const canceled = () =>
        new TriageError('cancelled', 'The run was canceled during a tool call.', { cause: signal.reason });
      let attempts = 0;
      try {
        const value = await limitTime({ limitMs, signal, late, canceled }, (both, longestPauseMs) =>
          retryWithPolicy(
            {
              retries: MAX_RETRIES,
              backoff: { firstMs: options.firstDelayMs },
              mayHelp,
              longestPauseMs,
              signal: both,
            },
            () =>
              breaker.run(() => {
                both.throwIfAborted();
                attempts += 1;
                return settleOrAbort(work(both), both);
              }),
          ),
        );
        return { value, attempts };
      } catch (error) {
        if (signal.aborted) throw error;
        return { error: recordFailure(provider, error), attempts };
      }
    },
  };
}

function mayHelp(error: unknown): boolean {
  return isRetryable(error) && !(error instanceof TriageError && NEVER_AGAIN.includes(error.code));
}

/** Checks whether the provider rejects our credentials or our quota is used up. */
export function isRefusal(error: unknown): boolean {
  return error instanceof TriageError && (error.code === 'upstream-auth' || error.code === 'quota-exhausted');
}

/**
 * Checks whether the provider is to blame: it is slow, broken or rejects our credentials. Invalid requests do
 * not count.
 */
function isProvidersFault(error: unknown): boolean {
  if (error instanceof DOMException && error.name === 'TimeoutError') return true;
  if (!(error instanceof TriageError)) return false;
  return (
    error.retryable ||
    ['timeout', 'upstream-failed', 'upstream-auth', 'quota-exhausted', 'storage-failed'].includes(error.code)
  );
}

function createRestingError(provider: string, restMs: number): TriageError {
  return new TriageError(
    'upstream-failed',
    `${provider} failed several times in a row and is paused for a while.`,
    {
      retryable: true,
      retryAfterMs: restMs,
    },
  );
}

function createMustWaitError(provider: string, restMs: number): TriageError {
  return new TriageError('rate-limited', `${provider} asked to wait ${Math.ceil(restMs / 1000)} s.`, {
    retryable: true,
    retryAfterMs: restMs,
  });
}
