import { type Html, html } from '../html.ts';
import { type Anchors, caseLinks } from './anchors.ts';
import { shade } from './figures.ts';
import type { ConfusionCell } from './report.ts';

/** What is true against what was said, with the cases of each cell. Nothing where no case is labelled. */
export function confusionMatrix(cells: readonly ConfusionCell[], anchors: Anchors): Html | null {
  if (cells.length === 0) return null;
  const truths = [...new Set(cells.map(({ truth }) => truth))];
  const saids = [...new Set(cells.map(({ said }) => said))];
  const find = (truth: string, said: string) => cells.find((cell) => cell.truth === truth && cell.said === said);
  const totals = new Map(truths.map((truth) => [truth, count(cells.filter((cell) => cell.truth === truth))]));
  const right = count(cells.filter(({ truth, said }) => truth === said));
  const name = `${anchors.top}-confusion`;
  const body = truths.map(
    (truth) =>
      html`<tr><th scope="row">${truth}</th>${saids.map((said) => cell(find(truth, said), totals.get(truth) ?? 0, anchors))}<td class="number quiet">${totals.get(truth)}</td></tr>`,
  );
  const mistakes = cells
    .filter(({ truth, said, ids }) => truth !== said && ids.length > 0)
    .toSorted((one, other) => other.ids.length - one.ids.length);
  return html`<section class="matrix" aria-labelledby="${name}"><h3 id="${name}">${right} of ${count(cells)} categories are right</h3>
<p class="quiet">Rows are correct categories, columns are answers. Each number links to its cases.</p>
<div class="beside"><div class="scroll" tabindex="0" role="region" aria-label="Categories, true against said${anchors.suffix}"><table class="grid-table"><thead><tr><td></td>${saids.map((said) => html`<th scope="col" class="number">${short(said)}</th>`)}<th scope="col" class="number">Of</th></tr></thead><tbody>${body}</tbody></table></div>
<div>${mistakes.map((one) => casesOf(one, anchors))}${cells.filter(({ truth, said, ids }) => truth === said && ids.length > 0).map((one) => casesOf(one, anchors))}</div></div></section>`;
}

function cell(one: ConfusionCell | undefined, total: number, anchors: Anchors): Html {
  if (one === undefined || one.ids.length === 0) return html`<td class="number quiet">·</td>`;
  const isRight = one.truth === one.said;
  const words = `${one.ids.length} ${one.truth} called ${one.said}`;
  return html`<td class="number ${isRight ? 'right' : 'mistake'} ${shade(one.ids.length / Math.max(1, total))}"><a href="#${placeOf(one, anchors)}" aria-label="${words}">${one.ids.length}</a></td>`;
}

function casesOf(one: ConfusionCell, anchors: Anchors): Html {
  const title = one.truth === one.said ? `${one.truth}, right` : `${one.truth} called ${one.said}`;
  // The target stands inside, so that a browser that is sent there opens it.
  return html`<details class="cell-cases"><summary>${title}: ${one.ids.length}</summary><div id="${placeOf(one, anchors)}">${caseLinks(one.ids, anchors)}</div></details>`;
}

/** Categories are made of letters and underscores. */
function placeOf({ truth, said }: ConfusionCell, { top }: Anchors): string {
  return `${top}-${truth}-${said}`.replace(/[^\w-]/g, '_');
}

/** "CODE_ERROR" → "CODE": the columns are narrow. */
function short(category: string): string {
  return category.replace(/_(?:ERROR|FAILURE)$/, '');
}

function count(cells: readonly ConfusionCell[]): number {
  return cells.reduce((total, { ids }) => total + ids.length, 0);
}
