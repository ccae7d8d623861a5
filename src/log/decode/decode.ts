import * as zlib from 'node:zlib';
import type { SourceKind, SourceText } from '../../domain/build.ts';
import { getErrorMessage, TriageError } from '../../domain/errors.ts';
import { countIn } from '../../lib/text.ts';

/**
 * Decodes the bytes of a log or report: plain, gzip or Zstandard, in UTF-8, UTF-16 or Windows-1252. Throws
 * TriageError 'too-large' above the limit, 'unsupported-type' if it is not text (also for archives, which
 * `decodeSources` opens), 'invalid-input' if it is broken.
 */
export function decodeSource(
  name: string,
  bytes: Uint8Array,
  kind: SourceKind,
  limits: DecodeLimits,
): SourceText {
  const notes: string[] = [];
  return decodePlain(name, decompress(name, bytes, limits, notes), kind, limits, notes);
}

/** Decodes bytes that have been decompressed already, like `decodeSource`. */
export function decodePlain(
  name: string,
  bytes: Uint8Array,
  kind: SourceKind,
  limits: DecodeLimits,
  before: readonly string[] = [],
): SourceText {
  if (bytes.length > limits.maxBytes) throw createTooLargeError(name, limits.maxBytes);
  const type = detectFileType(bytes);
  const what = type.kind === 'binary' ? type.what : type.kind === 'text' ? null : `a ${type.kind} archive`;
  if (what !== null)
    throw new TriageError('unsupported-type', `${name} is ${what}, not the text of a log or report.`);
  const { text, notes } = toText(name, bytes);
  return {
    name,
    kind,
    text: kind === 'report' || MARKUP.test(text) ? text : toPrinted(text),
    notes: [...before, ...notes],
  };
}

