import {
  type ChangedCase,
  type Comparison,
  type CostDifference,
  type Difference,
  describeDrawn,
  formatCostText,
  formatDollars,
  formatIdList,
  formatInterval,
  formatPoints,
  formatProbability,
  formatSigned,
  groupChanged,
  listLeftOutLines,
  type Spread,
  toAmount,
  toSignedPoints,
  VERDICTS,
} from '../../domain/comparison.ts';
import { findMax } from '../../lib/collections.ts';

/** Formats a share: 0.9135 → "91.4 %". */
function formatShare(value: number): string {
  return `${(value * 100).toFixed(1)} %`;
}

const NO_FIGURE = 'These cases have no labels to score; only costs are compared.';

/**
 * Summarizes a comparison in sentences: the main figure, other differences beyond noise, the cost, and
 * caveats.
 */
export function summarizeComparison(comparison: Omit<Comparison, 'summary'>): string[] {
  const main =
    comparison.differences.find(({ name }) => name === comparison.wonBy) ?? comparison.differences[0];
  if (main === undefined) return [NO_FIGURE, ...listCostSentences(comparison)];
  return [
    formatMainSentence(main),
    ...listOtherSentences(comparison, main),
    ...listCostSentences(comparison),
    ...listCaveats(comparison, main),
  ];
}

function formatMainSentence(main: Difference): string {
  const { name, difference, won, lost, verdict } = main;
  const counts = `${won} won, ${lost} lost`;
  const by = `${formatPoints(Math.abs(difference))} of ${name}`;
  switch (verdict) {
    case 'same':
      return `A and B agree in all ${main.cases} cases: ${name} is ${formatShare(main.a)} on both sides.`;
    case 'b-better':
      return `B is better by ${by} (${describeBasis(main)}); ${counts}.`;
    case 'a-better':
      return `B is worse by ${by} (${describeBasis(main)}); ${counts}.`;
    case 'higher':
    case 'lower':
      return `B is ${verdict} by ${by} (${describeBasis(main)}); ${counts}.`;
    default: {
      const way =
        difference === 0
          ? 'equal to that of A'
          : `${formatPoints(Math.abs(difference))} ${difference > 0 ? 'higher' : 'lower'} than that of A`;
      return `No difference beyond noise: the ${name} of B is ${way} (${describeBasis(main)}); ${counts}.`;
    }
  }
}

/** Describes the basis of the verdict, with the interval in percentage points. */
function describeBasis({ interval, mcNemar }: Difference): string {
  const range = interval === null ? 'one case, so no interval' : `95 % interval ${formatInterval(interval)}`;
  if (mcNemar === null) return range;
  const p = formatProbability(mcNemar.midP);
  return `${range}, McNemar p ${p.startsWith('<') ? p : `= ${p}`}`;
}

function listOtherSentences({ differences }: Omit<Comparison, 'summary'>, main: Difference): string[] {
  const others = differences.filter((difference) => difference !== main);
  const named = (verdicts: readonly string[]) =>
    others
      .filter(({ verdict }) => verdicts.includes(verdict))
      .map(({ name, difference }) => `${name} ${toSignedPoints(difference)}`);
  const list = (lead: string, names: readonly string[]) =>
    names.length === 0 ? [] : [`${lead}: ${names.join('; ')}.`];
  return [
    ...list('Beyond noise, B is better in', named(['b-better'])),
    ...list('Beyond noise, B is worse in', named(['a-better'])),
    ...list('Changed beyond noise, with no better direction', named(['higher', 'lower'])),
  ];
}

function listCostSentences({ costs }: Omit<Comparison, 'summary'>): string[] {
  const paid = costs.find(({ unit }) => unit === 'dollars');
  return paid === undefined ? [] : [formatCostSentence(paid)];
}

function formatCostSentence({ difference, interval, totals }: CostDifference): string {
  const all = `${formatDollars(totals.a)} and ${formatDollars(totals.b)} in total`;
  if (difference === 0) return `In the median case, A and B cost the same (${all}).`;
  const noise = interval !== null && interval[0] <= 0 && interval[1] >= 0 ? ', within noise' : '';
  const range =
    interval === null
      ? ''
      : `95 % interval ${formatDollars(interval[0])} to ${formatDollars(interval[1])}${noise}; `;
  return (
    `In the median case, B costs ${formatDollars(Math.abs(difference))} ` +
    `${difference > 0 ? 'more' : 'less'} (${range}${all}).`
  );
}

function listCaveats({ cases, sides, differences }: Omit<Comparison, 'summary'>, main: Difference): string[] {
  const unpaired = cases.onlyA.length + cases.onlyB.length;
  const failed = new Set([...cases.failed.a, ...cases.failed.b]).size;
  const spreads = [sides.a.spread, sides.b.spread].flatMap(
    (spread) => spread?.figures.find(({ name }) => name === main.name)?.deviation ?? [],
  );
  const widest = findMax(spreads, 0);
  return [
    ...(widest > 0 && Math.abs(main.difference) < 2 * widest
      ? [
          `Repeats of one side differ by ${formatPoints(widest)} (standard deviation): ` +
            'a difference of this size may be random.',
        ]
      : []),
    ...(unpaired > 0 ? [`${toAmount(unpaired, 'case is', 'cases are')} on one side only and left out.`] : []),
    ...(failed > 0
      ? [
          `${toAmount(failed, 'case', 'cases')} failed on a side ` +
            `and ${failed === 1 ? 'counts' : 'count'} as wrong there.`,
        ]
      : []),
    ...(cases.unreadable.length > 0
      ? [`${toAmount(cases.unreadable.length, 'row', 'rows')} of the data set could not be read.`]
      : []),
    ...(differences.some(({ interval }) => interval === null)
      ? ['A figure with a single case has no interval.']
      : []),
  ];
}

