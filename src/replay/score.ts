import { scoreCategories } from './figures/categories.ts';
import type { Figure } from './figures/figure.ts';
import { scoreGroups } from './figures/groups.ts';
import { scoreLines } from './figures/lines.ts';
import { scoreQuotes } from './figures/quotes.ts';
import { scoreSuspects } from './figures/suspects.ts';
import { scoreTests } from './figures/tests.ts';
import type { ReplayedCase } from './replay.ts';

/** Whatever the labels of these cases allow; figures without a label are left out. */
export function scoreCases(cases: readonly ReplayedCase[]): Figure[] {
  return [
    { name: 'cases', value: cases.length, cases: cases.length },
    { name: 'cases that failed', value: cases.filter((one) => one.result.error !== null).length, cases: cases.length },
    ...scoreLines(cases),
    ...scoreCategories(cases),
    ...scoreTests(cases),
    ...scoreSuspects(cases),
    ...scoreGroups(cases),
    ...scoreQuotes(cases),
  ];
}
