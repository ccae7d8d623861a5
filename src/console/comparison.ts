import { CATEGORIES, Category } from '../domain/category.ts';
import { nameCategory } from '../domain/category-words.ts';
import {
  type ChangedCase,
  type Comparison,
  type CostDifference,
  type Difference,
  type DifferenceVerdict,
  describeDrawn,
  formatCostText,
  formatIdList,
  formatProbability,
  formatSigned,
  groupChanged,
  listLeftOutLines,
  type Spread,
  toAmount,
  VERDICTS,
} from '../domain/comparison.ts';
import { findMax } from '../lib/collections.ts';
import { round as unit } from './charts/chart.ts';
import { createNumberColumns, dataTable, type Html, html, type Shown } from './html.ts';

/** The CSS class of each kind of difference, which determines the color. */
const TONES: Readonly<Record<DifferenceVerdict, string>> = {
  'b-better': 'better',
  'a-better': 'worse',
  higher: 'other',
  lower: 'other',
  'within-noise': 'same',
  same: 'same',
};
const MAX_NAMED = 20;
/** The maximum number of listed cases. The others are counted. */
const MAX_CASES = 1_000;
/** The width of the drawing of a difference, in drawing units. */
const WIDTH = 240;
const HEIGHT = 20;
const DOT = 4;

export function formatHeading({ dataset }: Comparison): string {
  return `${dataset}: A against B`;
}

/**
 * Renders one comparison: its result in sentences, every figure with its difference as a drawing, the cost,
 * and the cases in which the sides answer differently.
 */
export function comparisonPart(comparison: Comparison, at: number): Html {
  const [top, heading] = [`k${at + 1}`, formatHeading(comparison)];
  return html`<section aria-labelledby="${top}"><h2 id="${top}">${heading}</h2>
    <dl class="kv heading"><dt>A</dt><dd>${comparison.sides.a.files.join(', ')}</dd><dt>B</dt>
    <dd>${comparison.sides.b.files.join(', ')}</dd></dl>
    ${comparisonFigures(comparison, top)}
    ${changedCases(comparison, top)}
    ${comparisonNotes(comparison)}</section>`;
}

/** Renders the result in sentences, every figure with its difference as a drawing, and the cost. */
export function comparisonFigures(comparison: Comparison, top: string): Html {
  const { cases, resampling, differences, costs } = comparison;
  const heading = formatHeading(comparison);
  const drawn = describeDrawn(resampling);
  return html`<p class="quiet">${toAmount(cases.compared, 'case', 'cases')}
    on both sides; intervals (95 %) from resampling ${drawn}, with both sides of a case kept
    together.</p>
    <div class="verdict-words">${comparison.summary.map((sentence) => html`<p>${sentence}</p>`)}</div>
    ${differences.length > 0 && differenceTable(differences, heading, top)}${
      costs.length > 0 && costTable(costs, heading, top)
    }`;
}

/** The names of the two sides, and how a case is shown in a list. */
export interface CaseListing {
  readonly sides: readonly [a: string, b: string];
  readonly shown: (changedCase: ChangedCase) => Html;
}

const AS_FILES: CaseListing = { sides: ['A', 'B'], shown: caseByAddress };

/** Renders the id of a case, as a link to its source if its row has one. */
export function caseByAddress({ id, url }: Pick<ChangedCase, 'id' | 'url'>): Html {
  return url === null ? html`${id}` : html`<a href="${url}" rel="noreferrer noopener">${id}</a>`;
}

/** Renders three lists of the cases in which the sides answer differently: better, worse, and neither. */
export function changedCases(comparison: Comparison, top: string, listing: CaseListing = AS_FILES): Html {
  const [, second] = listing.sides;
  const lists = [
    [`Won: ${second} is better`, comparison.won],
    [`Lost: ${second} is worse`, comparison.lost],
    ...groupChanged(comparison).map(
      ([title, cases]) => [title.charAt(0).toUpperCase() + title.slice(1), cases] as const,
    ),
  ] as const;
  const nonEmpty = lists.filter(([, changed]) => changed.length > 0);
  return html`${nonEmpty.map(([title, changed], index) =>
    caseList(title, changed, comparison, `${top}-l${index + 1}`, listing),
  )}`;
}

/** Renders the omitted cases and the differences between repeats. Renders nothing if there are neither. */
export function comparisonNotes(comparison: Comparison): Shown {
  const leftOut = listLeftOutLines(comparison, MAX_NAMED).map(
    (line) => line.charAt(0).toUpperCase() + line.slice(1),
  );
  const notes = [
    ...listSpreadNotes('A', comparison.sides.a.spread),
    ...listSpreadNotes('B', comparison.sides.b.spread),
    ...leftOut,
  ];
  return (
    notes.length > 0 &&
    html`<h3>Left out, and repeats</h3><ul>${notes.map((note) => html`<li>${note}</li>`)}</ul>`
  );
}

