import type { SourceKind, SourceText } from '../../domain/build.ts';
import { TriageError } from '../../domain/errors.ts';
import { type DecodeLimits, decompress, fileTypeOf, tooLarge, toText } from './decompress.ts';

/**
 * Makes one text of what was fetched or uploaded: plain, gzip or Zstandard, in UTF-8, UTF-16 or Windows-1252. Throws TriageError 'too-large'
 * above the limit, 'unsupported-type' for what is no text (archives too: `decodeSources` opens them), 'invalid-input' for what is broken.
 */
export function decodeSource(name: string, bytes: Uint8Array, kind: SourceKind, limits: DecodeLimits): SourceText {
  const notes: string[] = [];
  return decodePlain(name, decompress(name, bytes, limits, notes), kind, limits, notes);
}

/** The same for bytes that have been decompressed. */
export function decodePlain(
  name: string,
  bytes: Uint8Array,
  kind: SourceKind,
  limits: DecodeLimits,
  before: readonly string[] = [],
): SourceText {
  if (bytes.length > limits.maxBytes) throw tooLarge(name, limits.maxBytes);
  const type = fileTypeOf(bytes);
  const what = type.kind === 'binary' ? type.what : type.kind === 'text' ? null : `a ${type.kind} archive`;
  if (what !== null) throw new TriageError('unsupported-type', `${name} is ${what}, not the text of a log or report.`);
  const { text, notes } = toText(name, bytes);
  return { name, kind, text: kind === 'report' || MARKUP.test(text) ? text : asPrinted(text), notes: [...before, ...notes] };
}

/** JSON and XML have escapes of their own, which their readers know. */
const MARKUP = /^\s{0,20}(?:[{<]|\[\s{0,20}[{"])/;
/** Ways in which editors, pagers and JSON write the escape character, where a sequence follows it. */
const WRITTEN_ESCAPE = /(?:\^\[|\\u001b|\\x1b|␛)(?=\[[\d;?]{0,20}[A-Za-z])/gi;
/** Lines looked at to see whether a mail or chat quotes the whole log. */
const QUOTED_LINES = 50;

/** A log as its programs wrote it: escapes that were written as text, and signs of quotation before all lines, are undone. No line comes or goes. */
function asPrinted(text: string): string {
  const escaped = ['^[[', '\\u001', '\\x1', '␛['].some((sign) => text.includes(sign)) ? text.replace(WRITTEN_ESCAPE, '\u001b') : text;
  const first = escaped
    .slice(0, 20_000)
    .split('\n', QUOTED_LINES)
    .filter((line) => line !== '');
  const quoted = first.filter((line) => line.startsWith('>')).length;
  return quoted > 3 && quoted >= 0.8 * first.length ? escaped.replace(/^> ?/gm, '') : escaped;
}
