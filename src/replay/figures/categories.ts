import { CATEGORIES } from '../../domain/category.ts';
import type { ReplayedCase } from '../run/replay.ts';
import { type Figure, f1, mean, ratio } from './figure.ts';
import { isRight, type Judged, judgedCases } from './judged.ts';

/**
 * Accuracy, macro-F1, what is confused at a price, and how often no answer was given. A category that the labels accept beside the
 * first counts as right; a case that failed counts as wrong. Empty where nothing was classified.
 */
export function scoreCategories(cases: readonly ReplayedCase[]): Figure[] {
  const judged = judgedCases(cases);
  if (!judged.some(({ said }) => said !== null)) return [];
  const share = (name: string, holds: (entry: Judged) => boolean, among: readonly Judged[] = judged): Figure => {
    return { name, value: mean(among.map((entry) => Number(holds(entry)))), cases: among.length };
  };
  const classes = classesOf(judged).map((category) => countsOf(category, judged));
  const real = judged.filter(({ truth }) => truth === 'CODE_ERROR' || truth === 'TEST_FAILURE');
  return [
    share('category accuracy', isRight),
    { name: 'category macro-F1', value: mean(classes.map((counts) => counts.f1)), cases: judged.length },
    share('category top-2', isInTopTwo),
    share('code and test failures called INFRA_ERROR', ({ said }) => said === 'INFRA_ERROR', real),
    share('abstained', ({ one }) => one.result.abstained === true),
    share('published without a person', ({ one }) => one.result.action === 'auto_notify'),
  ];
}

/** Precision, recall and F1 of each class that the labels hold, on as many cases as the class has. */
export function scoreClasses(cases: readonly ReplayedCase[]): Figure[] {
  const judged = judgedCases(cases);
  if (!judged.some(({ said }) => said !== null)) return [];
  return classesOf(judged).flatMap((row) => {
    const { truly, ...shares } = countsOf(row, judged);
    const figure = (column: string, value: number): Figure => ({
      name: `category ${column} ${row}`,
      value,
      cases: truly,
      cell: { row, column },
    });
    return [figure('precision', shares.precision), figure('recall', shares.recall), figure('F1', shares.f1)];
  });
}

/** Which class was taken for which, how often; rows are what is true. Mistakes only, the commonest first. */
export function scoreConfusions(cases: readonly ReplayedCase[]): Figure[] {
  const judged = judgedCases(cases);
  if (!judged.some(({ said }) => said !== null)) return [];
  const counts = new Map<string, { value: number; cases: number }>();
  for (const entry of judged.filter((one) => !isRight(one))) {
    const name = `${entry.truth} called ${entry.said ?? 'nothing'}`;
    const cases = judged.filter(({ truth }) => truth === entry.truth).length;
    counts.set(name, { value: (counts.get(name)?.value ?? 0) + 1, cases });
  }
  const figures = [...counts].map(([name, { value, cases }]): Figure => ({ name, value, cases, unit: 'count' }));
  return figures.sort((left, right) => right.value - left.value || left.name.localeCompare(right.name));
}

function classesOf(judged: readonly Judged[]): string[] {
  return CATEGORIES.filter((category) => judged.some(({ truth }) => truth === category));
}

function countsOf(category: string, judged: readonly Judged[]): { precision: number; recall: number; f1: number; truly: number } {
  const hits = judged.filter((entry) => entry.truth === category && entry.said === category).length;
  const said = judged.filter((entry) => entry.said === category).length;
  const truly = judged.filter((entry) => entry.truth === category).length;
  const precision = ratio(hits, said);
  const recall = ratio(hits, truly);
  return { precision, recall, f1: f1(precision, recall), truly };
}

/** Whether the label or an accepted alternative is among the two likeliest categories. */
export function isInTopTwo({ accepted, one }: Judged): boolean {
  const likeliest = Object.entries(one.result.probabilities).sort((left, right) => right[1] - left[1]);
  return likeliest.slice(0, 2).some(([category]) => accepted.includes(category));
}
