import { counted } from '../../lib/text.ts';
import { formatNumber } from '../../notifications/visible-text.ts';
import { analysisAddress, buildAddress, logAddress } from '../addresses.ts';
import { badge } from '../controls.ts';
import { type Html, html, joined, type Shown } from '../html.ts';
import {
  keptOf,
  type LogFacts,
  type LogQuery,
  type LogView,
  type NoLog,
  type Place,
  placeAddress,
  rowOptions,
  sayNoLog,
} from './log-view.ts';
import { showLines } from './render-line.ts';
import { lineRow, logList, rowsOf } from './rows.ts';
import { type Found, PAGE } from './search.ts';
import { WINDOW } from './window.ts';

/** How the reader sees the log now. */
export interface Shape {
  readonly stamps: boolean;
  readonly wrap: boolean;
}

/** The viewer: which log, how to go on in it, and its lines. */
export function logPage(facts: LogFacts, query: LogQuery, shape: Shape, body: Shown): Html {
  const { build, source } = facts;
  const raw = `/logs/${encodeURIComponent(build.id)}/raw?file=${encodeURIComponent(source.name)}`;
  return html`<div class="wide"><h1 tabindex="-1">${source.name}</h1>
<p><a href="${buildAddress(build.id)}">${build.repository} · ${build.pipeline} #${build.number}</a> · ${counted(source.lines, 'line')} · ${sizeOf(source.bytes)}${source.notes.map((note) => html` · ${note}`)}</p>
${otherLogs(facts)}
<div class="tools">${searchForm(facts, query)}${toolLinks(facts, query, shape)}<a class="button" href="${raw}" target="_blank">Raw</a><button type="button" data-copy="link" hidden>Copy link</button><button type="button" data-copy="lines" hidden>Copy lines</button></div>
${body}</div>`;
}

/** The lines of a view, with what they are of the whole. */
export function viewBody(facts: LogFacts, { L }: LogQuery, shape: Shape, { stretches, rows }: LogView): Html {
  const { source } = facts;
  const shown = stretches.reduce((sum, { lines }) => sum + lines.length, 0);
  const beyond =
    L !== null &&
    L.from > source.lines &&
    html`<p role="note" class="warn">There is no line ${formatNumber(L.from)}: the log ends at line ${formatNumber(source.lines)}.</p>`;
  return html`${beyond}<p class="quiet"><span id="shown">${formatNumber(shown)}</span> of ${counted(source.lines, 'line')} ${source.lines === 1 ? 'is' : 'are'} on this page; the browser's search covers only these.${hiddenSecrets(stretches)}</p>
${logList(rowsOf(stretches, source.lines, rows), { label: `Lines of ${source.name}`, wrap: shape.wrap })}`;
}

/** A text without lines: the reason instead. */
export function emptyBody({ source }: LogFacts): Html {
  const why =
    source.kind === 'artifact'
      ? 'This file is not text, so its content was not kept.'
      : 'This log is empty: the runner was lost before the first line, or the step printed nothing.';
  return html`<p role="note">${why}</p>`;
}

/** A build without this log: why, what else there is, and what stays. */
export function noLogPage(missing: NoLog): Html {
  const { build, sources, deletedAt } = missing;
  return html`<h1 tabindex="-1">No log to show</h1>
<p role="note">${sayNoLog(missing)}${deletedAt !== null && ' Lines quoted in analyses were kept with them.'}</p>
${sources.length > 0 && html`<ul>${sources.map(({ name }) => html`<li><a href="${logAddress(build.id, name)}">${name}</a></li>`)}</ul>`}
<p><a href="${buildAddress(build.id)}">${build.repository} · ${build.pipeline} #${build.number}</a></p>`;
}

function otherLogs({ build, sources, source }: LogFacts): Shown {
  if (sources.length < 2) return null;
  const links = sources.map(({ name, lines }) => {
    const current = name === source.name && html` aria-current="page"`;
    return html`<li><a href="${logAddress(build.id, name)}"${current}>${name}</a> <span class="quiet">${formatNumber(lines)}</span></li>`;
  });
  return html`<details class="files"><summary>${counted(sources.length, 'file')} of this build</summary><ul>${links}</ul></details>`;
}

function searchForm({ build, source }: LogFacts, { q, case: matchCase, ts, wrap, analysis }: LogQuery): Html {
  const kept = Object.entries({ file: source.name, ts, wrap, analysis });
  const hidden = kept.flatMap(([name, value]) =>
    value === undefined ? [] : [html`<input type="hidden" name="${name}" value="${value}">`],
  );
  return html`<form role="search" aria-label="This log" action="/logs/${encodeURIComponent(build.id)}">${hidden}<label>Search <input type="search" name="q" value="${q}" maxlength="500" data-action="search">${badge('search')}</label> <label><input type="checkbox" name="case" value="1"${matchCase === '1' && html` checked`}> match case</label> <button>Search</button></form>`;
}

function toolLinks({ build, source, analyses }: LogFacts, query: LogQuery, { stamps, wrap }: Shape): Html {
  const kept = keptOf(query);
  const at: Place = {
    ...(query.L !== null && { marked: query.L }),
    ...(query.from > 0 && { window: { from: query.from, to: query.to } }),
    ...(query.view === 'full' && { view: 'full' }),
  };
  const go = (place: Place, changes: Partial<typeof kept> = {}) => placeAddress(build.id, source.name, { ...kept, ...changes }, place);
  const end = Math.max(1, source.lines - WINDOW + 1);
  const [answer] = analyses;
  const links: Shown[] = [
    answer !== undefined &&
      html`<a class="button" data-action="full-log" href="${analysisAddress(answer.id)}">Analysis${badge('full-log')}</a>`,
    html`<a class="button" href="${go({}, { q: '', case: undefined })}">Evidence</a>`,
    html`<a class="button" href="${go({ view: 'full' }, { q: '', case: undefined })}">Full log</a>`,
    html`<a class="button" href="${go({ window: { from: end, to: source.lines } })}">End</a>`,
    html`<a class="button" data-action="timestamps" href="${go(at, { ts: stamps ? '0' : '1' })}">${stamps ? 'Hide' : 'Show'} timestamps${badge('timestamps')}</a>`,
    html`<a class="button" data-wrap href="${go(at, { wrap: wrap ? '0' : '1' })}">${wrap ? 'Do not wrap' : 'Wrap'} long lines</a>`,
  ];
  return joined(links, ' ');
}

/** Secrets are replaced before a log is stored; a log may also say `***` itself. */
function hiddenSecrets(stretches: LogView['stretches']): Shown {
  const count = stretches
    .flatMap(({ lines }) => lines)
    .filter(({ parts }) => parts.some(({ text }) => /(?:^|[^*])\*{3}(?:[^*]|$)/.test(text))).length;
  return count > 0 && ` On ${counted(count, 'line')} of them, *** replaces a secret.`;
}

function sizeOf(bytes: number): string {
  if (bytes < 1_000) return `${bytes} bytes`;
  return bytes < 1_000_000 ? `${(bytes / 1_000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

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
