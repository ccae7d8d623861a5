import { CATEGORIES } from '../../domain/category.ts';
import { bootstrap, proportion } from '../../lib/statistics.ts';
import type { ReplayedCase } from '../run/replay.ts';
import { clusterSums } from './clusters.ts';
import { addToMatrix, CELLS, type ClassCounts, cellOf, classCounts, macroF1, sumMatrix } from './confusion.ts';
import { caseShare, type Figure, idsOf, shareFigure, withInterval } from './figure.ts';
import { isExcused, isRealFailure, isRight, type Judged, judgedCases } from './judged.ts';

/** Short, because they head narrow columns. */
const COLUMNS: Readonly<Record<string, string>> = {
  CODE_ERROR: 'CODE',
  INFRA_ERROR: 'INFRA',
  CONFIG_ERROR: 'CONFIG',
  DEPENDENCY_ERROR: 'DEPEND',
  TEST_FAILURE: 'TEST',
};

/**
 * Accuracy, macro-F1, what is confused at a price, and how often no answer was given. A category that the labels accept beside the
 * first counts as right; a case that failed counts as wrong. Empty where nothing was classified.
 */
export function scoreCategories(cases: readonly ReplayedCase[]): Figure[] {
  const judged = classified(cases);
  if (judged.length === 0) return [];
  const real = judged.filter(({ truth }) => isReal(truth));
  return [
    caseShare('category accuracy', judged, isRight),
    macroFigure(judged),
    caseShare('category top-2', judged, isInTopTwo),
    caseShare('code and test failures called INFRA_ERROR', real, ({ said }) => said === 'INFRA_ERROR', 'bad'),
    caseShare('real failures called infrastructure or flaky', judged.filter(isRealFailure), isExcused, 'bad'),
    caseShare(
      'real failures published as infrastructure or flaky',
      judged.filter(isRealFailure),
      (entry) => isExcused(entry) && entry.one.result.action === 'auto_notify',
      'bad',
    ),
    caseShare('abstained', judged, ({ one }) => one.result.abstained === true, 'bad'),
    caseShare('published without a person', judged, ({ one }) => one.result.action === 'auto_notify', 'neither'),
  ];
}

/** Precision, recall and F1 of each class that the labels hold, on as many cases as the class has. */
export function scoreClasses(cases: readonly ReplayedCase[]): Figure[] {
  const judged = classified(cases);
  return classCounts(sumMatrix(judged)).flatMap((counts) => {
    const { category: row, truly } = counts;
    const missed = judged.filter(({ truth, said }) => truth === row && said !== row);
    const taken = judged.filter(({ truth, said }) => truth !== row && said === row);
    const cell = (column: string, figure: Figure): Figure => ({ ...figure, cases: truly, cell: { row, column } });
    return [
      cell('precision', shareFigure(`category precision ${row}`, counts.hits, counts.said, idsOf(taken))),
      cell('recall', shareFigure(`category recall ${row}`, counts.hits, truly, idsOf(missed))),
      cell(
        'F1',
        withInterval({ ...against(`category F1 ${row}`, [...missed, ...taken]), value: counts.f1, cases: truly }, f1Interval(counts)),
      ),
    ];
  });
}

/** The whole matrix: a row for what is true, a column for what was said, "nothing" where a case failed. Off the diagonal with the cases. */
export function scoreMatrix(cases: readonly ReplayedCase[]): Figure[] {
  const judged = classified(cases);
  const matrix = sumMatrix(judged);
  const mistakes = Map.groupBy(
    judged.filter((entry) => !isRight(entry)),
    ({ truth, said }) => `${truth} ${said}`,
  );
  return classCounts(matrix).flatMap(({ category: row, truly }) =>
    [...CATEGORIES, null].map((said): Figure => {
      const column = said === null ? 'nothing' : (COLUMNS[said] ?? said);
      const figure = against(`category matrix ${row}, said ${said ?? 'nothing'}`, mistakes.get(`${row} ${said}`) ?? []);
      return { ...figure, value: cellOf(matrix, row, said), cases: truly, unit: 'count', cell: { row, column } };
    }),
  );
}

/** Which class was taken for which, how often; rows are what is true. Mistakes only, the commonest first. */
export function scoreConfusions(cases: readonly ReplayedCase[]): Figure[] {
  const judged = classified(cases);
  const truly = new Map(classCounts(sumMatrix(judged)).map((counts) => [counts.category, counts.truly]));
  const mistakes = Map.groupBy(
    judged.filter((entry) => !isRight(entry)),
    ({ truth, said }) => `${truth} called ${said ?? 'nothing'}`,
  );
  const figures = [...mistakes].map(([name, entries]): Figure => {
    return { ...against(name, entries), value: entries.length, cases: truly.get(entries[0]?.truth ?? '') ?? 0, unit: 'count' };
  });
  return figures.sort((left, right) => right.value - left.value || left.name.localeCompare(right.name));
}

/** Whether a failure of our own was put down to the machine or to chance: the mistake after which nobody looks. */
function isReal(truth: string): boolean {
  return truth === 'CODE_ERROR' || truth === 'TEST_FAILURE';
}

function classified(cases: readonly ReplayedCase[]): Judged[] {
  const judged = judgedCases(cases);
  return judged.some(({ said }) => said !== null) ? judged : [];
}

function macroFigure(judged: readonly Judged[]): Figure {
  const [interval] = bootstrap(clusterSums(judged, CELLS, addToMatrix), (sums) => [macroF1(sums)]);
  const wrong = judged.filter((entry) => !isRight(entry));
  return withInterval({ ...against('category macro-F1', wrong), value: macroF1(sumMatrix(judged)), cases: judged.length }, interval);
}

/**
 * F1 is 2J / (1 + J) of J = hits / (said or truly), a plain proportion: the ends of J's Wilson interval, so turned, bound F1 and say
 * something also where every case is right.
 */
function f1Interval({ hits, said, truly }: ClassCounts): readonly [number, number] {
  const { low, high } = proportion(hits, said + truly - hits);
  return [(2 * low) / (1 + low), (2 * high) / (1 + high)];
}

function against(name: string, entries: readonly Judged[]): Pick<Figure, 'name' | 'against'> {
  return entries.length === 0 ? { name } : { name, against: idsOf(entries) };
}

/** Whether one of the two likeliest categories is the label or an accepted alternative. */
export function isInTopTwo({ accepted, one }: Judged): boolean {
  const likeliest = Object.entries(one.result.probabilities).sort((left, right) => right[1] - left[1]);
  return likeliest.slice(0, 2).some(([category]) => accepted.includes(category));
}
