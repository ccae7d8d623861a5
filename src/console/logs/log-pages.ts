import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { formatCount } from '../../lib/text.ts';
import { formatSize } from '../../log/decode/decode.ts';
import { formatDuration } from '../../notifications/answer-view.ts';
import { formatNumber } from '../../notifications/visible-text.ts';
import { buildAddress, formatAnalysisAddress, formatLogAddress } from '../addresses.ts';
import { logPageLink } from '../ci-links.ts';
import type { ConsoleDeps } from '../console-deps.ts';
import { badge, formatSpan, renderHiddenFields } from '../controls.ts';
import { type Html, html, joinHtml, type Shown } from '../html.ts';
import { IdParams } from '../http.ts';
import { type ConsoleApp, loadReader, route, sendHtml, sendPage } from '../page.ts';
import { icon } from '../parts/icons.ts';
import { renderCategory } from '../parts/marks.ts';
import {
  createRowOptions,
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
  sayNoLog,
} from './log-view.ts';
import { mapPart } from './map.ts';
import { type Outline, readOutline } from './outline.ts';
import { sendRaw } from './raw.ts';
import { showLines } from './render-line.ts';
import { lineRow, logList, type Range, renderRows, WINDOW } from './rows.ts';
import { type Found, PAGE, searchLog } from './search.ts';

const RawQuery = z.object({ file: z.string().max(2_000).optional() });

/**
 * Registers `/logs/<build id>`, the log viewer with its fragments and its search, and `/logs/<build id>/raw`,
 * the stored text.
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
    const [body, outline] = await Promise.all([
      renderBody(deps, facts, query, shape, createCloseSignal(reply)),
      readOutline(deps.archive, facts.build.id, facts.source),
    ]);
    const title = `${facts.source.name} · ${facts.build.pipeline} #${facts.build.number}`;
    return sendPage(
      request,
      reply,
      { title, place: 'log', part: 'builds', fills: true, main: logPage(facts, query, shape, body, outline) },
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
): Promise<LogBody> {
  const { build, source } = facts;
  if (source.bytes === 0) return note(emptyBody(facts));
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
  return view === null ? note(logGone(facts)) : viewBody(facts, query, shape, view);
}

function note(lines: Shown): LogBody {
  return { about: null, lines, shown: [] };
}

function logGone({ build, sources, source }: LogFacts): Shown {
  const missing = {
    build,
    sources: sources.filter((other) => other !== source),
    deletedAt: null,
    wanted: source.name,
  };
  return html`<p class="pad" role="note">${sayNoLog(missing)}</p>`;
}

/** Returns a signal that is aborted when the client disconnects. */
function createCloseSignal(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) gone.abort(new Error('The client disconnected.'));
  });
  return gone.signal;
}

/** The reader's settings for how the log is shown. */
interface Shape {
  readonly stamps: boolean;
  readonly wrap: boolean;
}

/**
 * Renders the viewer: its tools, the steps, the lines, and a map of the whole log. On a phone, rarely used
 * tools are collapsed.
 */
function logPage(
  facts: LogFacts,
  query: LogQuery,
  shape: Shape,
  body: LogBody,
  outline: Outline | null,
): Html {
  const { build, source } = facts;
  const raw = `/logs/${encodeURIComponent(build.id)}/raw?file=${encodeURIComponent(source.name)}`;
  return html`<h1 class="seen-not" tabindex="-1">${source.name}</h1><div class="reader">
    <div class="tools">${backLink(facts, query)}${searchForm(facts, query)}<div
    class="acts">${nextProof(facts, query)}${switches(facts, query, shape)}<details
    class="menu"><summary class="btn bare">${icon('dots')}<span
    class="seen-not">More</span></summary><ul>${viewLinks(
      facts,
      query,
    )}<li><a href="${raw}" target="_blank">Raw text</a></li>${listItem(
      logPageLink(build, facts.page, query.L?.from),
    )}<li><button type="button" data-copy="link" hidden>Copy link</button></li><li><button type="button"
    data-copy="lines" hidden>Copy lines</button></li></ul></details></div></div>
    ${stepsPart(facts, query, outline, body.about)}<div class="column">${body.lines}</div>${
      source.lines > 0 && mapPart(facts, outline, body.shown)
    }</div>`;
}

