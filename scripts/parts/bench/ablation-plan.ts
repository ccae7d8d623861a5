import { type Run, type System, USUAL_BUDGET } from './ablation-runs.ts';

/** A column of a table: one measure on one data set. */
export interface Column {
  readonly head: string;
  readonly file: string;
  readonly measure: string;
  readonly onlyRead: boolean;
}

/** A table with systems as rows and measures as columns. The other rows are compared with the first one. */
export interface Table {
  readonly group: 'reader' | 'sources' | 'budgets' | 'linear';
  readonly title: string;
  readonly rows: readonly (System & { readonly name: string })[];
  readonly columns: readonly Column[];
}

const WHOLE = { name: 'the whole system', without: [] };
const CLASSIFY = ['classify/clean', 'classify/issues', 'classify/silver'];
const LOCALISE = ['localise/bears', 'localise/defects4j', 'localise/bugsinpy'];
const REDUCE = ['reduce/logchunks', 'reduce/cidiff', 'reduce/treeherder'];
const TESTS = 'failing_tests/bugswarm';

const read = (file: string, head: string): Column => ({
  head,
  file,
  measure: 'recall of labelled lines',
  onlyRead: true,
});
const judged = (file: string, head: string, measure: string): Column => ({
  head,
  file,
  measure,
  onlyRead: false,
});
const LINES = [
  read('reduce/logchunks', 'logchunks'),
  read('reduce/cidiff', 'cidiff'),
  read('reduce/treeherder', 'treeherder'),
];
const F1 = [
  judged('classify/clean', 'clean', 'category macro-F1'),
  judged('classify/issues', 'issues', 'category macro-F1'),
];
const RECIPROCAL = 'faulty file: mean reciprocal rank';

const READER = [
  WHOLE,
  ...['sections', 'extractors', 'ranking', 'reducer', 'green'].map(without),
  { name: 'extractors, reducer', without: ['extractors', 'reducer'] },
];
const SOURCES = [
  WHOLE,
  ...['library', 'knowledge', 'code-host', 'history', 'logs', 'web', 'tools', 'loop', 'corrections'].map(
    without,
  ),
];
const BUDGETS = [USUAL_BUDGET, 1_000, 4_000, 8_000, 16_000].map((budget) => ({
  name: `${budget / 1000}k tokens`,
  without: [],
  budget,
}));

/** All tables of the page. */
export const TABLES: readonly Table[] = [
  { group: 'reader', title: 'Reader: recall of labelled lines', rows: READER, columns: LINES },
  {
    group: 'reader',
    title: 'Reader: category (macro-F1) and failing tests (F1)',
    rows: READER.filter(({ name }) => name !== 'green'),
    columns: [
      ...F1,
      { head: 'bugswarm', file: TESTS, measure: 'failing tests: F1 of a log', onlyRead: true },
    ],
  },
  {
    group: 'reader',
    title: 'Reader: published, and right or wrong',
    rows: READER.filter(({ name }) => name !== 'green'),
    columns: createPublishingColumns('classify/clean', 'clean').concat(
      createPublishingColumns('classify/issues', 'issues'),
    ),
  },
  {
    group: 'reader',
    title: 'Reader: suspects (mean reciprocal rank)',
    rows: READER.filter(({ name }) => name !== 'green'),
    columns: [
      judged('localise/bears', 'bears', RECIPROCAL),
      judged('localise/bugsinpy', 'bugsinpy', RECIPROCAL),
    ],
  },
  {
    group: 'sources',
    title: 'Sources and rounds: category (macro-F1) and suspects',
    rows: SOURCES,
    columns: [...F1, judged('localise/bears', 'bears', RECIPROCAL)],
  },
  {
    group: 'sources',
    title: 'Sources and rounds: published, and right or wrong',
    rows: SOURCES,
    columns: createPublishingColumns('classify/clean', 'clean').concat(
      createPublishingColumns('classify/issues', 'issues'),
    ),
  },
  { group: 'budgets', title: 'Budgets', rows: BUDGETS, columns: [...LINES, ...F1] },
];

/**
 * The files on which the linear baseline is compared with the loop, by every measure that the labels allow.
 */
export const LINEAR_FILES: readonly string[] = [...CLASSIFY, ...LOCALISE, TESTS, ...REDUCE];

/**
 * The files for the same comparison with an analyst that misquotes in every third answer, which shows the
 * value of verification.
 */
export const CARELESS_FILES: readonly string[] = ['classify/clean', 'classify/issues'];

/** Returns the runs of both designs on each file. */
export function listLinearRuns(): Run[] {
  const pairs = (file: string, careless: boolean): Run[] =>
    (['loop', 'linear'] as const).map((design) => ({ file, onlyRead: false, without: [], design, careless }));
  return [
    ...LINEAR_FILES.flatMap((file) => pairs(file, false)),
    ...CARELESS_FILES.flatMap((file) => pairs(file, true)),
  ];
}

/** Returns all runs that these tables need. */
export function listRuns(tables: readonly Table[]): Run[] {
  return tables.flatMap(({ rows, columns }) =>
    rows.flatMap((row) => columns.map(({ file, onlyRead }) => ({ ...row, file, onlyRead }))),
  );
}

function createPublishingColumns(file: string, head: string): Column[] {
  return [
    judged(file, `${head}: and right`, 'published and right'),
    judged(file, `${head}: and wrong`, 'published and wrong'),
  ];
}

function without(stage: string): System & { readonly name: string } {
  return { name: stage, without: [stage] };
}
