import type { Config } from '../../config/schema.ts';
import { figure } from '../../console/charts/chart.ts';
import { createCalibrationChart, createThresholdChart } from '../../console/charts/confidence.ts';
import { dataTable, type Html, html } from '../../console/html.ts';
import { standAlonePage } from '../../console/stand-alone-page.ts';
import { RELEASE } from '../../domain/trust.ts';
import type { Judged } from '../../lib/statistics.ts';
import { listStatements, type StatedBy } from '../figures/calibration.ts';
import type { Figure, FigureSection } from '../figures/figure.ts';
import { formatInterval, formatValue, isNotable } from '../report.ts';
import type { ReplayedCase } from '../run/replay.ts';
import type { ReplayCommandOptions } from './case-sources.ts';
import { renderCaseSection, renderTable } from './render-case.ts';
import {
  type Anchors,
  buildConfusionCells,
  type ConfusionCell,
  chooseShade,
  renderCaseLinks,
  renderConfusionMatrix,
} from './render-matrix.ts';
import type { ReportedRun } from './replay-source.ts';
import { type ReportCase, reportCases } from './report-cases.ts';
import { describeSettings } from './run-files.ts';

/** The maximum number of cases of a set on the page. */
const MAX_CASES = 5_000;
/** The share of wrong answers for which the coverage chart shows a threshold. */
const BORNE = 0.03;

/** The figures that are shown first, if they exist. */
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
const MAX_TILES = 8;

/** One replay of one source of cases. */
export interface ReportSet {
  readonly name: string;
  /** A line that describes the settings of the replay. */
  readonly heading: string;
  /** The reason why the run is incomplete; null if it is complete. */
  readonly stopped: string | null;
  readonly sections: readonly FigureSection[];
  /** The stated probabilities, and whether they were right. Empty if no case is labeled. */
  readonly stated: readonly ReportStated[];
  /**
   * The labeled and answered categories of the cases, in the order of the taxonomy. Empty if no case is
   * labeled.
   */
  readonly confusion: readonly ConfusionCell[];
  /** All cases, with the most informative first. */
  readonly cases: readonly ReportCase[];
}

interface ReportStated {
  readonly name: string;
  readonly judged: readonly Judged[];
  /** The threshold above which an answer is published without a person. */
  readonly threshold: number;
}

/** Figures of the confusion matrix, which is rendered separately with links. */
const DRAWN = /^category, whole matrix/;

/** Renders the whole replay as one self-contained page. */
export async function reportPage(
  reported: readonly ReportedRun[],
  options: ReplayCommandOptions,
  config: Config,
): Promise<string> {
  const cases = await reportCases(reported, config);
  const settings = Object.entries(describeSettings(options, config)).filter(([, value]) => value !== null);
  const sets = reported.map((reportedRun, at) => ({
    ...toReportSet(reportedRun, config),
    cases: cases[at] ?? [],
  }));
  return renderReplayReport(settings, sets);
}

function toReportSet(
  { heading, run, sections, repeat }: ReportedRun,
  config: Config,
): Omit<ReportSet, 'cases'> {
  const threshold = config.triage.thresholds.autoNotify;
  const stated = [
    groupStatements('category’s probability', run.cases, 'classification', threshold),
    groupStatements('answer’s probability', run.cases, 'answer', threshold),
  ];
  return {
    name: repeat === 1 ? run.source.name : `${run.source.name}, repeat ${repeat}`,
    heading,
    stopped: run.stopped,
    sections: sections.filter(({ title }) => !DRAWN.test(title)),
    stated: stated.filter(({ judged }) => judged.length > 0),
    confusion: buildConfusionCells(run.cases),
  };
}

/** Groups the stated probabilities by hundredths, rounded down, as the console's charts do. */
function groupStatements(
  name: string,
  cases: readonly ReplayedCase[],
  by: StatedBy,
  threshold: number,
): ReportStated {
  const groups = Map.groupBy(
    listStatements(cases, by),
    ({ stated, right }) => `${Math.floor(stated * 100 + 1e-9)} ${right}`,
  );
  const judged = [...groups.values()].map(([first, ...others]) => {
    return {
      at: Math.floor((first?.stated ?? 0) * 100 + 1e-9) / 100,
      right: first?.right === true,
      count: 1 + others.length,
    };
  });
  return { name, judged, threshold };
}

