import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { TriageError } from '../../src/domain/errors.ts';
import {
  CircuitOpenError,
  createBreaker,
  limitTime,
  type RetryPolicy,
  retryWithPolicy,
} from '../../src/lib/resilience.ts';

const temporary = (retryAfterMs?: number) =>
  new TriageError('upstream-failed', 'down', {
    retryable: true,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });

describe('retrying', () => {
  /** Runs work that throws these errors in turn, and returns its outcome with the number of attempts. */
  async function attempt(errors: readonly Error[], policy: Partial<RetryPolicy> = {}) {
    let attempts = 0;
    const pauses: number[] = [];
    const onRetry = (_error: unknown, pauseMs: number) => void pauses.push(pauseMs);
    const outcome = await retryWithPolicy(
      { retries: 2, backoff: { firstMs: 4 }, onRetry, ...policy },
      async () => {
        attempts += 1;
        const error = errors[attempts - 1];
        if (error !== undefined) throw error;
        return 'done';
      },
    ).catch((error: unknown) => error);
    return { outcome, attempts, pauses };
  }

  it('makes further attempts after retryable errors, with longer pauses', async () => {
    const { outcome, attempts, pauses } = await attempt([temporary(), temporary()]);
    expect([outcome, attempts]).toEqual(['done', 3]);
    expect(pauses[0]).toBeGreaterThanOrEqual(2);
    expect(pauses[0]).toBeLessThanOrEqual(4);
    expect(pauses[1]).toBeGreaterThanOrEqual(4);
    expect(pauses[1]).toBeLessThanOrEqual(8);
  });

  it('throws the last error when no attempts remain', async () => {
    const last = temporary();
    expect(await attempt([temporary(), temporary(), last])).toMatchObject({ outcome: last, attempts: 3 });
  });

  it.each([new TriageError('not-found', 'gone'), new RangeError('off by one')])(
    'does not repeat %s',
    async (error) => {
      expect(await attempt([error])).toMatchObject({ outcome: error, attempts: 1 });
    },
  );

  it('lets the caller decide what is retryable', async () => {
    const mayHelp = (error: unknown) => error instanceof RangeError;
    expect(await attempt([new RangeError('once')], { mayHelp })).toMatchObject({
      outcome: 'done',
      attempts: 2,
    });
  });

  it('waits as long as the server asked, unless that is too long', async () => {
    expect(await attempt([temporary(20)])).toMatchObject({ outcome: 'done', pauses: [20] });
    const long = temporary(20);
    expect(await attempt([long], { longestPauseMs: () => 19 })).toMatchObject({ outcome: long, attempts: 1 });
  });

  it('ends a pause when the signal aborts', async () => {
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 10);
    const { outcome, attempts } = await attempt([temporary(60_000)], { signal: stop.signal });
    expect(outcome).toMatchObject({ name: 'AbortError' });
    expect(attempts).toBe(1);
  });
});

describe('limitTime', () => {
  const hang = () => new Promise<never>(() => undefined);

  it('returns at the limit even if the work ignores its signal', async () => {
    await expect(limitTime({ limitMs: 10 }, hang)).rejects.toMatchObject({ name: 'TimeoutError' });
    const late = () => new TriageError('timeout', 'too slow');
    await expect(limitTime({ limitMs: 10, late }, hang)).rejects.toMatchObject({ code: 'timeout' });
  });

  it("ends with the caller's signal, whose reason it throws", async () => {
    const reason = new Error('stopped');
    await expect(limitTime({ limitMs: 10_000, signal: AbortSignal.abort(reason) }, hang)).rejects.toBe(
      reason,
    );
    const canceled = () => new TriageError('cancelled', 'ended');
    await expect(
      limitTime({ limitMs: 10_000, signal: AbortSignal.abort(), canceled }, hang),
    ).rejects.toMatchObject({ code: 'cancelled' });
  });

  it('gives the work a signal and the remaining time, and passes its errors on', async () => {
    const error = new RangeError('off by one');
    const late = () => new TriageError('timeout', 'too slow');
    await expect(limitTime({ limitMs: 10_000, late }, async () => Promise.reject(error))).rejects.toBe(error);
    const left = await limitTime({ limitMs: 10_000 }, async (signal, timeLeftMs) =>
      signal.aborted ? 0 : timeLeftMs(),
    );
    expect(left).toBeGreaterThan(9_000);
  });
});

describe('createBreaker', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: 0 }));
  afterEach(() => void vi.useRealTimers());

  const create = () =>
    createBreaker({
      opensAt: 2,
      weigh: (error) =>
        error instanceof RangeError ? 0 : error instanceof TypeError ? Number.POSITIVE_INFINITY : 1,
      restMs: (error) => (error instanceof TypeError ? 500 : 100),
    });
  type Breaker = ReturnType<typeof create>;
  const fail = (breaker: Breaker, error = new Error('down')) =>
    breaker.run(() => Promise.reject(error)).catch((thrown: unknown) => thrown);
  const succeed = (breaker: Breaker) => breaker.run(async () => 'fine').catch((error: unknown) => error);

  it('opens after consecutive failures, and closes again after the pause', async () => {
    const breaker = create();
    await fail(breaker);
    await succeed(breaker);
    await fail(breaker);
    expect(breaker.state()).toBe('closed');
    const last = new Error('the last one');
    await fail(breaker, last);
    expect([breaker.state(), breaker.lastFailure()]).toEqual(['open', last]);
    expect(await succeed(breaker)).toBeInstanceOf(CircuitOpenError);
    vi.setSystemTime(101);
    expect(await succeed(breaker)).toBe('fine');
    expect(breaker.state()).toBe('closed');
  });

  it('opens again after one failure after the pause', async () => {
    const breaker = create();
    await fail(breaker);
    await fail(breaker);
    vi.setSystemTime(101);
    await fail(breaker);
    expect(breaker.state()).toBe('open');
  });

  it('opens at once, and for longer, after a severe failure, and never after one without weight', async () => {
    const breaker = create();
    for (let time = 0; time < 5; time += 1) await fail(breaker, new RangeError('ours'));
    expect(breaker.state()).toBe('closed');
    await fail(breaker, new TypeError('refused'));
    vi.setSystemTime(499);
    expect(await succeed(breaker)).toBeInstanceOf(CircuitOpenError);
    vi.setSystemTime(500);
    expect(await succeed(breaker)).toBe('fine');
  });

  it('makes no call for as long as the server asked', async () => {
    const breaker = create();
    breaker.holdOff(1_000);
    expect(breaker.state()).toBe('open');
    expect(await succeed(breaker)).toMatchObject({ askedMs: 1_000 });
    vi.setSystemTime(1_000);
    expect(await succeed(breaker)).toBe('fine');
  });
});
