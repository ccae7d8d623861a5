import type { SourceKind, SourceText } from '../../domain/build.ts';
import { TriageError } from '../../domain/errors.ts';
import { toText } from './decode-text.ts';
import { type DecodeLimits, decompress, tooLarge } from './decompress.ts';
import { fileTypeOf } from './file-type.ts';

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
  return { name, kind, text, notes: [...before, ...notes] };
}