function listItem(content: Shown): Shown {
  return content !== null && content !== false && html`<li>${content}</li>`;
}

/** Renders the link to the first line that proves an answer. With scripts, it moves to the next one. */
function nextProof({ build, source, evidence }: LogFacts, query: LogQuery): Shown {
  const [first] = evidence.flatMap(({ cited }) => cited).sort((left, right) => left - right);
  if (first === undefined) return null;
  const address = placeAddress(build.id, source.name, pickKept(query), {
    marked: { from: first, to: first },
  });
  return html`<a class="btn" data-walk href="${address}">${icon('pin')}<span class="only-wide">Next
    proof</span><span class="seen-not only-narrow">Next proof</span>${badge('next-evidence')}</a>`;
}

/** The maximum number of characters of a line that are shown among the steps. */
const MAX_QUOTE = 60;

/** The content of the viewer: the lines, and the text above them. */
interface LogBody {
  readonly about: Shown;
  readonly lines: Shown;
  /** The ranges of the shown lines, for the map. */
  readonly shown: readonly Range[];
}

/** Renders the steps of the log with the lines that prove an answer, and the answers themselves. */
function stepsPart(facts: LogFacts, query: LogQuery, outline: Outline | null, about: Shown): Html {
  const { build, source, evidence, analyses } = facts;
  const address = (line: number) =>
    placeAddress(build.id, source.name, pickKept(query), { marked: { from: line, to: line } });
  const proof = [...new Set(evidence.flatMap(({ cited }) => cited.slice(0, 3)))].toSorted(
    (left, right) => left - right,
  );
  const quotes = analyses.flatMap(({ answer }) => answer.claims.flatMap((claim) => claim.quotes));
  const within = (line: number) => {
    const quote = quotes.find((other) => other.source === source.name && other.line === line);
    return html`<li class="within"><a href="${address(line)}"><span class="cut">${
      quote?.text.trim().slice(0, MAX_QUOTE) ?? 'Proof'
    }</span><span class="num">${formatNumber(line)}</span></a></li>`;
  };
  const steps = outline?.steps ?? [];
  const rows = steps.map(({ name, line, milliseconds }, index) => {
    const end = steps[index + 1]?.line ?? Number.POSITIVE_INFINITY;
    const inStep = proof.filter((number) => number >= line && number < end);
    return html`<li><a href="${address(line)}"${inStep.length > 0 && html` aria-current="true"`}>${
      inStep.length > 0 ? icon('cross', 'is-red') : icon('right')
    }${name}<span class="meta num">${formatTook(line, milliseconds)}</span></a></li>${inStep.map(within)}`;
  });
  const first = steps[0]?.line ?? Number.POSITIVE_INFINITY;
  const answers = analyses.map(
    (analysis) => html`<p class="pad meta">${renderCategory(analysis.category)}<br><a
      href="${formatAnalysisAddress(analysis.id)}">${analysis.answer.title}</a></p>`,
  );
  return html`<nav class="steps" aria-label="Steps"><ul>${proof.filter((at) => at < first).map(within)}${rows}</ul>
    ${answers}<div class="pad meta flow"><p><a href="${buildAddress(build.id)}">${build.repository} · ${
      build.pipeline
    } #${build.number}</a></p><p>${formatCount(source.lines, 'line')},
    ${formatSize(source.bytes)}${source.notes.map((note) => html` · ${note}`)}</p>${about}${otherLogs(
      facts,
    )}</div></nav>`;
}

const LONG_MS = 120_000;

/** Formats how long a step took, or the number of its first line if the log has no times. */
function formatTook(line: number, milliseconds: number | null): string {
  if (milliseconds === null) return formatNumber(line);
  return milliseconds < LONG_MS ? formatDuration(milliseconds) : formatSpan(milliseconds);
}

