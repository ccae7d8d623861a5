import { maxOf } from '../../lib/lists.ts';
import type { ChangedCase, Comparison, CostDifference, Difference, DifferenceVerdict, Spread } from './comparison.ts';
import { leftOutLines, namesOf, signed } from './comparison-words.ts';
import { dollars, probability } from './words.ts';

const INDENT = '  ';
const VERDICTS: Readonly<Record<DifferenceVerdict, string>> = {
  'b-better': 'B is better',
  'a-better': 'B is worse',
  higher: 'B is higher',
  lower: 'B is lower',
  'within-noise': 'within noise',
  same: 'same',
};
const MOST_NAMED = 10;
const MOST_LISTED = 50;

/** A comparison for people: what it means, the figures side by side, the cost, the spread of repeats, and the cases won and lost. */
export function renderComparison(comparison: Comparison): string {
  const { dataset, sides, cases, resampling } = comparison;
  const heading = `${dataset}: A against B`;
  const drawn = resampling.by === 'project' ? `${resampling.units} projects` : `${resampling.units} cases`;
  const blocks = [
    [heading, '='.repeat(heading.length), `A: ${sides.a.files.join(', ')}`, `B: ${sides.b.files.join(', ')}`],
    [`${cases.compared} cases on both sides; intervals (95 %) from resampling ${drawn}, both sides of a case together`],
    comparison.summary,
    figureRows(comparison.differences),
    costRows(comparison.costs),
    spreadRows('A', sides.a.spread),
    spreadRows('B', sides.b.spread),
    caseRows('won: B is better', comparison.won, dataset),
    caseRows('lost: B is worse', comparison.lost, dataset),
    caseRows('changed, neither better nor worse', comparison.changed, dataset),
    ...[leftOutLines(comparison, MOST_NAMED)].filter((lines) => lines.length > 0),
  ];
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

function figureRows(differences: readonly Difference[]): string[] {
  if (differences.length === 0) return [];
  const rows = differences.map((one) => [
    one.name,
    one.a.toFixed(3),
    one.b.toFixed(3),
    signed(one.difference),
    one.interval === null ? '' : `[${signed(one.interval[0])}, ${signed(one.interval[1])}]`,
    `${one.won}/${one.lost}`,
    one.mcNemar === null ? '' : probability(one.mcNemar.midP),
    VERDICTS[one.verdict],
    `n=${one.cases}`,
  ]);
  return columns([['figure', 'A', 'B', 'B − A', '95 %', 'won/lost', 'McNemar p', '', ''], ...rows], 7);
}

function costRows(costs: readonly CostDifference[]): string[] {
  if (costs.length === 0) return [];
  const rows = costs.map(({ name, unit, a, b, difference, interval, totals, cases }) => {
    const say = (value: number) => (unit === 'dollars' ? dollars(value) : value.toFixed(unit === 'rounds' ? 1 : 0));
    const range = interval === null ? '' : `[${say(interval[0])}, ${say(interval[1])}]`;
    return [name, say(a), say(b), say(difference), range, say(totals.a), say(totals.b), `n=${cases}`];
  });
  return columns([['cost (medians)', 'A', 'B', 'B − A', '95 %', 'all of A', 'all of B', ''], ...rows], 7);
}

function spreadRows(side: string, spread: Spread | null): string[] {
  if (spread === null) return [];
  const rows = spread.figures.map(({ name, mean, deviation, values }) => [
    name,
    mean.toFixed(3),
    deviation.toFixed(3),
    values.map((value) => value.toFixed(3)).join(' '),
  ]);
  const flips = `${INDENT}${spread.flips.length} cases change their category between repeats${namesOf(spread.flips, MOST_NAMED)}`;
  const partial =
    spread.partial.length === 0
      ? []
      : [`${INDENT}${spread.partial.length} cases are not in every repeat${namesOf(spread.partial, MOST_NAMED)}`];
  return [...columns([[`${spread.repeats} repeats of ${side}`, 'mean', 'deviation', 'each'], ...rows], 3), flips, ...partial];
}

function caseRows(title: string, cases: readonly ChangedCase[], dataset: string): string[] {
  // In a folder the number is no line of anything.
  const anchor = (line: number) => (dataset.endsWith('.jsonl') ? ` (${dataset}:${line})` : '');
  if (cases.length === 0) return [];
  const listed = cases
    .slice(0, MOST_LISTED)
    .flatMap(({ id, line, truth, said, url }) => [
      `${INDENT}${id}${anchor(line)}  is ${truth}; A: ${said.a}; B: ${said.b}`,
      ...(url === null ? [] : [`${INDENT}${INDENT}${url}`]),
    ]);
  const more = cases.length - MOST_LISTED;
  return [`${title} (${cases.length})`, ...listed, ...(more > 0 ? [`${INDENT}and ${more} more; --json names them all`] : [])];
}

/** Rows of cells in columns; the first and those from `words` on stand left, numbers right. */
function columns(rows: readonly (readonly string[])[], words: number): string[] {
  const widths = (rows[0] ?? []).map((_, column) => maxOf(rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) => {
    const cells = row.map((cell, column) =>
      column === 0 || column >= words ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
    );
    return `${INDENT}${cells.join('  ')}`.trimEnd();
  });
}
