import { describe, expect, it } from 'vitest';
import type { Comparison, Difference } from '../../../src/domain/comparison.ts';
import { compareCases, createAnswer, type TestCase } from './pairs.ts';

const CODE = { category: 'CODE_ERROR' };
const right = createAnswer('CODE_ERROR');
const wrong = createAnswer('INFRA_ERROR');

describe('comparing two runs', () => {
  it('counts pairs: the difference, the wins, and the probability by chance', async () => {
    const comparison = await compareCases([
      ...createTimes(9, wrong, right),
      ...createTimes(2, right, wrong),
      ...createTimes(30, right, right),
    ]);
    const accuracy = find(comparison, 'category accuracy');
    expect(accuracy).toMatchObject({ cases: 41, won: 9, lost: 2, verdict: 'b-better' });
    expect(accuracy.a).toBeCloseTo(32 / 41);
    expect(accuracy.difference).toBeCloseTo(7 / 41);
    // 2 · (C(11,0) + C(11,1)) / 2048 + C(11,2) / 2048
    expect(accuracy.mcNemar?.midP).toBeCloseTo((24 + 55) / 2048);
    expect(comparison.won).toHaveLength(9);
    expect(comparison.won[0]).toMatchObject({
      id: 'c0',
      line: 1,
      truth: 'CODE_ERROR',
      said: { a: 'INFRA_ERROR', b: 'CODE_ERROR' },
    });
    expect(comparison.lost.map(({ id }) => id)).toEqual(['c9', 'c10']);
  });

  it('states in words whether B is better, or whether it may be chance', async () => {
    const better = await compareCases([
      ...createTimes(12, wrong, right),
      ...createTimes(1, right, wrong),
      ...createTimes(30, right, right),
    ]);
    expect(better.summary[0]).toMatch(
      /^B is better by 25\.6 points of category accuracy \(95 % interval \d+\.\d to \d+\.\d, McNemar p = 0\.00\d\); 12 won, 1 lost\.$/,
    );
    const chance = await compareCases([
      ...createTimes(3, wrong, right),
      ...createTimes(2, right, wrong),
      ...createTimes(30, right, right),
    ]);
    expect(chance.summary[0]).toMatch(
      /^No difference beyond noise: the category accuracy of B is 2\.9 points higher than that of A \(.*3 won, 2 lost\.$/,
    );
    const surely = await compareCases(createTimes(40, wrong, right));
    expect(surely.summary[0]).toBe(
      'B is better by 100.0 points of category accuracy (95 % interval 100.0 to 100.0, McNemar p < 0.001); 40 won, 0 lost.',
    );
    const alike = await compareCases(createTimes(8, right, right));
    expect(alike.summary).toEqual([
      'A and B agree in all 8 cases: category accuracy is 100.0 % on both sides.',
    ]);
  });

  it('names the won cases by what was measured: runs without answers are compared by their lines', async () => {
    const labels = { ...CODE, expected_lines: [[3, 4]] };
    const [missing, holding] = [{ excerpts: [createExcerpt(1, 2)] }, { excerpts: [createExcerpt(1, 4)] }];
    const comparison = await compareCases([
      ...createTimes(2, missing, holding, labels),
      ...createTimes(1, holding, holding, labels),
    ]);
    expect(comparison).toMatchObject({ wonBy: 'recall of labelled lines', lost: [], changed: [] });
    expect(comparison.won).toMatchObject([
      { id: 'c0', truth: 'lines 3-4', said: { a: 'lines 1-2', b: 'lines 1-4' } },
      { id: 'c1', truth: 'lines 3-4' },
    ]);
  });

  it('finds no significance in five cases, however one-sided', async () => {
    const comparison = await compareCases([...createTimes(5, wrong, right), ...createTimes(3, right, right)]);
    expect(find(comparison, 'category accuracy')).toMatchObject({ won: 5, lost: 0, verdict: 'within-noise' });
    expect(find(comparison, 'Brier score').verdict).toBe('within-noise');
  });

  it('gives a difference that is equal in every case an interval of width zero', async () => {
    const comparison = await compareCases(createTimes(12, wrong, right));
    expect(find(comparison, 'category accuracy')).toMatchObject({
      difference: 1,
      interval: [1, 1],
      verdict: 'b-better',
    });
  });

  it('changes only the signs if the sides are swapped', async () => {
    const cases = [
      ...createTimes(9, wrong, right),
      ...createTimes(3, right, wrong),
      ...createTimes(20, right, right),
      ...createTimes(4, createAnswer('TEST_FAILURE'), wrong),
    ];
    const there = await compareCases(cases);
    const back = await compareCases(
      cases.map(({ labels, a, b }) => ({ ...(labels === undefined ? {} : { labels }), a: b, b: a })),
    );
    expect(back.differences.map(({ name }) => name)).toEqual(there.differences.map(({ name }) => name));
    for (const [at, difference] of there.differences.entries()) {
      const other = back.differences[at];
      expect(other).toMatchObject({
        a: difference.b,
        b: difference.a,
        won: difference.lost,
        lost: difference.won,
      });
      expect(other?.difference).toBeCloseTo(-difference.difference, 9);
      expect(other?.interval?.[0]).toBeCloseTo(-(difference.interval?.[1] ?? Number.NaN), 9);
      expect(other?.interval?.[1]).toBeCloseTo(-(difference.interval?.[0] ?? Number.NaN), 9);
      expect(other?.mcNemar?.midP).toBe(difference.mcNemar?.midP);
    }
    expect(back.lost.map(({ id }) => id)).toEqual(there.won.map(({ id }) => id));
  });

  it('gives the same result for the same files, to the last digit', async () => {
    const cases = [
      ...createTimes(9, wrong, right),
      ...createTimes(3, right, wrong),
      ...createTimes(20, right, right),
    ];
    expect(await compareCases(cases)).toEqual(await compareCases(cases));
  });

  it('resamples whole projects if there are ten, since cases of one project are correlated', async () => {
    const cases = Array.from({ length: 40 }, (_, at): TestCase => {
      const project = `p${Math.floor(at / 4)}`;
      return {
        labels: { ...CODE, project },
        a: project === 'p0' || project === 'p1' ? wrong : right,
        b: right,
      };
    });
    const clustered = await compareCases(cases);
    expect(clustered.resampling).toEqual({ by: 'project', units: 10 });
    const alone = await compareCases(cases.map((testCase) => ({ ...testCase, labels: CODE })));
    expect(alone.resampling).toEqual({ by: 'case', units: 40 });
    expect(measureWidth(find(clustered, 'category accuracy'))).toBeGreaterThan(
      measureWidth(find(alone, 'category accuracy')),
    );
  });

  it('measures all that the labels allow, and nothing else', async () => {
    const labels = { expected_lines: [[2, 3]], faulty_files: ['src/a.ts'] };
    const half = {
      excerpts: [createExcerpt(3, 9)],
      suspects: [createSuspect('src/b.ts'), createSuspect('src/a.ts')],
      action: 'human_review',
    };
    const whole = {
      excerpts: [createExcerpt(1, 9)],
      suspects: [createSuspect('src/a.ts')],
      action: 'human_review',
    };
    const comparison = await compareCases([
      { labels, a: half, b: whole },
      ...createTimes(1, {}, {}, { group: 'g' }),
    ]);
    const values = Object.fromEntries(comparison.differences.map(({ name, a, b }) => [name, [a, b]]));
    expect(values).toEqual({
      'recall of labelled lines': [0.5, 1],
      'faulty file first': [0, 1],
      'faulty file in the first five': [1, 1],
      'faulty file: mean reciprocal rank': [0.5, 1],
    });
    expect(comparison.won).toMatchObject([
      { id: 'c0', truth: 'src/a.ts', said: { a: 'src/b.ts', b: 'src/a.ts' } },
    ]);
  });

  it('counts what is published, what is excused, and the confidence', async () => {
    const sure = { action: 'auto_notify', confidence: 0.9 };
    const comparison = await compareCases([
      ...createTimes(2, createAnswer('INFRA_ERROR', sure), createAnswer('CODE_ERROR', sure)),
      ...createTimes(2, right, createAnswer('CODE_ERROR', { abstained: true })),
    ]);
    expect(find(comparison, 'published and wrong')).toMatchObject({ a: 0.5, b: 0, won: 2 });
    expect(find(comparison, 'published and right')).toMatchObject({ a: 0, b: 0.5 });
    expect(find(comparison, 'real failures called infrastructure or flaky')).toMatchObject({ a: 0.5, b: 0 });
    expect(find(comparison, 'confident errors')).toMatchObject({ a: 0.5, b: 0 });
    expect(find(comparison, 'abstained')).toMatchObject({ a: 0, b: 0.5, better: null });
    // A: two of 0.9 that are wrong, two of 0.7 that are right. B: two of 0.9 and two of 0.7, all right.
    expect(find(comparison, 'expected calibration error').a).toBeCloseTo(0.5 * 0.9 + 0.5 * 0.3);
    expect(find(comparison, 'expected calibration error').b).toBeCloseTo(0.5 * 0.1 + 0.5 * 0.3);
    expect(find(comparison, 'Brier score').a).toBeCloseTo((2 * 0.81 + 2 * 0.09) / 4);
  });
});

function find(comparison: Comparison, name: string): Difference {
  const found = comparison.differences.find((difference) => difference.name === name);
  if (found === undefined) throw new Error(`no ${name}`);
  return found;
}

function createTimes(count: number, a: TestCase['a'], b: TestCase['b'], labels: object = CODE): TestCase[] {
  return Array.from({ length: count }, () => ({ labels, a, b }));
}

function measureWidth({ interval }: Difference): number {
  return interval === null ? 0 : interval[1] - interval[0];
}

function createExcerpt(lineStart: number, lineEnd: number) {
  return { source: 'log', lineStart, lineEnd, text: '', reason: '' };
}

function createSuspect(path: string) {
  return { path, line: null, score: 0.5 };
}
