import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { BuildArchive } from '../../ports/build-archive.ts';
import type { ConsoleDeps } from '../console-deps.ts';
import { protect } from '../http.ts';
import type { LogFacts } from './log-view.ts';

/**
 * Sends the stored text, or the requested bytes of it. The response makes browsers treat it as text, whatever
 * it contains.
 */
export function sendRaw(
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
    .header('content-disposition', formatInlineHeader(source.name))
    .header('cache-control', 'private, no-store')
    .header('accept-ranges', 'bytes');
  if (range === 'unsatisfiable')
    return reply.status(416).header('content-range', `bytes */${source.bytes}`).send('');
  const bytes = range ?? { first: 0, last: source.bytes - 1 };
  if (range !== null)
    reply.status(206).header('content-range', `bytes ${range.first}-${range.last}/${source.bytes}`);
  reply.header('content-length', bytes.last - bytes.first + 1);
  const pieces = readTextBytes(archive, { buildId: build.id, name: source.name }, bytes);
  return reply.send(source.bytes === 0 ? '' : Readable.from(pieces, { objectMode: false }));
}

const LINE_END = Buffer.from('\n');

/** A range of bytes, 0-based, including both ends. */
interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/**
 * Parses a `Range` header for a text of `size` bytes (RFC 9110, 14.2). Returns one range. Returns null for
 * the whole text, also for headers that cannot be parsed or ask for several ranges. Returns `unsatisfiable`
 * if the text ends before the range.
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
 * Yields the bytes of a stored text, or of a range of it, in order. Only a small part is in memory at a time.
 */
export async function* readTextBytes(
  archive: Pick<BuildArchive, 'pieces'>,
  of: { readonly buildId: string; readonly name: string },
  { first, last }: ByteRange,
): AsyncGenerator<Buffer> {
  let at = 0;
  for await (const { lineStart, bytes } of archive.pieces(of.buildId, of.name)) {
    for (const part of lineStart === 1 ? [bytes] : [LINE_END, bytes]) {
      const wanted = part.subarray(Math.max(0, first - at), Math.max(0, last + 1 - at));
      // A piece is only valid until the next one is read, but a socket may send it later, so it is copied.
      if (wanted.length > 0) yield Buffer.from(wanted);
      at += part.length;
    }
    if (at > last) return;
  }
}

/**
 * Returns the header with the file name for a file that is shown rather than saved (RFC 6266). Any name is
 * safe.
 */
export function formatInlineHeader(name: string): string {
  const file = name.split('/').at(-1)?.toWellFormed() || 'log';
  const plain = file.replace(/[^\w.-]/g, '_').slice(0, 150);
  const text = plain.includes('.') ? plain : `${plain}.txt`;
  const encoded = encodeURIComponent(file.slice(0, 150).toWellFormed()).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `inline; filename="${text}"; filename*=UTF-8''${encoded}`;
}