function differenceTable(differences: readonly Difference[], heading: string, top: string): Html {
  const reach = findMax(
    differences.flatMap(({ difference, interval }) => [difference, ...(interval ?? [])]).map(Math.abs),
    0.001,
  );
  const scale = reach.toFixed(reach < 0.1 ? 3 : 2);
  const rows = differences.map(
    (difference) =>
      html`<tr class="is-${TONES[difference.verdict]}"><th scope="row">${difference.name}</th>
        <td class="number">${difference.a.toFixed(3)}</td><td class="number">${difference.b.toFixed(3)}</td>
        <td class="number">${formatSigned(difference.difference)}</td>
        <td class="drawn">${drawing(difference, reach)}</td><td
        class="interval">${formatInterval(difference)}</td>
        <td class="number">${difference.won}/${difference.lost}</td>
        <td class="number">${difference.mcNemar !== null && formatProbability(difference.mcNemar.midP)}</td>
        <td class="verdict">${VERDICTS[difference.verdict]}</td>
        <td class="number quiet">${difference.cases}</td></tr>`,
  );
  const axis = html`<span class="scale"><span>−${scale}</span><span>0</span><span>+${scale}</span></span>`;
  const sides = ['Figure', ...createNumberColumns('A', 'B', 'B − A'), axis, '95 % interval'];
  const head = [
    ...sides,
    ...createNumberColumns('Won/lost', 'McNemar p'),
    'Means',
    ...createNumberColumns('Of'),
  ];
  return html`<h3 id="${top}-figures">Figures</h3>${dataTable(
    `Figures of both sides, ${heading}`,
    head,
    rows,
    { className: 'differences' },
  )}`;
}

function formatInterval({ interval }: Difference): string {
  return interval === null ? '' : `${formatSigned(interval[0])} to ${formatSigned(interval[1])}`;
}

/**
 * Draws a dot for the difference and a line for its interval. If the line does not cross the middle, the
 * difference is unlikely to be chance.
 */
function drawing(measured: Difference, reach: number): Html {
  const { name, difference, interval } = measured;
  const x = (value: number) => unit(WIDTH / 2 + (value / reach) * (WIDTH / 2 - DOT - 1));
  const y = HEIGHT / 2;
  const line =
    interval !== null &&
    html`<line class="range" x1="${x(interval[0])}" x2="${x(interval[1])}" y1="${y}" y2="${y}"/>`;
  return html`<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img"
    aria-label="${name}: ${formatSigned(difference)} ${formatInterval(measured)}">
    <line class="zero" x1="${WIDTH / 2}" x2="${WIDTH / 2}" y1="0" y2="${HEIGHT}"/>${line}<circle
    cx="${x(difference)}" cy="${y}" r="${DOT}"/></svg>`;
}

function costTable(costs: readonly CostDifference[], heading: string, top: string): Html {
  const rows = costs.map(({ name, unit, a, b, difference, interval }) => {
    const say = (value: number) => formatCostText(value, unit).replace('-', '−');
    const range = interval === null ? '' : `${say(interval[0])} to ${say(interval[1])}`;
    return html`<tr><th scope="row">${name}</th><td class="number">${say(a)}</td>
      <td class="number">${say(b)}</td><td class="number">${say(difference)}</td>
      <td class="interval">${range}</td></tr>`;
  });
  return html`<h3 id="${top}-costs">Cost, median per case</h3>${dataTable(
    `Cost of both sides, ${heading}`,
    ['Cost', ...createNumberColumns('A', 'B', 'B − A, median per case'), '95 % interval'],
    rows,
    { className: 'costs' },
  )}`;
}

function caseList(
  title: string,
  cases: readonly ChangedCase[],
  comparison: Comparison,
  id: string,
  listing: CaseListing,
): Html {
  const { dataset } = comparison;
  const rest = cases.length - MAX_CASES;
  // If the data set is a folder, the number is not a line number.
  const isFile = dataset.endsWith('.jsonl');
  const rows = cases.slice(0, MAX_CASES).map((changedCase) => {
    const { said } = changedCase;
    return html`<tr><th scope="row">${listing.shown(changedCase)}${
      isFile && html` <span class="quiet">${dataset}:${changedCase.line}</span>`
    }</th><td>${nameCodes(changedCase.truth)}</td><td>${nameCodes(said.a)}</td>
    <td>${nameCodes(said.b)}</td></tr>`;
  });
  return html`<h3 id="${id}">${title}
    <span class="quiet">(${cases.length})</span></h3>${dataTable(
      `${title}, ${formatHeading(comparison)}`,
      ['Case', 'True', ...listing.sides.map((side) => `${side} said`)],
      rows,
      { className: 'others' },
    )}${rest > 0 && html`<p class="quiet">and ${rest} more; see --json for all</p>`}`;
}

function listSpreadNotes(side: string, spread: Spread | null): string[] {
  if (spread === null) return [];
  const figures = spread.figures.map(
    ({ name, mean, deviation }) => `${name} ${mean.toFixed(3)} ± ${deviation.toFixed(3)}`,
  );
  const flips =
    `${spread.flips.length} change category between ` + `repeats${formatIdList(spread.flips, MAX_NAMED)}`;
  return [
    `${spread.repeats} repeats of ${side} (mean ± standard deviation): ${figures.join('; ')}; ${flips}`,
  ];
}

const CODES = new RegExp(`\\b(?:${CATEGORIES.join('|')})\\b`, 'g');

/** Replaces the codes of categories in a text by their names for people. */
function nameCodes(text: string): string {
  return text.replace(CODES, (code) => nameCategory(Category.parse(code)));
}
