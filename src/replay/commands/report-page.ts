import type { Config } from '../../config/schema.ts';
import { figure } from '../../console/charts/chart.ts';
import { calibrationChart, coverageChart } from '../../console/charts/confidence.ts';
import { dataTable, type Html, html, type Shown } from '../../console/html.ts';
import { standAlonePage } from '../../console/stand-alone-page.ts';
import { CATEGORIES } from '../../domain/category.ts';
import { RELEASE } from '../../domain/trust.ts';
import type { Judged } from '../../lib/statistics.ts';
import { counted, formatConfidence } from '../../lib/text.ts';
import { listStatements, type StatedBy } from '../figures/calibration.ts';
import { type Figure, type FigureSection, judgedCases, listIds } from '../figures/figure.ts';
import { intervalText, isNotable, valueText } from '../report.ts';
import type { ReplayedCase } from '../run/replay.ts';
import type { ReplayCommandOptions } from './case-sources.ts';
import type { ReportedRun } from './replay-source.ts';
import { type ReportCase, type ReportCaseMore, reportCases } from './report-cases.ts';
import { describeSettings } from './run-files.ts';

/** Limit of cases of a set on the page. */
const MOST_CASES = 5_000;
/** The share of wrong answers for which the coverage chart names a threshold. */
const BORNE = 0.03;

/** The key figures, which are shown first if they exist. */
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

/** One source of cases, replayed once. */
export interface ReportSet {
  readonly name: string;
  /** A line that describes the settings of the replay. */
  readonly heading: string;
  /** The reason why the run is incomplete; null if it is complete. */
  readonly stopped: string | null;
  readonly sections: readonly FigureSection[];
  /** Stated probabilities and whether they were right; empty where none is labelled. */
  readonly stated: readonly ReportStated[];
  /**
   * The correct and the answered categories of the cases, in the order of the taxonomy. Empty if no case is
   * labeled.
   */
  readonly confusion: readonly ConfusionCell[];
  /** All cases, with the most informative first. */
  readonly cases: readonly ReportCase[];
}

interface ReportStated {
  readonly name: string;
  readonly judged: readonly Judged[];
  /** Above this, an answer is published without a person. */
  readonly threshold: number;
}

interface ConfusionCell {
  readonly truth: string;
  readonly said: string;
  readonly ids: readonly string[];
}

/** The confusion matrix is here a part of its own, with links. */
const DRAWN = /^category, whole matrix/;
const NOTHING = 'nothing';

