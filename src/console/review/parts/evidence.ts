import type { Analysis } from '../../../domain/analysis.ts';
import type { Evidence } from '../../../domain/evidence.ts';
import { cleanLine, stripEscapes } from '../../../log/lines/clean.ts';
import { buildAddress } from '../../addresses.ts';
import { type Html, html, linkTarget } from '../../html.ts';
import { prose } from '../../prose.ts';
import type { AnalysisFacts } from './analysis-facts.ts';

/** Lines of one excerpt that are shown at once; the rest is folded. */
const SHOWN = 14;
const MAX_LINE = 400;

/** What the answer rests on: lines of logs with their numbers, then what the tools found; what was judged irrelevant comes last, folded. */
export function evidencePart(facts: AnalysisFacts): Html {
  const { analysis, windows } = facts;
  const isIrrelevant = ({ id }: Evidence) => analysis.verdict.grades[id] === 'irrelevant';
  const logs = analysis.evidence.filter(({ tool }) => tool === 'log').toSorted((a, b) => rank(analysis, a) - rank(analysis, b));
  const found = analysis.evidence.filter((one) => one.tool !== 'log' && !isIrrelevant(one));
  const aside = analysis.evidence.filter((one) => one.tool !== 'log' && isIrrelevant(one));
  return html`<section class="evidence" aria-labelledby="evidence"><h2 id="evidence">Evidence</h2>
${logGone(facts)}
${windows ?? logs.map((one) => excerpt(analysis, one))}
${found.map(finding)}
${aside.length > 0 && html`<details class="aside"><summary>${aside.length} more looked at, not about this</summary>${aside.map(finding)}</details>`}</section>`;
}

/** The log itself may be gone; what the answer quotes stays with the answer. */
function logGone({ hasLog, build }: AnalysisFacts): Html {
  if (hasLog) return html``;
  return html`<p class="quiet">The log of <a href="${buildAddress(build.id)}">this build</a> is no longer stored: deleted by retention, or never kept. The excerpts below stay.</p>`;
}

/** What claims cite first, what was judged irrelevant last. */
function rank({ answer, verdict }: Analysis, { id }: Evidence): number {
  if (answer.claims.some(({ evidence }) => evidence.includes(id))) return 0;
  return verdict.grades[id] === 'irrelevant' ? 2 : 1;
}

function excerpt(analysis: Analysis, evidence: Evidence): Html {
  const { id, title, source, lineStart = 1, text } = evidence;
  const quoted = new Set(
    analysis.answer.claims.flatMap(({ quotes }) => quotes.filter((quote) => quote.source === source).map(({ line }) => line)),
  );
  const lines = text.split('\n').map((line, at) => ({ number: lineStart + at, line }));
  const from = firstShown(lines, quoted);
  const row = ({ number, line }: { number: number; line: string }) =>
    html`<li value="${number}"${quoted.has(number) && html` class="quoted"`}><code>${clipped(line)}</code></li>`;
  const list = (some: typeof lines) => some.length > 0 && html`<ol class="lines" start="${some[0]?.number ?? 1}">${some.map(row)}</ol>`;
  const folded = (some: typeof lines) =>
    some.length > 0 &&
    html`<details class="gap"><summary>${some.length} more ${some.length === 1 ? 'line' : 'lines'}</summary>${list(some)}</details>`;
  return html`<section class="excerpt" id="${id}" data-evidence tabindex="-1" aria-label="${id}">
<h3><span class="chip">${id}</span> ${title} <span class="quiet">${source}</span></h3>
${folded(lines.slice(0, from))}${list(lines.slice(from, from + SHOWN))}${folded(lines.slice(from + SHOWN))}</section>`;
}

/** The first quoted line, with two before it. */
function firstShown(lines: readonly { readonly number: number }[], quoted: ReadonlySet<number>): number {
  const first = lines.findIndex(({ number }) => quoted.has(number));
  return lines.length <= SHOWN ? 0 : Math.max(0, Math.min(first < 0 ? 0 : first - 2, lines.length - SHOWN));
}

function clipped(line: string): string {
  const text = cleanLine(stripEscapes(line));
  return text.length <= MAX_LINE ? text : `${text.slice(0, MAX_LINE)} … +${text.length - MAX_LINE} characters`;
}

function finding({ id, title, text, source, tool, url }: Evidence): Html {
  const target = linkTarget(url ?? null);
  return html`<details class="finding" id="${id}" data-evidence><summary><span class="chip">${id}</span> ${title} <span class="quiet">${tool.replaceAll('_', ' ')}</span></summary>
<p class="quiet">${target === null ? source : html`<a href="${target}" rel="noreferrer">${source}</a>`}</p>${prose(text)}</details>`;
}
