import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { BuildArchive } from '../../ports/build-archive.ts';
import type { ConsoleDeps } from '../console-deps.ts';
import { html, type Shown } from '../html.ts';
import { protect } from '../http.ts';
import { readerOf, sendHtml, sendPage } from '../page.ts';
import { emptyBody, logPage, noLogPage, type Shape, searchBody, viewBody } from './log-page.ts';
import { findLog, type LogFacts, LogQuery, readView, requireLog, sayNoLog } from './log-view.ts';
import { rowsOf } from './rows.ts';
import { piecesOf, searchLog } from './search.ts';

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

/** The stored text, or the bytes of it that are requested. It is text to a browser, whatever is in it. */
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

const LINE_END = Buffer.from('\n');

/** Bytes of a text, both included, from 0. */
interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/**
 * What a `Range` header asks for of so many bytes (RFC 9110, 14.2): one range; null for the whole, also where the header is none that we
 * understand or asks for several; `unsatisfiable` where the text ends before it.
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

/** The bytes of a stored text, or those of the range, in order; little of it is in memory at a time. */
export async function* textBytes(
  archive: Pick<BuildArchive, 'pieces' | 'lines'>,
  of: { readonly buildId: string; readonly name: string },
  { first, last }: ByteRange,
): AsyncGenerator<Buffer> {
  let at = 0;
  for await (const { lineStart, bytes } of piecesOf(archive, of.buildId, of.name)) {
    for (const part of lineStart === 1 ? [bytes] : [LINE_END, bytes]) {
      const wanted = part.subarray(Math.max(0, first - at), Math.max(0, last + 1 - at));
      // A piece is valid until the next one only, and a socket may take it later.
      if (wanted.length > 0) yield Buffer.from(wanted);
      at += part.length;
    }
    if (at > last) return;
  }
}

/** The header that names a file which is shown rather than saved (RFC 6266); names of any kind are safe in it. */
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