/** Renders the whole replay as one self-contained page. */
export async function reportPage(
  reported: readonly ReportedRun[],
  options: ReplayCommandOptions,
  config: Config,
): Promise<string> {
  const cases = await reportCases(reported, config);
  const settings = Object.entries(describeSettings(options, config)).filter(([, value]) => value !== null);
  const sets = reported.map((one, at) => ({ ...toReportSet(one, config), cases: cases[at] ?? [] }));
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

/** Groups the stated probabilities by hundredths, rounded down, as the charts of the console do. */
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

function buildConfusionCells(cases: readonly ReplayedCase[]): ReportSet['confusion'] {
  const judged = judgedCases(cases);
  if (!judged.some(({ said }) => said !== null)) return [];
  const truths = CATEGORIES.filter((category) => judged.some(({ truth }) => truth === category));
  const silent = judged.some(({ said }) => said === null);
  const saids: readonly string[] = silent ? [...CATEGORIES, NOTHING] : CATEGORIES;
  return truths.flatMap((truth) =>
    saids.map((said) => {
      return {
        truth,
        said,
        ids: listIds(judged.filter((entry) => entry.truth === truth && (entry.said ?? NOTHING) === said)),
      };
    }),
  );
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
      sets.length > 1 && contents(sets)
    }${sets.map((set, index) => setPart(set, index, sets.length === 1))}</main>`;
  return standAlonePage(title, main);
}

function contents(sets: readonly ReportSet[]): Html {
  return html`<nav aria-label="Data sets">
    <ul>${sets.map(({ heading }, index) => html`<li><a href="#s${index + 1}">${heading}</a></li>`)}</ul>
    </nav>`;
}

function setPart(set: ReportSet, index: number, isOnly: boolean): Html {
  const shown = Math.min(set.cases.length, MOST_CASES);
  const anchors = createAnchors(set, index + 1, shown, isOnly);
  return html`<section aria-labelledby="${anchors.top}"><h2 id="${anchors.top}">${set.heading}</h2>
    ${
      set.stopped !== null &&
      html`<p class="notice-line"><strong>Not all cases were replayed:</strong>
        ${set.stopped}. All figures cover only the ${set.cases.length} replayed cases.</p>`
    }
    ${tiles(set)}${confusionMatrix(set.confusion, anchors)}${charts(set, anchors)}
    <h3 class="all-figures">All figures</h3>
    <div class="sections">${set.sections.map((section) => figureSection(section, anchors))}</div>
    ${casesPart(set, shown, anchors)}</section>`;
}

function tiles({ sections }: ReportSet): Html {
  const figures = sections.flatMap((section) => section.figures);
  const found = TILES.flatMap((name) => figures.find((figure) => figure.name === name) ?? []).slice(
    0,
    MOST_TILES,
  );
  return html`<dl class="key-figures">${found.map(tile)}</dl>`;
}

function tile(figure: Figure): Html {
  const isMarked = isNotable(figure);
  return html`<div class="panel pad${isMarked && ' notable'}"><dt>${figure.name}</dt>
    <dd><strong>${valueText(figure)}</strong> <span class="quiet">${intervalText(figure)} of
    ${figure.cases}</span>${isMarked && html` <span class="look">look here</span>`}</dd></div>`;
}

function charts({ stated }: ReportSet, { top, suffix }: Anchors): Html {
  return html`${stated.map(({ name, judged, threshold }, at) => {
    const shared = { judged, csv: null };
    const calibration = calibrationChart({
      ...shared,
      id: `${top}-calibration-${at}`,
      name: `Reliability of the ${name}${suffix}`,
    });
    const coverage = coverageChart({
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

/** Cells are shaded in so many steps. */
const SHADES = 5;

/** Figures as a table; figures of cells make a small table of their own. */
function figureSection({ title, figures }: FigureSection, anchors: Anchors): Html {
  const plain = figures.filter(({ cell }) => cell === undefined);
  const cells = figures.filter(({ cell }) => cell !== undefined);
  const isJudged = figures.some(({ judged }) => judged === true);
  return html`<section class="figures">
    <h3>${title}</h3>${
      isJudged && html`<p class="quiet">A language model's opinion. Not used anywhere else.</p>`
    }
    ${cells.length > 0 && grid(`${title}, by row${anchors.suffix}`, cells)}${
      plain.length > 0 && list(title, plain, anchors)
    }</section>`;
}

function list(title: string, figures: readonly Figure[], anchors: Anchors): Html {
  return dataTable(
    `${title}${anchors.suffix}`,
    ['Figure', { number: 'Value' }, '95 % interval', { number: 'Of' }],
    figures.map((figure) => row(figure, anchors)),
  );
}

function row(figure: Figure, anchors: Anchors): Html {
  const { name, cases, against = [] } = figure;
  const isMarked = isNotable(figure);
  const links =
    against.length > 0 &&
    html`<details><summary>${against.length} ${against.length === 1 ? 'case' : 'cases'}
      against it</summary>${caseLinks(against, anchors)}</details>`;
  return html`<tr${isMarked && html` class="notable"`}>
    <th scope="row">${name}${isMarked && html` <span class="look">look here</span>`}${links}</th>
    <td class="number">${valueText(figure)}</td><td class="interval">${intervalText(figure)}</td>
    <td class="number quiet">${cases}</td></tr>`;
}

function grid(label: string, figures: readonly Figure[]): Html {
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
  const interval = intervalText(figure);
  return html`<td class="number${figure.unit === undefined && ` ${shade(figure.value)}`}${
    isNotable(figure) && ' notable'
  }">${valueText(figure)}${interval !== '' && html` <span class="interval">${interval}</span>`}</td>`;
}

/** Returns the CSS class for the shade of a cell: the larger the share, the darker the shade. */
function shade(share: number): string {
  return `shade-${Math.max(0, Math.min(SHADES, Math.round(share * SHADES)))}`;
}

/** Renders the confusion matrix, with the cases of each cell. Returns null if no case is labeled. */
function confusionMatrix(cells: readonly ConfusionCell[], anchors: Anchors): Html | null {
  if (cells.length === 0) return null;
  const truths = [...new Set(cells.map(({ truth }) => truth))];
  const saids = [...new Set(cells.map(({ said }) => said))];
  const find = (truth: string, said: string) =>
    cells.find((cell) => cell.truth === truth && cell.said === said);
  const totals = new Map(truths.map((truth) => [truth, count(cells.filter((cell) => cell.truth === truth))]));
  const right = count(cells.filter(({ truth, said }) => truth === said));
  const name = `${anchors.top}-confusion`;
  const body = truths.map(
    (truth) =>
      html`<tr><th scope="row">${truth}</th>${saids.map((said) =>
        cell(find(truth, said), totals.get(truth) ?? 0, anchors),
      )}<td class="number quiet">${totals.get(truth)}</td></tr>`,
  );
  const mistakes = cells
    .filter(({ truth, said, ids }) => truth !== said && ids.length > 0)
    .toSorted((one, other) => other.ids.length - one.ids.length);
  return html`<section class="matrix" aria-labelledby="${name}"><h3 id="${name}">${right} of ${count(cells)}
    categories are right</h3>
    <p class="quiet">Rows are correct categories, columns are answers. Each number links to its cases.</p>
    <div class="beside"><div class="scroll" tabindex="0" role="region"
    aria-label="Categories, true against said${anchors.suffix}"><table class="grid-table"><thead><tr>
    <td></td>${saids.map((said) => html`<th scope="col" class="number">${short(said)}</th>`)}<th scope="col"
    class="number">Of</th></tr></thead><tbody>${body}</tbody></table></div>
    <div>${mistakes.map((one) => renderCellCases(one, anchors))}${cells
      .filter(({ truth, said, ids }) => truth === said && ids.length > 0)
      .map((one) => renderCellCases(one, anchors))}</div></div></section>`;
}

function cell(one: ConfusionCell | undefined, total: number, anchors: Anchors): Html {
  if (one === undefined || one.ids.length === 0) return html`<td class="number quiet">·</td>`;
  const isRight = one.truth === one.said;
  const words = `${one.ids.length} ${one.truth} called ${one.said}`;
  return html`<td class="number ${isRight ? 'right' : 'mistake'} ${shade(
    one.ids.length / Math.max(1, total),
  )}"><a href="#${toAnchorId(one, anchors)}" aria-label="${words}">${one.ids.length}</a></td>`;
}

function renderCellCases(one: ConfusionCell, anchors: Anchors): Html {
  const title = one.truth === one.said ? `${one.truth}, right` : `${one.truth} called ${one.said}`;
  // The target is inside, so that a browser that is sent there opens it.
  return html`<details class="cell-cases"><summary>${title}: ${one.ids.length}</summary>
    <div id="${toAnchorId(one, anchors)}">${caseLinks(one.ids, anchors)}</div></details>`;
}

/** Categories are made of letters and underscores. */
function toAnchorId({ truth, said }: ConfusionCell, { top }: Anchors): string {
  return `${top}-${truth}-${said}`.replace(/[^\w-]/g, '_');
}

/** Shortens a category for narrow columns: "CODE_ERROR" → "CODE". */
function short(category: string): string {
  return category.replace(/_(?:ERROR|FAILURE)$/, '');
}

function count(cells: readonly ConfusionCell[]): number {
  return cells.reduce((total, { ids }) => total + ids.length, 0);
}

/** Renders every shown case: those with details as sections, the others as one row each. */
function casesPart(set: ReportSet, shown: number, anchors: Anchors): Html {
  const cases = set.cases.slice(0, shown);
  const detailed = cases.filter(({ more }) => more !== null);
  const others = cases.filter(({ more }) => more === null);
  const rest = set.cases.length - shown;
  return html`<h3 class="cases-head" id="${anchors.top}-cases">Cases</h3>
    <p class="quiet">${detailed.length} of ${set.cases.length}
    are shown in full${
      detailed.length < set.cases.length && ', failed and wrong ones first; the others have one line each'
    }${rest > 0 && `. ${rest} more are only in the results file`}.</p>
    ${detailed.map((one) => caseSection(one, anchors))}
    ${others.length > 0 && table(others, anchors)}`;
}

function caseSection(one: ReportCase, anchors: Anchors): Html {
  const { more } = one;
  const anchor = anchors.at(one);
  return html`<article class="case ${look(one)}" id="${anchor}" aria-labelledby="${anchor}-name">
    <h4 id="${anchor}-name"><span class="mark">${mark(one)}</span> ${one.id}</h4>
    <p>${verdict(one)}</p>${more !== null && caseDetails(more)}<p class="back"><a href="#${anchors.top}">To
    the figures</a></p></article>`;
}

function verdict({ truth, said, probability, isRight, error }: ReportCase): Html {
  const true_ =
    truth === null ? html`Correct category unknown` : html`True: <span class="category">${truth}</span>`;
  if (error !== null) return html`${true_}. Failed: ${error}`;
  if (said === null) return html`${true_}. Not answered.`;
  const wrong = isRight === false && html` <strong class="is-red">wrong</strong>`;
  return html`${true_}. Said: <span class="category">${said}</span>${
    probability !== null && ` with ${formatConfidence(probability)}`
  }${wrong}`;
}

function caseDetails(more: ReportCaseMore): Html {
  const suspects = more.suspects.map(
    ({ path, line, isTrue }) =>
      html`<li><code>${path}${line !== null && `:${line}`}</code>${
        isTrue === true && html` <span class="is-green">was fixed</span>`
      }</li>`,
  );
  return html`<dl class="kv">${fact('Root cause', more.rootCause)}${fact('Known cause', more.trueCause)}${fact('Fix', more.fixRecommendation)}${fact('Known fix', more.trueFix)}${fact('Kind', more.kind)}${fact('Action', action(more))}${fact(
    'Quotations',
    more.quotes.length > 0 &&
      html`<ul>${more.quotes.map(
        ({ source, line, text }) =>
          html`<li><span class="quiet">${source}:${line}</span> <code>${text}</code></li>`,
      )}</ul>`,
  )}${fact('Suspects', suspects.length > 0 && html`<ul>${suspects}</ul>`)}${fact(
    'Fixed files',
    more.faultyFiles.length > 0 &&
      html`<ul>${more.faultyFiles.map((path) => html`<li><code>${path}</code></li>`)}</ul>`,
  )}${fact(
    'Failing tests',
    more.failingTests.length > 0 && html`<ul>${more.failingTests.map((name) => html`<li>${name}</li>`)}</ul>`,
  )}${fact(
    'Tools called',
    more.tools.length > 0 &&
      more.tools.map(
        ({ tool, status }) => html`<span class="chip">${tool} <span class="quiet">${status}</span></span> `,
      ),
  )}${fact('Spent', spent(more))}</dl>
    ${more.excerpts.length > 0 && excerpts(more)}`;
}

function fact(name: string, value: Shown): Html | null {
  return value === null || value === false || value === '' ? null : html`<dt>${name}</dt><dd>${value}</dd>`;
}

function action({ action, answerConfidence }: ReportCaseMore): string | null {
  if (action === null) return null;
  return answerConfidence === null
    ? action
    : `${action}, the answer ${formatConfidence(answerConfidence)} sure`;
}

function spent({ seconds, costUsd, iterations }: ReportCaseMore): string {
  const dollars = costUsd === 0 ? '' : `, $${costUsd.toFixed(4)}`;
  return (
    `${seconds.toFixed(1)} ` +
    `s${iterations === null ? '' : `, ${iterations} ${iterations === 1 ? 'round' : 'rounds'}`}${dollars}`
  );
}

function excerpts({ excerpts, moreExcerpts }: ReportCaseMore): Html {
  const count = excerpts.length + moreExcerpts;
  return html`<details><summary>${counted(count, 'excerpt')}
    from the log</summary>${excerpts.map(excerpt)}${
      moreExcerpts > 0 &&
      html`<p class="quiet">${moreExcerpts} more are too long for this page; see the results file.</p>`
    }</details>`;
}

function excerpt({ source, lineStart, lineEnd, reason, text }: ReportCaseMore['excerpts'][number]): Html {
  return html`<p class="quiet">${source}, lines ${lineStart}–${lineEnd} (${reason})</p>
    <pre tabindex="0" role="region" aria-label="Lines ${lineStart} to ${lineEnd} of ${source}">${text}</pre>`;
}

function table(cases: readonly ReportCase[], anchors: Anchors): Html {
  const rows = cases.map(
    (one) =>
      html`<tr id="${anchors.at(one)}"><th scope="row"><span class="mark ${look(one)}">${mark(one)}</span>
        ${one.id}</th><td>${one.truth ?? '–'}</td><td>${one.error ?? one.said ?? '–'}</td>
        <td class="number">${one.probability === null ? '–' : formatConfidence(one.probability)}</td></tr>`,
  );
  return dataTable(`The other cases${anchors.suffix}`, ['Case', 'True', 'Said', { number: 'With' }], rows, {
    className: 'others',
    caption: `The other ${cases.length} cases`,
  });
}

/** Returns the symbol of a case. The result is visible by shape as well as by color. */
function mark(one: ReportCase): string {
  return { failed: '!', 'is-wrong': '✗', 'is-right': '✓', unknown: '·' }[look(one)];
}

function look({ error, isRight }: ReportCase): 'failed' | 'is-wrong' | 'is-right' | 'unknown' {
  if (error !== null) return 'failed';
  if (isRight === null) return 'unknown';
  return isRight ? 'is-right' : 'is-wrong';
}

/** The anchors of the cases on the page. Ids are untrusted text, so the anchors are numbers. */
interface Anchors {
  /** The set's own. */
  readonly top: string;
  /**
   * A suffix that distinguishes names that several sets share: ", clean.jsonl"; empty if there is one set.
   */
  readonly suffix: string;
  /**
   * Returns the anchor of an id, or null if no shown case has it. If several cases share an id, the answered
   * one is used.
   */
  of(id: string): string | null;
  /** Returns the anchor of this case. A row that repeats an id is a failed case. */
  at(one: ReportCase): string | null;
}

/** A list is no longer; the rest is counted. */
const MOST_LINKS = 60;

/**
 * Creates the anchors of a set. `at` is the number of the set on the page, `shown` the number of its cases
 * that are shown.
 */
function createAnchors(set: ReportSet, at: number, shown: number, isOnly: boolean): Anchors {
  const cases = set.cases.slice(0, shown);
  const own = new Map(cases.map((one, index) => [one, `s${at}-c${index + 1}`]));
  const places = new Map<string, ReportCase>();
  for (const one of cases) {
    const known = places.get(one.id);
    if (known === undefined || (known.error !== null && one.error === null)) places.set(one.id, one);
  }
  const atCase = (one: ReportCase | undefined) => (one === undefined ? null : (own.get(one) ?? null));
  return {
    top: `s${at}`,
    suffix: isOnly ? '' : `, ${set.name}`,
    of: (id) => atCase(places.get(id)),
    at: atCase,
  };
}

function caseLinks(ids: readonly string[], anchors: Anchors): Html {
  const links = ids.slice(0, MOST_LINKS).map((id) => {
    const anchor = anchors.of(id);
    return html`<li>${anchor === null ? id : html`<a href="#${anchor}">${id}</a>`}</li>`;
  });
  const rest = ids.length - links.length;
  return html`<ul class="ids">${links}${rest > 0 && html`<li class="quiet">and ${rest} more</li>`}</ul>`;
}
