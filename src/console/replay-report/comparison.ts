import { maxOf } from '../../lib/lists.ts';
import { at as unit } from '../charts/chart.ts';
import { type Html, html } from '../html.ts';
import { standAlonePage } from './report.ts';

interface ComparisonReport {
  /** Version of Faultline. */
  readonly version: string;
  /** When it was made, ISO 8601. */
  readonly madeAt: string;
  readonly comparisons: readonly ReportComparison[];
}

/** Two runs side by side as one HTML page: it needs no other file, runs no script, and asks nobody for anything. */
export function renderComparisonReport({ version, madeAt, comparisons }: ComparisonReport): string {
  const contents = html`<nav aria-label="Data sets"><ul>${comparisons.map(({ heading }, index) => html`<li><a href="#k${index + 1}">${heading}</a></li>`)}</ul></nav>`;
  const main = html`<main><h1>Comparison</h1>
<dl class="facts heading"><dt>Made</dt><dd><time datetime="${madeAt}">${madeAt.slice(0, 16).replace('T', ' ')} UTC</time> by Faultline ${version}</dd></dl>
${comparisons.length > 1 && contents}${comparisons.map(comparisonPart)}</main>`;
  return standAlonePage(`Comparison: ${comparisons.map(({ heading }) => heading).join(', ')}`, main);
}

/** Two runs of the same cases as a page shows them: texts as people read them, numbers where something is drawn. */
export interface ReportComparison {
  readonly heading: string;
  /** What each side is: "A" and its files. */
  readonly sides: readonly (readonly [side: string, files: string])[];
  /** What was compared, and how intervals came about. */
  readonly basis: string;
  readonly summary: readonly string[];
  readonly differences: readonly ReportDifference[];
  readonly costs: readonly ReportCost[];
  /** Cases won, lost and changed; none of them empty. */
  readonly lists: readonly ReportCaseList[];
  /** What was left out, and how far repeats are apart. */
  readonly notes: readonly string[];
}

export interface ReportDifference {
  readonly name: string;
  readonly a: string;
  readonly b: string;
  readonly difference: string;
  readonly interval: string;
  readonly wonLost: string;
  readonly p: string;
  readonly verdict: string;
  readonly tone: 'better' | 'worse' | 'other' | 'same';
  readonly cases: number;
  /** B less A with its interval, in the figure's own unit. */
  readonly drawn: { readonly value: number; readonly interval: readonly [low: number, high: number] | null };
}

interface ReportCost {
  readonly name: string;
  readonly a: string;
  readonly b: string;
  readonly difference: string;
  readonly interval: string;
}

export interface ReportCaseList {
  readonly title: string;
  readonly cases: readonly {
    readonly id: string;
    /** "cases.jsonl:12"; empty where the number is no line of anything. */
    readonly place: string;
    /** An http(s) address, or null. */
    readonly url: string | null;
    readonly truth: string;
    readonly a: string;
    readonly b: string;
  }[];
}

/** A list is no longer; the rest is counted. */
const MOST_CASES = 1_000;
/** Of a drawn difference, in units of its drawing; a dot is as broad as twice the radius. */
const WIDTH = 240;
const HEIGHT = 20;
const DOT = 4;

/** One comparison: what it means, every figure with its difference drawn, the cost, and the cases that the sides answer otherwise. */
function comparisonPart(one: ReportComparison, at: number): Html {
  const top = `k${at + 1}`;
  return html`<section aria-labelledby="${top}"><h2 id="${top}">${one.heading}</h2>
<dl class="facts heading">${one.sides.map(([side, files]) => html`<dt>${side}</dt><dd>${files}</dd>`)}</dl>
<p class="quiet">${one.basis}</p>
<div class="finding">${one.summary.map((sentence) => html`<p>${sentence}</p>`)}</div>
${one.differences.length > 0 && differenceTable(one, top)}${one.costs.length > 0 && costTable(one, top)}
${one.lists.map((list, index) => caseList(list, one, `${top}-l${index + 1}`))}
${one.notes.length > 0 && html`<h3>Left out, and repeats</h3><ul>${one.notes.map((note) => html`<li>${note}</li>`)}</ul>`}</section>`;
}

