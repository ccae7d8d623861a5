import { describe, expect, it } from 'vitest';
import type { Category } from '../../../src/domain/category.ts';
import type { DatasetRow } from '../../../src/replay/cases/case.ts';
import { scoreCases } from '../../../src/replay/figures/score.ts';
import { renderFigures } from '../../../src/replay/report.ts';
import type { ReplayedCase } from '../../../src/replay/run/replay.ts';
import { type CaseResult, toFailedResult } from '../../../src/replay/run/results.ts';

describe('category scores', () => {
  it('compute macro-F1 as the mean over classes, and count an accepted alternative as right', () => {
    const cases = [
      createJudged('CODE_ERROR', 'CODE_ERROR'),
      createJudged('CODE_ERROR', 'TEST_FAILURE', { also_ok: ['TEST_FAILURE'] }),
      createJudged('CODE_ERROR', 'INFRA_ERROR'),
      createJudged('INFRA_ERROR', 'INFRA_ERROR'),
    ];
    const figures = readFigures(cases);
    expect(figures['category accuracy']).toBeCloseTo(3 / 4);
    // CODE_ERROR: 1 hit, 1 said, 2 true. INFRA_ERROR: 1 hit, 2 said, 1 true. TEST_FAILURE (accepted): 1, 1, 1.
    expect(figures['category F1 CODE_ERROR']).toBeCloseTo(2 / 3);
    expect(figures['category F1 INFRA_ERROR']).toBeCloseTo(2 / 3);
    expect(figures['category F1 TEST_FAILURE']).toBe(1);
    expect(figures['category macro-F1']).toBeCloseTo((2 / 3 + 2 / 3 + 1) / 3);
    expect(figures['code and test failures called INFRA_ERROR']).toBeCloseTo(1 / 3);
    expect(figures['category precision INFRA_ERROR']).toBe(0.5);
    expect(figures['category recall CODE_ERROR']).toBe(0.5);
    expect(figures['CODE_ERROR called INFRA_ERROR']).toBe(1);
  });

  it('count a failed case as a wrong answer, not as a missing one', () => {
    const failed: ReplayedCase = {
      ...createJudged('CODE_ERROR', 'CODE_ERROR'),
      result: toFailedResult('x', 'burst', 1),
    };
    const figures = readFigures([createJudged('CODE_ERROR', 'CODE_ERROR'), failed]);
    expect(figures['category accuracy']).toBe(0.5);
    expect(figures['cases that failed']).toBe(1);
  });

  it('compute top-2 from the two most probable categories', () => {
    const spread = { INFRA_ERROR: 0.5, CODE_ERROR: 0.3, TEST_FAILURE: 0.2 };
    const second = createJudged('CODE_ERROR', 'INFRA_ERROR', {}, { probabilities: spread });
    const third = createJudged('TEST_FAILURE', 'INFRA_ERROR', {}, { probabilities: spread });
    expect(readFigures([second, third])['category top-2']).toBe(0.5);
  });

  it('weight each bin of the calibration error by its cases', () => {
    const cases = [
      createJudged('CODE_ERROR', 'CODE_ERROR', {}, { confidence: 0.95 }),
      createJudged('CODE_ERROR', 'INFRA_ERROR', {}, { confidence: 0.95 }),
      createJudged('CODE_ERROR', 'CODE_ERROR', {}, { confidence: 0.6 }),
      createJudged('CODE_ERROR', 'CODE_ERROR', {}, { confidence: 0.6 }),
    ];
    const figures = readFigures(cases);
    expect(figures['expected calibration error']).toBeCloseTo(0.5 * 0.45 + 0.5 * 0.4);
    expect(figures['confident errors']).toBe(0.25);
    expect(figures['Brier score']).toBeCloseTo((0.05 ** 2 + 0.95 ** 2 + 2 * 0.4 ** 2) / 4);
  });

  it('are absent if no case was classified', () => {
    expect(
      readFigures([{ ...createJudged('CODE_ERROR', 'CODE_ERROR'), result: toFailedResult('x', 'burst', 1) }])[
        'category accuracy'
      ],
    ).toBeUndefined();
  });
});

describe('line scores', () => {
  it('count lines inside excerpts, and compute their share in bytes', () => {
    const result = {
      excerpts: [{ source: 'log', lineStart: 3, lineEnd: 4, text: 'äb', reason: '' }],
      logBytes: 30,
      tokens: 7,
    };
    const figures = readFigures([
      createReplayed(
        {
          expected_lines: [
            [2, 3],
            [4, 5],
          ],
        },
        result,
      ),
    ]);
    expect(figures['recall of labelled lines']).toBe(0.5);
    expect(figures['share of the log kept, in bytes']).toBeCloseTo(0.1);
    expect(figures['tokens kept (mean)']).toBe(7);
  });
});

describe('scores of failing tests', () => {
  it('match tests by their words, each at most once', () => {
    const found = (name: string, suite: string | null = null) => ({ name, suite, file: null, line: null });
    const row = { failing_tests: ['com.shop.CartTest#total', 'CartTest.tax', 'CartTest.gone'] };
    const failingTests = [
      found('total', 'com.shop.CartTest'),
      found('tax', 'CartTest'),
      found('tax', 'CartTest'),
      found('noise'),
    ];
    const figures = readFigures([createReplayed(row, { failingTests })]);
    expect(figures['failing tests: precision']).toBe(2 / 4);
    expect(figures['failing tests: recall']).toBeCloseTo(2 / 3);
    expect(figures['failing tests: F1']).toBeCloseTo((2 * 0.5 * (2 / 3)) / (0.5 + 2 / 3));
  });
});

