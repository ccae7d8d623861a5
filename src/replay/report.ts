import { findMax, findMin, omitUndefined } from '../lib/collections.ts';
import { formatConfidence } from '../lib/text.ts';
import { computeMean, type Figure, type FigureSection, isRight, listJudgedCases } from './figures/figure.ts';
import type { ReplayedCase } from './run/replay.ts';

const INDENT = '  ';
/** The maximum width of a line with the names of cases. */
const WIDTH = 100;
const MARK = '  ← ';

/**
 * Renders a table for people: a heading, then in each section the name, the value, the number of cases, and
 * the 95% interval. Notable figures are marked and name cases to begin with. Scripts may rely on
 * `name value n=cases`.
 */
export function renderFigures(heading: string, sections: readonly FigureSection[]): string {
  const plain = sections.flatMap(({ figures }) => figures.filter(({ cell }) => cell === undefined));
  const width = findLongest(plain.map(({ name }) => name));
  const blocks = sections.map(({ title, figures }) => [title, ...formatRows(figures, width)].join('\n'));
  return [heading, '='.repeat(heading.length), '', blocks.join('\n\n')].join('\n');
}

function formatRows(figures: readonly Figure[], width: number): string[] {
  const plain = figures.filter(({ cell }) => cell === undefined);
  const intervals = findLongest(plain.map(formatInterval));
  const counts = findLongest(plain.map(({ cases }) => `n=${cases}`));
  const lines = plain.map((figure) => {
    const interval = intervals === 0 ? '' : `  ${formatInterval(figure).padEnd(intervals)}`;
    const line = `${INDENT}${figure.name.padEnd(width)}  ${formatValue(figure).padStart(10)}  ${`n=${figure.cases}`.padEnd(counts)}${interval}`;
    return markCases(line, isNotable(figure), figure.against ?? []);
  });
  return [...formatGrid(figures), ...lines];
}

function formatGrid(figures: readonly Figure[]): string[] {
  const cells = figures.flatMap((figure) => (figure.cell === undefined ? [] : [{ ...figure.cell, figure }]));
  if (cells.length === 0) return [];
  const columns = [...new Set(cells.map(({ column }) => column))];
  const rows = [...new Set(cells.map(({ row }) => row))];
  const texts = (row: string) =>
    columns.map((column) =>
      formatCellText(cells.find((cell) => cell.row === row && cell.column === column)?.figure),
    );
  const width = findLongest(rows);
  const widths = columns.map((column, at) =>
    Math.max(10, 2 + findLongest([column, ...rows.map((row) => texts(row)[at] ?? '')])),
  );
  const line = (name: string, parts: readonly string[]) =>
    `${INDENT}${name.padEnd(width)}  ${parts.map((part, at) => part.padStart(widths[at] ?? 10)).join('')}`;
  return [
    line('', columns),
    ...rows.map((row) => {
      const rowCells = cells.filter((cell) => cell.row === row).map(({ figure }) => figure);
      const notable = rowCells.filter(isNotable);
      const against = [...new Set(notable.flatMap((figure) => figure.against ?? []))];
      return markCases(`${line(row, texts(row))}  n=${rowCells[0]?.cases ?? 0}`, notable.length > 0, against);
    }),
  ];
}

function formatCellText(figure: Figure | undefined): string {
  if (figure === undefined) return '';
  const interval = formatInterval(figure);
  return interval === '' ? formatValue(figure) : `${formatValue(figure)} ${interval}`;
}

/** Adds a mark such as "← a, b and 3 more", with as many cases as fit on the line. */
function markCases(line: string, isMarked: boolean, against: readonly string[]): string {
  const text = line.trimEnd();
  if (!isMarked) return text;
  let markedCount = 0;
  let words = 'look here';
  for (let count = 1; count <= against.length; count++) {
    const rest = against.length - count;
    const named = `${against.slice(0, count).map(toOneLine).join(', ')}${rest === 0 ? '' : ` and ${rest} more`}`;
    if (count > 1 && text.length + MARK.length + named.length > WIDTH) break;
    words = named;
    markedCount = count;
  }
  return markedCount === 0
    ? `${text}${MARK}${words}`
    : `${text}${MARK}${clip(words, WIDTH - text.length - MARK.length)}`;
}

/**
 * Removes line breaks from an id, which is untrusted text. No id may begin a line that reads like a figure.
 */
function toOneLine(id: string): string {
  return id.replace(/[\r\n\u2028\u2029]/g, ' ');
}

function clip(words: string, room: number): string {
  return words.length <= room || room < 12 ? words : `${words.slice(0, room - 1)}…`;
}

