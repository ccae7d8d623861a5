import type { BuildArchive } from '../../ports/build-archive.ts';
import { piecesOf } from './search.ts';

const LINE_END = Buffer.from('\n');

/** Bytes of a text, both included, from 0. */
export interface ByteRange {
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
