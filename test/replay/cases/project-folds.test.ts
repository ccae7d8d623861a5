import { describe, expect, it } from 'vitest';
import { projectFolds, projectOf } from '../../../src/replay/cases/project-folds.ts';
import type { ReplayedCase } from '../../../src/replay/run/replay.ts';
import { failedResult } from '../../../src/replay/run/result.ts';

describe('folds by project', () => {
  const cases = ['a', 'b', 'a', 'c', 'd', 'a', 'e', 'b'].map((project, index) => ({ one: caseOf(project, `${index}`) }));

  it('keep a project together, are of about one size, and the same every time', () => {
    const folds = projectFolds(cases, 3).map((fold) => fold.map(({ one }) => one.row?.project));
    for (const project of ['a', 'b', 'c', 'd', 'e']) expect(folds.filter((fold) => fold.includes(project))).toHaveLength(1);
    expect(folds.map((fold) => fold.length).sort()).toEqual([2, 3, 3]);
    expect(projectFolds(cases, 3)).toEqual(projectFolds(cases, 3));
  });

  it('are no more than there are projects', () => {
    expect(projectFolds(cases.slice(0, 1), 5)).toHaveLength(1);
  });

  it.each([
    [{ id: 'x', project: 'shop' }, 'shop'],
    [{ id: 'x', source: 'https://git.example.org/shop/cart/commit/1' }, 'shop/cart'],
    [{ id: 'set/7', source: 'a mailing list' }, 'set'],
    [{ id: 'lone' }, 'lone'],
  ])('%j is of %s', (row, project) => {
    expect(projectOf(row)).toBe(project);
  });
});

function caseOf(project: string, id: string): ReplayedCase {
  return { row: { id, project }, result: failedResult(id, '', 0), analysis: null, quotes: { made: 0, literal: 0 } };
}
