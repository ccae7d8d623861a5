import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { counted } from '../../lib/text.ts';
import { formatNumber } from '../../notifications/visible-text.ts';
import type { BuildArchive } from '../../ports/build-archive.ts';
import { analysisAddress, buildAddress, logAddress } from '../addresses.ts';
import type { ConsoleDeps } from '../console-deps.ts';
import { actionLink, badge, hiddenFields } from '../controls.ts';
import { type Html, html, joined, type Shown } from '../html.ts';
import { IdParams, protect } from '../http.ts';
import { logPageLink } from '../outside.ts';
import { type ConsoleApp, loadReader, route, sendHtml, sendPage } from '../page.ts';
import {
  findLog,
  type LogFacts,
  LogQuery,
  type LogView,
  type NoLog,
  type Place,
  pickKept,
  placeAddress,
  readView,
  requireLog,
  rowOptions,
  sayNoLog,
} from './log-view.ts';
import { showLines } from './render-line.ts';
import { lineRow, logList, renderRows, WINDOW } from './rows.ts';
import { type Found, PAGE, searchLog } from './search.ts';

const RawQuery = z.object({ file: z.string().max(2_000).optional() });

/**
 * Serves `/logs/<build id>`, the viewer with its fragments and its search, and `/logs/<build id>/raw`, the
 * text as it is stored.
 */
export function registerLogs(app: ConsoleApp, deps: ConsoleDeps): void {
  app.get('/logs/:id', route('read', { params: IdParams, querystring: LogQuery }), async (request, reply) => {
    const { params, query } = request;
    const [facts, reader] = await Promise.all([findLog(deps, params.id, query), loadReader(request, deps)]);
    if (!('source' in facts)) {
      const page = { title: 'No log', place: 'log', part: 'builds', main: noLogPage(facts) } as const;
      return sendPage(request, reply, page, reader, facts.deletedAt === null ? 404 : 410);
    }
    const { preferences } = reader;
    const shape = {
      stamps: query.ts === undefined ? preferences.timestamps : query.ts === '1',
      wrap: query.wrap === undefined ? preferences.wrap : query.wrap === '1',
    };
    if (query.part !== null) {
      const view = await readView(deps, facts, query, shape.stamps);
      return sendHtml(
        request,
        reply,
        html`<ol>${view && renderRows(view.stretches, facts.source.lines, view.rows)}</ol>`,
      );
    }
    const body = await renderBody(deps, facts, query, shape, closed(reply));
    const title = `${facts.source.name} · ${facts.build.pipeline} #${facts.build.number}`;
    return sendPage(
      request,
      reply,
      { title, place: 'log', part: 'builds', main: logPage(facts, query, shape, body) },
      reader,
    );
  });
  app.get(
    '/logs/:id/raw',
    route('read', { params: IdParams, querystring: RawQuery }),
    async (request, reply) => {
      return await sendRaw(
        request,
        reply,
        deps,
        await requireLog(deps, request.params.id, request.query.file),
      );
    },
  );
}

async function renderBody(
  deps: ConsoleDeps,
  facts: LogFacts,
  query: LogQuery,
  shape: Shape,
  signal: AbortSignal,
): Promise<Shown> {
  const { build, source } = facts;
  if (source.bytes === 0) return emptyBody(facts);
  if (query.q !== '' && query.L === null && query.from === 0 && query.view === undefined) {
    const wanted = { text: query.q, matchCase: query.case === '1', from: query.hit };
    return searchBody(
      facts,
      query,
      shape,
      await searchLog(deps.archive, { buildId: build.id, name: source.name }, wanted, { signal }),
    );
  }
  const view = await readView(deps, facts, query, shape.stamps);
  return view === null ? gone(facts) : viewBody(facts, query, shape, view);
}

function gone({ build, sources, source }: LogFacts): Shown {
  const missing = {
    build,
    sources: sources.filter((one) => one !== source),
    deletedAt: null,
    wanted: source.name,
  };
  return html`<p role="note">${sayNoLog(missing)}</p>`;
}

/**
 * Sends the stored text, or the requested bytes of it. The browser always treats it as text, whatever it
 * contains.
 */
