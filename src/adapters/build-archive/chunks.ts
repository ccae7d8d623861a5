import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { TextPiece } from '../../ports/build-archive.ts';

/** Lines of one chunk: a window of 400 lines opens one or two, which takes less than a millisecond. */
export const CHUNK_LINES = 1000;

/** Chunks opened at once. */
const OPENED = 8;

export interface Chunk {
  readonly chunk: number;
  /** 1-based. */
  readonly firstLine: number;
  readonly bytes: Buffer;
}

const compress = promisify(gzip);
const decompress = promisify(gunzip);

/** Cuts a text into compressed chunks of whole lines, without ever holding it as an array of lines. */
export async function toChunks(text: string): Promise<Chunk[]> {
  const chunks: Chunk[] = [];
  let start = 0;
  for (let chunk = 0; start <= text.length; chunk += 1) {
    const end = endOfLines(text, start, CHUNK_LINES);
    chunks.push({ chunk, firstLine: chunk * CHUNK_LINES + 1, bytes: await compress(text.slice(start, end), { level: 5 }) });
    start = end + 1;
  }
  return chunks;
}

/** The text of one chunk; the newline between two chunks belongs to neither. */
export async function fromChunk(bytes: Buffer): Promise<string> {
  return (await decompress(bytes)).toString('utf8');
}

/** Which chunk holds a line. */
export function chunkOf(line: number): number {
  return Math.floor((line - 1) / CHUNK_LINES);
}

/** Lines `first`..`last` of consecutive chunks, given as they are stored; `firstChunk` is the first of them. */
export async function linesOfChunks(stored: readonly Buffer[], firstChunk: number, first: number, last: number): Promise<string[]> {
  const lines = (await Promise.all(stored.map((bytes) => fromChunk(bytes)))).flatMap((text) => text.split('\n'));
  const offset = firstChunk * CHUNK_LINES + 1;
  return lines.slice(first - offset, Math.max(first, last + 1) - offset);
}

/** The texts of consecutive chunks, given as they are stored, a few opened at a time. */
export async function* piecesOfChunks(stored: readonly Buffer[], firstChunk: number): AsyncGenerator<TextPiece> {
  for (let start = 0; start < stored.length; start += OPENED) {
    const opened = await Promise.all(stored.slice(start, start + OPENED).map((bytes) => decompress(bytes)));
    for (const [at, bytes] of opened.entries()) yield { lineStart: (firstChunk + start + at) * CHUNK_LINES + 1, bytes };
  }
}

/** Where the `count`-th line from `start` ends, without its newline. */
function endOfLines(text: string, start: number, count: number): number {
  let at = start - 1;
  for (let line = 0; line < count; line += 1) {
    at = text.indexOf('\n', at + 1);
    if (at === -1) return text.length;
  }
  return at;
}
