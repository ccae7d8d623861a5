import { expect, it } from 'vitest';
import type { Comparison } from '../../../src/domain/comparison.ts';
import { renderComparisonPage } from '../../../src/replay/commands/compare-command.ts';

const HOSTILE = '"><img src=x onerror=alert(1)><script>alert(2)</script></style>';
const SPREAD = {
  repeats: 2,
  figures: [{ name: 'category accuracy', mean: 0.5, deviation: 0.1, values: [0.4, 0.6] }],
  partial: [],
};

const COMPARISON: Comparison = {
  schema: 1,
  dataset: 'cases.jsonl',
  sides: {
    a: { files: ['a.jsonl'], analysts: ['rules'], spread: { ...SPREAD, flips: ['one'] } },
    b: { files: ['b.jsonl'], analysts: ['rules'], spread: null },
  },
  cases: {
    compared: 2,
    onlyA: ['x'],
    onlyB: [],
    unanswered: [],
    unlabelled: [],
    failed: { a: [], b: [] },
    unreadable: [],
  },
  resampling: { by: 'case', units: 2 },
  differences: [
    {
      name: 'category accuracy',
      better: 'higher',
      cases: 2,
      a: 0.5,
      b: 0.75,
      difference: 0.25,
      interval: [0.1, 0.5],
      won: 1,
      lost: 0,
      mcNemar: { won: 1, lost: 0, exact: 1, midP: 0.5 },
      verdict: 'b-better',
    },
  ],
  costs: [
    {
      name: 'rounds a case',
      unit: 'rounds',
      cases: 2,
      a: 2,
      b: 1,
      difference: -1,
      interval: null,
      totals: { a: 4, b: 2 },
    },
  ],
  wonBy: 'category accuracy',
  won: [
    {
      id: 'one',
      line: 1,
      url: 'https://ci.example/1',
      truth: 'CODE_ERROR',
      said: { a: 'INFRA_ERROR', b: 'CODE_ERROR' },
    },
  ],
  lost: [],
  changed: [],
  summary: ['B is better.'],
};

it('the page draws each difference with its interval around zero, and links the won cases', () => {
  const text = renderComparisonPage([COMPARISON]).replaceAll(/ data-label="[^"]*"/g, '');
  expect(text).toContain(
    '<tr class="is-better"><th scope="row">category accuracy</th><td class="number">0.500</td>',
  );
  expect(text).toContain('aria-label="category accuracy: +0.250 +0.100 to +0.500"');
  // The widest interval ends at the edge; half of it is half way from the middle.
  expect(text).toContain(
    '<line class="range" x1="143" x2="235" y1="10" y2="10"/><circle cx="177.5" cy="10" r="4"/>',
  );
  expect(text).toContain(
    '<td class="number">1/0</td><td class="number">0.50</td><td class="verdict">B is better</td>',
  );
  expect(text).toContain(
    '<td class="number">2.0</td><td class="number">1.0</td><td class="number">−1.0</td><td class="interval"></td>',
  );
  expect(text).toContain(
    '<a href="https://ci.example/1" rel="noreferrer noopener">one</a> <span class="quiet">cases.jsonl:1</span>',
  );
  expect(text).toContain(
    '2 cases on both sides; intervals (95 %) from resampling 2 cases, with both sides of a case kept together.',
  );
  expect(text).toContain('<li>Only on side A, left out: 1: x</li>');
  expect(text).toContain(
    '2 repeats of A (mean ± standard deviation): category accuracy 0.500 ± 0.100; 1 change category between repeats: one',
  );
});

it('the page runs no code, whatever ids, labels and answers contain', () => {
  const hostile = { id: HOSTILE, line: 1, url: null, truth: HOSTILE, said: { a: HOSTILE, b: HOSTILE } };
  const cases = { ...COMPARISON.cases, onlyA: [HOSTILE] };
  const text = renderComparisonPage([
    { ...COMPARISON, dataset: HOSTILE, cases, summary: [HOSTILE], won: [hostile], changed: [hostile] },
  ]);
  expect(text).toContain('default-src &#39;none&#39;; style-src &#39;sha256-');
  expect(text).not.toMatch(/<(?:script|img|link|iframe|form|object)\b|\son\w+="|\sstyle="/);
  expect(text.match(/<\/style>/g)).toHaveLength(1);
});