/** The beginning of JSON or XML. These have their own escapes, which their readers decode. */
const MARKUP = /^\s{0,20}(?:[{<]|\[\s{0,20}[{"])/;
/** The escape character as editors, pagers and JSON write it, in front of an escape sequence. */
const WRITTEN_ESCAPE = /(?:\^\[|\\u001b|\\x1b|␛)(?=\[[\d;?]{0,20}[A-Za-z])/gi;
/** The number of lines that are checked for the quotation marks of a mail or chat. */
const QUOTED_LINES = 50;

/**
 * Restores a log as its programs printed it: decodes escapes that were written as text, and removes a `>`
 * that quotes all lines. The number of lines does not change.
 */
function toPrinted(text: string): string {
  const escaped = ['^[[', '\\u001', '\\x1', '␛['].some((sign) => text.includes(sign))
    ? text.replace(WRITTEN_ESCAPE, '\u001b')
    : text;
  const first = escaped
    .slice(0, 20_000)
    .split('\n', QUOTED_LINES)
    .filter((line) => line !== '');
  const quoted = first.filter((line) => line.startsWith('>')).length;
  return quoted > 3 && quoted >= 0.8 * first.length ? escaped.replace(/^> ?/gm, '') : escaped;
}

const MARK = '\ufffd';
const SAMPLE_BYTES_TEXT = 4_096;

/**
 * The characters of the bytes from 128 on in the code pages that consoles use: 437, 850, Windows-1252, 866
 * and Windows-1251. A console that decodes UTF-8 with one of them garbles the text.
 */
const CODE_PAGES: readonly string[] = [
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0',
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0',
  ...['windows-1252', 'ibm866', 'windows-1251'].map((page) =>
    new TextDecoder(page).decode(Uint8Array.from({ length: 128 }, (_, at) => at + 128)),
  ),
];

/**
 * The first bytes of characters outside ASCII that tools often print in UTF-8: quotation marks, arrows,
 * box-drawing characters, check marks and emoji.
 */
const SIGNS: readonly (readonly number[])[] = [
  ...[0x80, 0x94, 0x95, 0x9c, 0x9d].map((byte) => [0xe2, byte]),
  [0xf0, 0x9f],
];

/**
 * Decodes bytes as UTF-8, as UTF-16 if a byte order mark or the position of NULs says so, or as Windows-1252
 * if hardly any of it is UTF-8. Replaces what is not a character and removes NULs, which PostgreSQL cannot
 * store; the notes say so. Never throws.
 */
export function toText(
  name: string,
  bytes: Uint8Array,
): { readonly text: string; readonly notes: readonly string[] } {
  const notes: string[] = [];
  if (bytes.length === 0) notes.push(`${name} is empty.`);
  const text = withoutCodePage(name, withoutNul(name, decode(name, bytes, notes), notes), notes);
  if (!text.includes('\n') && text.indexOf('\r') !== text.lastIndexOf('\r')) {
    notes.push(`${name} has carriage returns and no line feed: it is one line of many parts.`);
  }
  return { text, notes };
}

/**
 * Detects the byte order of UTF-16 text by its byte order mark, or by the NULs that ASCII characters have in
 * it. Returns null for any other text.
 */
function detectUtf16(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | null {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  const pairs = Math.min(bytes.length, SAMPLE_BYTES_TEXT) >> 1;
  if (pairs < 2) return null;
  let even = 0;
  let odd = 0;
  for (let at = 0; at < pairs * 2; at += 2) {
    if (bytes[at] === 0) even++;
    if (bytes[at + 1] === 0) odd++;
  }
  if (odd > pairs * 0.6 && even < pairs * 0.05) return 'utf-16le';
  return even > pairs * 0.6 && odd < pairs * 0.05 ? 'utf-16be' : null;
}

function decode(name: string, bytes: Uint8Array, notes: string[]): string {
  const wide = detectUtf16(bytes);
  if (wide !== null) {
    notes.push(
      `${name} was ${wide.toUpperCase()}${bytes.length % 2 === 0 ? '' : ', cut in the middle of a character'}.`,
    );
    return new TextDecoder(wide).decode(bytes);
  }
  const text = new TextDecoder('utf-8').decode(bytes);
  const invalid = countIn(text, MARK) - countEncodedMarks(bytes);
  const declared = findDeclaredEncoding(bytes);
  if (invalid <= 0) {
    if (declared !== null && !isAscii(text))
      notes.push(`${name} is damaged: it says that it is ${declared}, but it is UTF-8.`);
    return text;
  }
  if (declared !== null) {
    notes.push(`${name} was read as ${declared}, which it says it is.`);
    return new TextDecoder(declared).decode(bytes);
  }
  if (invalid >= 3 && isLatin(bytes, text, invalid)) {
    notes.push(`${name} is not UTF-8 and was read as Windows-1252.`);
    return new TextDecoder('windows-1252').decode(bytes);
  }
  notes.push(
    `${name} has ${invalid} invalid UTF-8 ${invalid === 1 ? 'sequence' : 'sequences'}, shown as ${MARK}.`,
  );
  return text;
}

/**
 * Returns the encoding that an XML declaration names, if it is readable and is neither a UTF nor ASCII; null
 * otherwise.
 */
function findDeclaredEncoding(bytes: Uint8Array): string | null {
  const begun = Buffer.from(bytes.subarray(0, 300)).toString('latin1');
  const named =
    /^(?:\xef\xbb\xbf)?\s{0,100}<\?xml\b[^>]{0,200}\bencoding\s{0,5}=\s{0,5}["'](?<name>[\w.:-]{1,40})["']/.exec(
      begun,
    )?.groups?.name;
  if (named === undefined || /^utf|^us-ascii$|^ascii$/i.test(named)) return null;
  try {
    return new TextDecoder(named).encoding === 'utf-8' ? null : named;
  } catch {
    return null;
  }
}

function isAscii(text: string): boolean {
  return Buffer.byteLength(text) === text.length;
}

/**
 * Checks whether a text is Windows-1252: hardly any of its non-ASCII characters are valid UTF-8, and the
 * invalid ones are next to letters, as in `für` and `naïve`.
 */
function isLatin(bytes: Uint8Array, text: string, invalid: number): boolean {
  let valid = 0;
  for (let at = 0; at < text.length && valid * 4 < invalid; at++)
    if (text.charCodeAt(at) > 0x7f && text[at] !== MARK) valid++;
  if (valid * 4 >= invalid) return false;
  let high = 0;
  let inWords = 0;
  for (let at = 0; at < bytes.length && high < 10_000; at++) {
    if ((bytes[at] ?? 0) < 0x80) continue;
    high++;
    if (isLetter(bytes[at - 1]) || isLetter(bytes[at + 1])) inWords++;
  }
  return inWords * 10 >= high * 8;
}

function isLetter(byte: number | undefined): boolean {
  return byte !== undefined && ((byte > 64 && byte < 91) || (byte > 96 && byte < 123));
}

/**
 * Removes NULs. They come from UTF-16 appended to other text and from holes in truncated files; the rest of
 * the text is readable.
 */
function withoutNul(name: string, text: string, notes: string[]): string {
  if (!text.includes('\0')) return text;
  const nuls = countIn(text, '\0');
  notes.push(
    `${name} holds ${nuls} NUL ${nuls === 1 ? 'character, which was' : 'characters, which were'} left out.`,
  );
  return text.replaceAll('\0', '');
}

/**
 * Repairs a text that PowerShell's `>` decoded in the console's code page: a byte order mark became `∩╗┐`,
 * `✓` became `Γ£ô`. If a text has such a mark, or the beginning of such a sign at least twice, everything
 * that is UTF-8 in that code page is decoded again as UTF-8.
 */
function withoutCodePage(name: string, text: string, notes: string[]): string {
  const page = CODE_PAGES.find((characters) => {
    const decodeBytes = (bytes: readonly number[]) => bytes.map((byte) => characters[byte - 128]).join('');
    return (
      text.includes(decodeBytes([0xef, 0xbb, 0xbf])) ||
      SIGNS.some((begun) => countIn(text, decodeBytes(begun)) > 1)
    );
  });
  if (page === undefined) return text;
  notes.push(`${name} was UTF-8 that had been read in another code page, and was read again.`);
  const bytes = new Map(Array.from(page, (character, at) => [character, at + 128]));
  const wrong = new RegExp(`[${page.replace(/[\\\]^-]/g, '\\$&')}]{2,400}`, 'g');
  return text.replace(
    wrong,
    (bytesRead) =>
      readAgain(Uint8Array.from(bytesRead, (character) => bytes.get(character) ?? 0)) ?? bytesRead,
  );
}

function readAgain(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

function countEncodedMarks(bytes: Uint8Array): number {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const mark = Buffer.from(MARK);
  let found = 0;
  for (let at = buffer.indexOf(mark); at !== -1; at = buffer.indexOf(mark, at + 3)) found++;
  return found;
}

/**
 * The type of a file by its first bytes: an archive or compressed file, text, or a file without text, with
 * its common name.
 */
type FileType =
  | { readonly kind: 'gzip' | 'zstd' | 'zip' | 'tar' | 'text' }
  | { readonly kind: 'binary'; readonly what: string };

const MAGIC: readonly (readonly [readonly number[], FileType | string])[] = [
  [[0x1f, 0x8b], { kind: 'gzip' }],
  [[0x28, 0xb5, 0x2f, 0xfd], { kind: 'zstd' }],
  [[0x50, 0x4b, 0x03, 0x04], { kind: 'zip' }],
  [[0x50, 0x4b, 0x05, 0x06], { kind: 'zip' }],
  [[0x7f, 0x45, 0x4c, 0x46], 'an ELF program'],
  [[0x89, 0x50, 0x4e, 0x47], 'a PNG image'],
  [[0xff, 0xd8, 0xff], 'a JPEG image'],
  [[0x47, 0x49, 0x46, 0x38], 'a GIF image'],
  [[0x25, 0x50, 0x44, 0x46], 'a PDF document'],
  [[0x42, 0x5a, 0x68], 'a bzip2 archive'],
  [[0xfd, 0x37, 0x7a, 0x58, 0x5a], 'an xz archive'],
  [[0x37, 0x7a, 0xbc, 0xaf], 'a 7-Zip archive'],
  [[0x52, 0x61, 0x72, 0x21, 0x1a, 0x07], 'a RAR archive'],
  [[0xca, 0xfe, 0xba, 0xbe], 'a compiled Java class'],
  [[0x4d, 0x5a, 0x90, 0x00], 'a Windows program'],
  [[0x53, 0x51, 0x4c, 0x69, 0x74, 0x65, 0x20, 0x66], 'an SQLite database'],
  [[0x00, 0x61, 0x73, 0x6d], 'a WebAssembly module'],
];

const SAMPLE_BYTES_TYPE = 65_536;

/** Determines the type of a file by its first bytes. Its name does not matter. */
export function detectFileType(bytes: Uint8Array): FileType {
  const known = MAGIC.find(([magic]) => magic.every((byte, at) => bytes[at] === byte))?.[1];
  if (known !== undefined) return typeof known === 'string' ? { kind: 'binary', what: known } : known;
  if (isTar(bytes)) return { kind: 'tar' };
  return looksBinary(bytes) ? { kind: 'binary', what: 'binary data' } : { kind: 'text' };
}

/**
 * Checks the checksum of the first header. The oldest form of a tar archive has no magic number, but every
 * header has a checksum.
 */
function isTar(bytes: Uint8Array): boolean {
  if (bytes.length < 512 || bytes[0] === 0) return false;
  const field = Buffer.from(bytes.subarray(148, 156)).toString('latin1');
  const wanted = /^[ 0]{0,7}(?<octal>[0-7]{1,7})[\0 ]/.exec(field)?.groups?.octal;
  if (wanted === undefined) return false;
  let sum = 0;
  for (let at = 0; at < 512; at++) sum += at >= 148 && at < 156 ? 32 : (bytes[at] ?? 0);
  return sum === Number.parseInt(wanted, 8);
}

/** Checks whether more than one character in twenty at the beginning is a control character. */
function looksBinary(bytes: Uint8Array): boolean {
  const sample = bytes.subarray(0, SAMPLE_BYTES_TYPE);
  const wide = detectUtf16(bytes);
  const text = wide === null ? '' : new TextDecoder(wide).decode(sample.subarray(0, sample.length & ~1));
  const units =
    wide === null ? sample : Uint16Array.from({ length: text.length }, (_, at) => text.charCodeAt(at));
  let controls = 0;
  for (const unit of units)
    if (unit < 32 && unit !== 9 && unit !== 10 && unit !== 13 && unit !== 27 && unit !== 8 && unit !== 12)
      controls++;
  return controls * 20 > units.length;
}

/** The size limit of a log or report once it is decompressed. */
export interface DecodeLimits {
  readonly maxBytes: number;
}

/** The maximum number of nested compressions. No honest file has more. */
const MAX_LAYERS = 3;
const AGAIN = 'Fetch or compress it again.';

/**
 * Decompresses gzip, and Zstandard if this version of Node supports it (the Action also runs on older ones),
 * up to three layers. A truncated gzip stream yields the part before the cut, with a note. Throws TriageError
 * 'too-large' above the limit, 'invalid-input' if the data are broken.
 */
export function decompress(
  name: string,
  bytes: Uint8Array,
  limits: DecodeLimits,
  notes: string[],
): Uint8Array {
  let plain = bytes;
  for (let layer = 0; ; layer++) {
    const { kind } = detectFileType(plain);
    if (kind !== 'gzip' && kind !== 'zstd') return plain;
    if (layer === MAX_LAYERS)
      throw new TriageError(
        'unsupported-type',
        `${name} is compressed more than ${MAX_LAYERS} times over: unpack it first.`,
      );
    // zlib takes zero as "no limit".
    const maxOutputLength = Math.max(1, limits.maxBytes);
    plain =
      kind === 'gzip' ? gunzip(name, plain, maxOutputLength, notes) : unzstd(name, plain, maxOutputLength);
  }
}

/** Creates the error for a text above its limit. */
export function createTooLargeError(name: string, maxBytes: number): TriageError {
  return new TriageError('too-large', `${name} is larger than the limit of ${formatSize(maxBytes)}.`, {
    details: { maxBytes },
  });
}

function gunzip(name: string, bytes: Uint8Array, maxOutputLength: number, notes: string[]): Uint8Array {
  try {
    return zlib.gunzipSync(bytes, { maxOutputLength });
  } catch (error) {
    if (error instanceof RangeError) throw createTooLargeError(name, maxOutputLength);
    const rest =
      getErrorMessage(error) === 'unexpected end of file' ? gunzipCut(bytes, maxOutputLength) : null;
    if (rest === null)
      throw new TriageError('invalid-input', `${name} is broken gzip: ${getErrorMessage(error)}. ${AGAIN}`, {
        cause: error,
      });
    notes.push(`${name} is gzip that was cut off: its end is missing.`);
    return rest;
  }
}

/** Decompresses as much as is readable of a truncated stream. Returns null if that is less than a line. */
function gunzipCut(bytes: Uint8Array, maxOutputLength: number): Uint8Array | null {
  try {
    const rest = zlib.gunzipSync(bytes, { maxOutputLength, finishFlush: zlib.constants.Z_SYNC_FLUSH });
    return rest.includes(10) ? rest : null;
  } catch {
    return null;
  }
}

function unzstd(name: string, bytes: Uint8Array, maxOutputLength: number): Uint8Array {
  if (!('zstdDecompressSync' in zlib))
    throw new TriageError(
      'unsupported-type',
      `${name} is Zstandard data, which Node ${process.version} cannot read. Compress it with gzip.`,
    );
  try {
    return zlib.zstdDecompressSync(bytes, { maxOutputLength });
  } catch (error) {
    if (error instanceof RangeError) throw createTooLargeError(name, maxOutputLength);
    throw new TriageError(
      'invalid-input',
      `${name} is broken Zstandard data: ${getErrorMessage(error)}. ${AGAIN}`,
      { cause: error },
    );
  }
}

/** Formats a number of bytes: 1500000 → "1.5 MB", 52566000000 → "52.6 GB". */
export function formatSize(bytes: number): string {
  if (bytes >= 1_000_000_000) return `${Math.round(bytes / 100_000_000) / 10} GB`;
  if (bytes >= 1_000_000) return `${Math.round(bytes / 100_000) / 10} MB`;
  return bytes >= 1_000 ? `${Math.round(bytes / 100) / 10} kB` : `${bytes} bytes`;
}
