import { type Html, html } from '../html.ts';
import { type Anchors, caseLinks } from './anchors.ts';
import type { ReportFigure, ReportSection } from './report.ts';

/** Cells are shaded in so many steps. */
const SHADES = 5;

/** Sections of figures, each a table; figures of cells make a small table of their own. Without `anchors` no case is linked. */
export function figureSections(sections: readonly ReportSection[], anchors: Anchors | null): Html {
  return html`<div class="sections">${sections.map((section) => oneSection(section, anchors))}</div>`;
}

function oneSection({ title, figures }: ReportSection, anchors: Anchors | null): Html {
  const plain = figures.filter(({ cell }) => cell === null);
  const cells = figures.filter(({ cell }) => cell !== null);
  const isJudged = figures.some((figure) => figure.isJudged);
  return html`<section class="figures${cells.length > 0 && ' broad'}"><h3>${title}</h3>${isJudged && html`<p class="quiet">A language model's opinion. Not used anywhere else.</p>`}
${cells.length > 0 && grid(`${title}, by row${anchors?.suffix ?? ''}`, cells)}${plain.length > 0 && list(title, plain, anchors)}</section>`;
}

function list(title: string, figures: readonly ReportFigure[], anchors: Anchors | null): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${title}${anchors?.suffix}"><table><thead><tr><th scope="col">Figure</th><th scope="col" class="number">Value</th><th scope="col">95 % interval</th><th scope="col" class="number">Of</th></tr></thead>
<tbody>${figures.map((figure) => row(figure, anchors))}</tbody></table></div>`;
}

function row({ name, value, interval, cases, against, isNotable }: ReportFigure, anchors: Anchors | null): Html {
  const links =
    against.length === 0 || anchors === null
      ? null
      : html`<details><summary>${against.length} ${against.length === 1 ? 'case' : 'cases'} against it</summary>${caseLinks(against, anchors)}</details>`;
  return html`<tr${isNotable && html` class="notable"`}><th scope="row">${name}${isNotable && html` <span class="look">look here</span>`}${links}</th><td class="number">${value}</td><td class="interval">${interval}</td><td class="number quiet">${cases}</td></tr>`;
}

function grid(label: string, figures: readonly ReportFigure[]): Html {
  const columns = [...new Set(figures.map(({ cell }) => cell?.column ?? ''))];
  const rows = [...new Set(figures.map(({ cell }) => cell?.row ?? ''))];
  const find = (row: string, column: string) => figures.find(({ cell }) => cell?.row === row && cell.column === column);
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${label}"><table class="grid-table"><thead><tr><td></td>${columns.map((column) => html`<th scope="col" class="number">${column}</th>`)}<th scope="col" class="number">Of</th></tr></thead>
<tbody>${rows.map((row) => html`<tr><th scope="row">${row}</th>${columns.map((column) => cellOf(find(row, column)))}<td class="number quiet">${figures.find(({ cell }) => cell?.row === row)?.cases}</td></tr>`)}</tbody></table></div>`;
}

function cellOf(figure: ReportFigure | undefined): Html {
  if (figure === undefined) return html`<td></td>`;
  const { value, interval, isNotable, share } = figure;
  return html`<td class="number${share !== null && ` ${shade(share)}`}${isNotable && ' notable'}">${value}${interval !== '' && html` <span class="interval">${interval}</span>`}</td>`;
}

/** A class for the shade of a share's cell: the more, the stronger. */
export function shade(share: number): string {
  return `shade-${Math.max(0, Math.min(SHADES, Math.round(share * SHADES)))}`;
}