function sendRaw(
  request: FastifyRequest,
  reply: FastifyReply,
  { archive }: ConsoleDeps,
  { build, source }: LogFacts,
): FastifyReply {
  const { range: asked, 'if-range': ifRange } = request.headers;
  const range = ifRange === undefined ? readByteRange(asked, source.bytes) : null;
  protect(reply);
  reply
    .header('content-type', 'text/plain; charset=utf-8')
    .header('content-disposition', inlineAs(source.name))
    .header('cache-control', 'private, no-store')
    .header('accept-ranges', 'bytes');
  if (range === 'unsatisfiable')
    return reply.status(416).header('content-range', `bytes */${source.bytes}`).send('');
  const bytes = range ?? { first: 0, last: source.bytes - 1 };
  if (range !== null)
    reply.status(206).header('content-range', `bytes ${range.first}-${range.last}/${source.bytes}`);
  reply.header('content-length', bytes.last - bytes.first + 1);
  const pieces = textBytes(archive, { buildId: build.id, name: source.name }, bytes);
  return reply.send(source.bytes === 0 ? '' : Readable.from(pieces, { objectMode: false }));
}

/** Returns a signal that is aborted when the client disconnects. */
function closed(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) gone.abort(new Error('The client disconnected.'));
  });
  return gone.signal;
}

const LINE_END = Buffer.from('\n');

/** Bytes of a text, both included, from 0. */
interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/**
 * Parses a `Range` header for a text of `size` bytes (RFC 9110, 14.2). Returns one range, or null for the
 * whole text, which includes headers that we do not understand and headers that ask for several ranges.
 * Returns `unsatisfiable` if the text ends before the range.
 */
export function readByteRange(header: string | undefined, size: number): ByteRange | 'unsatisfiable' | null {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? '') ?? [];
  if (first === '' && last === '') return null;
  if (first === '') {
    const length = Math.min(Number(last), size);
    return length === 0 ? 'unsatisfiable' : { first: size - length, last: size - 1 };
  }
  if (last !== '' && Number(last) < Number(first)) return null;
  if (Number(first) >= size) return 'unsatisfiable';
  return { first: Number(first), last: Math.min(last === '' ? size - 1 : Number(last), size - 1) };
}

/**
 * Yields the bytes of a stored text, or those of the range, in order. Only a small part of it is in memory at
 * a time.
 */
export async function* textBytes(
  archive: Pick<BuildArchive, 'pieces'>,
  of: { readonly buildId: string; readonly name: string },
  { first, last }: ByteRange,
): AsyncGenerator<Buffer> {
  let at = 0;
  for await (const { lineStart, bytes } of archive.pieces(of.buildId, of.name)) {
    for (const part of lineStart === 1 ? [bytes] : [LINE_END, bytes]) {
      const wanted = part.subarray(Math.max(0, first - at), Math.max(0, last + 1 - at));
      // A piece is valid until the next one only, and a socket may take it later.
      if (wanted.length > 0) yield Buffer.from(wanted);
      at += part.length;
    }
    if (at > last) return;
  }
}

/**
 * Returns the header that names a file which is shown rather than saved (RFC 6266). Names of any kind are
 * safe in it.
 */
