import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createAroundView,
  createEvidenceView,
  createWindowView,
  foldLog,
  getStepRange,
  MAX_ROWS,
  openGap,
  readRange,
  type Stretch,
  writeRange,
} from '../../../src/console/logs/rows.ts';

function told(stretches: readonly Stretch[]): string[] {
  return stretches.map(({ kind, from, to }) => `${kind} ${from}-${to}`);
}

function expectWhole(stretches: readonly Stretch[], lineCount: number): void {
  let next = 1;
  for (const { from, to } of stretches) {
    expect(from).toBe(next);
    expect(to).toBeGreaterThanOrEqual(from);
    next = to + 1;
  }
  expect(next).toBe(lineCount + 1);
  const rows = stretches
    .filter(({ kind }) => kind === 'lines')
    .reduce((sum, { from, to }) => sum + to - from + 1, 0);
  expect(rows).toBeLessThanOrEqual(MAX_ROWS);
}

const range = fc
  .tuple(fc.integer({ min: 1, max: 400_000 }), fc.integer({ min: -5, max: 3_000 }))
  .map(([from, more]) => ({ from, to: from + more }));

describe('the folded view', () => {
  it('shows evidence with six lines around it and the end of the failing step', () => {
    const stretches = foldLog({
      lineCount: 311_101,
      evidence: [{ from: 288_501, to: 288_502 }],
      failedAt: 299_605,
    });
    expect(told(stretches)).toEqual([
      'gap 1-288494',
      'lines 288495-288508',
      'gap 288509-299565',
      'lines 299566-299605',
      'gap 299606-311101',
    ]);
  });

  it('shows the end of the log if the failing step is not known', () => {
    expect(told(foldLog({ lineCount: 1000, evidence: [] }))).toEqual(['gap 1-960', 'lines 961-1000']);
  });

  it('shows a short log completely', () => {
    expect(told(foldLog({ lineCount: 400, evidence: [{ from: 3, to: 3 }] }))).toEqual(['lines 1-400']);
  });

  it('folds no gap of one or two lines', () => {
    const stretches = foldLog({
      lineCount: 1000,
      evidence: [
        { from: 9, to: 9 },
        { from: 24, to: 24 },
        { from: 952, to: 952 },
      ],
    });
    expect(told(stretches)).toEqual(['lines 1-30', 'gap 31-945', 'lines 946-1000']);
  });

  it('has every line once, in order, on a page of limited size, wherever the evidence is', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 400_000 }),
        fc.array(range, { maxLength: 20 }),
        fc.option(fc.nat(400_000)),
        (lineCount, evidence, at) => {
          expectWhole(
            foldLog({ lineCount, evidence, ...(at !== null && at > 0 && { failedAt: at }) }),
            lineCount,
          );
          expectWhole(createEvidenceView(lineCount, evidence), lineCount);
        },
      ),
    );
  });
});

describe('windows', () => {
  it('have the marked line a third down', () => {
    expect(told(createAroundView(311_101, { from: 300_000, to: 300_004 }))).toEqual([
      'gap 1-299866',
      'lines 299867-300266',
      'gap 300267-311101',
    ]);
    expect(told(createAroundView(311_101, { from: 2, to: 2 }))).toEqual(['lines 1-400', 'gap 401-311101']);
    expect(told(createAroundView(10, { from: 500, to: 600 }))).toEqual(['lines 1-10']);
  });

  it('contain every line once, whatever is requested', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 400_000 }), range, (lineCount, asked) => {
        expectWhole(createWindowView(lineCount, asked), lineCount);
        expectWhole(
          createAroundView(lineCount, { from: asked.from, to: Math.max(asked.from, asked.to) }),
          lineCount,
        );
      }),
    );
  });
});

describe('a gap', () => {
  it('opens next to the displayed lines, and the rest of it remains a gap', () => {
    const gap = { from: 101, to: 1100 };
    expect(getStepRange(gap, false)).toEqual({ from: 101, to: 300 });
    expect(getStepRange(gap, true)).toEqual({ from: 901, to: 1100 });
    expect(told(openGap(gap, getStepRange(gap, false)))).toEqual(['lines 101-300', 'gap 301-1100']);
    expect(told(openGap(gap, getStepRange(gap, true)))).toEqual(['gap 101-900', 'lines 901-1100']);
    expect(told(openGap(gap, { from: 500, to: 600 }))).toEqual([
      'gap 101-499',
      'lines 500-600',
      'gap 601-1100',
    ]);
  });

  it('shows nothing outside of itself', () => {
    expect(openGap({ from: 10, to: 20 }, { from: 30, to: 40 })).toEqual([]);
    expect(told(openGap({ from: 10, to: 20 }, { from: 1, to: 40 }))).toEqual(['lines 10-20']);
  });
});

describe('ranges in addresses', () => {
  it('are accepted in the usual notations', () => {
    expect(readRange('120-140')).toEqual({ from: 120, to: 140 });
    expect(readRange('L120-L140')).toEqual({ from: 120, to: 140 });
    expect(readRange('140-120')).toEqual({ from: 120, to: 140 });
    expect(readRange('120')).toEqual({ from: 120, to: 120 });
    expect(writeRange({ from: 120, to: 120 })).toBe('120');
    expect(writeRange({ from: 120, to: 140 })).toBe('120-140');
  });

  it.each(['', '0', '-3', 'x', '1-', '1-2-3', '9999999999', '1e3', '1.5'])(
    'are refused otherwise: %s',
    (text) => {
      expect(readRange(text)).toBeNull();
    },
  );
});
