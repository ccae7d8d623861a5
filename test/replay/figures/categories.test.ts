import { describe, expect, it } from 'vitest';
import { CATEGORIES } from '../../../src/domain/category.ts';
import {
  scoreActions,
  scoreCategories,
  scoreClasses,
  scoreExperiments,
  scoreKinds,
  scoreMatrix,
} from '../../../src/replay/figures/categories.ts';
import { scoreCases, scoreSlices } from '../../../src/replay/figures/score.ts';
import { sampleExperiment } from '../../support/sample-analysis.ts';
import { createJudged, createReplayed, findFigure } from './cases.ts';

const MIXED = [
  createJudged('CODE_ERROR', 'CODE_ERROR', { id: 'a', project: 'p' }),
  createJudged('CODE_ERROR', 'INFRA_ERROR', { id: 'b', project: 'p' }),
  createJudged('TEST_FAILURE', 'TEST_FAILURE', { id: 'c', project: 'q' }),
  createJudged('CONFIG_ERROR', null, { id: 'd', project: 'q' }, { action: null, confidence: null }),
];

describe('category figures', () => {
  it('have Wilson intervals and the cases against them', () => {
    const accuracy = findFigure(scoreCategories(MIXED), 'category accuracy');
    expect(accuracy).toMatchObject({ value: 0.5, cases: 4, against: ['b', 'd'] });
    // Wilson 2 of 4: (0.5 + z²/8 ± z √(1/16 + z²/64)) / (1 + z²/4)
    expect(accuracy.interval?.[0]).toBeCloseTo(0.15, 3);
    expect(accuracy.interval?.[1]).toBeCloseTo(0.85, 3);
  });

  it('include every class that occurs, every column, and failed cases as nothing', () => {
    const figures = scoreMatrix(MIXED);
    expect(figures).toHaveLength(3 * (CATEGORIES.length + 1));
    expect(findFigure(figures, 'category matrix CODE_ERROR, said INFRA_ERROR')).toMatchObject({
      value: 1,
      cases: 2,
      against: ['b'],
    });
    expect(findFigure(figures, 'category matrix CONFIG_ERROR, said nothing')).toMatchObject({
      value: 1,
      against: ['d'],
    });
    expect(figures.reduce((total, { value }) => total + value, 0)).toBe(MIXED.length);
  });

  it('have an interval for F1 that contains it, and has a width even if every case is right', () => {
    const figures = scoreClasses(MIXED);
    const code = findFigure(figures, 'category F1 CODE_ERROR');
    expect(code).toMatchObject({ value: 2 / 3, against: ['b'] });
    expect(code.interval?.[0]).toBeLessThan(2 / 3);
    expect(code.interval?.[1]).toBeGreaterThan(2 / 3);
    const perfect = findFigure(figures, 'category F1 TEST_FAILURE');
    expect(perfect.interval?.[0]).toBeLessThan(0.5);
    expect(perfect.interval?.[1]).toBe(1);
  });

  it('have an interval for macro-F1 over projects, or over cases if there are few, and none if all are right', () => {
    const many = Array.from({ length: 60 }, (_, at) =>
      createJudged('CODE_ERROR', at < 12 ? 'INFRA_ERROR' : 'CODE_ERROR', { id: `m${at}` }),
    );
    const alone = findFigure(scoreCategories(many), 'category macro-F1');
    const projects = many.map((entry, at) =>
      createJudged('CODE_ERROR', at < 12 ? 'INFRA_ERROR' : 'CODE_ERROR', {
        id: entry.result.id,
        project: `p${Math.floor(at / 6)}`,
      }),
    );
    const together = findFigure(scoreCategories(projects), 'category macro-F1');
    const width = ({ interval = [0, 0] }: typeof alone) => interval[1] - interval[0];
    expect(width(together)).toBeGreaterThan(1.5 * width(alone));
    expect(
      findFigure(
        scoreCategories([createJudged('CODE_ERROR', 'CODE_ERROR'), createJudged('CODE_ERROR', 'CODE_ERROR')]),
        'category macro-F1',
      ).interval,
    ).toBeUndefined();
  });

  it('count a real failure that was called infrastructure or flaky, unless its label agrees', () => {
    const flaky = createJudged(
      'TEST_FAILURE',
      'TEST_FAILURE',
      { id: 'f' },
      { kind: 'flaky_timing', action: 'human_review' },
    );
    const truly = createJudged(
      'TEST_FAILURE',
      'TEST_FAILURE',
      { id: 't', kind: 'flaky_timing' },
      { kind: 'flaky_timing' },
    );
    const allowed = createJudged(
      'TEST_FAILURE',
      'TEST_FAILURE',
      { id: 'i', also_ok: ['INFRA_ERROR'] },
      { kind: 'flaky_timing' },
    );
    const figures = scoreCategories([...MIXED, flaky, truly, allowed]);
    expect(findFigure(figures, 'real failures called infrastructure or flaky')).toMatchObject({
      value: 2 / 4,
      against: ['b', 'f'],
    });
    expect(findFigure(figures, 'real failures published as infrastructure or flaky')).toMatchObject({
      value: 1 / 4,
      against: ['b'],
    });
  });

  it('state how much is published, how much of it is right, and how much of all is published and wrong', () => {
    const figures = scoreActions(MIXED);
    expect(findFigure(figures, 'published: coverage').value).toBe(3 / 4);
    expect(findFigure(figures, 'published: accuracy')).toMatchObject({
      value: 2 / 3,
      cases: 3,
      against: ['b'],
    });
    expect(findFigure(figures, 'published and wrong')).toMatchObject({
      value: 1 / 4,
      cases: 4,
      against: ['b'],
    });
    expect(findFigure(figures, 'action: auto_notify')).toMatchObject({ value: 1, cases: 3 });
  });

  it('count kinds only if a row names one', () => {
    const figures = scoreKinds([
      createJudged('CODE_ERROR', 'CODE_ERROR', { id: 'k1', kind: 'crash' }, { kind: 'crash' }),
      createJudged('CODE_ERROR', 'CODE_ERROR', { id: 'k2', kind: 'crash' }, { kind: 'type_error' }),
      createJudged('CODE_ERROR', 'TEST_FAILURE', { id: 'k3', kind: 'crash' }, { kind: 'assertion' }),
      ...MIXED,
    ]);
    expect(findFigure(figures, 'kind accuracy')).toMatchObject({ value: 1 / 3, cases: 3 });
    expect(findFigure(figures, 'kind accuracy where the category is right').value).toBe(1 / 2);
    expect(findFigure(figures, 'kind crash called assertion')).toMatchObject({ value: 1, against: ['k3'] });
  });
});