/** Formats the value for people: "0.917", "12", "3.4", "$0.0123". */
export function formatValue({ value, unit }: Pick<Figure, 'value' | 'unit'>): string {
  if (unit === 'count') return String(value);
  if (unit === 'dollars') return `$${value.toFixed(4)}`;
  return value.toFixed(unit === 'measure' ? 1 : 3);
}

/** Formats the 95 % interval, "(0.87–0.95)". Returns an empty string if there is none. */
export function formatInterval({ interval, unit }: Figure): string {
  if (interval === undefined) return '';
  const ends = interval.map((end) =>
    unit === 'dollars' ? `$${end.toFixed(4)}` : end.toFixed(unit === undefined ? 2 : 1),
  );
  return `(${ends.join('–')})`;
}

/**
 * The notable figures: the name, and the value above or below which a figure is notable. The bars of a gate
 * are separate and stricter.
 */
const NOTABLE: readonly { readonly name: RegExp; readonly above?: number; readonly below?: number }[] = [
  { name: /^cases that failed$/, above: 0 },
  // The worst mistake: a real failure is blamed on infrastructure.
  { name: /^code and test failures called INFRA_ERROR$/, above: 0 },
  { name: /^real failures called /, above: 0 },
  { name: /^confident errors$/, above: 0.02 },
  { name: /^expected calibration error/, above: 0.05 },
  { name: /^quotations literally in the log$/, below: 1 },
  { name: /^category macro-F1$/, below: 0.75 },
  { name: /^category F1 /, below: 0.6 },
];

/**
 * Checks whether a person should look at a figure, beginning with the cases against it. Opinions of a model
 * never count.
 */
export function isNotable({ name, value, cases, judged }: Figure): boolean {
  if (cases === 0 || judged === true) return false;
  return NOTABLE.some(
    (rule) =>
      rule.name.test(name) &&
      (value > (rule.above ?? Number.POSITIVE_INFINITY) || value < (rule.below ?? Number.NEGATIVE_INFINITY)),
  );
}

const NAMED = 8;

interface Spread {
  readonly name: string;
  readonly unit: Figure['unit'];
  readonly mean: number;
  readonly low: number;
  readonly high: number;
  readonly repeats: number;
}

/**
 * Lists the figures that all repeats have and that are not equal in all of them, in their order. Cells of
 * tables are left out.
 */
export function listSpreads(repeats: readonly (readonly FigureSection[])[]): Spread[] {
  const [first = [], ...others] = repeats.map((sections) =>
    sections.flatMap(({ figures }) => figures.filter(({ cell }) => cell === undefined)),
  );
  return first.flatMap((figure) => {
    const values = [
      figure,
      ...others.flatMap((figures) => figures.find(({ name }) => name === figure.name) ?? []),
    ].map(({ value }) => value);
    const [low, high] = [findMin(values), findMax(values)];
    if (values.length < repeats.length || low === high) return [];
    return [
      { name: figure.name, unit: figure.unit, mean: computeMean(values), low, high, repeats: values.length },
    ];
  });
}

/**
 * Lists the ids of the cases that repeats put into different categories, and counts the cases that all
 * repeats answered.
 */
export function listUnsteadyCases(repeats: readonly (readonly ReplayedCase[])[]): {
  readonly ids: readonly string[];
  readonly cases: number;
} {
  const categoriesById = new Map<string, (string | null)[]>();
  for (const cases of repeats) {
    for (const { result } of cases) {
      const known = categoriesById.get(result.id);
      if (known === undefined) categoriesById.set(result.id, [result.category]);
      else known.push(result.category);
    }
  }
  const all = [...categoriesById].filter(([, categories]) => categories.length >= repeats.length);
  return {
    ids: all.filter(([, categories]) => new Set(categories).size > 1).map(([id]) => id),
    cases: all.length,
  };
}

function findLongest(texts: readonly string[]): number {
  return texts.reduce((most, text) => Math.max(most, text.length), 0);
}

