import { describe, expect, it } from 'vitest';
import { resolveProject, splitIntoFolds } from '../../../src/replay/cases/case.ts';

describe('folds by project', () => {
  const cases = ['a', 'b', 'a', 'c', 'd', 'a', 'e', 'b'].map((project, index) => ({
    id: `${index}`,
    project,
  }));

  it('keep a project together, have about the same size, and are the same each time', () => {
    const folds = splitIntoFolds(cases, resolveProject, 3).map((fold) => fold.map(({ project }) => project));
    for (const project of ['a', 'b', 'c', 'd', 'e'])
      expect(folds.filter((fold) => fold.includes(project))).toHaveLength(1);
    expect(folds.map((fold) => fold.length).sort()).toEqual([2, 3, 3]);
    expect(splitIntoFolds(cases, resolveProject, 3)).toEqual(splitIntoFolds(cases, resolveProject, 3));
  });

  it('are at most as many as the projects', () => {
    expect(splitIntoFolds(cases.slice(0, 1), resolveProject, 5)).toHaveLength(1);
  });

  it.each([
    [{ id: 'x', project: 'shop' }, 'shop'],
    [{ id: 'x', source: 'https://git.example.org/shop/cart/commit/1' }, 'shop/cart'],
    [{ id: 'set/7', source: 'a mailing list' }, 'set'],
    [{ id: 'lone' }, 'lone'],
  ])('take %j as the project %s', (row, project) => {
    expect(resolveProject(row)).toBe(project);
  });
});
