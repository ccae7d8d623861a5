import { html } from '../html.ts';
import { comparisonPart, type ReportComparison } from './comparison.ts';
import { standAlonePage } from './stand-alone.ts';

/** What the page of a comparison shows. */
export interface ComparisonReport {
  /** Version of Faultline. */
  readonly version: string;
  /** When it was made, ISO 8601. */
  readonly madeAt: string;
  readonly comparisons: readonly ReportComparison[];
}

/** Two runs side by side as one HTML page: it needs no other file, runs no script, and asks nobody for anything. */
export function renderComparisonReport({ version, madeAt, comparisons }: ComparisonReport): string {
  const contents = html`<nav aria-label="Data sets"><ul>${comparisons.map(({ heading }, index) => html`<li><a href="#k${index + 1}">${heading}</a></li>`)}</ul></nav>`;
  const main = html`<main><h1>Comparison</h1>
<dl class="facts heading"><dt>Made</dt><dd><time datetime="${madeAt}">${madeAt.slice(0, 16).replace('T', ' ')} UTC</time> by Faultline ${version}</dd></dl>
${comparisons.length > 1 && contents}${comparisons.map(comparisonPart)}</main>`;
  return standAlonePage(`Comparison: ${comparisons.map(({ heading }) => heading).join(', ')}`, main);
}
