import {
  CircuitState,
  ConsecutiveBreaker,
  circuitBreaker,
  DelegateBackoff,
  handleWhen,
  isBrokenCircuitError,
  retry,
  wrap,
} from 'cockatiel';
import { isRetryable, TriageError, type TriageErrorCode } from '../domain/errors.ts';
import { backoff, orAborted } from '../lib/time.ts';

/** Retries after the first attempt (DESIGN: "when a tool fails"). */
const MAX_RETRIES = 3;
/** Asking again changes nothing, whatever the error says of itself. */
const NEVER_AGAIN: readonly TriageErrorCode[] = [
  'upstream-auth',
  'quota-exhausted',
  'unauthenticated',
  'forbidden',
  'invalid-input',
  'invalid-config',
];
/** Longest that a provider is believed when it asks to be left alone (Retry-After), in milliseconds. */
const MAX_DEMANDED_REST_MS = 15 * 60_000;

export interface ResilienceOptions {
  /** First pause before a retry, in milliseconds; it doubles, with jitter. */
  readonly firstDelayMs: number;
  /** Failures in a row after which a provider is left alone. */
  readonly breakAfter: number;
  /** Milliseconds for which the breaker stays open. */
  readonly restMs: number;
  /**
   * Checks whether a failure counts toward the breaker. By default timeouts, failures of the provider, and
   * rejections of our identity count.
   */
  readonly speaksAgainst?: (error: Error) => boolean;
}

/** The result of calling one provider: the value or the last error, and the number of attempts. */
export type Attempted<Value> =
  | { readonly value: Value; readonly attempts: number }
  | { readonly error: unknown; readonly attempts: number };

export interface Resilience {
  /**
   * Runs the work with retries for retryable errors, behind the provider's circuit breaker, all within
   * `limitMs`.
   * A wait that the provider demands (Retry-After) is honored if it fits the limit. Otherwise there is no
   * further attempt, and
   * that provider is not called before the time has passed.
   * Never throws, except `cancelled` when `signal` aborts.
   */
  attempt<Value>(
    provider: string,
    limitMs: number,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<Value>,
  ): Promise<Attempted<Value>>;
  /**
   * Asks once, behind the same breaker, for as long as `work` takes. Throws what `work` throws, and a retryable error that says how long where
   * the provider is left alone.
   */
  once<Value>(provider: string, work: () => Promise<Value>): Promise<Value>;
  /** Returns the state of the breaker of each provider that was called. */
  breakers(): Readonly<Record<string, 'closed' | 'open' | 'half-open'>>;
}

/** Creates one circuit breaker per provider, kept for the life of the process. */
export function createResilience(options: ResilienceOptions): Resilience {
  const breakers = new Map<string, ReturnType<typeof circuitBreaker>>();
  const restsUntil = new Map<string, number>();
  function getBreaker(provider: string) {
    const known = breakers.get(provider);
    if (known !== undefined) return known;
    const breaker = new ConsecutiveBreaker(options.breakAfter);
    const made = circuitBreaker(handleWhen(options.speaksAgainst ?? isProvidersFault), { halfOpenAfter: options.restMs, breaker });
    breakers.set(provider, made);
    return made;
  }
  const getRestMs = (provider: string) => (restsUntil.get(provider) ?? 0) - Date.now();
  const heed = (provider: string, error: unknown) => {
    const demanded = getRetryAfter(error);
    if (demanded !== undefined) restsUntil.set(provider, Date.now() + Math.min(demanded, MAX_DEMANDED_REST_MS));
  };
  return {
    breakers: () =>
      Object.fromEntries([...breakers].map(([provider, { state }]) => [provider, getRestMs(provider) > 0 ? 'open' : stateName(state)])),
    async once(provider, work) {
      const restMs = getRestMs(provider);
      if (restMs > 0) throw mustWait(provider, restMs);
      try {
        return await getBreaker(provider).execute(work);
      } catch (error) {
        heed(provider, error);
        throw isBrokenCircuitError(error) ? resting(provider, options.restMs) : error;
      }
    },
    async attempt(provider, limitMs, signal, work) {
      const restMs = getRestMs(provider);
      if (restMs > 0) return { error: mustWait(provider, restMs), attempts: 0 };
      const deadline = Date.now() + limitMs;
      const limit = AbortSignal.timeout(limitMs);
      const both = AbortSignal.any([signal, limit]);
      const policy = wrap(retryUntil(deadline, options.firstDelayMs), getBreaker(provider));
      let attempts = 0;
      const asked = policy.execute(() => {
        both.throwIfAborted();
        attempts += 1;
        return orAborted(work(both), both);
      }, both);
      try {
        return { value: await orAborted(asked, both), attempts };
      } catch (error) {
        if (signal.aborted) throw new TriageError('cancelled', 'The run was canceled during a tool call.', { cause: signal.reason });
        heed(provider, error);
        if (isBrokenCircuitError(error)) return { error: resting(provider, options.restMs), attempts };
        return { error: limit.aborted ? new TriageError('timeout', `No answer within ${limitMs} ms.`) : error, attempts };
      }
    },
  };
}

function stateName(state: CircuitState): 'closed' | 'open' | 'half-open' {
  if (state === CircuitState.Closed) return 'closed';
  return state === CircuitState.HalfOpen ? 'half-open' : 'open';
}

/** Creates a retry policy: exponential backoff with half jitter, never sleeping past the deadline. */
function retryUntil(deadline: number, firstDelayMs: number) {
  const worthwhile = (error: Error) => mayHelp(error) && Date.now() + (getRetryAfter(error) ?? 0) < deadline;
  const delays = new DelegateBackoff<{ attempt: number; result: { error: Error } | { value: unknown } }>(({ attempt, result }) => {
    const demanded = 'error' in result ? getRetryAfter(result.error) : undefined;
    return demanded ?? backoff(firstDelayMs, attempt);
  });
  return retry(handleWhen(worthwhile), { maxAttempts: MAX_RETRIES, backoff: delays });
}

function mayHelp(error: Error): boolean {
  return isRetryable(error) && !(error instanceof TriageError && NEVER_AGAIN.includes(error.code));
}

/** Checks whether the provider rejects our identity or our quota is used up. */
export function isRefusal(error: unknown): boolean {
  return error instanceof TriageError && (error.code === 'upstream-auth' || error.code === 'quota-exhausted');
}

function getRetryAfter(error: unknown): number | undefined {
  return error instanceof TriageError ? error.retryAfterMs : undefined;
}

/**
 * Checks whether the failure is the provider's: slow, broken or rejecting our identity. Invalid requests of
 * ours do not count.
 */
function isProvidersFault(error: Error): boolean {
  if (error.name === 'TimeoutError') return true;
  if (!(error instanceof TriageError)) return false;
  return error.retryable || ['timeout', 'upstream-failed', 'upstream-auth', 'quota-exhausted', 'storage-failed'].includes(error.code);
}

function resting(provider: string, restMs: number): TriageError {
  return new TriageError('upstream-failed', `${provider} failed several times in a row and is paused for a while.`, {
    retryable: true,
    retryAfterMs: restMs,
  });
}

function mustWait(provider: string, restMs: number): TriageError {
  return new TriageError('rate-limited', `${provider} asked to wait ${Math.ceil(restMs / 1000)} s.`, {
    retryable: true,
    retryAfterMs: restMs,
  });
}
