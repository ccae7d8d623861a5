import { describe, expect, it } from 'vitest';
import type { TestFlakiness } from '../../../src/domain/flakiness.ts';
import { formatAsCsv, formatAsJunitNames, formatAsNames } from '../../../src/service/answers/flaky.ts';

function createFlaky(name: string, change: Partial<TestFlakiness> = {}): TestFlakiness {
  return {
    repository: 'acme/shop',
    name,
    suite: 'com.acme.CartTest',
    file: null,
    runs: 50,
    failed: 12,
    flakes: 9,
    rerun: 8,
    recovered: 6,
    defaultRuns: 20,
    flips: 4,
    since: '2026-03-01T00:00:00.000Z',
    lastFlakeAt: null,
    lastFailedAt: null,
    recent: [],
    quarantine: null,
    quarantineEvents: [],
    ...change,
  };
}

describe('the quarantine list', () => {
  it('is written for Surefire, for people, and for spreadsheets', () => {
    const tests = [createFlaky('adds'), createFlaky('pays', { suite: null }), createFlaky('adds')];

    expect(formatAsJunitNames(tests)).toBe('com.acme.CartTest#adds\npays\n');
    expect(formatAsNames(tests)).toBe('adds\npays\n');
    expect(formatAsCsv(tests).split('\r\n')[1]).toBe(
      'acme/shop,com.acme.CartTest,adds,,50,12,9,8,6,20,4,0.722,2026-03-01T00:00:00.000Z,',
    );
  });

  it('keeps a hostile name within its line and cell, and out of formulas', () => {
    const tests = [createFlaky('=cmd|"/c calc"!A1'), createFlaky('a\r\nb', { rerun: 0, recovered: 0 })];

    expect(formatAsNames(tests)).toBe('=cmd|"/c calc"!A1\na  b\n');
    expect(formatAsCsv(tests)).toContain(`,"'=cmd|""/c calc""!A1",`);
    expect(formatAsCsv(tests)).toContain(`,"a\r\nb",,50,12,9,0,0,20,4,,2026`);
  });
});
