import { formatNumber } from '../../publish/visible-text.ts';
import { type Html, html, joined } from '../html.ts';
import type { LogFacts } from './log-facts.ts';
import { counted, type Shape } from './log-page.ts';
import { type LogQuery, placeAddress } from './log-query.ts';
import { keptOf, rowOptions } from './log-view.ts';
import { showLines } from './render-line.ts';
import { lineRow, logList } from './rows.ts';
import { type Found, PAGE } from './search.ts';

/** What a search found: how many lines in all, a page of them, and the ways to the others. */
export function searchBody(facts: LogFacts, query: LogQuery, shape: Shape, found: Found): Html {
  const { source } = facts;
  const options = rowOptions(facts, query, shape.stamps);
  const rows = found.hits.map(({ line, text }) => {
    const [shown] = showLines([text], line);
    return shown === undefined ? null : html`${lineRow(shown, { from: line, to: line }, options)}\n`;
  });
  return html`<p role="note">${said(query, found)}</p>
${pages(facts, query, found, 'Pages of hits')}
${found.hits.length > 0 && logList(joined(rows), { label: `Lines of ${source.name} with “${query.q}”`, wrap: shape.wrap })}
${found.hits.length === PAGE && pages(facts, query, found, 'Pages of hits (bottom)')}`;
}

function said({ q, hit }: LogQuery, { total, hits, endedAt }: Found): string {
  const stopped =
    endedAt === null ? '' : ` The search took too long and stopped at line ${formatNumber(endedAt)}; there may be more matches.`;
  if (total === 0) return `No line contains “${q}”.${stopped}`;
  const shown =
    hits.length === 0 ? `there is no match ${formatNumber(hit)}` : `${formatNumber(hit)}–${formatNumber(hit + hits.length - 1)} shown`;
  return `${counted(total, 'line')} ${total === 1 ? 'contains' : 'contain'} “${q}”, ${shown}.${stopped}`;
}

function pages({ build, source }: LogFacts, query: LogQuery, { total }: Found, label: string): Html {
  const { hit } = query;
  const page = (from: number, words: string) =>
    html`<a href="${placeAddress(build.id, source.name, keptOf(query), { hit: from })}">${words}</a>`;
  const last = total === 0 ? 1 : Math.floor((total - 1) / PAGE) * PAGE + 1;
  const links = [
    hit > 1 && page(1, 'First'),
    hit > 1 && page(Math.max(1, hit - PAGE), 'Previous'),
    hit + PAGE <= total && page(hit + PAGE, 'Next'),
    hit + PAGE <= total && page(last, 'Last'),
  ];
  return html`${links.some((link) => link !== false) && html`<nav class="pages" aria-label="${label}">${links}</nav>`}`;
}
