import { type Html, html } from '../../console/html.ts';
import { CATEGORIES } from '../../domain/category.ts';
import { listIds, listJudgedCases } from '../figures/figure.ts';
import type { ReplayedCase } from '../run/replay.ts';
import type { ReportCase } from './report-cases.ts';

export interface ConfusionCell {
  readonly truth: string;
  readonly said: string;
  readonly ids: readonly string[];
}
const NOTHING = 'nothing';

export function buildConfusionCells(cases: readonly ReplayedCase[]): ConfusionCell[] {
  const judged = listJudgedCases(cases);
  if (!judged.some(({ said }) => said !== null)) return [];
  const truths = CATEGORIES.filter((category) => judged.some(({ truth }) => truth === category));
  const silent = judged.some(({ said }) => said === null);
  const saids: readonly string[] = silent ? [...CATEGORIES, NOTHING] : CATEGORIES;
  return truths.flatMap((truth) =>
    saids.map((answered) => {
      return {
        truth,
        said: answered,
        ids: listIds(judged.filter((entry) => entry.truth === truth && (entry.said ?? NOTHING) === answered)),
      };
    }),
  );
}

/** The number of shades of cells. */
const SHADES = 5;

/** Returns the CSS class for the shade of a cell: the larger the share, the darker the shade. */
export function chooseShade(share: number): string {
  return `shade-${Math.max(0, Math.min(SHADES, Math.round(share * SHADES)))}`;
}

/** Renders the confusion matrix, with links to the cases of each cell. Returns null if no case is labeled. */
export function renderConfusionMatrix(cells: readonly ConfusionCell[], anchors: Anchors): Html | null {
  if (cells.length === 0) return null;
  const truths = [...new Set(cells.map(({ truth }) => truth))];
  const saids = [...new Set(cells.map(({ said }) => said))];
  const find = (truth: string, answered: string) =>
    cells.find((cell) => cell.truth === truth && cell.said === answered);
  const totals = new Map(truths.map((truth) => [truth, count(cells.filter((cell) => cell.truth === truth))]));
  const right = count(cells.filter(({ truth, said }) => truth === said));
  const name = `${anchors.top}-confusion`;
  const body = truths.map(
    (truth) =>
      html`<tr><th scope="row">${truth}</th>${saids.map((answered) =>
        renderCell(find(truth, answered), totals.get(truth) ?? 0, anchors),
      )}<td class="number quiet">${totals.get(truth)}</td></tr>`,
  );
  const mistakes = cells
    .filter(({ truth, said, ids }) => truth !== said && ids.length > 0)
    .toSorted(({ ids: left }, { ids: others }) => others.length - left.length);
  return html`<section class="matrix" aria-labelledby="${name}"><h3 id="${name}">${right} of ${count(cells)}
    categories are right</h3>
    <p class="quiet">Rows are correct categories, columns are answers. Each number links to its cases.</p>
    <div class="beside"><div class="scroll" tabindex="0" role="region"
    aria-label="Categories, true against said${anchors.suffix}"><table class="grid-table"><thead><tr>
    <td></td>${saids.map((name) => html`<th scope="col" class="number">${shorten(name)}</th>`)}<th scope="col"
    class="number">Of</th></tr></thead><tbody>${body}</tbody></table></div>
    <div>${mistakes.map((mistake) => renderCellCases(mistake, anchors))}${cells
      .filter(({ truth, said, ids }) => truth === said && ids.length > 0)
      .map((matrixCell) => renderCellCases(matrixCell, anchors))}</div></div></section>`;
}

function renderCell(counted: ConfusionCell | undefined, total: number, anchors: Anchors): Html {
  if (counted === undefined || counted.ids.length === 0) return html`<td class="number quiet">·</td>`;
  const isRight = counted.truth === counted.said;
  const words = `${counted.ids.length} ${counted.truth} called ${counted.said}`;
  return html`<td class="number ${isRight ? 'right' : 'mistake'} ${chooseShade(
    counted.ids.length / Math.max(1, total),
  )}"><a href="#${toAnchorId(counted, anchors)}" aria-label="${words}">${counted.ids.length}</a></td>`;
}

function renderCellCases(matrixCell: ConfusionCell, anchors: Anchors): Html {
  const title =
    matrixCell.truth === matrixCell.said
      ? `${matrixCell.truth}, right`
      : `${matrixCell.truth} called ${matrixCell.said}`;
  // The target is inside the element, so that following the link opens it.
  return html`<details class="cell-cases"><summary>${title}: ${matrixCell.ids.length}</summary>
    <div id="${toAnchorId(matrixCell, anchors)}">${renderCaseLinks(matrixCell.ids, anchors)}</div></details>`;
}

/** Creates the anchor of a cell. Categories only contain letters and underscores. */
function toAnchorId({ truth, said }: ConfusionCell, { top }: Anchors): string {
  return `${top}-${truth}-${said}`.replace(/[^\w-]/g, '_');
}

/** Shortens a category for narrow columns: "CODE_ERROR" → "CODE". */
function shorten(category: string): string {
  return category.replace(/_(?:ERROR|FAILURE)$/, '');
}

function count(cells: readonly ConfusionCell[]): number {
  return cells.reduce((total, { ids }) => total + ids.length, 0);
}

/** The anchors of the cases on the page. They are numbers, because ids are untrusted text. */
export interface Anchors {
  /** The anchor of the set. */
  readonly top: string;
  /** The suffix that distinguishes sets: ", clean.jsonl". Empty if there is only one set. */
  readonly suffix: string;
  /**
   * Returns the anchor of an id, or null if its case is not shown. If several cases have the id, the answered
   * one is used.
   */
  of(id: string): string | null;
  /** Returns the anchor of this case. A row that repeats an id is a failed case of its own. */
  at(reportCase: ReportCase): string | null;
}

/** The maximum number of links in a list. The others are counted. */
const MAX_LINKS = 60;

export function renderCaseLinks(ids: readonly string[], anchors: Anchors): Html {
  const links = ids.slice(0, MAX_LINKS).map((id) => {
    const anchor = anchors.of(id);
    return html`<li>${anchor === null ? id : html`<a href="#${anchor}">${id}</a>`}</li>`;
  });
  const rest = ids.length - links.length;
  return html`<ul class="ids">${links}${rest > 0 && html`<li class="quiet">and ${rest} more</li>`}</ul>`;
}
