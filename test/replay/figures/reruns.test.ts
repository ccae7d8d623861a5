import { expect, it } from 'vitest';
import { scoreReruns } from '../../../src/replay/figures/reruns.ts';
import { figureOf, judged, one } from './cases.ts';

const said = (transient: number, category = 'CODE_ERROR') =>
  ({ transient, category, action: 'auto_notify' }) as const;
const cases = [
  one({ id: 'a', intermittent: true }, said(0.9, 'INFRA_ERROR')),
  one({ id: 'b', intermittent: true }, said(0.2)),
  one({ id: 'c', transient: 'yes', category: 'CODE_ERROR' }, said(0.6)),
  one({ id: 'd', transient: 'no' }, said(0.85)),
  one({ id: 'e', intermittent: false }, said(0.05)),
  one({ id: 'f', transient: 'maybe' }, said(0.9)),
];

it('estimates are scored against the known results of reruns', () => {
  const figures = scoreReruns(cases);
  expect(figureOf(figures, 'recall of those that pass')).toMatchObject({
    value: 2 / 3,
    cases: 3,
    against: ['b'],
  });
  expect(figureOf(figures, 'precision of those that pass')).toMatchObject({ value: 2 / 3, against: ['d'] });
  expect(figureOf(figures, 'F1 of those that pass').value).toBeCloseTo(2 / 3);
  expect(figureOf(figures, 'fail, and told to pass')).toMatchObject({
    value: 1 / 2,
    cases: 2,
    against: ['d'],
  });
});

it('published answers that name neither the environment nor the label are counted', () => {
  const figure = figureOf(scoreReruns(cases), 'pass, and published as something else');
  expect(figure).toMatchObject({ value: 1 / 3, cases: 3, against: ['b'] });
});

it('failures of code that are predicted to pass are counted', () => {
  const real = [
    judged('CODE_ERROR', 'CODE_ERROR', { id: 'g' }, { transient: 0.02 }),
    judged('TEST_FAILURE', 'INFRA_ERROR', { id: 'h' }, { transient: 0.9 }),
  ];
  expect(figureOf(scoreReruns(real), 'code and test failures told to pass')).toMatchObject({
    value: 1 / 2,
    against: ['h'],
  });
});

it('nothing is reported if nothing was estimated', () => {
  expect(scoreReruns([one({ intermittent: true })])).toEqual([]);
});
