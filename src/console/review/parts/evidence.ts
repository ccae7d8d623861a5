import type { Evidence } from '../../../domain/evidence.ts';
import { cleanLine, stripEscapes } from '../../../log/lines/clean.ts';
import { type Html, html, linkTarget } from '../../html.ts';
import { prose } from '../../prose.ts';
import type { AnalysisFacts } from './analysis-facts.ts';

/** Characters of one finding that are shown; the rest is where it was found. */
const MAX_TEXT = 4000;

/**
 * What the answer rests on: the exact lines of the logs, then what the tools found; what was judged irrelevant comes last, folded.
 * `logs`: only the lines, which say nothing of the answer.
 */
export function evidencePart({ analysis, windows }: AnalysisFacts, what: 'all' | 'logs' = 'all'): Html {
  const others = analysis.evidence.filter(({ id, tool }) => !windows.shown.has(id) && (what === 'all' || tool === 'log'));
  const isIrrelevant = ({ id }: Evidence) => analysis.verdict.grades[id] === 'irrelevant';
  const aside = others.filter(isIrrelevant);
  return html`<section class="proof" aria-labelledby="evidence"><h2 id="evidence">Evidence</h2>
${windows.html}
${others.filter((one) => !isIrrelevant(one)).map(finding)}
${aside.length > 0 && html`<details class="aside"><summary>${aside.length} more, not related to this failure</summary>${aside.map(finding)}</details>`}</section>`;
}

function finding({ id, title, text, source, tool, url, lineStart, lineEnd }: Evidence): Html {
  const target = linkTarget(url ?? null);
  const place = lineStart === undefined ? source : `${source}, line ${lineStart}${lineEnd === undefined ? '' : `–${lineEnd}`}`;
  const cut = text.length > MAX_TEXT && html`<p class="quiet">… +${(text.length - MAX_TEXT).toLocaleString('en-US')} characters</p>`;
  const shown = text.slice(0, MAX_TEXT);
  return html`<details class="finding" id="${id}" data-evidence><summary><span class="chip">${id}</span> ${title} <span class="quiet">${tool === 'log' ? 'log' : tool.replaceAll('_', ' ')}</span></summary>
<p class="quiet">${target === null ? place : html`<a href="${target}" rel="noreferrer">${place}</a>`}</p>${lineStart === undefined ? prose(shown) : html`<pre tabindex="0">${shown.split('\n').map(plain).join('\n')}</pre>`}${cut}</details>`;
}

function plain(line: string): string {
  return cleanLine(stripEscapes(line));
}