describe('suspect scores', () => {
  it('take two paths as one file if one ends with the segments of the other', () => {
    const suspects = (...paths: string[]) => ({
      action: 'human_review',
      suspects: paths.map((path) => ({ path, line: null, score: 0.5 })),
    });
    const figures = readFigures([
      createReplayed({ faulty_files: ['src/main/java/shop/Cart.java'] }, suspects('shop/Cart.java')),
      createReplayed({ faulty_files: ['shop/Cart.java'] }, suspects('a/Other.java', '/build/shop/Cart.java')),
      createReplayed({ faulty_files: ['shop/Cart.java'] }, suspects('shop/ShoppingCart.java')),
    ]);
    expect(figures['faulty file first']).toBeCloseTo(1 / 3);
    expect(figures['faulty file in the first three']).toBeCloseTo(2 / 3);
    expect(figures['faulty file in the first five']).toBeCloseTo(2 / 3);
    expect(figures['faulty file: mean reciprocal rank']).toBeCloseTo((1 + 1 / 2) / 3);
  });
});

describe('group scores', () => {
  it('compare pairs of cases, and a case without a fingerprint forms no pair', () => {
    const grouped = (group: string, fingerprint: string | null) => createReplayed({ group }, { fingerprint });
    // Same group: {1,2,3} 3 pairs. Same fingerprint: f {1,2,4} 3 pairs, of which 1 in one group.
    const figures = readFigures([
      grouped('g', 'f'),
      grouped('g', 'f'),
      grouped('g', null),
      grouped('h', 'f'),
    ]);
    expect(figures['same fingerprint: pair precision']).toBeCloseTo(1 / 3);
    expect(figures['same fingerprint: pair recall']).toBeCloseTo(1 / 3);
  });

  it('use the five nearest cases, without cases that are alone in their group', () => {
    const said = (group: string, message: string) => createReplayed({ group }, { messages: [message] });
    const figures = readFigures([
      said('disk', 'no space left on device while writing the atlas'),
      said('disk', 'no space left on device while writing the index'),
      said('disk', 'the quota of the builder is used up'),
      said('alone', 'undefined reference to zlibVersion'),
    ]);
    expect(figures['near match: recall@5']).toBeCloseTo(2 / 3);
    expect(figures['near match: share of the group in the first 5']).toBeCloseTo((1 / 2 + 1 / 2 + 0) / 3);
  });
});

describe('the speed', () => {
  it('is the time of the run without the checks, divided by all bytes read', () => {
    const read = { ...createReplayed({}, { logBytes: 2_000_000 }), checkMilliseconds: 5 };
    expect(readFigures([read, read])['milliseconds a megabyte']).toBe((90 - 10) / 4);
    expect(readFigures([createReplayed({}, { logBytes: 900 })])['milliseconds a megabyte']).toBeUndefined();
  });
});

describe('the table', () => {
  it('has sections, aligned values, and a row per class', () => {
    const text = renderFigures('set.jsonl', [
      {
        title: 'cases',
        figures: [
          { name: 'cases', value: 12, cases: 12, unit: 'count' },
          { name: 'share', value: 1, cases: 12 },
          { name: 'milliseconds', value: 3.08, cases: 12, unit: 'measure' },
        ],
      },
      {
        title: 'classes',
        figures: [
          { name: 'recall A', value: 0.5, cases: 4, cell: { row: 'A', column: 'recall' } },
          { name: 'F1 A', value: 0.25, cases: 4, cell: { row: 'A', column: 'F1' } },
        ],
      },
    ]);
    expect(text.split('\n').map((line) => line.trim().replace(/ +/g, ' '))).toEqual([
      'set.jsonl',
      '=========',
      '',
      'cases',
      'cases 12 n=12',
      'share 1.000 n=12',
      'milliseconds 3.1 n=12',
      '',
      'classes',
      'recall F1',
      'A 0.500 0.250 n=4',
    ]);
  });
});

function readFigures(cases: readonly ReplayedCase[]): Record<string, number> {
  const figures = scoreCases(cases, 90).flatMap((section) => section.figures);
  expect(new Set(figures.map(({ name }) => name)).size).toBe(figures.length);
  return Object.fromEntries(figures.map(({ name, value }) => [name, value]));
}

function createReplayed(row: Partial<DatasetRow>, result: Partial<CaseResult>): ReplayedCase {
  return {
    row: { id: 'x', ...row },
    result: { ...toFailedResult('x', '', 0), error: null, ...result },
    analysis: null,
    quotes: { made: 0, literal: 0 },
  };
}

function createJudged(
  category: Category,
  said: Category,
  row: Partial<DatasetRow> = {},
  result: Partial<CaseResult> = {},
): ReplayedCase {
  return createReplayed(
    { category, ...row },
    { category: said, confidence: 0.5, abstained: false, ...result },
  );
}
