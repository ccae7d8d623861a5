import { CATEGORIES } from '../../domain/category.ts';
import { blameByText, blameByTrying, isBlameRight } from '../../domain/experiment.ts';
import { bootstrap, computeProportion } from '../../lib/statistics.ts';
import type { ReplayedCase } from '../run/replay.ts';
import {
  computeF1,
  computeMean,
  computeRatio,
  createShareFigure,
  type Figure,
  isExcused,
  isRealFailure,
  isRight,
  type Judged,
  listClusterSums,
  listIds,
  listJudgedCases,
  shareFigure,
  withInterval,
} from './figure.ts';

/** The headings of narrow columns. */
const COLUMNS: Readonly<Record<string, string>> = {
  CODE_ERROR: 'CODE',
  INFRA_ERROR: 'INFRA',
  CONFIG_ERROR: 'CONFIG',
  DEPENDENCY_ERROR: 'DEPEND',
  TEST_FAILURE: 'TEST',
};

/**
 * Scores accuracy, macro-F1, costly confusions, and how often no answer was given. Accepted alternatives
 * count as right, failed cases as wrong. Returns none if nothing was classified.
 */
export function scoreCategories(cases: readonly ReplayedCase[]): Figure[] {
  const judged = listClassified(cases);
  if (judged.length === 0) return [];
  const real = judged.filter(({ truth }) => truth === 'CODE_ERROR' || truth === 'TEST_FAILURE');
  const failures = judged.filter(isRealFailure);
  const isPublished = ({ one }: Judged) => one.result.action === 'auto_notify';
  return [
    createShareFigure('category accuracy', judged, isRight),
    getMacroFigure(judged),
    createShareFigure('category top-2', judged, isInTopTwo),
    createShareFigure(
      'code and test failures called INFRA_ERROR',
      real,
      ({ said }) => said === 'INFRA_ERROR',
      'bad',
    ),
    createShareFigure('real failures called infrastructure or flaky', failures, isExcused, 'bad'),
    createShareFigure(
      'real failures published as infrastructure or flaky',
      failures,
      (other) => isExcused(other) && isPublished(other),
      'bad',
    ),
    createShareFigure('abstained', judged, ({ one }) => one.result.abstained === true, 'bad'),
    createShareFigure('published without a person', judged, isPublished, 'neither'),
  ];
}

/** Scores precision, recall and F1 of each labeled class, over the cases of the class. */
export function scoreClasses(cases: readonly ReplayedCase[]): Figure[] {
  const judged = listClassified(cases);
  return countClassCounts(sumMatrix(judged)).flatMap((counts) => {
    const { category: row, truly } = counts;
    const missed = judged.filter(({ truth, said }) => truth === row && said !== row);
    const taken = judged.filter(({ truth, said }) => truth !== row && said === row);
    const wrong = [...missed, ...taken];
    const cell = (column: string, figure: Figure): Figure => ({
      ...figure,
      cases: truly,
      cell: { row, column },
    });
    return [
      cell('precision', shareFigure(`category precision ${row}`, counts.hits, counts.said, listIds(taken))),
      cell('recall', shareFigure(`category recall ${row}`, counts.hits, truly, listIds(missed))),
      cell(
        'F1',
        withInterval(
          { ...getAgainst(`category F1 ${row}`, wrong), value: counts.f1, cases: truly },
          computeF1Interval(counts),
        ),
      ),
    ];
  });
}

/**
 * Returns the whole matrix: one row per true class, one column per answered class, with "nothing" if a case
 * failed. Figures off the diagonal name their cases.
 */
export function scoreMatrix(cases: readonly ReplayedCase[]): Figure[] {
  const judged = listClassified(cases);
  const matrix = sumMatrix(judged);
  const wrong = judged.filter((entry) => !isRight(entry));
  const mistakes = Map.groupBy(wrong, ({ truth, said }) => `${truth} ${said}`);
  return countClassCounts(matrix).flatMap(({ category: row, truly }) =>
    [...CATEGORIES, null].map((answered): Figure => {
      const column = answered === null ? 'nothing' : (COLUMNS[answered] ?? answered);
      const figure = createCountFigure(
        `category matrix ${row}, said ${answered ?? 'nothing'}`,
        mistakes.get(`${row} ${answered}`) ?? [],
        truly,
      );
      return { ...figure, value: getCell(matrix, row, answered), cell: { row, column } };
    }),
  );
}

/**
 * Counts how often each class was mistaken for another. The rows are the true classes. Only mistakes are
 * listed, most common first.
 */
export function scoreConfusions(cases: readonly ReplayedCase[]): Figure[] {
  const judged = listClassified(cases);
  const truly = new Map(countClassCounts(sumMatrix(judged)).map((counts) => [counts.category, counts.truly]));
  const wrong = judged.filter((entry) => !isRight(entry));
  return listConfusions(
    Map.groupBy(wrong, ({ truth, said }) => `${truth} called ${said ?? 'nothing'}`),
    ({ truth }) => truly.get(truth) ?? 0,
  );
}

