import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { ConsoleDeps } from '../console-deps.ts';
import { protect } from '../headers.ts';
import { html, type Shown } from '../html.ts';
import { sendHtml, sendPage } from '../page.ts';
import { readerOf } from '../reader.ts';
import { findLog, type LogFacts, requireLog, sayNoLog } from './log-facts.ts';
import { emptyBody, logPage, noLogPage, type Shape, viewBody } from './log-page.ts';
import { LogQuery } from './log-query.ts';
import { readView } from './log-view.ts';
import { inlineAs, readByteRange, textBytes } from './raw.ts';
import { rowsOf } from './rows.ts';
import { searchLog } from './search.ts';
import { searchBody } from './search-body.ts';

const Params = z.object({ id: z.string().min(1).max(300) });
const RawQuery = z.object({ file: z.string().max(2_000).optional() });
const config = { access: { role: 'read' } } as const;

/** `/logs/<build id>`: the viewer, its fragments and its search; `/logs/<build id>/raw`: the text as it is stored. */
export function registerLogs(app: FastifyInstance, deps: ConsoleDeps): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  typed.get('/logs/:id', { config, schema: { params: Params, querystring: LogQuery } }, async (request, reply) => {
    const { params, query } = request;
    const [facts, reader] = await Promise.all([findLog(deps, params.id, query), readerOf(request, deps)]);
    if (!('source' in facts)) {
      const page = { title: 'No log', place: 'log', part: 'builds', main: noLogPage(facts) } as const;
      return sendPage(request, reply, page, reader, facts.deletedAt === null ? 404 : 410);
    }
    const { preferences } = reader;
    const shape = {
      stamps: query.ts === undefined ? preferences.timestamps : query.ts === '1',
      wrap: query.wrap === undefined ? preferences.wrap : query.wrap === '1',
    };
    if (query.part !== null) return await sendPart(request, reply, deps, facts, query, shape);
    const body = await bodyOf(deps, facts, query, shape, closed(reply));
    const title = `${facts.source.name} · ${facts.build.pipeline} #${facts.build.number}`;
    return sendPage(request, reply, { title, place: 'log', part: 'builds', main: logPage(facts, query, shape, body) }, reader);
  });
  typed.get('/logs/:id/raw', { config, schema: { params: Params, querystring: RawQuery } }, async (request, reply) => {
    return await sendRaw(request, reply, deps, await requireLog(deps, request.params.id, request.query.file));
  });
}

async function bodyOf(deps: ConsoleDeps, facts: LogFacts, query: LogQuery, shape: Shape, signal: AbortSignal): Promise<Shown> {
  const { build, source } = facts;
  if (source.bytes === 0) return emptyBody(facts);
  if (query.q !== '' && query.L === null && query.from === 0 && query.view === undefined) {
    const wanted = { text: query.q, matchCase: query.case === '1', from: query.hit };
    return searchBody(facts, query, shape, await searchLog(deps.archive, { buildId: build.id, name: source.name }, wanted, { signal }));
  }
  const view = await readView(deps, facts, query, shape.stamps);
  return view === null ? gone(facts) : viewBody(facts, query, shape, view);
}

function gone({ build, sources, source }: LogFacts): Shown {
  const missing = { build, sources: sources.filter((one) => one !== source), deletedAt: null, wanted: source.name };
  return html`<p role="note">${sayNoLog(missing)}</p>`;
}

/** The rows that take the place of a gap. */
async function sendPart(
  request: FastifyRequest,
  reply: FastifyReply,
  deps: ConsoleDeps,
  facts: LogFacts,
  query: LogQuery,
  { stamps }: Shape,
): Promise<FastifyReply> {
  const view = await readView(deps, facts, query, stamps);
  const rows = view === null ? null : rowsOf(view.stretches, facts.source.lines, view.rows);
  return sendHtml(request, reply, html`<ol>${rows}</ol>`);
}

/** The stored text, or the bytes of it that are asked for. It is text to a browser, whatever is in it. */
function sendRaw(request: FastifyRequest, reply: FastifyReply, { archive }: ConsoleDeps, { build, source }: LogFacts): FastifyReply {
  const { range: asked, 'if-range': ifRange } = request.headers;
  const range = ifRange === undefined ? readByteRange(asked, source.bytes) : null;
  protect(reply);
  reply
    .header('content-type', 'text/plain; charset=utf-8')
    .header('content-disposition', inlineAs(source.name))
    .header('cache-control', 'private, no-store')
    .header('accept-ranges', 'bytes');
  if (range === 'unsatisfiable') return reply.status(416).header('content-range', `bytes */${source.bytes}`).send('');
  const bytes = range ?? { first: 0, last: source.bytes - 1 };
  if (range !== null) reply.status(206).header('content-range', `bytes ${range.first}-${range.last}/${source.bytes}`);
  reply.header('content-length', bytes.last - bytes.first + 1);
  const pieces = textBytes(archive, { buildId: build.id, name: source.name }, bytes);
  return reply.send(source.bytes === 0 ? '' : Readable.from(pieces, { objectMode: false }));
}

/** Aborted once whoever asked is gone. */
function closed(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) gone.abort(new Error('The client disconnected.'));
  });
  return gone.signal;
}
