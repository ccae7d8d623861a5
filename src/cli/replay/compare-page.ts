import type { ReportCaseList, ReportComparison, ReportDifference } from '../../console/replay-report/comparison.ts';
import { renderComparisonReport } from '../../console/replay-report/comparison-page.ts';
import type { ChangedCase, Comparison, CostDifference, Difference, DifferenceVerdict, Spread } from '../../replay/compare/comparison.ts';
import { amount, dollars, leftOutLines, namesOf, probability, signed } from '../../replay/compare/text.ts';
import { VERSION } from '../version.ts';

const VERDICTS: Readonly<Record<DifferenceVerdict, readonly [words: string, tone: ReportDifference['tone']]>> = {
  'b-better': ['B is better', 'better'],
  'a-better': ['B is worse', 'worse'],
  higher: ['B is higher', 'other'],
  lower: ['B is lower', 'other'],
  'within-noise': ['within noise', 'same'],
  same: ['same', 'same'],
};
const MOST_NAMED = 20;

/** Comparisons as one page that needs nothing else. */
export function comparePage(comparisons: readonly Comparison[]): string {
  return renderComparisonReport({ version: VERSION, madeAt: new Date().toISOString(), comparisons: comparisons.map(partOf) });
}

function partOf(comparison: Comparison): ReportComparison {
  const { dataset, sides, cases, resampling, won, lost, changed } = comparison;
  const drawn = resampling.by === 'project' ? `${resampling.units} projects` : `${resampling.units} cases`;
  return {
    heading: `${dataset}: A against B`,
    sides: [
      ['A', sides.a.files.join(', ')],
      ['B', sides.b.files.join(', ')],
    ],
    basis: `${amount(cases.compared, 'case', 'cases')} on both sides; intervals (95 %) from resampling ${drawn}, with both sides of a case kept together.`,
    summary: comparison.summary,
    differences: comparison.differences.map(differenceOf),
    costs: comparison.costs.map(costOf),
    lists: [
      listOf('Won: B is better', won, dataset),
      listOf('Lost: B is worse', lost, dataset),
      listOf('Changed, neither better nor worse', changed, dataset),
    ].filter((list) => list.cases.length > 0),
    notes: [
      ...spreadNotes('A', sides.a.spread),
      ...spreadNotes('B', sides.b.spread),
      ...leftOutLines(comparison, MOST_NAMED).map(capitalised),
    ],
  };
}

function differenceOf(one: Difference): ReportDifference {
  const [verdict, tone] = VERDICTS[one.verdict];
  return {
    name: one.name,
    a: one.a.toFixed(3),
    b: one.b.toFixed(3),
    difference: signed(one.difference),
    interval: one.interval === null ? '' : `${signed(one.interval[0])} to ${signed(one.interval[1])}`,
    wonLost: `${one.won}/${one.lost}`,
    p: one.mcNemar === null ? '' : probability(one.mcNemar.midP),
    verdict,
    tone,
    cases: one.cases,
    drawn: { value: one.difference, interval: one.interval },
  };
}

function costOf({ name, unit, a, b, difference, interval }: CostDifference): ReportComparison['costs'][number] {
  const say = (value: number) => (unit === 'dollars' ? dollars(value) : value.toFixed(unit === 'rounds' ? 1 : 0).replace('-', '−'));
  const range = interval === null ? '' : `${say(interval[0])} to ${say(interval[1])}`;
  return { name, a: say(a), b: say(b), difference: say(difference), interval: range };
}

function listOf(title: string, cases: readonly ChangedCase[], dataset: string): ReportCaseList {
  // In a folder the number is no line of anything.
  const place = (line: number) => (dataset.endsWith('.jsonl') ? `${dataset}:${line}` : '');
  return { title, cases: cases.map(({ id, line, url, truth, said }) => ({ id, place: place(line), url, truth, a: said.a, b: said.b })) };
}

function spreadNotes(side: string, spread: Spread | null): string[] {
  if (spread === null) return [];
  const figures = spread.figures.map(({ name, mean, deviation }) => `${name} ${mean.toFixed(3)} ± ${deviation.toFixed(3)}`);
  const flips = `${spread.flips.length} change category between repeats${namesOf(spread.flips, MOST_NAMED)}`;
  return [`${spread.repeats} repeats of ${side} (mean ± standard deviation): ${figures.join('; ')}; ${flips}`];
}

function capitalised(line: string): string {
  return line.charAt(0).toUpperCase() + line.slice(1);
}