describe('all figures together', () => {
  it('divide by nothing without cases or without labels', () => {
    for (const cases of [
      [],
      [createReplayed({})],
      [createReplayed({}, { action: 'human_review', iterations: 0 })],
    ]) {
      const figures = scoreCases(cases, 0).flatMap((section) => section.figures);
      expect(figures.filter(({ value }) => !Number.isFinite(value))).toEqual([]);
    }
  });

  it('do not depend on the order of the cases', () => {
    const listValues = (cases: typeof MIXED) =>
      scoreCases(cases, 1).flatMap(({ figures }) =>
        figures.map(({ name, value, interval }) => [name, value, interval]),
      );
    expect(listValues([...MIXED].reverse())).toEqual(listValues(MIXED));
  });

  it('have one row per slice, largest first, and no table for one slice', () => {
    const section = scoreSlices(
      [...MIXED, createJudged('CODE_ERROR', 'CODE_ERROR', { project: 'q' })],
      'project',
    );
    expect(section?.figures.map(({ name, value }) => [name, value])).toEqual([
      ['cases, q', 3],
      ['right, q', 2 / 3],
      ['publ. ok, q', 1], // prettier-ignore
      ['cases, p', 2],
      ['right, p', 1 / 2],
      ['publ. ok, p', 1 / 2], // prettier-ignore
    ]);
    expect(scoreSlices(MIXED.slice(0, 2), 'project')).toBeNull();
    const many = Array.from({ length: 40 }, (_, at) =>
      createJudged('CODE_ERROR', 'CODE_ERROR', { project: `p${at}` }),
    );
    expect(findFigure(scoreSlices(many, 'project')?.figures ?? [], 'cases, (others)').value).toBe(11);
  });
});

describe('figures of experiments', () => {
  const elsewhere = sampleExperiment({
    verdict: 'not-this-change',
    arms: sampleExperiment().arms.map((arm) => ({ ...arm, failed: 3, passed: 0 })),
  });
  const open = sampleExperiment({ verdict: 'inconclusive' });
  const cases = [
    createReplayed(
      { id: 'a', experiment: sampleExperiment(), blame: 'this-change' },
      { category: 'TEST_FAILURE', blame: 'this-change' },
    ),
    createReplayed(
      { id: 'b', experiment: elsewhere, blame: 'not-this-change' },
      { category: 'TEST_FAILURE', blame: 'not-this-change' },
    ),
    createReplayed(
      { id: 'c', experiment: elsewhere, blame: 'flaky' },
      { kind: 'flaky_timing', blame: 'not-this-change' },
    ),
    createReplayed(
      { id: 'd', experiment: open, blame: 'flaky' },
      { category: 'INFRA_ERROR', blame: 'not-this-change' },
    ),
    createReplayed(
      { id: 'e', experiment: elsewhere },
      { category: 'TEST_FAILURE', blame: 'not-this-change' },
    ),
    createReplayed({ id: 'f' }, { category: 'TEST_FAILURE', blame: 'this-change' }),
  ];

  it('are compared with those of the text alone', () => {
    const figures = scoreExperiments(cases);
    expect(figures.map(({ name, value, cases: of, against }) => [name, value, of, against])).toEqual([
      ['decided by an experiment', 0.8, 5, ['d']],
      ['text alone agrees with the experiment', 0.25, 4, ['b', 'c', 'e']],
      ['right whose fault, by text alone', 0.75, 4, ['b']],
      ['right whose fault, with experiments', 1, 4, undefined],
      ['made right by an experiment', 0.25, 4, undefined],
      ['made wrong by an experiment', 0, 4, undefined],
    ]);
  });

  it('are absent if nothing was tried', () => {
    expect(scoreExperiments([createReplayed({ id: 'f' }, { blame: 'this-change' })])).toEqual([]);
  });
});
