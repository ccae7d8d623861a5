import type { Cell } from '../../lib/text.ts';
import { type Html, html, type Shown } from '../html.ts';

/** What a chart shows, as rows: the same numbers as its marks, in the same order. */
export interface ChartTable {
  readonly head: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

export interface Chart {
  /** Unique on the page; also of its parts. */
  readonly id: string;
  /** What the chart is, in a few words. */
  readonly name: string;
  /** What it finds, in a sentence: the heading. */
  readonly finding: string;
  /** How to read it, for those who do not see it. */
  readonly description: string;
  /** Null where there is too little to draw. */
  readonly drawing: Drawing | null;
  readonly table: ChartTable;
  /** Where the table can be had as CSV; null where nobody serves it. */
  readonly csv: string | null;
  /** Between the drawing and the table: a legend, a form. */
  readonly below?: Shown;
}

export interface Drawing {
  readonly width: number;
  readonly height: number;
  readonly marks: Shown;
}

/** A chart with its finding as heading of this level, its numbers as a table, and a link to them as CSV. */
export function figure(chart: Chart, level: 'h2' | 'h3' = 'h2'): Html {
  return html`<figure class="chart" id="${chart.id}" aria-labelledby="${chart.id}-finding">
<figcaption>${level === 'h2' ? html`<h2 id="${chart.id}-finding">${chart.finding}</h2>` : html`<h3 id="${chart.id}-finding">${chart.finding}</h3>`}<p class="quiet">${chart.name}</p></figcaption>
${chart.drawing !== null && svg(chart, chart.drawing)}${chart.below}
<details><summary>Show as table</summary>${tableOf(chart.name, chart.table)}${chart.csv !== null && html`<p><a href="${chart.csv}">Download CSV</a></p>`}</details></figure>`;
}

function svg({ id, name, description }: Chart, { width, height, marks }: Drawing): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${name}"><svg viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="group" aria-labelledby="${id}-title ${id}-desc"><title id="${id}-title">${name}</title><desc id="${id}-desc">${description}</desc>${marks}</svg></div>`;
}

function tableOf(name: string, { head, rows }: ChartTable): Html {
  const cells = (row: readonly Cell[]) =>
    row.map((cell, at) =>
      at === 0 ? html`<th scope="row">${cell}</th>` : html`<td class="${typeof cell === 'number' ? 'number' : ''}">${cell}</td>`,
    );
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${name}, as table"><table><thead><tr>${head.map((one, at) => html`<th scope="col"${typeof rows[0]?.[at] === 'number' && html` class="number"`}>${one}</th>`)}</tr></thead><tbody>${rows.map((row) => html`<tr>${cells(row)}</tr>`)}</tbody></table></div>`;
}