/** Renders the lines of a view, and their number relative to the whole log. */
function viewBody(
  facts: LogFacts,
  { L, view }: LogQuery,
  shape: Shape,
  { stretches, rows }: LogView,
): LogBody {
  const { source } = facts;
  const isWhole = view === 'full';
  const lineCount = stretches.reduce((sum, { lines }) => sum + lines.length, 0);
  const beyond =
    L !== null &&
    L.from > source.lines &&
    html`<p role="note" class="is-amber">There is no line ${formatNumber(L.from)}: the log ends at line
      ${formatNumber(source.lines)}.</p>`;
  const [isPart, secrets] = [lineCount < source.lines, hiddenSecrets(stretches)];
  const part = html`<span id="shown">${formatNumber(lineCount)}</span> of ${formatCount(source.lines, 'line')}
    ${source.lines === 1 ? 'is' : 'are'} on this page; the browser's search covers only these.`;
  return {
    about: html`<p>${isPart && part}${secrets}${!isWhole && ' Blank lines are left out.'}</p>`,
    lines: html`${beyond}${logList(renderRows(stretches, source.lines, rows), {
      label: `Lines of ${source.name}`,
      wrap: shape.wrap,
      isWhole,
    })}`,
    shown: stretches.filter(({ kind }) => kind === 'lines'),
  };
}

/** Explains why a text has no lines. */
function emptyBody({ source }: LogFacts): Html {
  const why =
    source.kind === 'artifact'
      ? 'This file is not text, so its content was not kept.'
      : 'This log is empty: the runner was lost before the first line, or the step printed nothing.';
  return html`<p class="pad" role="note">${why}</p>`;
}

/** Renders the page for a missing log: the reason, the other logs, and the stored data. */
function noLogPage(missing: NoLog): Html {
  const { build, sources, deletedAt } = missing;
  return html`<h1 tabindex="-1">No log to show</h1>
    <p role="note">${sayNoLog(missing)}${
      deletedAt !== null && ' Lines quoted in analyses were kept with them.'
    }</p>
    ${
      sources.length > 0 &&
      html`<ul>${sources.map(
        ({ name }) => html`<li><a href="${formatLogAddress(build.id, name)}">${name}</a></li>`,
      )}</ul>`
    }
    <p><a href="${buildAddress(build.id)}">${build.repository} · ${build.pipeline} #${build.number}</a></p>`;
}

function otherLogs({ build, sources, source }: LogFacts): Shown {
  if (sources.length < 2) return null;
  const links = sources.map(({ name, lines }) => {
    const current = name === source.name && html` aria-current="page"`;
    return html`<li><a href="${formatLogAddress(build.id, name)}"${current}>${name}</a>
      <span class="quiet">${formatNumber(lines)}</span></li>`;
  });
  return html`<details class="files"><summary>${formatCount(sources.length, 'file')} of this build</summary>
    <ul>${links}</ul></details>`;
}

function searchForm(
  { build, source }: LogFacts,
  { q, ts, wrap, analysis, back, case: matchCase }: LogQuery,
): Html {
  const kept = renderHiddenFields({ file: source.name, ts, wrap, analysis, back, case: matchCase });
  return html`<form role="search" id="search" aria-label="This log"
    action="/logs/${encodeURIComponent(build.id)}">${kept}<input type="search" name="q" aria-label="Search"
    placeholder="Search this log" value="${q}" maxlength="500" data-action="search">${badge(
      'search',
    )}</form>`;
}

function backLink({ analyses: [answer] }: LogFacts, { back }: LogQuery): Shown {
  const link = (address: string, words: string) =>
    html`<a class="btn bare" data-action="full-log" href="${address}">${icon('left')}${words}${badge(
      'full-log',
    )}</a>`;
  if (back !== undefined) return link(back, 'Review item');
  return answer !== undefined && link(formatAnalysisAddress(answer.id), 'Answer');
}

/** Returns the address of the current place, with other settings. */
function formatPlace(
  { build, source }: LogFacts,
  query: LogQuery,
  place: Place,
  changes: object = {},
): string {
  return placeAddress(build.id, source.name, { ...pickKept(query), ...changes }, place);
}

