import { gunzipSync } from 'node:zlib';
import type { SourceKind, SourceText } from '../domain/build.ts';
import { messageOf, TriageError } from '../domain/errors.ts';

/** How much a log or report may weigh once decompressed. */
export interface DecodeLimits {
  readonly maxBytes: number;
}

/** First bytes of formats that are no text, with the name people know them by. */
const MAGIC: readonly (readonly [readonly number[], string])[] = [
  [[0x50, 0x4b, 0x03, 0x04], 'a zip archive'],
  [[0x50, 0x4b, 0x05, 0x06], 'an empty zip archive'],
  [[0x7f, 0x45, 0x4c, 0x46], 'an ELF program'],
  [[0x89, 0x50, 0x4e, 0x47], 'a PNG image'],
  [[0xff, 0xd8, 0xff], 'a JPEG image'],
  [[0x47, 0x49, 0x46, 0x38], 'a GIF image'],
  [[0x25, 0x50, 0x44, 0x46], 'a PDF document'],
  [[0x28, 0xb5, 0x2f, 0xfd], 'a Zstandard archive'],
  [[0x42, 0x5a, 0x68], 'a bzip2 archive'],
  [[0xfd, 0x37, 0x7a, 0x58, 0x5a], 'an xz archive'],
  [[0x37, 0x7a, 0xbc, 0xaf], 'a 7-Zip archive'],
  [[0xca, 0xfe, 0xba, 0xbe], 'a compiled Java class'],
  [[0x4d, 0x5a, 0x90, 0x00], 'a Windows program'],
];

/**
 * Makes text of what was fetched or uploaded. Decompresses gzip, reads UTF-8 and (by its mark) UTF-16, and replaces what PostgreSQL and
 * people cannot read. Throws TriageError 'too-large' above the limit, 'unsupported-type' for what is no text, 'invalid-input' for
 * broken gzip.
 */
export function decodeSource(name: string, bytes: Uint8Array, kind: SourceKind, limits: DecodeLimits): SourceText {
  const notes: string[] = [];
  const plain = isGzip(bytes) ? gunzip(name, bytes, limits) : bytes;
  if (plain.length > limits.maxBytes) throw tooLarge(name, limits);
  refuseBinary(name, plain);
  if (plain.length === 0) notes.push(`${name} is empty.`);
  return { name, kind, text: cleanText(name, decodeText(name, plain, notes), notes), notes };
}

function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

function gunzip(name: string, bytes: Uint8Array, limits: DecodeLimits): Uint8Array {
  try {
    return gunzipSync(bytes, { maxOutputLength: limits.maxBytes });
  } catch (error) {
    if (error instanceof RangeError) throw tooLarge(name, limits);
    throw new TriageError('invalid-input', `${name} is broken gzip: ${messageOf(error)}.`, { cause: error });
  }
}

function tooLarge(name: string, limits: DecodeLimits): TriageError {
  return new TriageError('too-large', `${name} is larger than the limit of ${inWords(limits.maxBytes)}.`, {
    details: { maxBytes: limits.maxBytes },
  });
}

function inWords(bytes: number): string {
  if (bytes >= 1_000_000) return `${Math.round(bytes / 100_000) / 10} MB`;
  return bytes >= 1_000 ? `${Math.round(bytes / 100) / 10} kB` : `${bytes} bytes`;
}

function refuseBinary(name: string, bytes: Uint8Array): void {
  const known = MAGIC.find(([magic]) => magic.every((byte, i) => bytes[i] === byte));
  const what = known?.[1] ?? (looksBinary(bytes) ? 'binary data' : null);
  if (what !== null) throw new TriageError('unsupported-type', `${name} is ${what}, not the text of a log or report.`);
}

/** More than one control byte in twenty among the first 64 kB, UTF-16 excepted. */
function looksBinary(bytes: Uint8Array): boolean {
  if (utf16(bytes) !== null) return false;
  const sample = bytes.subarray(0, 65_536);
  let controls = 0;
  for (const byte of sample)
    if (byte < 32 && byte !== 9 && byte !== 10 && byte !== 13 && byte !== 27 && byte !== 8 && byte !== 12) controls++;
  return controls * 20 > sample.length;
}

function utf16(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | null {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  return bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : null;
}

function decodeText(name: string, bytes: Uint8Array, notes: string[]): string {
  const wide = utf16(bytes);
  if (wide !== null) {
    notes.push(`${name} was ${wide.toUpperCase()}.`);
    return new TextDecoder(wide).decode(bytes);
  }
  const text = new TextDecoder('utf-8').decode(bytes);
  const invalid = countReplaced(text) - countEncodedReplacements(bytes);
  if (invalid > 0) notes.push(`${name} has ${invalid} invalid UTF-8 ${invalid === 1 ? 'sequence' : 'sequences'}, shown as \ufffd.`);
  return text;
}

function countReplaced(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\ufffd'); at !== -1; at = text.indexOf('\ufffd', at + 1)) count++;
  return count;
}

function countEncodedReplacements(bytes: Uint8Array): number {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const mark = Buffer.from('\ufffd');
  let count = 0;
  for (let at = buffer.indexOf(mark); at !== -1; at = buffer.indexOf(mark, at + 3)) count++;
  return count;
}

function cleanText(name: string, text: string, notes: string[]): string {
  if (!text.includes('\0')) return text;
  notes.push(`${name} holds NUL characters, shown as \ufffd.`);
  return text.replaceAll('\0', '\ufffd');
}
