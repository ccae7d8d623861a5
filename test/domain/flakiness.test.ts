import { describe, expect, it } from 'vitest';
import {
  estimateFlakeProbability,
  measureFlakiness,
  STRIP,
  type TestRun,
  WINDOW,
} from '../../src/domain/flakiness.ts';

/** Runs oldest first, written as `F@a` (failed on commit a), `P@b`; `main:` before it puts it on the default branch. */
function measure(...written: readonly string[]) {
  const runs = written.map((text, at): TestRun => {
    const [, main, outcome, commit, lane] = /^(main:)?([PF])(?:@(\w+))?(?:\/(\w+))?$/.exec(text) ?? [];
    return {
      buildId: `b${at}`,
      outcome: outcome === 'F' ? 'failed' : 'passed',
      commit: commit ?? null,
      lane: lane ?? 'ci',
      onDefaultBranch: main !== undefined,
      at: new Date(at * 1000).toISOString(),
    };
  });
  return measureFlakiness(runs.toReversed());
}

describe('flakiness of a test', () => {
  it('is a failure followed by a pass on the same commit', () => {
    const counts = measure('P@a', 'F@b', 'F@b', 'P@b', 'P@c');

    expect(counts).toMatchObject({
      runs: 5,
      failed: 2,
      flakes: 2,
      rerun: 1,
      recovered: 1,
      since: '1970-01-01T00:00:01.000Z',
    });
    expect(counts.lastFlakeAt).toBe('1970-01-01T00:00:02.000Z');
    expect(counts.recent.map(({ mark }) => mark)).toEqual(['passed', 'flake', 'flake', 'passed', 'passed']);
    expect(counts.recent[0]?.buildId).toBe('b0');
  });

  it('is not a pass before a failure, or a pass of another commit, another pipeline or an unknown commit', () => {
    expect(measure('P@a', 'F@a').flakes).toBe(0);
    expect(measure('F@a', 'P@b').flakes).toBe(0);
    expect(measure('F@a/linux', 'P@a/mac').flakes).toBe(0);
    expect(measure('F', 'P').flakes).toBe(0);
  });

  it('counts commits that failed again when they were rerun', () => {
    const counts = measure('F@a', 'P@a', 'F@b', 'F@b', 'F@c');

    expect(counts).toMatchObject({ rerun: 2, recovered: 1, flakes: 1 });
    expect(estimateFlakeProbability(counts)).toBeCloseTo(1.5 / 3);
  });

  it('is alternation on the default branch, but not one failure that was fixed', () => {
    expect(measure('main:P@a', 'main:F@b', 'main:P@c')).toMatchObject({
      flips: 2,
      flakes: 0,
      defaultRuns: 3,
    });
    expect(measure('main:P@a', 'main:F@b', 'main:P@c', 'main:F@d', 'main:P@e')).toMatchObject({
      flips: 4,
      flakes: 2,
    });
    expect(measure('P@a', 'F@b', 'P@c', 'F@d', 'P@e')).toMatchObject({ flips: 0, flakes: 0, defaultRuns: 0 });
    // two failures in a row on different commits may be a breakage
    expect(measure('main:P@a', 'main:F@b', 'main:F@c', 'main:P@d', 'main:F@e', 'main:P@f')).toMatchObject({
      flips: 4,
      flakes: 1,
    });
  });

  it('considers the newest runs only', () => {
    const counts = measure('F@a', 'P@a', ...Array.from({ length: WINDOW }, (_, at) => `P@c${at}`));

    expect(counts).toMatchObject({ runs: WINDOW, failed: 0, flakes: 0, since: null, lastFailedAt: null });
    expect(counts.recent).toHaveLength(STRIP);
  });

  it('has no probability if no failure was ever rerun', () => {
    expect(estimateFlakeProbability({ rerun: 0, recovered: 0 })).toBeNull();
    expect(estimateFlakeProbability({ rerun: 9, recovered: 0 })).toBeCloseTo(0.05);
    expect(estimateFlakeProbability({ rerun: 9, recovered: 9 })).toBeCloseTo(0.95);
  });
});