/**
 * Returns one figure for each mistake, most common first. `casesOf` returns the number of cases in which the
 * mistake was possible.
 */
function listConfusions<T extends { readonly one: ReplayedCase }>(
  mistakes: Map<string, T[]>,
  casesOf: (first: T) => number,
): Figure[] {
  const figures = [...mistakes].map(([name, entries]) =>
    createCountFigure(name, entries, entries[0] === undefined ? 0 : casesOf(entries[0])),
  );
  return figures.sort((left, right) => right.value - left.value || left.name.localeCompare(right.name));
}

function listClassified(cases: readonly ReplayedCase[]): Judged[] {
  const judged = listJudgedCases(cases);
  return judged.some(({ said }) => said !== null) ? judged : [];
}

function getMacroFigure(judged: readonly Judged[]): Figure {
  const [interval] = bootstrap(listClusterSums(judged, CELLS, addToMatrix), (sums) => [computeMacroF1(sums)]);
  const wrong = judged.filter((entry) => !isRight(entry));
  return withInterval(
    {
      ...getAgainst('category macro-F1', wrong),
      value: computeMacroF1(sumMatrix(judged)),
      cases: judged.length,
    },
    interval,
  );
}

/**
 * Computes the interval of F1, which is 2J / (1 + J) with J = hits / (said or truly), a plain proportion.
 * Converting the ends of J's Wilson interval gives bounds of F1 that are meaningful even if every case is
 * right.
 */
function computeF1Interval({ hits, said, truly }: ClassCounts): readonly [number, number] {
  const { low, high } = computeProportion(hits, said + truly - hits);
  return [(2 * low) / (1 + low), (2 * high) / (1 + high)];
}

function getAgainst(
  name: string,
  entries: readonly { readonly one: ReplayedCase }[],
): Pick<Figure, 'name' | 'against'> {
  return entries.length === 0 ? { name } : { name, against: listIds(entries) };
}

function createCountFigure(
  name: string,
  entries: readonly { readonly one: ReplayedCase }[],
  cases: number,
): Figure {
  return { ...getAgainst(name, entries), value: entries.length, cases, unit: 'count' };
}

/** Checks whether one of the two most likely categories is the label or an accepted alternative. */
export function isInTopTwo({ accepted, one }: Judged): boolean {
  const likeliest = Object.entries(one.result.probabilities).sort((left, right) => right[1] - left[1]);
  return likeliest.slice(0, 2).some(([category]) => accepted.includes(category));
}

/** The number of columns: one for each answered class, and one for no answer. */
const SAID = CATEGORIES.length + 1;
const PLACES = new Map<string | null, number>(CATEGORIES.map((category, at) => [category, at]));

/** The precision, recall and F1 of a class, with the underlying counts. */
interface ClassCounts {
  readonly category: string;
  /** The number of cases that are of the class, that were answered with it, and both. */
  readonly truly: number;
  readonly said: number;
  readonly hits: number;
  readonly precision: number;
  readonly recall: number;
  readonly f1: number;
}

/** The number of cells of a matrix, row by row. */
const CELLS = CATEGORIES.length * SAID;

function addToMatrix(matrix: number[], { truth, said }: Judged): void {
  const place = getCellIndex(truth, said);
  matrix[place] = (matrix[place] ?? 0) + 1;
}

function sumMatrix(judged: readonly Judged[]): number[] {
  const matrix = new Array<number>(CELLS).fill(0);
  for (const entry of judged) addToMatrix(matrix, entry);
  return matrix;
}

/** Returns how often a class was mistaken for another. `answered` is null for no answer. */
function getCell(matrix: readonly number[], truth: string, answered: string | null): number {
  return matrix[getCellIndex(truth, answered)] ?? 0;
}

/** Counts the classes that truly occur, in the order of the taxonomy. */
function countClassCounts(matrix: readonly number[]): ClassCounts[] {
  return CATEGORIES.map((category) => countClass(matrix, category)).filter(({ truly }) => truly > 0);
}

function computeMacroF1(matrix: readonly number[]): number {
  return computeMean(countClassCounts(matrix).map((counts) => counts.f1));
}

function countClass(matrix: readonly number[], category: string): ClassCounts {
  const truly = [...CATEGORIES, null].reduce(
    (total, answered) => total + getCell(matrix, category, answered),
    0,
  );
  const answeredCount = CATEGORIES.reduce((total, truth) => total + getCell(matrix, truth, category), 0);
  const hits = getCell(matrix, category, category);
  const precision = computeRatio(hits, answeredCount);
  const recall = computeRatio(hits, truly);
  return { category, truly, said: answeredCount, hits, precision, recall, f1: computeF1(precision, recall) };
}

function getCellIndex(truth: string, answered: string | null): number {
  return (PLACES.get(truth) ?? 0) * SAID + (PLACES.get(answered) ?? SAID - 1);
}