export function inlineAs(name: string): string {
  const file = name.split('/').at(-1)?.toWellFormed() || 'log';
  const plain = file.replace(/[^\w.-]/g, '_').slice(0, 150);
  const text = plain.includes('.') ? plain : `${plain}.txt`;
  const encoded = encodeURIComponent(file.slice(0, 150).toWellFormed()).replace(
    /['()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `inline; filename="${text}"; filename*=UTF-8''${encoded}`;
}

/** The reader's current settings for how the log is shown. */
interface Shape {
  readonly stamps: boolean;
  readonly wrap: boolean;
}

/**
 * Renders the viewer: the name of the log, its tools, and its lines. A phone shows the less used tools on
 * request.
 */
function logPage(facts: LogFacts, query: LogQuery, shape: Shape, body: Shown): Html {
  const { build, source } = facts;
  const raw = `/logs/${encodeURIComponent(build.id)}/raw?file=${encodeURIComponent(source.name)}`;
  return html`<div class="wide"><h1 tabindex="-1">${source.name}</h1>
    <p><a href="${buildAddress(build.id)}">${build.repository} · ${build.pipeline} #${build.number}</a>
    · ${counted(source.lines, 'line')} ·
    ${formatSize(source.bytes)}${source.notes.map((note) => html` · ${note}`)}</p>
    ${otherLogs(facts)}
    <div class="tools">${backLink(facts, query)}${searchForm(facts, query)}<details>
    <summary class="button">More</summary>${matchCase(query)}
    ${toolLinks(facts, query, shape)}<a class="button" href="${raw}" target="_blank">Raw</a>${logPageLink(
      build,
      facts.page,
      query.L?.from,
      html` class="button"`,
    )}<button type="button" data-copy="link" hidden>Copy
    link</button><button type="button" data-copy="lines" hidden>Copy lines</button></details></div>
    ${body}</div>`;
}

/** Renders the lines of a view, and how many of all lines they are. */
function viewBody(facts: LogFacts, { L }: LogQuery, shape: Shape, { stretches, rows }: LogView): Html {
  const { source } = facts;
  const shown = stretches.reduce((sum, { lines }) => sum + lines.length, 0);
  const beyond =
    L !== null &&
    L.from > source.lines &&
    html`<p role="note" class="warn">There is no line ${formatNumber(L.from)}: the log ends at line
      ${formatNumber(source.lines)}.</p>`;
  const [isPart, secrets] = [shown < source.lines, hiddenSecrets(stretches)];
  const part = html`<span id="shown">${formatNumber(shown)}</span> of ${counted(source.lines, 'line')}
    ${source.lines === 1 ? 'is' : 'are'} on this page; the browser's search covers only these.`;
  return html`${beyond}${(isPart || secrets) && html`<p class="quiet">${isPart && part}${secrets}</p>`}
    ${logList(renderRows(stretches, source.lines, rows), {
      label: `Lines of ${source.name}`,
      wrap: shape.wrap,
    })}`;
}

/** Renders the reason why a text has no lines. */
function emptyBody({ source }: LogFacts): Html {
  const why =
    source.kind === 'artifact'
      ? 'This file is not text, so its content was not kept.'
      : 'This log is empty: the runner was lost before the first line, or the step printed nothing.';
  return html`<p role="note">${why}</p>`;
}

/**
 * Renders the page of a build without this log: why it is missing, which other logs exist, and what was kept.
 */
function noLogPage(missing: NoLog): Html {
  const { build, sources, deletedAt } = missing;
  return html`<h1 tabindex="-1">No log to show</h1>
    <p role="note">${sayNoLog(missing)}${
      deletedAt !== null && ' Lines quoted in analyses were kept with them.'
    }</p>
    ${
      sources.length > 0 &&
      html`<ul>${sources.map(
        ({ name }) => html`<li><a href="${logAddress(build.id, name)}">${name}</a></li>`,
      )}</ul>`
    }
    <p><a href="${buildAddress(build.id)}">${build.repository} · ${build.pipeline} #${build.number}</a></p>`;
}

function otherLogs({ build, sources, source }: LogFacts): Shown {
  if (sources.length < 2) return null;
  const links = sources.map(({ name, lines }) => {
    const current = name === source.name && html` aria-current="page"`;
    return html`<li><a href="${logAddress(build.id, name)}"${current}>${name}</a>
      <span class="quiet">${formatNumber(lines)}</span></li>`;
  });
  return html`<details class="files"><summary>${counted(sources.length, 'file')} of this build</summary>
    <ul>${links}</ul></details>`;
}

function searchForm({ build, source }: LogFacts, { q, ts, wrap, analysis, back }: LogQuery): Html {
  const kept = hiddenFields({ file: source.name, ts, wrap, analysis, back });
  return html`<form role="search" id="search" aria-label="This log"
    action="/logs/${encodeURIComponent(build.id)}">${kept}<input type="search" name="q" aria-label="Search"
    placeholder="Search" value="${q}" maxlength="500" data-action="search">${badge('search')}
    <button>Search</button></form>`;
}

/** Renders the field of the search for matching case, which is seldom used. */
function matchCase(query: LogQuery): Html {
  return html`<label><input type="checkbox" form="search" name="case"
    value="1"${query.case === '1' && html` checked`}> match case</label>`;
}

function backLink({ analyses: [answer] }: LogFacts, { back }: LogQuery): Shown {
  if (back !== undefined) return actionLink('full-log', back, 'Review item');
  return answer !== undefined && actionLink('full-log', analysisAddress(answer.id), 'Analysis');
}

function toolLinks({ build, source }: LogFacts, query: LogQuery, { stamps, wrap }: Shape): Html {
  const kept = pickKept(query);
  const at: Place = {
    ...(query.L !== null && { marked: query.L }),
    ...(query.from > 0 && { window: { from: query.from, to: query.to } }),
    ...(query.view === 'full' && { view: 'full' }),
  };
  const go = (place: Place, changes: Partial<typeof kept> = {}) =>
    placeAddress(build.id, source.name, { ...kept, ...changes }, place);
  const end = Math.max(1, source.lines - WINDOW + 1);
  const links: Shown[] = [
    html`<a class="button" href="${go({}, { q: '', case: undefined })}">Evidence</a>`,
    html`<a class="button" href="${go({ view: 'full' }, { q: '', case: undefined })}">Full log</a>`,
    html`<a class="button" href="${go({ window: { from: end, to: source.lines } })}">End</a>`,
    actionLink('timestamps', go(at, { ts: stamps ? '0' : '1' }), `${stamps ? 'Hide' : 'Show'} timestamps`),
    html`<a class="button" data-wrap href="${go(at, { wrap: wrap ? '0' : '1' })}">${
      wrap ? 'Do not wrap' : 'Wrap'
    } long lines</a>`,
  ];
  return joined(links, ' ');
}

/**
 * Secrets are replaced before a log is stored; `make: *** [Makefile:3: all] Error 1` is what make itself
 * says.
 */
function hiddenSecrets(stretches: LogView['stretches']): Shown {
  const count = stretches
    .flatMap(({ lines }) => lines)
    .filter(({ parts }) =>
      /(?<!make(?:\[\d{1,4}\])?: |\*)\*{3}(?!\*)/.test(parts.map(({ text }) => text).join('')),
    ).length;
  return count > 0 && ` On ${counted(count, 'line')} of this page, *** replaces a secret.`;
}

function formatSize(bytes: number): string {
  if (bytes < 1_000) return `${bytes} bytes`;
  return bytes < 1_000_000 ? `${(bytes / 1_000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/**
 * Renders the result of a search: the total number of lines, one page of them, and links to the other pages.
 */
function searchBody(facts: LogFacts, query: LogQuery, shape: Shape, found: Found): Html {
  const { source } = facts;
  const options = rowOptions(facts, query, shape.stamps);
  const rows = found.hits.map(({ line, text }) => {
    const [shown] = showLines([text], line);
    return shown === undefined ? null : html`${lineRow(shown, { from: line, to: line }, options)}\n`;
  });
  return html`<p role="note">${said(query, found)}</p>
    ${pages(facts, query, found, 'Pages of hits')}
    ${
      found.hits.length > 0 &&
      logList(joined(rows), { label: `Lines of ${source.name} with “${query.q}”`, wrap: shape.wrap })
    }
    ${found.hits.length === PAGE && pages(facts, query, found, 'Pages of hits (bottom)')}`;
}

function said({ q, hit }: LogQuery, { total, hits, endedAt }: Found): string {
  const stopped =
    endedAt === null
      ? ''
      : ` The search took too long and stopped at line ${formatNumber(endedAt)}; there may be more matches.`;
  if (total === 0) return `No line contains “${q}”.${stopped}`;
  const shown =
    hits.length === 0
      ? `there is no match ${formatNumber(hit)}`
      : `${formatNumber(hit)}–${formatNumber(hit + hits.length - 1)} shown`;
  return `${counted(total, 'line')} ${total === 1 ? 'contains' : 'contain'} “${q}”, ${shown}.${stopped}`;
}

function pages({ build, source }: LogFacts, query: LogQuery, { total }: Found, label: string): Html {
  const { hit } = query;
  const page = (from: number, words: string) =>
    html`<a href="${placeAddress(build.id, source.name, pickKept(query), { hit: from })}">${words}</a>`;
  const last = total === 0 ? 1 : Math.floor((total - 1) / PAGE) * PAGE + 1;
  const links = [
    hit > 1 && page(1, 'First'),
    hit > 1 && page(Math.max(1, hit - PAGE), 'Previous'),
    hit + PAGE <= total && page(hit + PAGE, 'Next'),
    hit + PAGE <= total && page(last, 'Last'),
  ];
  return html`${
    links.some((link) => link !== false) && html`<nav class="pages" aria-label="${label}">${links}</nav>`
  }`;
}
