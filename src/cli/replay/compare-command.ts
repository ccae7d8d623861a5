import { writeFile } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { at as unit } from '../../console/charts/chart.ts';
import { dataTable, type Html, html } from '../../console/html.ts';
import { standAlonePage } from '../../console/stand-alone-page.ts';
import { messageOf, TriageError } from '../../domain/errors.ts';
import { RELEASE } from '../../domain/trust.ts';
import { maxOf } from '../../lib/collections.ts';
import { visibleLines } from '../../notifications/visible-text.ts';
import { casesAt } from '../../replay/cases/folder.ts';
import { compareRuns } from '../../replay/compare/compare-runs.ts';
import type { ChangedCase, Comparison, CostDifference, Difference, DifferenceVerdict, Spread } from '../../replay/compare/comparison.ts';
import {
  amount,
  costText,
  drawnText,
  leftOutLines,
  namesOf,
  probability,
  renderComparison,
  signed,
  VERDICTS,
} from '../../replay/compare/text.ts';
import { type RunResults, readResults } from '../../replay/run/results.ts';
import { jsonText, print } from '../terminal.ts';

export interface CompareCommandOptions {
  readonly dataset: readonly string[];
  readonly a: readonly string[];
  readonly b: readonly string[];
  readonly html?: string;
  readonly json?: boolean;
}

/** `faultline compare`: a table a data set, or a JSON line a data set. */
export async function runCompare(options: CompareCommandOptions): Promise<void> {
  refuseInputs(options);
  const files = { a: await readAll(options.a), b: await readAll(options.b) };
  const comparisons: Comparison[] = [];
  for (const [index, path] of options.dataset.entries()) {
    const comparison = await compareRuns({ dataset: basename(path), cases: await casesAt(path), files });
    comparisons.push(comparison);
    if (options.json) await print(jsonText({ ok: true, ...comparison }));
    // Ids and suspects are somebody else's text: a terminal must not obey them.
    else await print(`${index === 0 ? '' : '\n'}${visibleLines(renderComparison(comparison)).join('\n')}`);
  }
  if (options.html === undefined) return;
  await writePage(options.html, comparisonPage(comparisons));
}

async function readAll(paths: readonly string[]): Promise<RunResults[]> {
  const files: RunResults[] = [];
  for (const path of paths) files.push(await readResults(path));
  return files;
}

/** A page must not take the place of what it tells. */
function refuseInputs({ html, dataset, a, b }: CompareCommandOptions): void {
  if (html !== undefined && [...dataset, ...a, ...b].some((path) => resolve(path) === resolve(html)))
    throw new TriageError('invalid-config', `--html would overwrite the input ${html}.`);
}

async function writePage(path: string, text: string): Promise<void> {
  await writeFile(path, text).catch((cause: unknown) => {
    throw new TriageError('storage-failed', `--html: ${path} cannot be written: ${messageOf(cause)}.`, { cause });
  });
}

const TONES: Readonly<Record<DifferenceVerdict, 'better' | 'worse' | 'other' | 'same'>> = {
  ...({ 'b-better': 'better', 'a-better': 'worse', higher: 'other', lower: 'other', 'within-noise': 'same', same: 'same' } as const),
};
const MOST_NAMED = 20;
/** A list is no longer; the rest is counted. */
const MOST_CASES = 1_000;
/** Of a drawn difference, in units of its drawing; a dot is as broad as twice the radius. */
const WIDTH = 240;
const HEIGHT = 20;
const DOT = 4;

/** Comparisons as one HTML page: it needs no other file, runs no script, and asks nobody for anything. */
export function comparisonPage(comparisons: readonly Comparison[]): string {
  const madeAt = new Date().toISOString();
  const contents = html`<nav aria-label="Data sets"><ul>${comparisons.map((one, index) => html`<li><a href="#k${index + 1}">${headingOf(one)}</a></li>`)}</ul></nav>`;
  const main = html`<main><h1>Comparison</h1>
<dl class="facts heading"><dt>Made</dt><dd><time datetime="${madeAt}">${madeAt.slice(0, 16).replace('T', ' ')} UTC</time> by Faultline ${RELEASE}</dd></dl>
${comparisons.length > 1 && contents}${comparisons.map(comparisonPart)}</main>`;
  return standAlonePage(`Comparison: ${comparisons.map(headingOf).join(', ')}`, main);
}

function headingOf({ dataset }: Comparison): string {
  return `${dataset}: A against B`;
}

/** One comparison: what it means, every figure with its difference drawn, the cost, and the cases that the sides answer otherwise. */
function comparisonPart(one: Comparison, at: number): Html {
  const { sides, cases, resampling, differences, costs } = one;
  const [top, heading] = [`k${at + 1}`, headingOf(one)];
  const lists = [
    ['Won: B is better', one.won],
    ['Lost: B is worse', one.lost],
    ['Changed, neither better nor worse', one.changed],
  ] as const;
  const shown = lists.filter(([, changed]) => changed.length > 0);
  const leftOut = leftOutLines(one, MOST_NAMED).map((line) => line.charAt(0).toUpperCase() + line.slice(1));
  const notes = [...spreadNotes('A', sides.a.spread), ...spreadNotes('B', sides.b.spread), ...leftOut];
  return html`<section aria-labelledby="${top}"><h2 id="${top}">${heading}</h2>
<dl class="facts heading"><dt>A</dt><dd>${sides.a.files.join(', ')}</dd><dt>B</dt><dd>${sides.b.files.join(', ')}</dd></dl>
<p class="quiet">${amount(cases.compared, 'case', 'cases')} on both sides; intervals (95 %) from resampling ${drawnText(resampling)}, with both sides of a case kept together.</p>
<div class="finding">${one.summary.map((sentence) => html`<p>${sentence}</p>`)}</div>
${differences.length > 0 && differenceTable(differences, heading, top)}${costs.length > 0 && costTable(costs, heading, top)}
${shown.map(([title, changed], index) => caseList(title, changed, one, `${top}-l${index + 1}`))}
${notes.length > 0 && html`<h3>Left out, and repeats</h3><ul>${notes.map((note) => html`<li>${note}</li>`)}</ul>`}</section>`;
}

