const BELL = 7;
const LINE_FEED = 10;
const ESCAPE = 27;
const BACKSLASH = 92;
/** The longest title or link of a terminal that is taken for one. */
const MAX_STRING = 2_000;

/**
 * Where the terminal control sequence that begins at `start` (its escape byte) ends: the offset of the first byte after it, at most `end`.
 * Reads OSC and APC strings, CSI sequences, character sets and single escapes, as {@link stripEscapes} does for text.
 */
export function afterEscape(bytes: Uint8Array, start: number, end: number): number {
  const kind = bytes[start + 1] ?? 0;
  if (start + 1 >= end) return end;
  if (kind === 0x5d || kind === 0x5f) return afterString(bytes, start + 2, end);
  if (kind === 0x5b) return afterControl(bytes, start + 2, end) ?? start + 1;
  if (kind === 0x28 || kind === 0x29) return isIn(bytes[start + 2], 0x30, 0x42) ? start + 3 : start + 1;
  return '=>78cDEHMNOZ'.includes(String.fromCharCode(kind)) ? start + 2 : start + 1;
}

function afterString(bytes: Uint8Array, start: number, end: number): number {
  const last = Math.min(end, start + MAX_STRING);
  let at = start;
  while (at < last && bytes[at] !== BELL && bytes[at] !== ESCAPE && bytes[at] !== LINE_FEED) at++;
  if (bytes[at] === BELL) return at + 1;
  return bytes[at] === ESCAPE && bytes[at + 1] === BACKSLASH ? at + 2 : at;
}

function afterControl(bytes: Uint8Array, start: number, end: number): number | null {
  let at = start;
  while (at < end && at < start + 60 && isIn(bytes[at], 0x30, 0x3f)) at++;
  for (let spaces = 0; at < end && spaces < 10 && isIn(bytes[at], 0x20, 0x2f); spaces++) at++;
  return at < end && isIn(bytes[at], 0x40, 0x7e) ? at + 1 : null;
}

function isIn(byte: number | undefined, low: number, high: number): boolean {
  return byte !== undefined && byte >= low && byte <= high;
}
