import { expect, it } from 'vitest';
import { scoreReruns } from '../../../src/replay/figures/reruns.ts';
import { createJudged, createReplayed, findFigure } from './cases.ts';

const said = (transient: number, category = 'CODE_ERROR') =>
  ({ transient, category, action: 'auto_notify' }) as const;
const cases = [
  createReplayed({ id: 'a', intermittent: true }, said(0.9, 'INFRA_ERROR')),
  createReplayed({ id: 'b', intermittent: true }, said(0.2)),
  createReplayed({ id: 'c', transient: 'yes', category: 'CODE_ERROR' }, said(0.6)),
  createReplayed({ id: 'd', transient: 'no' }, said(0.85)),
  createReplayed({ id: 'e', intermittent: false }, said(0.05)),
  createReplayed({ id: 'f', transient: 'maybe' }, said(0.9)),
];

it('estimates are scored against the known results of reruns', () => {
  const figures = scoreReruns(cases);
  expect(findFigure(figures, 'recall of those that pass')).toMatchObject({
    value: 2 / 3,
    cases: 3,
    against: ['b'],
  });
  expect(findFigure(figures, 'precision of those that pass')).toMatchObject({ value: 2 / 3, against: ['d'] });
  expect(findFigure(figures, 'F1 of those that pass').value).toBeCloseTo(2 / 3);
  expect(findFigure(figures, 'fail, and told to pass')).toMatchObject({
    value: 1 / 2,
    cases: 2,
    against: ['d'],
  });
});

it('published answers that name neither the environment nor the label are counted', () => {
  const figure = findFigure(scoreReruns(cases), 'pass, and published as something else');
  expect(figure).toMatchObject({ value: 1 / 3, cases: 3, against: ['b'] });
});

it('failures of code that are predicted to pass are counted', () => {
  const real = [
    createJudged('CODE_ERROR', 'CODE_ERROR', { id: 'g' }, { transient: 0.02 }),
    createJudged('TEST_FAILURE', 'INFRA_ERROR', { id: 'h' }, { transient: 0.9 }),
  ];
  expect(findFigure(scoreReruns(real), 'code and test failures told to pass')).toMatchObject({
    value: 1 / 2,
    against: ['h'],
  });
});

it('nothing is reported if nothing was estimated', () => {
  expect(scoreReruns([createReplayed({ intermittent: true })])).toEqual([]);
});