/**
 * Renders the whole report as one HTML page that needs no other file, runs no script, and makes no request.
 */
export function renderReplayReport(
  settings: readonly (readonly [string, unknown])[],
  sets: readonly ReportSet[],
): string {
  const [title, madeAt] = [`Replay of ${sets.map(({ name }) => name).join(', ')}`, new Date().toISOString()];
  const main = html`<main><h1>Replay report</h1>
    <dl class="kv heading"><dt>Made</dt>
    <dd><time datetime="${madeAt}">${madeAt.slice(0, 16).replace('T', ' ')} UTC</time>
    by Faultline ${RELEASE}</dd>${settings.map(
      ([name, value]) => html`<dt>${name}</dt><dd>${String(value)}</dd>`,
    )}</dl>
    ${
      sets.length > 1 && renderContents(sets)
    }${sets.map((set, index) => setPart(set, index, sets.length === 1))}</main>`;
  return standAlonePage(title, main);
}

function renderContents(sets: readonly ReportSet[]): Html {
  return html`<nav aria-label="Data sets">
    <ul>${sets.map(({ heading }, index) => html`<li><a href="#s${index + 1}">${heading}</a></li>`)}</ul>
    </nav>`;
}

function setPart(set: ReportSet, index: number, isOnly: boolean): Html {
  const shownCount = Math.min(set.cases.length, MAX_CASES);
  const anchors = createAnchors(set, index + 1, shownCount, isOnly);
  return html`<section aria-labelledby="${anchors.top}"><h2 id="${anchors.top}">${set.heading}</h2>
    ${
      set.stopped !== null &&
      html`<p class="notice-line"><strong>Not all cases were replayed:</strong>
        ${set.stopped}. All figures cover only the ${set.cases.length} replayed cases.</p>`
    }
    ${renderTiles(set)}${renderConfusionMatrix(set.confusion, anchors)}${renderCharts(set, anchors)}
    <h3 class="all-figures">All figures</h3>
    <div class="sections">${set.sections.map((section) => renderFigureSection(section, anchors))}</div>
    ${renderCasesPart(set, shownCount, anchors)}</section>`;
}

function renderTiles({ sections }: ReportSet): Html {
  const figures = sections.flatMap((section) => section.figures);
  const found = TILES.flatMap((name) => figures.find((figure) => figure.name === name) ?? []).slice(
    0,
    MAX_TILES,
  );
  return html`<dl class="key-figures">${found.map(renderTile)}</dl>`;
}

function renderTile(figure: Figure): Html {
  const isMarked = isNotable(figure);
  return html`<div class="panel pad${isMarked && ' notable'}"><dt>${figure.name}</dt>
    <dd><strong>${formatValue(figure)}</strong> <span class="quiet">${formatInterval(figure)} of
    ${figure.cases}</span>${isMarked && html` <span class="look">look here</span>`}</dd></div>`;
}

function renderCharts({ stated }: ReportSet, { top, suffix }: Anchors): Html {
  return html`${stated.map(({ name, judged, threshold }, at) => {
    const shared = { judged, csv: null };
    const calibration = createCalibrationChart({
      ...shared,
      id: `${top}-calibration-${at}`,
      name: `Reliability of the ${name}${suffix}`,
    });
    const coverage = createThresholdChart({
      ...shared,
      id: `${top}-coverage-${at}`,
      answered: judged,
      threshold,
      wrong: BORNE,
      kept: null,
    });
    const named = { ...coverage, name: `Accuracy against coverage, by the ${name}${suffix}` };
    return html`<div class="charts-pair">${figure(calibration, 'h3')}${figure(named, 'h3')}</div>`;
  })}`;
}

