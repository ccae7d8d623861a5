import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';

const NEWLINE = 0x0a;
/** Blank, tab, carriage return: a line of nothing else is no row. */
const BLANK = new Set([0x20, 0x09, 0x0d]);

/** How many cases there are, and a digest that changes with them; null where that is not told. */
export interface CaseMeasure {
  readonly cases: number | null;
  readonly sha256: string | null;
}

/** Counts the lines of a file that are not blank, and digests it, in one pass and without parsing any. */
export async function measureFile(path: string): Promise<CaseMeasure> {
  const hash = createHash('sha256');
  let cases = 0;
  let isBlank = true;
  for await (const piece of createReadStream(path)) {
    if (!Buffer.isBuffer(piece)) continue;
    hash.update(piece);
    let at = 0;
    while (at < piece.length) {
      const end = piece.indexOf(NEWLINE, at);
      const stop = end === -1 ? piece.length : end;
      isBlank = isBlank && isBlankBetween(piece, at, stop);
      if (end === -1) break;
      if (!isBlank) cases++;
      isBlank = true;
      at = end + 1;
    }
  }
  return { cases: isBlank ? cases : cases + 1, sha256: hash.digest('hex') };
}

function isBlankBetween(piece: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (!BLANK.has(piece[at] ?? 0)) return false;
  return true;
}
