import { expect, it } from 'vitest';
import { scoreAdvice, scoreAdviceByCategory } from '../../../src/replay/figures/advice.ts';
import { scoreSlices } from '../../../src/replay/figures/score.ts';
import { createJudged, createReplayed, findFigure } from './cases.ts';

const CASES = [
  createAdvisedCase(
    'a/1',
    'Correct src/a.ts.',
    { findable: 2, keyed: ['src/a.ts'], invented: [] },
    'auto_notify',
  ),
  createAdvisedCase(
    'a/2',
    'Correct src/b.ts.',
    { findable: 1, keyed: [], invented: ['src/b.ts'] },
    'auto_notify',
  ),
  createAdvisedCase('b/3', 'No fix found.', { findable: 0, keyed: [], invented: [] }, 'human_review'),
  createAdvisedCase('b/4', null, { findable: 1, keyed: [], invented: [] }, 'human_review'),
];

it('advice is counted as matching, invented or absent, with the cases against it', () => {
  const figures = scoreAdvice(CASES);
  expect(findFigure(figures, 'advice keyed')).toMatchObject({ value: 0.25, against: ['a/2', 'b/3', 'b/4'] });
  expect(findFigure(figures, 'advice invented')).toMatchObject({ value: 0.25, against: ['a/2'] });
  expect(findFigure(figures, 'advice silent').value).toBe(0.5);
  expect(findFigure(figures, 'advice keyed, of fixes with a name at hand').value).toBeCloseTo(1 / 3);
  expect(findFigure(figures, 'advice keyed, of what is advised').value).toBe(0.5);
  expect(findFigure(figures, 'published advice keyed')).toMatchObject({ value: 0.5, cases: 2 });
});

it('advice is counted by category, by publication and by owner', () => {
  const byCategory = scoreAdviceByCategory(CASES);
  expect(findFigure(byCategory, 'advice keyed, CODE_ERROR, published').value).toBe(0.5);
  expect(findFigure(byCategory, 'advice silent, CODE_ERROR, not published').value).toBe(1);
  const byOwner = scoreSlices(CASES, 'owner')?.figures ?? [];
  expect(findFigure(byOwner, 'advice keyed, a')).toMatchObject({ value: 0.5, cases: 2 });
  expect(findFigure(byOwner, 'advice keyed, b')).toMatchObject({ value: 0, cases: 2 });
});

it('advice is scored only with a known fix and an answer', () => {
  expect(scoreAdvice([createJudged('CODE_ERROR', 'CODE_ERROR')])).toEqual([]);
  expect(scoreAdvice([createReplayed({}, { advice: { findable: 1, keyed: [], invented: [] } })])).toEqual([]);
});

function createAdvisedCase(
  id: string,
  fixRecommendation: string | null,
  advice: { findable: number; keyed: string[]; invented: string[] },
  action: string,
) {
  return createJudged('CODE_ERROR', 'CODE_ERROR', { id, project: id }, { fixRecommendation, advice, action });
}