function differenceTable(differences: readonly Difference[], heading: string, top: string): Html {
  const reach = maxOf(differences.flatMap(({ difference, interval }) => [difference, ...(interval ?? [])]).map(Math.abs), 0.001);
  const scale = reach.toFixed(reach < 0.1 ? 3 : 2);
  const rows = differences.map(
    (one) =>
      html`<tr class="is-${TONES[one.verdict]}"><th scope="row">${one.name}</th><td class="number">${one.a.toFixed(3)}</td><td class="number">${one.b.toFixed(3)}</td><td class="number">${signed(one.difference)}</td><td class="drawn">${drawing(one, reach)}</td><td class="interval">${rangeText(one)}</td><td class="number">${one.won}/${one.lost}</td><td class="number">${one.mcNemar !== null && probability(one.mcNemar.midP)}</td><td class="verdict">${VERDICTS[one.verdict]}</td><td class="number quiet">${one.cases}</td></tr>`,
  );
  const axis = html`<span class="scale"><span>−${scale}</span><span>0</span><span>+${scale}</span></span>`;
  const counts = ['Won/lost', 'McNemar p'].map((number) => ({ number }));
  const head = [
    'Figure',
    { number: 'A' },
    { number: 'B' },
    { number: 'B − A' },
    axis,
    '95 % interval',
    ...counts,
    'Means',
    { number: 'Of' },
  ];
  return html`<h3 id="${top}-figures">Figures</h3>${dataTable(`Figures of both sides, ${heading}`, head, rows, { className: 'differences' })}`;
}

function rangeText({ interval }: Difference): string {
  return interval === null ? '' : `${signed(interval[0])} to ${signed(interval[1])}`;
}

/** A dot for the difference on a line for its interval; where the line leaves the middle alone, chance hardly made it. */
function drawing(one: Difference, reach: number): Html {
  const { name, difference, interval } = one;
  const x = (value: number) => unit(WIDTH / 2 + (value / reach) * (WIDTH / 2 - DOT - 1));
  const y = HEIGHT / 2;
  const line = interval !== null && html`<line class="range" x1="${x(interval[0])}" x2="${x(interval[1])}" y1="${y}" y2="${y}"/>`;
  return html`<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" aria-label="${name}: ${signed(difference)} ${rangeText(one)}"><line class="zero" x1="${WIDTH / 2}" x2="${WIDTH / 2}" y1="0" y2="${HEIGHT}"/>${line}<circle cx="${x(difference)}" cy="${y}" r="${DOT}"/></svg>`;
}

function costTable(costs: readonly CostDifference[], heading: string, top: string): Html {
  const rows = costs.map(({ name, unit, a, b, difference, interval }) => {
    const say = (value: number) => costText(value, unit).replace('-', '−');
    const range = interval === null ? '' : `${say(interval[0])} to ${say(interval[1])}`;
    return html`<tr><th scope="row">${name}</th><td class="number">${say(a)}</td><td class="number">${say(b)}</td><td class="number">${say(difference)}</td><td class="interval">${range}</td></tr>`;
  });
  return html`<h3 id="${top}-costs">Cost, median per case</h3>${dataTable(`Cost of both sides, ${heading}`, ['Cost', { number: 'A' }, { number: 'B' }, { number: 'B − A' }, '95 % interval'], rows, { className: 'costs' })}`;
}

function caseList(title: string, cases: readonly ChangedCase[], comparison: Comparison, id: string): Html {
  const { dataset } = comparison;
  const rest = cases.length - MOST_CASES;
  // In a folder the number is no line of anything.
  const isFile = dataset.endsWith('.jsonl');
  const rows = cases
    .slice(0, MOST_CASES)
    .map(
      (one) =>
        html`<tr><th scope="row">${one.url === null ? one.id : html`<a href="${one.url}" rel="noreferrer noopener">${one.id}</a>`}${isFile && html` <span class="quiet">${dataset}:${one.line}</span>`}</th><td>${one.truth}</td><td>${one.said.a}</td><td>${one.said.b}</td></tr>`,
    );
  return html`<h3 id="${id}">${title} <span class="quiet">(${cases.length})</span></h3>${dataTable(`${title}, ${headingOf(comparison)}`, ['Case', 'True', 'A said', 'B said'], rows, { className: 'others' })}${rest > 0 && html`<p class="quiet">and ${rest} more; see --json for all</p>`}`;
}

function spreadNotes(side: string, spread: Spread | null): string[] {
  if (spread === null) return [];
  const figures = spread.figures.map(({ name, mean, deviation }) => `${name} ${mean.toFixed(3)} ± ${deviation.toFixed(3)}`);
  const flips = `${spread.flips.length} change category between repeats${namesOf(spread.flips, MOST_NAMED)}`;
  return [`${spread.repeats} repeats of ${side} (mean ± standard deviation): ${figures.join('; ')}; ${flips}`];
}
