import type { Difference } from '../../../src/domain/comparison.ts';
import { computeMean, computeRatio } from '../../../src/replay/figures/figure.ts';
import type { ReplayedCase } from '../../../src/replay/run/replay.ts';
import { ABLATION_MEASURES, computeSystemDifferences } from './ablation-measures.ts';
import { CARELESS_FILES, type Column, LINEAR_FILES, type Table } from './ablation-plan.ts';
import { createKey, type Results, type System } from './ablation-runs.ts';
import type { AblationRun } from './ablation-worker.ts';

/**
 * Renders the first row with its values, and the others as differences from it, with their intervals and
 * their cost in tokens and time.
 */
export function renderTable({ title, rows, columns }: Table, results: Results): string {
  const [whole, ...others] = rows;
  if (whole === undefined) return '';
  const counts = columns.map((column) => `${column.head} (n=${selectCases(whole, column, results).length})`);
  const lines = [
    `### ${title}\n`,
    `| | ${counts.join(' | ')} | tokens | time |`,
    `|---|${'---|'.repeat(columns.length + 2)}`,
    `| ${whole.name} | ${columns.map((column) => formatWholeCell(whole, column, results)).join(' | ')} | ${countTokens(whole, columns, results).toFixed(0)} | 1.00 |`,
    ...others.map((row) => {
      const cells = columns.map((column) => formatDifferenceCell(whole, row, column, results));
      const tokens = computeRatio(countTokens(row, columns, results), countTokens(whole, columns, results));
      const time = computeRatio(measureTime(row, columns, results), measureTime(whole, columns, results));
      return `| ${row.name} | ${cells.join(' | ')} | × ${tokens.toFixed(2)} | × ${time.toFixed(2)} |`;
    }),
  ];
  return `${lines.join('\n')}\n`;
}

/** Renders one table for each data set: the linear baseline, the loop, and the gain of the loop. */
export function formatLinearTables(results: Results): string {
  const tables = (files: readonly string[], careless: boolean) =>
    files.map((file) => formatLinearTable(file, careless, results));
  return [...tables(LINEAR_FILES, false), ...tables(CARELESS_FILES, true)].join('\n');
}

function formatLinearTable(file: string, careless: boolean, results: Results): string {
  const run = { file, onlyRead: false, without: [], careless };
  const [linear, loop] = [createKey({ ...run, design: 'linear' }), createKey(run)].map((key) =>
    results.get(key),
  );
  if (linear === undefined || loop === undefined) return '';
  const rows = computeSystemDifferences(linear.cases, loop.cases, ABLATION_MEASURES).map(formatLinearRow);
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

function formatLinearRow(found: Difference): string {
  const p = found.mcNemar === null || found.verdict === 'same' ? '' : found.mcNemar.midP.toFixed(3);
  return `| ${found.name} | ${found.a.toFixed(3)} | ${found.b.toFixed(3)} | ${found.verdict === 'same' ? '' : formatGap(found)} | ${VERDICTS[found.verdict]} | ${p} |`;
}

function formatWholeCell(whole: System, column: Column, results: Results): string {
  const cases = selectCases(whole, column, results);
  return computeDifference(cases, cases, column)?.a.toFixed(3) ?? '–';
}

/** Renders a difference, in bold if it is beyond noise. */
function formatDifferenceCell(whole: System, row: System, column: Column, results: Results): string {
  const found = computeDifference(
    selectCases(whole, column, results),
    selectCases(row, column, results),
    column,
  );
  if (found === undefined) return '–';
  if (found.verdict === 'same') return '0';
  return found.verdict === 'within-noise' ? formatGap(found) : `**${formatGap(found)}**`;
}

function computeDifference(
  whole: readonly ReplayedCase[],
  other: readonly ReplayedCase[],
  { measure }: Column,
): Difference | undefined {
  const measures = ABLATION_MEASURES.filter(({ name }) => name === measure);
  return computeSystemDifferences(whole, other, measures)[0];
}

function formatGap({ difference, interval }: Difference): string {
  return interval === null
    ? formatSigned(difference)
    : `${formatSigned(difference)} [${formatSigned(interval[0])}, ${formatSigned(interval[1])}]`;
}

function formatSigned(value: number): string {
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(3)}`;
}

function selectCases(
  system: System,
  { file, onlyRead }: Pick<Column, 'file' | 'onlyRead'>,
  results: Results,
): readonly ReplayedCase[] {
  return results.get(createKey({ ...system, file, onlyRead }))?.cases ?? [];
}

/** Returns the runs of a table, each once. */
function listRuns(system: System, columns: readonly Column[], results: Results): AblationRun[] {
  const keys = new Set(columns.map(({ file, onlyRead }) => createKey({ ...system, file, onlyRead })));
  return [...keys].flatMap((key) => results.get(key) ?? []);
}

/** Returns the mean number of tokens of a log. */
function countTokens(system: System, columns: readonly Column[], results: Results): number {
  return computeMean(
    listRuns(system, columns, results).flatMap(({ cases }) => cases.map(({ result }) => result.tokens)),
  );
}

function measureTime(system: System, columns: readonly Column[], results: Results): number {
  return listRuns(system, columns, results).reduce((sum, { milliseconds }) => sum + milliseconds, 0);
}