/** Renders the settings of the view as links that turn them on or off. */
function switches(facts: LogFacts, query: LogQuery, { stamps, wrap }: Shape): Html {
  const at: Place = {
    ...(query.L !== null && { marked: query.L }),
    ...(query.from > 0 && { window: { from: query.from, to: query.to } }),
    ...(query.view === 'full' && { view: 'full' }),
  };
  const matchCase = query.case === '1';
  const look = (isOn: boolean) => isOn && html` aria-current="true"`;
  return html`<span class="seg only-wide"><a href="${formatPlace(facts, query, at, {
    case: matchCase ? undefined : '1',
  })}" title="${matchCase ? 'Do not match case' : 'Match case'}"${look(matchCase)}>Aa<span
    class="seen-not">: match case, ${matchCase ? 'on' : 'off'}</span></a><a href="${formatPlace(
      facts,
      query,
      at,
      {
        wrap: wrap ? '0' : '1',
      },
    )}"${look(wrap)}>Wrap<span class="seen-not"> long lines, ${
      wrap ? 'on' : 'off'
    }</span></a><a data-action="timestamps" href="${formatPlace(facts, query, at, {
      ts: stamps ? '0' : '1',
    })}"${look(stamps)}>Time<span class="seen-not"> stamps, ${stamps ? 'on' : 'off'}</span>${badge(
      'timestamps',
    )}</a></span>`;
}

/** Renders links to the other views of the log. */
function viewLinks(facts: LogFacts, query: LogQuery): Html {
  const { lines } = facts.source;
  const end = { from: Math.max(1, lines - WINDOW + 1), to: lines };
  const unsearched = { q: '', case: undefined };
  return html`<li><a href="${formatPlace(facts, query, {}, unsearched)}">Evidence</a></li><li><a
    href="${formatPlace(facts, query, { view: 'full' }, unsearched)}">Full log</a></li><li><a
    href="${formatPlace(facts, query, { window: end })}">End</a></li>`;
}

/**
 * Renders the number of masked secrets in the lines, which are shown as `***`. Messages of make, such as
 * `make: *** [Makefile:3: all] Error 1`, do not count.
 */
function hiddenSecrets(stretches: LogView['stretches']): Shown {
  const count = stretches
    .flatMap(({ lines }) => lines)
    .filter(({ parts }) =>
      /(?<!make(?:\[\d{1,4}\])?: |\*)\*{3}(?!\*)/.test(parts.map(({ text }) => text).join('')),
    ).length;
  return count > 0 && ` On ${formatCount(count, 'line')} of this page, *** replaces a secret.`;
}

/**
 * Renders the result of a search: the total number of lines, one page of them, and links to the other pages.
 */
function searchBody(facts: LogFacts, query: LogQuery, shape: Shape, found: Found): LogBody {
  const { source } = facts;
  const options = createRowOptions(facts, query, shape.stamps);
  const rows = found.hits.map(({ line, text }) => {
    const [shown] = showLines([text], line);
    return shown === undefined ? null : html`${lineRow(shown, { from: line, to: line }, options)}\n`;
  });
  const lines = html`<p class="pad" role="note">${describeHits(query, found)}</p>
    ${pages(facts, query, found, 'Pages of hits')}
    ${
      found.hits.length > 0 &&
      logList(joinHtml(rows), { label: `Lines of ${source.name} with “${query.q}”`, wrap: shape.wrap })
    }
    ${found.hits.length === PAGE && pages(facts, query, found, 'Pages of hits (bottom)')}`;
  return { about: null, lines, shown: found.hits.map(({ line }) => ({ from: line, to: line })) };
}

function describeHits({ q, hit }: LogQuery, { total, hits, endedAt }: Found): string {
  const stopped =
    endedAt === null
      ? ''
      : ` The search took too long and stopped at line ${formatNumber(endedAt)}; there may be more matches.`;
  if (total === 0) return `No line contains “${q}”.${stopped}`;
  const content =
    hits.length === 0
      ? `there is no match ${formatNumber(hit)}`
      : `${formatNumber(hit)}–${formatNumber(hit + hits.length - 1)} shown`;
  const verb = total === 1 ? 'contains' : 'contain';
  return `${formatCount(total, 'line')} ${verb} “${q}”, ${content}.${stopped}`;
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
