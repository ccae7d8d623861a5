import { describe, expect, it } from 'vitest';
import {
  createSpending,
  estimateRest,
  formatDuration,
  formatStanding,
} from '../../../src/replay/commands/replay-source.ts';

const STANDING = { done: 50, resumed: 0, total: 200, errors: 0, usd: 0, elapsedMs: 60_000 };

describe('the remaining time of a replay', () => {
  it('is estimated from this run, without the cases that an earlier run finished', () => {
    expect(estimateRest(STANDING)).toEqual({ milliseconds: 180_000, usd: 0 });
    expect(estimateRest({ ...STANDING, resumed: 25, usd: 0.5 })).toEqual({ milliseconds: 360_000, usd: 3 });
  });

  it('is not shown for a few cases, or before anything was counted', () => {
    expect(estimateRest({ ...STANDING, done: 4 })).toBeNull();
    expect(estimateRest({ ...STANDING, total: null })).toBeNull();
  });

  it('is printed in one line', () => {
    expect(formatStanding(STANDING)).toBe('50 of 200 cases; about 3 min left');
    expect(formatStanding({ ...STANDING, errors: 2, usd: 0.41 })).toBe(
      '50 of 200 cases, 2 failed, $0.410 so far; about 3 min and $1.23 left',
    );
    expect(formatStanding({ ...STANDING, total: null })).toBe('50 cases');
    expect(formatStanding({ ...STANDING, done: 200 })).toBe('200 of 200 cases');
  });

  it.each([
    [8_400, '8 s'],
    [100_000, '2 min'],
    [7_800_000, '2 h 10 min'],
  ])('is formatted: %i ms are "%s"', (milliseconds, words) =>
    expect(formatDuration(milliseconds)).toBe(words),
  );
});

describe('limits', () => {
  it('are reached by cost and by the clock, with a message that says which', () => {
    let now = 5;
    const spending = createSpending({ usd: 1, minutes: 2 }, () => now);
    spending.add(0.6);
    expect(spending.reached()).toBeNull();
    now += 120_000;
    expect(spending.reached()).toBe('2 minutes passed');
    spending.add(0.6);
    expect([spending.reached(), spending.usd]).toEqual(['$1 spent', 1.2]);
  });

  it('do not exist by default', () => {
    const spending = createSpending({});
    spending.add(1e9);
    expect(spending.reached()).toBeNull();
  });
});
