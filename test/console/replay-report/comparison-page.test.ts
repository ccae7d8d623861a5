import { expect, it } from 'vitest';
import { type ReportComparison, renderComparisonReport } from '../../../src/console/replay-report/comparison.ts';

const HOSTILE = '"><img src=x onerror=alert(1)><script>alert(2)</script></style>';

const COMPARISON: ReportComparison = {
  heading: 'cases.jsonl: A against B',
  sides: [['A', 'a.jsonl']],
  basis: '2 cases on both sides.',
  summary: ['B is better.'],
  differences: [
    {
      ...{
        name: 'category accuracy',
        a: '0.500',
        b: '0.750',
        difference: '+0.250',
        interval: '+0.100 to +0.500',
        wonLost: '1/0',
        p: '0.50',
      },
      ...{ verdict: 'B is better', tone: 'better', cases: 2, drawn: { value: 0.25, interval: [0.1, 0.5] } },
    },
  ],
  costs: [{ name: 'rounds a case', a: '2.0', b: '1.0', difference: '−1.0', interval: '' }],
  lists: [
    {
      title: 'Won: B is better',
      cases: [{ id: 'one', place: 'cases.jsonl:1', url: 'https://ci.example/1', truth: 'CODE_ERROR', a: 'INFRA_ERROR', b: 'CODE_ERROR' }],
    },
  ],
  notes: ['Only on side A, left out: 1: x'],
};
const page = (comparison: ReportComparison) =>
  renderComparisonReport({ version: '0.1.0', madeAt: '2026-01-01T00:00:00.000Z', comparisons: [comparison] });

it('draws each difference on its interval around nothing, and links the cases that were won', () => {
  const text = page(COMPARISON);
  expect(text).toContain('<tr class="is-better"><th scope="row">category accuracy</th>');
  // The widest interval ends at the edge; half of it is half way from the middle.
  expect(text).toContain('<line class="range" x1="143" x2="235" y1="10" y2="10"/><circle cx="177.5" cy="10" r="4"/>');
  expect(text).toContain('<a href="https://ci.example/1" rel="noreferrer noopener">one</a> <span class="quiet">cases.jsonl:1</span>');
});

it('runs nothing, whatever ids, labels and answers are', () => {
  const hostile = { id: HOSTILE, place: HOSTILE, url: null, truth: HOSTILE, a: HOSTILE, b: HOSTILE };
  const text = page({
    ...COMPARISON,
    heading: HOSTILE,
    summary: [HOSTILE],
    lists: [{ title: HOSTILE, cases: [hostile] }],
    notes: [HOSTILE],
  });
  expect(text).toContain('default-src &#39;none&#39;; style-src &#39;sha256-');
  expect(text).not.toMatch(/<(?:script|img|link|iframe|form|object)\b|\son\w+="|\sstyle="/);
  expect(text.match(/<\/style>/g)).toHaveLength(1);
});