const INDENT = '  ';
/** The maximum number of ids in a line. */
const MAX_IDS = 10;
/** The maximum number of cases in a list. */
const MAX_LISTED = 50;

/**
 * Renders a comparison for people: the summary, the figures side by side, the cost, the spread of repeats,
 * and the cases won and lost.
 */
export function renderComparison(comparison: Comparison): string {
  const { dataset, sides, cases, resampling } = comparison;
  const heading = `${dataset}: A against B`;
  const blocks = [
    [heading, '='.repeat(heading.length), `A: ${sides.a.files.join(', ')}`, `B: ${sides.b.files.join(', ')}`],
    [
      `${toAmount(cases.compared, 'case', 'cases')} on both sides; ` +
        `95 % intervals from resampling ${describeDrawn(resampling)}; ` +
        'both sides of a case are drawn together',
    ],
    comparison.summary,
    listFigureRows(comparison.differences),
    listCostRows(comparison.costs),
    listSpreadRows('A', sides.a.spread),
    listSpreadRows('B', sides.b.spread),
    listCaseRows('won: B is better', comparison.won, dataset),
    listCaseRows('lost: B is worse', comparison.lost, dataset),
    ...groupChanged(comparison).map(([title, cases]) => listCaseRows(title, cases, dataset)),
    ...[listLeftOutLines(comparison, MAX_IDS)].filter((lines) => lines.length > 0),
  ];
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

function listFigureRows(differences: readonly Difference[]): string[] {
  if (differences.length === 0) return [];
  const rows = differences.map((difference) => [
    difference.name,
    difference.a.toFixed(3),
    difference.b.toFixed(3),
    formatSigned(difference.difference),
    difference.interval === null
      ? ''
      : `[${formatSigned(difference.interval[0])}, ${formatSigned(difference.interval[1])}]`,
    `${difference.won}/${difference.lost}`,
    difference.mcNemar === null ? '' : formatProbability(difference.mcNemar.midP),
    VERDICTS[difference.verdict],
    `n=${difference.cases}`,
  ]);
  return listColumns([['figure', 'A', 'B', 'B − A', '95 %', 'won/lost', 'McNemar p', '', ''], ...rows], 7);
}

function listCostRows(costs: readonly CostDifference[]): string[] {
  if (costs.length === 0) return [];
  const rows = costs.map(({ name, unit, a, b, difference, interval, totals, cases }) => {
    const say = (value: number) => formatCostText(value, unit);
    const range = interval === null ? '' : `[${say(interval[0])}, ${say(interval[1])}]`;
    return [name, say(a), say(b), say(difference), range, say(totals.a), say(totals.b), `n=${cases}`];
  });
  return listColumns(
    [['cost (medians)', 'A', 'B', 'B − A per case', '95 %', 'total A', 'total B', ''], ...rows],
    7,
  );
}

function listSpreadRows(side: string, spread: Spread | null): string[] {
  if (spread === null) return [];
  const say = (value: number) => value.toFixed(3);
  const rows = spread.figures.map(({ name, mean, deviation, values }) => [
    name,
    say(mean),
    say(deviation),
    values.map(say).join(' '),
  ]);
  const flips =
    `${INDENT}category differs between repeats ` +
    `in ${toAmount(spread.flips.length, 'case', 'cases')}${formatIdList(spread.flips, MAX_IDS)}`;
  const partial =
    spread.partial.length === 0
      ? []
      : [
          `${INDENT}missing from some ` +
            `repeats: ${toAmount(spread.partial.length, 'case', 'cases')}${formatIdList(spread.partial, MAX_IDS)}`,
        ];
  return [
    ...listColumns([[`${spread.repeats} repeats of ${side}`, 'mean', 'deviation', 'each'], ...rows], 3),
    flips,
    ...partial,
  ];
}

function listCaseRows(title: string, cases: readonly ChangedCase[], dataset: string): string[] {
  // If the data set is a folder, `line` is the number of the case.
  const anchor = (line: number) => (dataset.endsWith('.jsonl') ? ` (${dataset}:${line})` : '');
  if (cases.length === 0) return [];
  const listed = cases
    .slice(0, MAX_LISTED)
    .flatMap(({ id, line, truth, said, url }) => [
      `${INDENT}${id}${anchor(line)}  is ${truth}; A: ${said.a}; B: ${said.b}`,
      ...(url === null ? [] : [`${INDENT}${INDENT}${url}`]),
    ]);
  const more = cases.length - MAX_LISTED;
  return [
    `${title} (${cases.length})`,
    ...listed,
    ...(more > 0 ? [`${INDENT}and ${more} more; --json names them all`] : []),
  ];
}

/**
 * Aligns the cells of rows in columns: the first column and those from index `firstTextColumn` on to the
 * left, the others to the right.
 */
function listColumns(rows: readonly (readonly string[])[], firstTextColumn: number): string[] {
  const widths = (rows[0] ?? []).map((_, column) => findMax(rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) => {
    const cells = row.map((cell, column) =>
      column === 0 || column >= firstTextColumn
        ? cell.padEnd(widths[column] ?? 0)
        : cell.padStart(widths[column] ?? 0),
    );
    return `${INDENT}${cells.join('  ')}`.trimEnd();
  });
}
