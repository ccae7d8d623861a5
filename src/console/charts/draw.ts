import { type Html, html, type Shown } from '../html.ts';

/** Where a drawing's marks go: room for words on the left and below. */
export interface Plot {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
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
export function told(words: string, mark: Shown): Html {
  return html`<g>${mark}<title>${words}</title></g>`;
}

/** "72 %"; nearly none and nearly all are not none and all: "0.4 %", "99.5 %". */
export function percentOf(share: number): string {
  const rounded = Math.round(share * 100);
  const isEnd = (rounded === 0 && share > 0) || (rounded === 100 && share < 1);
  if (!isEnd) return `${rounded} %`;
  return `${Math.min(99.9, Math.max(0.1, Math.round(share * 1000) / 10))} %`;
}
