import { describe, expect, it } from 'vitest';
import { compareCases, createAnswer, createOutcomes, type TestCase } from './pairs.ts';

const labels = { category: 'CODE_ERROR' };
const right = createAnswer('CODE_ERROR');
const wrong = createAnswer('INFRA_ERROR');

describe('the compared cases', () => {
  it('are listed if they are on one side only, on neither, or not in the data set', async () => {
    const comparison = await compareCases(
      [
        { labels, a: right, b: right },
        { labels, a: right, b: null },
        { labels, a: null, b: right },
        { labels, a: right, b: right },
      ],
      {
        cases: createOutcomes([
          { id: 'c0', ...labels },
          { id: 'c1', ...labels },
          { id: 'c2', ...labels },
          { id: 'new', ...labels },
        ]),
      },
    );
    expect(comparison.cases).toMatchObject({
      compared: 1,
      onlyA: ['c1'],
      onlyB: ['c2'],
      unanswered: ['new'],
      unlabelled: ['c3'],
    });
    expect(comparison.summary).toContain('2 cases are on one side only and left out.');
    expect(comparison.summary).toContain('A figure with a single case has no interval.');
  });

  it('count as wrong if they failed, are named, and cost nothing in the comparison', async () => {
    const failed = { error: 'the model burst' };
    const comparison = await compareCases([
      { labels, a: failed, b: right },
      { labels, a: right, b: right },
    ]);
    expect(comparison.cases.failed).toEqual({ a: ['c0'], b: [] });
    expect(comparison.differences[0]).toMatchObject({ name: 'category accuracy', a: 0.5, b: 1, won: 1 });
    expect(comparison.won[0]?.said.a).toBe('failed');
    expect(comparison.summary).toContain('1 case failed on a side and counts as wrong there.');
  });

  it('are listed if they changed without a win, with the address of their row if there is one', async () => {
    const cases: TestCase[] = [
      {
        labels: { ...labels, also_ok: ['TEST_FAILURE'], source: 'https://example.test/issues/7' },
        a: right,
        b: createAnswer('TEST_FAILURE'),
      },
      {
        labels: { ...labels, source: 'javascript:alert(1)' },
        a: right,
        b: createAnswer('CODE_ERROR', { action: 'auto_notify' }),
      },
      { labels, a: wrong, b: createAnswer('TEST_FAILURE') },
      { labels, a: right, b: right },
    ];
    const { won, lost, changed } = await compareCases(cases);
    expect([...won, ...lost]).toEqual([]);
    expect(changed.map(({ id, url, truth, said: { b } }) => [id, url, truth, b])).toEqual([
      ['c0', 'https://example.test/issues/7', 'CODE_ERROR or TEST_FAILURE', 'TEST_FAILURE'],
      ['c1', null, 'CODE_ERROR', 'CODE_ERROR, published'],
      ['c2', null, 'CODE_ERROR', 'TEST_FAILURE'],
    ]);
  });

  it('are refused if an id occurs twice, or the sides have none in common', async () => {
    const twice = {
      cases: createOutcomes([
        { id: 'c0', ...labels },
        { id: 'c0', ...labels },
      ]),
    };
    await expect(compareCases([{ labels, a: right, b: right }], twice)).rejects.toThrow(
      'has the ID c0 on lines 1 and 2',
    );
    const strange = { cases: createOutcomes([{ id: 'x', ...labels }]) };
    await expect(compareCases([{ labels, a: right, b: right }], strange)).rejects.toThrow(
      /No case is on both sides: the IDs do not match \(cases in the data set: 1, results on side A: 1, on side B: 1\)/,
    );
  });
});

describe('repeats', () => {
  it('are averaged per case, with their spread and the cases that change', async () => {
    const comparison = await compareCases([
      { labels, a: right, b: [right, right, wrong] },
      { labels, a: right, b: [right, wrong, wrong] },
      { labels, a: wrong, b: [right, right, right] },
      { labels, a: right, b: [right, right, right] },
    ]);
    const accuracy = comparison.differences[0];
    expect(accuracy).toMatchObject({ name: 'category accuracy', a: 0.75, won: 1, lost: 2, mcNemar: null });
    expect(accuracy?.b).toBeCloseTo((2 / 3 + 1 / 3 + 1 + 1) / 4);
    expect(comparison.sides.a.spread).toBeNull();
    const spread = comparison.sides.b.spread;
    expect(spread).toMatchObject({ repeats: 3, flips: ['c0', 'c1'], partial: [] });
    expect(spread?.figures[0]).toEqual({
      name: 'category accuracy',
      mean: 0.75,
      deviation: 0.25,
      values: [1, 0.75, 0.5],
    });
    expect(comparison.lost.map(({ said: { b } }) => b)).toEqual([
      'CODE_ERROR (2 of 3)',
      'INFRA_ERROR (2 of 3)',
    ]);
    expect(comparison.summary.join(' ')).toContain('Repeats of one side differ by 25.0 points');
  });

  it('may lack a case, which is compared by the others and named', async () => {
    const comparison = await compareCases([
      { labels, a: right, b: [right, right] },
      { labels, a: right, b: [right] },
    ]);
    expect(comparison.cases.compared).toBe(2);
    expect(comparison.sides.b.spread?.partial).toEqual(['c1']);
  });
});

describe('cost', () => {
  it('is the median of the differences and the totals', async () => {
    const paid = (costUsd: number, milliseconds: number) => ({
      ...right,
      milliseconds,
      usage: { inputTokens: 0, outputTokens: 0, costUsd },
    });
    const comparison = await compareCases([
      { labels, a: paid(0.01, 5), b: paid(0.02, 5) },
      { labels, a: paid(0.03, 5), b: paid(0.05, 5) },
      { labels, a: paid(0.02, 5), b: paid(0.08, 9) },
    ]);
    expect(comparison.costs.map(({ name }) => name)).toEqual(['dollars a case', 'milliseconds a case']);
    const [dollars, milliseconds] = comparison.costs;
    expect(dollars).toMatchObject({ a: 0.02, b: 0.05, cases: 3 });
    expect(dollars?.difference).toBeCloseTo(0.02);
    expect(dollars?.totals.a).toBeCloseTo(0.06);
    expect(dollars?.totals.b).toBeCloseTo(0.15);
    expect(milliseconds).toMatchObject({ difference: 0, totals: { a: 15, b: 19 } });
    expect(comparison.summary.join(' ')).toContain('In the median case, B costs $0.020 more');
  });
});
