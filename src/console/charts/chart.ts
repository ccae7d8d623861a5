import type { Cell } from '../../lib/text.ts';
import { dataTable, type Html, html, type Shown } from '../html.ts';

/** Where a drawing's marks go: room for words on the left and below. */
export interface Plot {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** Marks on a plot, with room to the right of it and below for words. */
export function drawingOn(plot: Plot, right: number, below: number, marks: Shown): Drawing {
  return { width: plot.left + plot.width + right, height: plot.top + plot.height + below, marks };
}

/** A number as an SVG takes it, to a tenth of a unit. */
export function at(value: number): string {
  return String(Math.round(value * 10) / 10);
}

/** The place of a share (0..1) on a plot; the y axis points up. */
export function place(plot: Plot, x: number, y: number): { readonly x: number; readonly y: number } {
  return { x: plot.left + x * plot.width, y: plot.top + (1 - y) * plot.height };
}

/** Lines across with their words, at these shares of the height. */
export function grid(plot: Plot, lines: readonly { readonly share: number; readonly words: string }[]): Html {
  const right = plot.left + plot.width;
  return html`<g class="grid">${lines.map(({ share, words }) => {
    const y = at(place(plot, 0, share).y);
    return html`<line x1="${plot.left}" x2="${right}" y1="${y}" y2="${y}"/><text x="${plot.left - 6}" y="${y}" dy="4" text-anchor="end">${words}</text>`;
  })}</g>`;
}

/** Words below the plot, at these shares of its width. */
export function ticks(plot: Plot, words: readonly { readonly share: number; readonly words: string }[], drop = 16): Html {
  const y = plot.top + plot.height + drop;
  return html`<g class="grid">${words.map((one) => html`<text x="${at(plot.left + one.share * plot.width)}" y="${y}" text-anchor="middle">${one.words}</text>`)}</g>`;
}

/** A line through points. */
export function line(name: string, points: readonly { readonly x: number; readonly y: number }[]): Html {
  return html`<polyline class="${name}" points="${points.map(({ x, y }) => `${at(x)},${at(y)}`).join(' ')}"/>`;
}

/** A mark that says what it is when it is pointed at. */
export function described(words: string, mark: Shown): Html {
  return html`<g>${mark}<title>${words}</title></g>`;
}

/** "72 %"; nearly none and nearly all are not none and all: "0.4 %", "99.5 %". */
export function percentOf(share: number): string {
  const rounded = Math.round(share * 100);
  const isEnd = (rounded === 0 && share > 0) || (rounded === 100 && share < 1);
  if (!isEnd) return `${rounded} %`;
  return `${Math.min(99.9, Math.max(0.1, Math.round(share * 1000) / 10))} %`;
}

/** What a chart shows, as rows: the same numbers as its marks, in the same order. */
export interface ChartTable {
  readonly head: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

export interface Chart {
  /** Unique on the page; also of its parts. */
  readonly id: string;
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
  /** Time runs to the right: on a narrow screen the end is shown first. */
  readonly newest?: boolean;
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

function svg({ id, name, description }: Chart, { width, height, marks, newest = false }: Drawing): Html {
  return html`<div class="scroll${newest && ' newest'}" tabindex="0" role="region" aria-label="${name}"><svg viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="group" aria-labelledby="${id}-title ${id}-desc"><title id="${id}-title">${name}</title><desc id="${id}-desc">${description}</desc>${marks}</svg></div>`;
}

function tableOf(name: string, { head, rows }: ChartTable): Html {
  const cells = (row: readonly Cell[]) =>
    row.map((cell, at) =>
      at === 0 ? html`<th scope="row">${cell}</th>` : html`<td class="${typeof cell === 'number' ? 'number' : ''}">${cell}</td>`,
    );
  const columns = head.map((one, at) => (typeof rows[0]?.[at] === 'number' ? { number: one } : one));
  return dataTable(
    `${name}, as table`,
    columns,
    rows.map((row) => html`<tr>${cells(row)}</tr>`),
  );
}