/** Renders a table of the figures that differ between repeats, and the cases whose category differs. */
export function renderSpread(
  heading: string,
  spreads: readonly Spread[],
  unsteady: ReturnType<typeof listUnsteadyCases>,
): string {
  const width = findLongest(spreads.map(({ name }) => name));
  const rows = spreads.map(({ name, unit, mean, low, high, repeats }) => {
    const text = (value: number) => formatValue({ value, ...omitUndefined({ unit }) });
    return (
      `  ${name.padEnd(width)}  ${text(mean).padStart(10)}  n=${repeats}  from ${text(low)} ` +
      `to ${text(high)}`
    );
  });
  const same = unsteady.cases - unsteady.ids.length;
  const share = `${same} of ${unsteady.cases} cases are put into the same category each time`;
  const others =
    unsteady.ids.length === 0
      ? ''
      : `; not ${unsteady.ids.slice(0, NAMED).map(toOneLine).join(', ')}${unsteady.ids.length > NAMED ? ' …' : ''}`;
  return [heading, '='.repeat(heading.length), '', ...rows, `  ${share}${others}`].join('\n');
}

/** Returns the figures as a flat list for `--json`, each with its section, without unit and cell. */
export function toFigureList(sections: readonly FigureSection[]) {
  return sections.flatMap(({ title, figures }) =>
    figures.map(({ unit: _, cell: _cell, ...figure }) => ({ section: title, ...figure })),
  );
}

/** The data of one test suite on a CI server. */
export interface JunitSuite {
  readonly name: string;
  readonly tests: readonly JunitTest[];
}

export interface JunitTest {
  readonly name: string;
  readonly seconds: number;
  /** The expectation that was not met. */
  readonly failure?: string;
  /** The reason why there is no result. */
  readonly error?: string;
  /** Text shown below the test, such as the root cause. */
  readonly output?: string;
}

/** Creates a suite of cases. A failed case is an error, and a wrong category is a failure. */
export function createCasesSuite(name: string, cases: readonly ReplayedCase[]): JunitSuite {
  return { name, tests: cases.map(toTest) };
}

function toTest(replayedCase: ReplayedCase): JunitTest {
  const { result } = replayedCase;
  const test = { name: result.id, seconds: result.milliseconds / 1000 };
  if (result.error !== null) return { ...test, error: result.error };
  const output = [result.rootCause, result.fixRecommendation].filter((text) => text !== null).join('\n\n');
  const reported = output === '' ? test : { ...test, output };
  const wrong = findWrongText(replayedCase);
  return wrong === null ? reported : { ...reported, failure: wrong };
}

/** Returns the wrong answer, or null if it is right, unlabeled, or no analyst was asked. */
function findWrongText(replayedCase: ReplayedCase): string | null {
  const { result } = replayedCase;
  const [judged] = listJudgedCases([replayedCase]);
  if (judged === undefined || result.analyst === null || isRight(judged)) return null;
  const sure = result.confidence === null ? '' : ` with ${formatConfidence(result.confidence)}`;
  return `said ${result.category ?? 'nothing'}${sure}, correct is ${judged.accepted.join(' or ')}`;
}

/** Renders JUnit XML in the dialect of Surefire, which CI servers read. */
export function renderJunit(suites: readonly JunitSuite[]): string {
  return (
    '<?xml version="1.0" encoding="UTF-8"?>\n' +
    `<testsuites>\n${suites.map(formatSuiteXml).join('')}</testsuites>\n`
  );
}

function formatSuiteXml({ name, tests }: JunitSuite): string {
  const failures = tests.filter(({ failure }) => failure !== undefined).length;
  const errors = tests.filter(({ error }) => error !== undefined).length;
  const seconds = tests.reduce((total, test) => total + test.seconds, 0);
  const head =
    `  <testsuite name="${toXml(name)}" tests="${tests.length}" failures="${failures}" ` +
    `errors="${errors}" skipped="0" time="${seconds.toFixed(3)}">\n`;
  return `${head}${tests.map((test) => testXml(name, test)).join('')}  </testsuite>\n`;
}

function testXml(suite: string, { name, seconds, failure, error, output }: JunitTest): string {
  const inside = [
    failure === undefined ? '' : `<failure message="${toXml(failure)}"/>`,
    error === undefined ? '' : `<error message="${toXml(error)}"/>`,
    output === undefined ? '' : `<system-out>${toXml(output)}</system-out>`,
  ].join('');
  const head = `    <testcase classname="${toXml(suite)}" name="${toXml(name)}" time="${seconds.toFixed(3)}"`;
  return inside === '' ? `${head}/>\n` : `${head}>${inside}</testcase>\n`;
}

/**
 * The characters that XML 1.0 forbids, escaped or not. They are replaced by U+FFFD. Lone surrogates are
 * forbidden, too.
 */
const NO_CHARACTER = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;
const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function toXml(text: string): string {
  return text
    .replace(NO_CHARACTER, '\ufffd')
    .replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character)
    .replace(/[\t\n\r]/g, (character) => `&#${character.charCodeAt(0)};`);
}
