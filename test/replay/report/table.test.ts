import { describe, expect, it } from 'vitest';
import type { Figure } from '../../../src/replay/figures/figure.ts';
import { renderFigures, toFigureList } from '../../../src/replay/report.ts';

const ACCURACY: Figure = {
  name: 'category accuracy',
  value: 0.9166,
  cases: 214,
  interval: [0.872, 0.949],
  against: ['a', 'b'],
};

describe('the table of figures', () => {
  it('keeps name, value and cases in columns, followed by an interval', () => {
    const table = renderFigures('heading', [
      { title: 'category', figures: [ACCURACY, { name: 'cases', value: 12, cases: 12, unit: 'count' }] },
      { title: 'cost', figures: [{ name: 'dollars', value: 0.0123, cases: 3, unit: 'dollars' }] },
    ]);
    expect(table.split('\n')).toEqual([
      'heading',
      '=======',
      '',
      'category',
      '  category accuracy       0.917  n=214  (0.87–0.95)',
      '  cases                      12  n=12',
      '',
      'cost',
      '  dollars               $0.0123  n=3',
    ]);
  });

  it('prevents an id from beginning a line that looks like a figure', () => {
    const failed: Figure = {
      name: 'cases that failed',
      value: 1,
      cases: 9,
      unit: 'count',
      against: ['x\n  category accuracy  1.000  n=9'],
    };
    const table = renderFigures('heading', [{ title: 'cases', figures: [failed] }]);
    expect(table.split('\n')).toHaveLength(5);
  });

  it('puts cells into a grid of their own', () => {
    const cell = (row: string, column: string, value: number): Figure => ({
      name: `${row} ${column}`,
      value,
      cases: 7,
      cell: { row, column },
    });
    const table = renderFigures('', [
      { title: 'grid', figures: [cell('A', 'recall', 0.5), cell('A', 'F1', 0.25), cell('BB', 'F1', 1)] },
    ]);
    expect(table.split('\n').slice(4)).toEqual([
      '          recall        F1',
      '  A        0.500     0.250  n=7',
      '  BB                 1.000  n=7',
    ]); // prettier-ignore
  });

  it('marks notable figures, with as many of their cases as fit on the line', () => {
    const against = Array.from({ length: 30 }, (_, index) => `project/run-${index}`);
    const figure: Figure = {
      name: 'confident errors',
      value: 0.03,
      cases: 1000,
      interval: [0.02, 0.04],
      against,
    };
    const [line = ''] = renderFigures('', [{ title: 't', figures: [figure] }])
      .split('\n')
      .slice(4);
    expect(line).toMatch(/n=1000 {2}\(0\.02–0\.04\) {2}← project\/run-0, .{1,40} and \d+ more$/);
    expect(line.length).toBeLessThanOrEqual(100);
    const judged = renderFigures('', [
      {
        title: 't',
        figures: [
          { ...figure, judged: true },
          { ...figure, value: 0.02 },
        ],
      },
    ]);
    expect(judged).not.toContain('←');
  });

  it('has the same content as JSON, with intervals and cases only if there are any', () => {
    expect(
      toFigureList([
        { title: 'category', figures: [ACCURACY, { name: 'x', value: 1, cases: 1, judged: true }] },
      ]),
    ).toEqual([
      { section: 'category', ...ACCURACY },
      { section: 'category', name: 'x', value: 1, cases: 1, judged: true },
    ]);
  });
});
