import { expect, it } from 'vitest';
import { OUTWARD } from '../../src/channels/deliver.ts';
import { TriageError } from '../../src/domain/errors.ts';
import { computeDelay } from '../../src/work/process-items.ts';

const outwardDelay = (retries: number, error: unknown, random?: number) =>
  computeDelay(retries, error, { longestMs: OUTWARD.longestDelayMs, random });

it('the delay doubles each time up to a quarter of an hour, less a random part', () => {
  expect([0, 1, 8, 50].map((retries) => outwardDelay(retries, null, 1))).toEqual([
    2_000, 4_000, 512_000, 900_000,
  ]);
  expect([0, 50].map((retries) => outwardDelay(retries, null, 0))).toEqual([1_000, 450_000]);
});

it('the delay is what the service asked for, at most a day', () => {
  const asked = (retryAfterMs: number) =>
    new TriageError('rate-limited', 'slowly', { retryable: true, retryAfterMs });
  expect(outwardDelay(0, asked(90_000))).toBe(90_000);
  expect(outwardDelay(0, asked(9e9))).toBe(24 * 3_600_000);
});

it('retries end after about a day', () => {
  const delays = Array.from({ length: OUTWARD.limits.retries }, (_, retries) =>
    outwardDelay(retries, null, 0.5),
  );
  const hours = delays.reduce((sum, delay) => sum + delay, 0) / 3_600_000;
  expect(hours).toBeGreaterThan(12);
  expect(hours).toBeLessThan(30);
});