/** Renders figures as a table. Figures with cells are rendered as a small table of their own. */
function renderFigureSection({ title, figures }: FigureSection, anchors: Anchors): Html {
  const plain = figures.filter(({ cell }) => cell === undefined);
  const cells = figures.filter(({ cell }) => cell !== undefined);
  const isJudged = figures.some(({ judged }) => judged === true);
  return html`<section class="figures">
    <h3>${title}</h3>${
      isJudged && html`<p class="quiet">A language model's opinion. Not used anywhere else.</p>`
    }
    ${cells.length > 0 && renderGrid(`${title}, by row${anchors.suffix}`, cells)}${
      plain.length > 0 && list(title, plain, anchors)
    }</section>`;
}

function list(title: string, figures: readonly Figure[], anchors: Anchors): Html {
  return dataTable(
    `${title}${anchors.suffix}`,
    ['Figure', { number: 'Value' }, '95 % interval', { number: 'Of' }],
    figures.map((figure) => renderRow(figure, anchors)),
  );
}

function renderRow(figure: Figure, anchors: Anchors): Html {
  const { name, cases, against = [] } = figure;
  const isMarked = isNotable(figure);
  const links =
    against.length > 0 &&
    html`<details><summary>${against.length} ${against.length === 1 ? 'case' : 'cases'}
      against it</summary>${renderCaseLinks(against, anchors)}</details>`;
  return html`<tr${isMarked && html` class="notable"`}>
    <th scope="row">${name}${isMarked && html` <span class="look">look here</span>`}${links}</th>
    <td class="number">${formatValue(figure)}</td><td class="interval">${formatInterval(figure)}</td>
    <td class="number quiet">${cases}</td></tr>`;
}

function renderGrid(label: string, figures: readonly Figure[]): Html {
  const columns = [...new Set(figures.map(({ cell }) => cell?.column ?? ''))];
  const rows = [...new Set(figures.map(({ cell }) => cell?.row ?? ''))];
  const find = (row: string, column: string) =>
    figures.find(({ cell }) => cell?.row === row && cell.column === column);
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${label}"><table class="grid-table">
    <thead><tr><td></td>${columns.map((column) => html`<th scope="col" class="number">${column}</th>`)}<th
    scope="col" class="number">Of</th></tr></thead>
    <tbody>${rows.map(
      (row) =>
        html`<tr><th scope="row">${row}</th>${columns.map((column) => renderCell(find(row, column)))}<td
          class="number quiet">${figures.find(({ cell }) => cell?.row === row)?.cases}</td></tr>`,
    )}</tbody></table></div>`;
}

function renderCell(figure: Figure | undefined): Html {
  if (figure === undefined) return html`<td></td>`;
  const interval = formatInterval(figure);
  return html`<td class="number${figure.unit === undefined && ` ${chooseShade(figure.value)}`}${
    isNotable(figure) && ' notable'
  }">${formatValue(figure)}${interval !== '' && html` <span class="interval">${interval}</span>`}</td>`;
}

/** Renders the shown cases: those with details as sections, the others as one row each. */
function renderCasesPart(set: ReportSet, shownCount: number, anchors: Anchors): Html {
  const cases = set.cases.slice(0, shownCount);
  const detailed = cases.filter(({ more }) => more !== null);
  const others = cases.filter(({ more }) => more === null);
  const rest = set.cases.length - shownCount;
  return html`<h3 class="cases-head" id="${anchors.top}-cases">Cases</h3>
    <p class="quiet">${detailed.length} of ${set.cases.length}
    are shown in full${
      detailed.length < set.cases.length && ', failed and wrong ones first; the others have one line each'
    }${rest > 0 && `. ${rest} more are only in the results file`}.</p>
    ${detailed.map((reportCase) => renderCaseSection(reportCase, anchors))}
    ${others.length > 0 && renderTable(others, anchors)}`;
}

/**
 * Creates the anchors of a set. `at` is the number of the set on the page, and `shownCount` the number of its
 * shown cases.
 */
function createAnchors(set: ReportSet, at: number, shownCount: number, isOnly: boolean): Anchors {
  const cases = set.cases.slice(0, shownCount);
  const ids = new Map(cases.map((reportCase, index) => [reportCase, `s${at}-c${index + 1}`]));
  const places = new Map<string, ReportCase>();
  for (const reportCase of cases) {
    const known = places.get(reportCase.id);
    if (known === undefined || (known.error !== null && reportCase.error === null))
      places.set(reportCase.id, reportCase);
  }
  const atCase = (reportCase: ReportCase | undefined) =>
    reportCase === undefined ? null : (ids.get(reportCase) ?? null);
  return {
    top: `s${at}`,
    suffix: isOnly ? '' : `, ${set.name}`,
    of: (id) => atCase(places.get(id)),
    at: atCase,
  };
}
