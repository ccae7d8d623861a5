import { calibrationChart } from '../charts/calibration.ts';
import { coverageChart } from '../charts/coverage.ts';
import { figure } from '../charts/figure.ts';
import { type Html, html } from '../html.ts';
import { type Anchors, anchorsOf } from './anchors.ts';
import { casesPart } from './cases.ts';
import { confusionMatrix } from './confusion.ts';
import { figureSections } from './figures.ts';
import type { ReplayReport, ReportFigure, ReportSet } from './report.ts';
import { standAlonePage } from './stand-alone.ts';

/** So many cases of a set are on the page, at most. */
const MOST_CASES = 5_000;
/** The share of wrong answers for which the coverage chart names a threshold. */
const BORNE = 0.03;

/** What a reader looks for first, where the figures have it. */
const TILES = [
  'category accuracy',
  'category macro-F1',
  'confident errors',
  'expected calibration error',
  'published: coverage',
  'published: accuracy',
  'recall of labelled lines',
  'quotations literally in the log',
  'dollars a case (mean)',
  'cases that failed',
];
const MOST_TILES = 8;

/** The whole report as one HTML page: it needs no other file, runs no script, and asks nobody for anything. */
export function renderReplayReport(report: ReplayReport): string {
  const title = `Replay of ${report.sets.map(({ name }) => name).join(', ')}`;
  const main = html`<main><h1>Replay report</h1>
<dl class="facts heading"><dt>Made</dt><dd><time datetime="${report.madeAt}">${report.madeAt.slice(0, 16).replace('T', ' ')} UTC</time> by Faultline ${report.version}</dd>${report.settings.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>
${report.sets.length > 1 && contents(report.sets)}${report.sets.map((set, index) => setPart(set, index, report.sets.length === 1))}${report.further.length > 0 && html`<h2>Whole run</h2>${figureSections(report.further, null)}`}</main>`;
  return standAlonePage(title, main);
}

function contents(sets: readonly ReportSet[]): Html {
  return html`<nav aria-label="Data sets"><ul>${sets.map(({ heading }, index) => html`<li><a href="#s${index + 1}">${heading}</a></li>`)}</ul></nav>`;
}

function setPart(set: ReportSet, index: number, isOnly: boolean): Html {
  const shown = Math.min(set.cases.length, MOST_CASES);
  const anchors = anchorsOf(set, index + 1, shown, isOnly);
  return html`<section aria-labelledby="${anchors.top}"><h2 id="${anchors.top}">${set.heading}</h2>
${set.stopped !== null && html`<p class="notice-line"><strong>Not all cases were replayed:</strong> ${set.stopped}. All figures cover only the ${set.cases.length} replayed cases.</p>`}
${tiles(set)}${confusionMatrix(set.confusion, anchors)}${charts(set, anchors)}
<h3 class="all-figures">All figures</h3>${figureSections(set.sections, anchors)}
${casesPart(set, shown, anchors)}</section>`;
}

function tiles({ sections }: ReportSet): Html {
  const figures = sections.flatMap((section) => section.figures);
  const found = TILES.flatMap((name) => figures.find((figure) => figure.name === name) ?? []).slice(0, MOST_TILES);
  return html`<dl class="key-figures">${found.map(tile)}</dl>`;
}

function tile({ name, value, interval, cases, isNotable }: ReportFigure): Html {
  return html`<div class="card${isNotable && ' notable'}"><dt>${name}</dt><dd><strong>${value}</strong> <span class="quiet">${interval} of ${cases}</span>${isNotable && html` <span class="look">look here</span>`}</dd></div>`;
}

function charts({ stated }: ReportSet, { top, suffix }: Anchors): Html {
  return html`${stated.map(({ name, judged, threshold }, at) => {
    const calibration = calibrationChart({
      id: `${top}-calibration-${at}`,
      name: `Reliability of the ${name}${suffix}`,
      judged,
      csv: null,
    });
    const coverage = coverageChart({
      id: `${top}-coverage-${at}`,
      judged,
      answered: judged,
      threshold,
      wrong: BORNE,
      csv: null,
      kept: null,
    });
    const named = { ...coverage, name: `Accuracy against coverage, by the ${name}${suffix}` };
    return html`<div class="charts-pair">${figure(calibration, 'h3')}${figure(named, 'h3')}</div>`;
  })}`;
}
