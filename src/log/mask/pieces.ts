import type { LogBytes } from '../lines/log-bytes.ts';
import { hideSpans, mergeSpans, type Span } from './span.ts';

/** How secrets are found in one text, and then what is known of them in another. */
export interface PieceMasking {
  /** What shapes and rules see in a text by itself; its bytes are valid only until this returns. */
  readonly find: (text: string, bytes: Buffer) => Promise<Span[]>;
  /** Where the secrets of a run stand; null where there are none. Asked once, with all that `find` saw. */
  readonly known: (secrets: ReadonlySet<string>) => ((text: string) => Span[]) | null;
  /** Names to hide behind stand-ins, too; null where they may be seen. */
  readonly names: { hide(text: string): string } | null;
}

/** Bytes masked at once, whole lines where there are any: a string of more would not be young enough to be collected soon. */
const PIECE = 80 * 1024;
/** Bytes read beyond a piece: a key or a broken secret that begins in it may end there; the longest key has 200 lines, each with its time. */
const BEYOND = 32 * 1024;
/** Spans kept from the first pass to the second; of a log with more they are found again. */
const MAX_KEPT = 100_000;
const LINE_FEED = 10;

interface Piece {
  readonly start: number;
  readonly bytes: Buffer;
  readonly text: string;
  /** Characters of `text` that are the piece itself. */
  readonly length: number;
}

/**
 * Masks a log that is not in memory. Two passes: what is found on any line is hidden on every line. `write` gets the masked log piece by
 * piece, in UTF-8, and nothing at all where there is nothing to hide. Resolves to the number of places hidden.
 */
export async function maskPieces(log: LogBytes, masking: PieceMasking, write: (piece: Buffer) => void): Promise<number> {
  const secrets = new Set<string>();
  const kept = new Map<number, Span[]>();
  let spansKept = 0;
  for (const piece of piecesOf(log)) {
    const spans = await masking.find(piece.text, piece.bytes);
    for (const { from, to } of spans) secrets.add(piece.text.slice(from, to));
    spansKept += spans.length;
    if (spans.length > 0 && spansKept <= MAX_KEPT) kept.set(piece.start, spans);
  }
  const findKnown = masking.known(secrets);
  if (spansKept === 0 && findKnown === null && masking.names === null) return 0;
  let count = 0;
  let carried: Span[] = [];
  for (const piece of piecesOf(log)) {
    const found = spansKept <= MAX_KEPT ? (kept.get(piece.start) ?? []) : await masking.find(piece.text, piece.bytes);
    const spans = mergeSpans([...carried, ...found, ...(findKnown?.(piece.text) ?? [])]);
    const own = spans.filter(({ from }) => from < piece.length);
    carried = spans
      .filter(({ to }) => to > piece.length)
      .map(({ from, to }) => ({ from: Math.max(0, from - piece.length), to: to - piece.length }));
    const hidden = hideSpans(
      piece.text.slice(0, piece.length),
      own.map(({ from, to }) => ({ from, to: Math.min(to, piece.length) })),
    );
    count += hidden.count;
    write(Buffer.from(masking.names === null ? hidden.text : masking.names.hide(hidden.text)));
  }
  return count;
}

function* piecesOf(log: LogBytes): Generator<Piece> {
  for (let start = 0; start < log.size; ) {
    const wide = log.slice(start, start + PIECE + BEYOND);
    // A file that was cut while it is read: what is missing never comes.
    if (wide.length === 0) return;
    const end = wide.length <= PIECE ? wide.length : endOfPiece(wide);
    const text = wide.toString('utf8');
    const length = text.length === wide.length ? end : wide.toString('utf8', 0, end).length;
    yield { start, bytes: wide, text, length };
    start += end;
  }
}

/** The last place at or before `end` that is not within a UTF-8 character; `end` itself where there is no such character. */
export function endOfCharacter(bytes: Uint8Array, end: number): number {
  for (let at = end; at > end - 4; at--) if (((bytes[at] ?? 0) & 0xc0) !== 0x80) return at;
  return end;
}

/** After the last line end; in a line longer than a piece, before a character that no token holds. */
function endOfPiece(wide: Buffer): number {
  const line = wide.lastIndexOf(LINE_FEED, PIECE - 1);
  if (line !== -1) return line + 1;
  const space = wide.lastIndexOf(32, PIECE - 1);
  if (space > PIECE - BEYOND) return space + 1;
  return endOfCharacter(wide, PIECE);
}
