import { describe, expect, it } from 'vitest';
import {
  type Chart,
  createColumnsChart,
  createLinesChart,
  type DayOf,
  figure,
  runStrip,
  sparkline,
} from '../../../src/console/charts/chart.ts';
import {
  computeBins,
  createCalibrationChart,
  createThresholdChart,
  summarizeBins,
} from '../../../src/console/charts/confidence.ts';
import { findThreshold, type Judged, listCoveragePoints } from '../../../src/lib/statistics.ts';

/** Answers at each tenth's middle: how many, and which share of them was right. */
function judgedAt(...groups: readonly (readonly [at: number, count: number, right: number])[]): Judged[] {
  return groups.flatMap(([at, count, right]) => [
    { at, right: true, count: Math.round(count * right) },
    { at, right: false, count: count - Math.round(count * right) },
  ]);
}

/** What the marks of a chart say, in their order. */
const marksOf = (chart: Chart) =>
  [...figure(chart).text.matchAll(/data-mark="([^"]*)"/g)].map(([, mark]) => mark);
/** The table's rows, cell by cell. */
const rowsOf = (chart: Chart) =>
  [...figure(chart).text.matchAll(/<tr>(.*?)<\/tr>/gs)]
    .slice(1)
    .map(([, row = '']) => [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell]) => cell));

const calibration = (judged: readonly Judged[]) =>
  createCalibrationChart({ id: 'c', name: 'Calibration', judged, csv: '/insights/trust?format=csv' });

describe('the calibration chart', () => {
  it('draws no curve for nine or forty-nine answers, but counts them (41)', () => {
    for (const count of [9, 49]) {
      const chart = calibration(judgedAt([0.7, count, 1]));
      expect(figure(chart).text).not.toContain('<svg');
      expect(figure(chart).text).toContain(`${count} decided. The comparison starts at 50 decisions`);
      expect(rowsOf(chart)).toEqual([
        ['right', String(count)],
        ['wrong', '0'],
      ]);
    }
    expect(figure(calibration([])).text).toContain('No decisions yet');
  });

  it('puts fewer than 200 into five bins of about equal number, and more into ten of equal width', () => {
    const few = computeBins(
      Array.from({ length: 100 }, (_, at) => ({ at: at / 100, right: true, count: 1 })),
    );
    expect(few.map(({ of, from, to }) => [of, from, to])).toEqual([
      [20, 0, 0.2],
      [20, 0.2, 0.4],
      [20, 0.4, 0.6],
      [20, 0.6, 0.8],
      [20, 0.8, 1],
    ]);
    const many = computeBins(judgedAt([0.05, 50, 0.2], [0.3, 100, 0.5], [0.99, 60, 1], [1, 10, 1]));
    expect(many.map(({ from, to, of, hits }) => [from, to, of, hits])).toEqual([
      [0, 0.1, 50, 10],
      [0.3, 0.4, 100, 50],
      [0.9, 1, 70, 70],
    ]);
    expect(many[1]?.stated).toBeCloseTo(0.305);
  });

  it('names the widest gap that is statistically significant', () => {
    const say = (...groups: readonly (readonly [number, number, number])[]) =>
      summarizeBins(computeBins(judgedAt(...groups)), 400);
    expect(say([0.62, 200, 0.79], [0.85, 200, 0.86])).toBe(
      'States 63 %, is right 79 %: underconfident by 17 points between 60 and 70.',
    );
    expect(say([0.62, 200, 0.62], [0.95, 200, 0.7])).toBe(
      'States 96 %, is right 70 %: overconfident by 26 points between 90 and 100.',
    );
    expect(say([0.62, 200, 0.62], [0.85, 200, 0.86])).toContain(
      'matches accuracy, as far as 400 decisions can show',
    );
    // of a bin with few nothing is said
    expect(say([0.62, 200, 0.62], [0.95, 9, 0])).toContain('matches accuracy');
  });

  it('has as many points as rows, fades those with few answers, and shows the same numbers (42)', () => {
    const chart = calibration(judgedAt([0.15, 9, 1], [0.55, 100, 0.5], [0.85, 150, 0.9]));
    expect(marksOf(chart)).toEqual(rowsOf(chart).map((row) => row[2]));
    expect(marksOf(chart)).toEqual(['9', '100', '150']);
    expect(figure(chart).text.match(/class="point faded"/g)).toHaveLength(1);
    expect(rowsOf(chart)[1]).toEqual(['50–60 %', '56 %', '100', '50', '50 %', '40 %', '60 %']);
    expect(figure(chart).text).not.toContain('style=');
  });
});