function differenceTable({ heading, differences }: ReportComparison, top: string): Html {
  const reach = maxOf(differences.flatMap(({ drawn }) => [drawn.value, ...(drawn.interval ?? [])]).map(Math.abs), 0.001);
  const scale = reach.toFixed(reach < 0.1 ? 3 : 2);
  const rows = differences.map(
    (one) =>
      html`<tr class="is-${one.tone}"><th scope="row">${one.name}</th><td class="number">${one.a}</td><td class="number">${one.b}</td><td class="number">${one.difference}</td><td class="drawn">${drawing(one, reach)}</td><td class="interval">${one.interval}</td><td class="number">${one.wonLost}</td><td class="number">${one.p}</td><td class="verdict">${one.verdict}</td><td class="number quiet">${one.cases}</td></tr>`,
  );
  return html`<h3 id="${top}-figures">Figures</h3><div class="scroll" tabindex="0" role="region" aria-label="Figures of both sides, ${heading}"><table class="differences"><thead><tr><th scope="col">Figure</th><th scope="col" class="number">A</th><th scope="col" class="number">B</th><th scope="col" class="number">B − A</th><th scope="col"><span class="scale"><span>−${scale}</span><span>0</span><span>+${scale}</span></span></th><th scope="col">95 % interval</th><th scope="col" class="number">Won/lost</th><th scope="col" class="number">McNemar p</th><th scope="col">Means</th><th scope="col" class="number">Of</th></tr></thead><tbody>${rows}</tbody></table></div>`;
}

/** A dot for the difference on a line for its interval; where the line leaves the middle alone, chance hardly made it. */
function drawing({ name, difference, interval, drawn }: ReportDifference, reach: number): Html {
  const x = (value: number) => unit(WIDTH / 2 + (value / reach) * (WIDTH / 2 - DOT - 1));
  const y = HEIGHT / 2;
  const line =
    drawn.interval !== null && html`<line class="range" x1="${x(drawn.interval[0])}" x2="${x(drawn.interval[1])}" y1="${y}" y2="${y}"/>`;
  return html`<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" aria-label="${name}: ${difference} ${interval}"><line class="zero" x1="${WIDTH / 2}" x2="${WIDTH / 2}" y1="0" y2="${HEIGHT}"/>${line}<circle cx="${x(drawn.value)}" cy="${y}" r="${DOT}"/></svg>`;
}

function costTable({ heading, costs }: ReportComparison, top: string): Html {
  const rows = costs.map(
    (one) =>
      html`<tr><th scope="row">${one.name}</th><td class="number">${one.a}</td><td class="number">${one.b}</td><td class="number">${one.difference}</td><td class="interval">${one.interval}</td></tr>`,
  );
  return html`<h3 id="${top}-costs">Cost, median per case</h3><div class="scroll" tabindex="0" role="region" aria-label="Cost of both sides, ${heading}"><table class="costs"><thead><tr><th scope="col">Cost</th><th scope="col" class="number">A</th><th scope="col" class="number">B</th><th scope="col" class="number">B − A</th><th scope="col">95 % interval</th></tr></thead><tbody>${rows}</tbody></table></div>`;
}

function caseList({ title, cases }: ReportCaseList, { heading }: ReportComparison, id: string): Html {
  const rest = cases.length - MOST_CASES;
  const rows = cases
    .slice(0, MOST_CASES)
    .map(
      (one) =>
        html`<tr><th scope="row">${one.url === null ? one.id : html`<a href="${one.url}" rel="noreferrer noopener">${one.id}</a>`}${one.place !== '' && html` <span class="quiet">${one.place}</span>`}</th><td>${one.truth}</td><td>${one.a}</td><td>${one.b}</td></tr>`,
    );
  return html`<h3 id="${id}">${title} <span class="quiet">(${cases.length})</span></h3><div class="scroll" tabindex="0" role="region" aria-label="${title}, ${heading}"><table class="others"><thead><tr><th scope="col">Case</th><th scope="col">True</th><th scope="col">A said</th><th scope="col">B said</th></tr></thead><tbody>${rows}</tbody></table></div>${rest > 0 && html`<p class="quiet">and ${rest} more; see --json for all</p>`}`;
}
