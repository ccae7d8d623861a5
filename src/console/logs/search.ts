import { skipEscape } from '../../log/scan/scan-chunks.ts';
import type { BuildArchive, TextPiece } from '../../ports/build-archive.ts';

/** A search for literal text within one line. */
export interface Wanted {
  readonly text: string;
  /** True if case matters. Otherwise "error" also finds "ERROR". */
  readonly matchCase: boolean;
  /** The number of the first hit to return, 1-based. */
  readonly from: number;
}

/** A line that contains the text. */
export interface Hit {
  readonly line: number;
  /** The line as stored. For a long line, the part around the first hit, without escape sequences. */
  readonly text: string;
}

export interface Found {
  /**
   * The number of lines that contain the text. If the time ran out, only lines up to `endedAt` are counted.
   */
  readonly total: number;
  /** Hits from the requested one on, at most {@link PAGE}. */
  readonly hits: readonly Hit[];
  /** The last line that was searched if the time ran out. Null if all lines were searched. */
  readonly endedAt: number | null;
}

/** The maximum number of hits on one page. */
export const PAGE = 100;
/** The time limit of one search, in milliseconds. */
const LIMIT_MS = 5_000;
/** The maximum number of bytes of a hit that are kept, and of those before the match. */
const LONGEST = 4_000;
const BEFORE = 200;
const LINE_FEED = 10;
const ESCAPE = 27;

/**
 * Searches a stored text for every line that holds the text as people see it: colors do not interrupt a
 * match. Counts each such line once, as `grep -c` does. Rejects with the signal's reason if the client
 * disconnects. If the time runs out, reports how far it searched.
 */
export async function searchLog(
  archive: Pick<BuildArchive, 'pieces'>,
  of: { readonly buildId: string; readonly name: string },
  wanted: Wanted,
  { signal, limitMs = LIMIT_MS }: { readonly signal: AbortSignal; readonly limitMs?: number },
): Promise<Found> {
  const started = performance.now();
  const compare = createComparer(wanted);
  const hits: Hit[] = [];
  let total = 0;
  if (compare.word.length === 0) return { total, hits, endedAt: null };
  for await (const piece of archive.pieces(of.buildId, of.name)) {
    signal.throwIfAborted();
    total = addHits(piece, compare, { hits, total, from: wanted.from });
    if (performance.now() - started > limitMs)
      return { total, hits, endedAt: piece.lineStart + countLineEnds(piece.bytes, piece.bytes.length) };
  }
  return { total, hits, endedAt: null };
}

interface Comparer {
  readonly word: Buffer;
  /**
   * Returns the bytes without escape sequences, and in lowercase if case does not matter. The number of line
   * ends is unchanged. The result is valid until the next call.
   */
  readonly comparable: (bytes: Buffer) => Buffer;
  /** Returns the bytes without escape sequences in their original case. */
  readonly plain: (bytes: Buffer) => Buffer;
}

/**
 * Creates the functions that make bytes comparable. ASCII letters are compared as bytes, which takes a tenth
 * of the time of comparing text.
 */
function createComparer({ text, matchCase }: Wanted): Comparer {
  const isAscii = /^[\0-\x7f]*$/.test(text);
  const as = Uint8Array.from({ length: 256 }, (_, byte) => byte);
  const lower = as.map((byte) => (byte >= 65 && byte <= 90 ? byte + 32 : byte));
  let memory = Buffer.alloc(0);
  const rewritten = (bytes: Buffer, table: Uint8Array) => {
    if (memory.length < bytes.length) memory = Buffer.allocUnsafe(bytes.length);
    let length = 0;
    for (let at = 0; at < bytes.length; ) {
      const byte = bytes[at] ?? 0;
      if (byte === ESCAPE) at = skipEscape(bytes, at, bytes.length);
      else {
        memory[length] = table[byte] ?? 0;
        length += 1;
        at += 1;
      }
    }
    return memory.subarray(0, length);
  };
  const plain = (bytes: Buffer) => rewritten(bytes, as);
  if (matchCase) return { word: Buffer.from(text), comparable: plain, plain };
  const word = Buffer.from(text.toLowerCase());
  if (isAscii) return { word, comparable: (bytes) => rewritten(bytes, lower), plain };
  return { word, comparable: (bytes) => Buffer.from(plain(bytes).toString('utf8').toLowerCase()), plain };
}

interface Tally {
  readonly hits: Hit[];
  readonly total: number;
  readonly from: number;
}

function addHits({ bytes, lineStart }: TextPiece, compare: Comparer, { hits, total, from }: Tally): number {
  const seen = compare.comparable(bytes);
  const wanted: number[] = [];
  let count = total;
  for (let at = seen.indexOf(compare.word); at !== -1; ) {
    count += 1;
    if (count >= from && hits.length + wanted.length < PAGE) wanted.push(at);
    const lineEnd = seen.indexOf(LINE_FEED, at + compare.word.length - 1);
    at = lineEnd === -1 ? -1 : seen.indexOf(compare.word, lineEnd);
  }
  if (wanted.length === 0) return count;
  const lines = countLinesBefore(seen, wanted);
  let [line, start] = [0, 0];
  for (const offset of lines) {
    // Escape sequences shift the beginning of the stored line, so it is found by counting line ends.
    for (; line < offset; line += 1) start = bytes.indexOf(LINE_FEED, start) + 1;
    const end = bytes.indexOf(LINE_FEED, start);
    hits.push(toHit(bytes.subarray(start, end === -1 ? bytes.length : end), lineStart + offset, compare));
  }
  return count;
}

/** Counts the lines of the piece before each of these positions, which must be ascending. */
function countLinesBefore(seen: Buffer, places: readonly number[]): number[] {
  let [lines, counted] = [0, 0];
  return places.map((place) => {
    lines += countLineEnds(seen.subarray(counted), place - counted);
    counted = place;
    return lines;
  });
}

function toHit(stored: Buffer, line: number, compare: Comparer): Hit {
  if (stored.length <= LONGEST) return { line, text: stored.toString('utf8') };
  const place = compare.comparable(stored).indexOf(compare.word);
  const whole = compare.plain(stored);
  const from = Math.max(0, Math.min(place - BEFORE, whole.length - LONGEST));
  return { line, text: whole.toString('utf8', from, from + LONGEST) };
}

function countLineEnds(bytes: Buffer, to: number): number {
  let count = 0;
  for (let at = bytes.indexOf(LINE_FEED); at !== -1 && at < to; at = bytes.indexOf(LINE_FEED, at + 1))
    count += 1;
  return count;
}