describe('the chart of accuracy against coverage', () => {
  const judged = judgedAt([0.95, 100, 0.99], [0.9, 100, 0.95], [0.7, 100, 0.6]);
  const answered = [
    { at: 0.95, count: 100 },
    { at: 0.9, count: 200 },
    { at: 0.7, count: 700 },
  ];

  it('covers all answers, and measures accuracy by the decided ones', () => {
    const points = listCoveragePoints(judged, answered);
    expect(points.map(({ threshold, coverage, hits, of }) => [threshold, coverage, hits, of])).toEqual([
      [0.95, 0.1, 99, 100],
      [0.9, 0.3, 194, 200],
      [0.7, 1, 254, 300],
    ]);
    expect(findThreshold(points, 0.1)?.threshold).toBe(0.9);
    expect(findThreshold(points, 0.06)?.threshold).toBe(0.95);
    expect(findThreshold(points, 0.01)).toBeNull();
  });

  it('shows the values at the threshold, marks the chosen one, and its table equals its marks (42)', () => {
    const chart = createThresholdChart({
      judged,
      answered,
      threshold: 0.85,
      wrong: 0.1,
      csv: '/x',
      kept: { category: 'CODE_ERROR' },
    });
    expect(figure(chart).text).toContain(
      'At 0.85: 30 % sure enough to publish, 97 % right (194 of 200 decided).',
    );
    expect(figure(chart).text).toContain('class="chosen"');
    expect(figure(chart).text).toContain('<input type="hidden" name="category" value="CODE_ERROR">');
    expect(marksOf(chart)).toEqual(rowsOf(chart).map((row) => row[2]));
    const none = createThresholdChart({
      judged: [],
      answered,
      threshold: 0.85,
      wrong: 0.1,
      csv: '/x',
      kept: {},
    });
    expect(figure(none).text).toContain('none of those is decided');
    expect(figure(none).text).not.toContain('<svg');
  });
});

describe('the chart of answers per day', () => {
  const counts: DayOf[] = [
    { day: '2026-03-01', category: 'CODE_ERROR', open: false, count: 3 },
    { day: '2026-03-01', category: 'INFRA_ERROR', open: true, count: 1 },
    { day: '2026-03-02', category: 'INFRA_ERROR', open: false, count: 2 },
    { day: '2026-03-02', category: 'CODE_ERROR', open: true, count: 2 },
  ];
  const chart = (days: readonly string[]) =>
    createColumnsChart({
      counts,
      days,
      csv: '/x',
      listAddress: (from, count) => `/insights/causes?day=${from}&days=${count}`,
    });

  it('55: names the leading category, and none in a tie', () => {
    const finding = (...wanted: readonly [DayOf['category'], number][]) =>
      createColumnsChart({
        counts: wanted.map(([category, count]) => ({ day: '2026-03-01', category, count, open: false })),
        days: ['2026-03-01'],
        csv: '/x',
        listAddress: () => '/insights/causes',
      }).finding;
    expect(finding(['CODE_ERROR', 37], ['INFRA_ERROR', 69])).toBe('Infrastructure leads: 69 of 106 answers.');
    expect(finding(['CODE_ERROR', 37], ['INFRA_ERROR', 36], ['TEST_FAILURE', 33])).toBe(
      'Code error leads: 37 of 106 answers.',
    );
    expect(finding(['CODE_ERROR', 2], ['INFRA_ERROR', 2])).toBe('No category leads.');
  });

  it('stacks categories, hatches open ones, and its table equals its marks (42)', () => {
    const drawn = chart(['2026-03-01', '2026-03-02']);
    expect(figure(drawn).text).toContain('Code error leads: 3 of 8 answers.');
    expect(figure(drawn).text).toContain('fill="url(#open)"');
    const cells = rowsOf(drawn).flatMap((row) => row.slice(1, -1).filter((cell) => cell !== '0'));
    expect(marksOf(drawn)).toEqual(cells);
    expect(figure(drawn).text).toContain('href="/insights/causes?day=2026-03-01&amp;days=1"');
  });

  it('has links wide enough to click, however many days it shows', () => {
    const days = Array.from({ length: 90 }, (_, at) =>
      new Date(Date.parse('2026-03-01') + at * 86_400_000).toISOString().slice(0, 10),
    );
    const widths = [...figure(chart(days)).text.matchAll(/class="hit-area"[^>]* width="([\d.]+)"/g)].map(
      ([, width]) => Number(width),
    );
    expect(widths).toHaveLength(30);
    expect(Math.min(...widths)).toBeGreaterThanOrEqual(24);
    expect(figure(chart([])).text).not.toContain('NaN');
  });
});

describe('small charts', () => {
  it('show a run by height and word, with a text alternative', () => {
    const at = '2026-03-01T10:00:00.000Z';
    const strip = runStrip('<b>adds</b>', [
      { buildId: 'b1', mark: 'passed', at },
      { buildId: 'b2', mark: 'flake', at },
      { buildId: 'b3', mark: 'failed', at },
    ]).text;
    expect(strip).toContain(
      'aria-label="&lt;b&gt;adds&lt;/b&gt;, last 3 runs: 1 passed, 1 failed, 1 flakes"',
    );
    expect([...strip.matchAll(/height="(\d+)"><title>/g)].map(([, height]) => height)).toEqual([
      '6',
      '13',
      '20',
    ]);
    expect(sparkline('builds', [0, 4, 0]).text).toContain(
      'aria-label="builds: 4 in 3 days, at most 4 a day"',
    );
    expect(sparkline('builds', [0, 0]).text).toContain('at most 0 a day');
  });

  it('draw weeks as lines with gaps where there are no data', () => {
    const chart = createLinesChart({
      ...{
        id: 'cost',
        name: 'Cost',
        finding: 'x',
        steps: ['2026-03-02', '2026-03-09', '2026-03-16'],
        csv: '/x',
        say: (value) => `$${value.toFixed(2)}`,
      },
      series: [{ name: 'median', look: 'median', values: [0.01, null, 0.03] }],
    });
    expect(marksOf(chart)).toEqual(['$0.01', '$0.03']);
    expect(rowsOf(chart).map((row) => row[1])).toEqual(['$0.01', '', '$0.03']);
  });
});
