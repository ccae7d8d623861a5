import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { SourceText } from '../../domain/build.ts';
import { TriageError } from '../../domain/errors.ts';
import { mapInParallel } from '../../lib/collections.ts';
import { toStorable } from '../../lib/text.ts';
import type { ArchivedSource, TextPiece } from '../../ports/build-archive.ts';

/**
 * The number of lines in a chunk. A window of 400 lines opens one or two chunks, which takes less than a
 * millisecond.
 */
export const CHUNK_LINES = 1000;

/** The maximum number of chunks that are open at once. */
const OPENED = 8;

export interface Chunk {
  readonly chunk: number;
  /** The number of the first line, 1-based. */
  readonly firstLine: number;
  readonly bytes: Buffer;
}

const compress = promisify(gzip);
const decompress = promisify(gunzip);

/** A text in chunks, with its numbers of lines and bytes. */
interface ChunkedText {
  readonly chunks: readonly Chunk[];
  readonly lines: number;
  readonly bytes: number;
}

/**
 * Cuts a text into compressed chunks of whole lines, in the form that every archive stores. Works chunk by
 * chunk, so that a large text does not block other work.
 */
export async function toChunks(text: string): Promise<ChunkedText> {
  const chunks: Chunk[] = [];
  let [start, lines, bytes] = [0, 0, -1];
  for (let chunk = 0; start <= text.length; chunk += 1) {
    const end = findLinesEnd(text, start, CHUNK_LINES);
    const part = toStorable(text.slice(start, end));
    const plain = Buffer.from(part);
    chunks.push({ chunk, firstLine: lines + 1, bytes: await compress(plain, { level: 5 }) });
    lines += countLines(part);
    bytes += plain.length + 1;
    start = end + 1;
  }
  return { chunks, lines, bytes };
}

/** Returns the text of one chunk. The newline between two chunks belongs to neither. */
async function fromChunk(bytes: Buffer): Promise<string> {
  return (await decompress(bytes)).toString('utf8');
}

/** Returns the number of the chunk that contains a line. */
export function toChunkNumber(line: number): number {
  return Math.floor((line - 1) / CHUNK_LINES);
}

/**
 * Returns lines `first`..`last` from stored consecutive chunks; `firstChunk` is the number of the first
 * chunk.
 */
export async function readLinesOfChunks(
  stored: readonly Buffer[],
  firstChunk: number,
  first: number,
  last: number,
): Promise<string[]> {
  const lines = (await Promise.all(stored.map(fromChunk))).flatMap((text) => text.split('\n'));
  const offset = firstChunk * CHUNK_LINES + 1;
  return lines.slice(first - offset, Math.max(first, last + 1) - offset);
}

/** Returns the text of stored consecutive chunks; only a few chunks are decompressed at a time. */
export async function readTextOfChunks(stored: readonly Buffer[]): Promise<string> {
  return (await mapInParallel(stored, OPENED, fromChunk)).join('\n');
}

/** Yields the texts of stored consecutive chunks; only a few chunks are decompressed at a time. */
async function* readPiecesOfChunks(stored: readonly Buffer[], firstChunk: number): AsyncGenerator<TextPiece> {
  for (let start = 0; start < stored.length; start += OPENED) {
    const opened = await Promise.all(stored.slice(start, start + OPENED).map((bytes) => decompress(bytes)));
    for (const [at, bytes] of opened.entries())
      yield { lineStart: (firstChunk + start + at) * CHUNK_LINES + 1, bytes };
  }
}

/**
 * Yields the pieces of a text that has `chunks` chunks. `read` returns `batch` chunks at a time, or null if
 * some are missing. The next batch is requested while the current one is consumed. Throws `storage-failed`,
 * retryable, if the text is replaced or removed in the meantime.
 */
export async function* readPiecesInBatches(
  name: string,
  chunks: number,
  batch: number,
  read: (first: number, last: number) => Promise<Buffer[] | null>,
): AsyncGenerator<TextPiece> {
  const ask = (first: number) => {
    const asked = first < chunks ? read(first, Math.min(first + batch, chunks) - 1) : null;
    // If the caller stops early, this request is not awaited, and its error must not become an unhandled
    // rejection.
    asked?.catch(() => undefined);
    return asked;
  };
  let next = ask(0);
  for (let first = 0; first < chunks; first += batch) {
    const stored = await next;
    if (stored === null)
      throw new TriageError('storage-failed', `${name} was replaced or removed while it was read.`, {
        retryable: true,
      });
    next = ask(first + batch);
    yield* readPiecesOfChunks(stored, first);
  }
}

/** Returns the offset at which the `count`-th line from `start` ends, without its newline. */
function findLinesEnd(text: string, start: number, count: number): number {
  let at = start - 1;
  for (let line = 0; line < count; line += 1) {
    at = text.indexOf('\n', at + 1);
    if (at === -1) return text.length;
  }
  return at;
}

/** The maximum number of lines of one window. */
const MAX_WINDOW = 2000;

/**
 * Describes a source whose `text` is already storable. A lone `\r` never ends a line; an empty text has one
 * empty line.
 */
export function describeSource(source: SourceText, text: string): ArchivedSource {
  return {
    name: source.name,
    kind: source.kind,
    lines: countLines(text),
    bytes: Buffer.byteLength(text),
    notes: [...source.notes],
  };
}

/**
 * Returns the window to read for lines `from`..`to`. `last` is before `first` if no lines are requested. The
 * window is not clipped to the end of the text.
 */
export function toWindow(from: number, to: number): { readonly first: number; readonly last: number } {
  const first = Math.max(1, Math.trunc(from));
  return { first, last: Math.min(Math.trunc(to), first + MAX_WINDOW - 1) };
}

/** Counts lines. A lone `\r` never ends a line; an empty text has one empty line. */
function countLines(text: string): number {
  let lines = 1;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}
