import { describe, expect, it } from 'vitest';
import { type LineRange, traceBack } from '../../src/providers/patches.ts';

/** Of a file of 20 lines: one taken away at 3, two put in after 9, line 15 changed. */
const PATCH = [
  '@@ -1,6 +1,5 @@ function head()',
  ' l1',
  ' l2',
  '-l3',
  ' l4',
  ' l5',
  ' l6',
  '@@ -7,12 +6,14 @@',
  ' l7',
  ' l8',
  ' l9',
  '+new a',
  '+new b',
  ' l10',
  ' l11',
  ' l12',
  ' l13',
  ' l14',
  '-l15',
  '+changed',
  ' l16',
  ' l17',
  ' l18',
].join('\n');

describe('following a line back through a patch', () => {
  const cases: readonly [string, LineRange, boolean, LineRange | null][] = [
    ['above all changes', { first: 1, last: 2 }, false, { first: 1, last: 2 }],
    ['around a line that was taken away', { first: 2, last: 3 }, true, { first: 2, last: 4 }],
    ['right below a line that was taken away', { first: 3, last: 5 }, false, { first: 4, last: 6 }],
    ['new lines only', { first: 9, last: 10 }, true, null],
    ['new lines with their neighbours', { first: 8, last: 11 }, true, { first: 9, last: 10 }],
    ['between two changes', { first: 11, last: 13 }, false, { first: 10, last: 12 }],
    ['a changed line', { first: 16, last: 16 }, true, { first: 15, last: 15 }],
    ['below all changes', { first: 20, last: 21 }, false, { first: 19, last: 20 }],
    ['everything', { first: 1, last: 21 }, true, { first: 1, last: 20 }],
  ];
  it.each(cases)('%s', (_name, range, touched, before) => {
    expect(traceBack(PATCH, range)).toEqual({ touched, before });
  });

  it('of a file that was empty before', () => {
    expect(traceBack('@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file', { first: 1, last: 1 })).toEqual(
      {
        touched: true,
        before: null,
      },
    );
  });
});
