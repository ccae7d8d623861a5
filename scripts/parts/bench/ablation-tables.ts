import type { Difference } from '../../../src/domain/comparison.ts';
import { computeMean, computeRatio } from '../../../src/replay/figures/figure.ts';
import type { ReplayedCase } from '../../../src/replay/run/replay.ts';
import { ABLATION_MEASURES, systemDifferences } from './ablation-measures.ts';
import { CARELESS_FILES, type Column, LINEAR_FILES, type Table } from './ablation-plan.ts';
import { keyOf, type Results, type System } from './ablation-runs.ts';
import type { AblationRun } from './ablation-worker.ts';

/**
 * Renders the first row with its values, and the others as differences from it, with their intervals and
 * their cost in tokens and time.
 */
export function renderTable({ title, rows, columns }: Table, results: Results): string {
  const [whole, ...others] = rows;
  if (whole === undefined) return '';
  const counts = columns.map((column) => `${column.head} (n=${casesOf(whole, column, results).length})`);
  const lines = [
    `### ${title}\n`,
    `| | ${counts.join(' | ')} | tokens | time |`,
    `|---|${'---|'.repeat(columns.length + 2)}`,
    `| ${whole.name} | ${columns.map((column) => wholeCell(whole, column, results)).join(' | ')} | ${tokensOf(whole, columns, results).toFixed(0)} | 1.00 |`,
    ...others.map((row) => {
      const cells = columns.map((column) => differenceCell(whole, row, column, results));
      const tokens = computeRatio(tokensOf(row, columns, results), tokensOf(whole, columns, results));
      const time = computeRatio(timeOf(row, columns, results), timeOf(whole, columns, results));
      return `| ${row.name} | ${cells.join(' | ')} | × ${tokens.toFixed(2)} | × ${time.toFixed(2)} |`;
    }),
  ];
  return `${lines.join('\n')}\n`;
}

/** Renders one table for each data set: the linear baseline, the loop, and the gain of the loop. */
export function linearTables(results: Results): string {
  const tables = (files: readonly string[], careless: boolean) =>
    files.map((file) => linearTable(file, careless, results));
  return [...tables(LINEAR_FILES, false), ...tables(CARELESS_FILES, true)].join('\n');
}

function linearTable(file: string, careless: boolean, results: Results): string {
  const run = { file, onlyRead: false, without: [], careless };
  const [linear, loop] = [keyOf({ ...run, design: 'linear' }), keyOf(run)].map((key) => results.get(key));
  if (linear === undefined || loop === undefined) return '';
  const rows = systemDifferences(linear.cases, loop.cases, ABLATION_MEASURES).map(linearRow);
  const time = computeRatio(loop.milliseconds, linear.milliseconds);
  const head = ['| | linear | loop | gain of the loop | beyond noise | p |', '|---|---|---|---|---|---|'];
  return [
    `### ${file}${careless ? ', an analyst that misquotes' : ''} (n=${loop.cases.length}; the loop takes ${time.toFixed(2)} × the time)\n`,
    ...head,
    ...rows,
    '',
  ].join('\n');
}

const VERDICTS: Readonly<Record<Difference['verdict'], string>> = {
  'b-better': 'the loop',
  'a-better': 'the linear baseline',
  higher: 'higher',
  lower: 'lower',
  'within-noise': 'no',
  same: 'the same',
};

function linearRow(found: Difference): string {
  const p = found.mcNemar === null || found.verdict === 'same' ? '' : found.mcNemar.midP.toFixed(3);
  return `| ${found.name} | ${found.a.toFixed(3)} | ${found.b.toFixed(3)} | ${found.verdict === 'same' ? '' : gapOf(found)} | ${VERDICTS[found.verdict]} | ${p} |`;
}

function wholeCell(whole: System, column: Column, results: Results): string {
  const cases = casesOf(whole, column, results);
  return differenceOf(cases, cases, column)?.a.toFixed(3) ?? '–';
}

/** Renders a difference, in bold if it is beyond noise. */
function differenceCell(whole: System, row: System, column: Column, results: Results): string {
  const found = differenceOf(casesOf(whole, column, results), casesOf(row, column, results), column);
  if (found === undefined) return '–';
  if (found.verdict === 'same') return '0';
  return found.verdict === 'within-noise' ? gapOf(found) : `**${gapOf(found)}**`;
}

function differenceOf(
  whole: readonly ReplayedCase[],
  other: readonly ReplayedCase[],
  { measure }: Column,
): Difference | undefined {
  const measures = ABLATION_MEASURES.filter(({ name }) => name === measure);
  return systemDifferences(whole, other, measures)[0];
}

function gapOf({ difference, interval }: Difference): string {
  return interval === null
    ? signed(difference)
    : `${signed(difference)} [${signed(interval[0])}, ${signed(interval[1])}]`;
}

function signed(value: number): string {
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(3)}`;
}

function casesOf(
  system: System,
  { file, onlyRead }: Pick<Column, 'file' | 'onlyRead'>,
  results: Results,
): readonly ReplayedCase[] {
  return results.get(keyOf({ ...system, file, onlyRead }))?.cases ?? [];
}

/** Returns the runs of a table, each once. */
function runsOf(system: System, columns: readonly Column[], results: Results): AblationRun[] {
  const keys = new Set(columns.map(({ file, onlyRead }) => keyOf({ ...system, file, onlyRead })));
  return [...keys].flatMap((key) => results.get(key) ?? []);
}

/** Returns the mean number of tokens of a log. */
function tokensOf(system: System, columns: readonly Column[], results: Results): number {
  return computeMean(
    runsOf(system, columns, results).flatMap(({ cases }) => cases.map(({ result }) => result.tokens)),
  );
}

function timeOf(system: System, columns: readonly Column[], results: Results): number {
  return runsOf(system, columns, results).reduce((sum, { milliseconds }) => sum + milliseconds, 0);
}