/**
 * Scores how often the kind is right: among all cases with a labeled kind, and among those with the right
 * category. Returns none if nothing was classified.
 */
export function scoreKinds(cases: readonly ReplayedCase[]): Figure[] {
  const labelled = cases.flatMap((replayedCase) =>
    replayedCase.row?.kind == null ? [] : [{ one: replayedCase, kind: replayedCase.row.kind }],
  );
  if (!labelled.some(({ one }) => one.result.kind !== null)) return [];
  const right = new Set(listJudgedCases(cases).flatMap((entry) => (isRight(entry) ? [entry.one] : [])));
  const settled = labelled.filter(({ one }) => right.has(one));
  const isKind = ({ one, kind }: (typeof labelled)[number]) => one.result.kind === kind;
  const wrong = labelled.filter((entry) => !isKind(entry));
  const mistakes = Map.groupBy(
    wrong,
    ({ one, kind }) => `kind ${kind} called ${one.result.kind ?? 'nothing'}`,
  );
  return [
    createShareFigure('kind accuracy', labelled, isKind),
    ...(settled.length === 0
      ? []
      : [createShareFigure('kind accuracy where the category is right', settled, isKind)]),
    ...listConfusions(mistakes, ({ kind }) => labelled.filter((entry) => entry.kind === kind).length),
  ];
}

/** The actions, from the least to the most work for people. */
const ACTIONS = ['auto_notify', 'human_review', 'web_search', 'self_correct'];

/**
 * Scores the actions: how often each was taken and, among the labeled cases, which answers would be published
 * and wrong. Returns none if nothing was answered.
 */
export function scoreActions(cases: readonly ReplayedCase[]): Figure[] {
  const answered = cases
    .filter((replayedCase) => replayedCase.result.action !== null)
    .map((replayedCase) => ({ one: replayedCase }));
  if (answered.length === 0) return [];
  const others = new Set(
    answered.map(({ one }) => one.result.action ?? '').filter((action) => !ACTIONS.includes(action)),
  );
  const shares = [...ACTIONS, ...[...others].sort()].map((action) =>
    createShareFigure(`action: ${action}`, answered, ({ one }) => one.result.action === action, 'neither'),
  );
  return [...shares.filter(({ value }) => value > 0), ...scorePublished(cases)];
}

/**
 * Scores the labeled cases: how many would be published without a person, how many of these are right, and
 * how many are published and wrong.
 */
function scorePublished(cases: readonly ReplayedCase[]): Figure[] {
  const judged = listJudgedCases(cases);
  if (judged.length === 0) return [];
  const isPublished = ({ one }: { readonly one: ReplayedCase }) => one.result.action === 'auto_notify';
  const published = judged.filter(isPublished);
  return [
    createShareFigure('published: coverage', judged, isPublished),
    ...(published.length === 0 ? [] : [createShareFigure('published: accuracy', published, isRight)]),
    createShareFigure('published and wrong', judged, (entry) => isPublished(entry) && !isRight(entry), 'bad'),
  ];
}

/**
 * Scores the attribution of blame in failures with an experiment: by the text alone, and by the answer with
 * the experiment.
 */
export function scoreExperiments(cases: readonly ReplayedCase[]): Figure[] {
  const tried = cases.flatMap((replayedCase) => {
    const { row, result } = replayedCase;
    if (row?.experiment == null || result.blame === null) return [];
    return [
      {
        one: replayedCase,
        truth: row.blame ?? null,
        text: blameByText(result),
        decided: blameByTrying(row.experiment),
        said: result.blame,
      },
    ];
  });
  if (tried.length === 0) return [];
  const decided = tried.flatMap(({ decided: truth, ...rest }) =>
    truth === null ? [] : [{ ...rest, truth }],
  );
  const labelled = tried.flatMap(({ truth, ...rest }) => (truth === null ? [] : [{ ...rest, truth }]));
  const isTextRight = ({ text, truth }: (typeof labelled)[number]) => isBlameRight(text, truth);
  const isSaidRight = ({ said, truth }: (typeof labelled)[number]) => isBlameRight(said, truth);
  const figures = [
    createShareFigure('decided by an experiment', tried, (entry) => entry.decided !== null),
    createShareFigure('text alone agrees with the experiment', decided, ({ text, truth }) =>
      isBlameRight(text, truth),
    ),
    createShareFigure('right whose fault, by text alone', labelled, isTextRight),
    createShareFigure('right whose fault, with experiments', labelled, isSaidRight),
    createShareFigure(
      'made right by an experiment',
      labelled,
      (entry) => !isTextRight(entry) && isSaidRight(entry),
      'neither',
    ),
    createShareFigure(
      'made wrong by an experiment',
      labelled,
      (entry) => isTextRight(entry) && !isSaidRight(entry),
      'bad',
    ),
  ];
  return figures.filter((figure) => figure.cases > 0);
}
