import { utf16Of } from './decode-text.ts';

/** What a file is by its first bytes: something that is opened, text, or something that has no text, by the name people know it by. */
export type FileType = { readonly kind: 'gzip' | 'zstd' | 'zip' | 'tar' | 'text' } | { readonly kind: 'binary'; readonly what: string };

const OPENED: readonly (readonly [readonly number[], 'gzip' | 'zstd' | 'zip'])[] = [
  [[0x1f, 0x8b], 'gzip'],
  [[0x28, 0xb5, 0x2f, 0xfd], 'zstd'],
  [[0x50, 0x4b, 0x03, 0x04], 'zip'],
  [[0x50, 0x4b, 0x05, 0x06], 'zip'],
];

const BINARY: readonly (readonly [readonly number[], string])[] = [
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

const SAMPLE_BYTES = 65_536;

/** Looks at the first bytes only; a name never decides. */
export function fileTypeOf(bytes: Uint8Array): FileType {
  const opened = OPENED.find(([magic]) => startsWith(bytes, magic));
  if (opened !== undefined) return { kind: opened[1] };
  const binary = BINARY.find(([magic]) => startsWith(bytes, magic));
  if (binary !== undefined) return { kind: 'binary', what: binary[1] };
  if (isTar(bytes)) return { kind: 'tar' };
  return looksBinary(bytes) ? { kind: 'binary', what: 'binary data' } : { kind: 'text' };
}

/** A tar archive has no magic of its own in its oldest form, but every header sums itself up. */
function isTar(bytes: Uint8Array): boolean {
  if (bytes.length < 512 || bytes[0] === 0) return false;
  const field = Buffer.from(bytes.subarray(148, 156)).toString('latin1');
  const wanted = /^[ 0]{0,7}(?<octal>[0-7]{1,7})[\0 ]/.exec(field)?.groups?.octal;
  if (wanted === undefined) return false;
  let sum = 0;
  for (let at = 0; at < 512; at++) sum += at >= 148 && at < 156 ? 32 : (bytes[at] ?? 0);
  return sum === Number.parseInt(wanted, 8);
}

/** More than one control character in twenty at its beginning. */
function looksBinary(bytes: Uint8Array): boolean {
  const sample = bytes.subarray(0, SAMPLE_BYTES);
  const wide = utf16Of(bytes);
  const units = wide === null ? sample : charCodes(new TextDecoder(wide).decode(sample.subarray(0, sample.length & ~1)));
  let controls = 0;
  for (const unit of units)
    if (unit < 32 && unit !== 9 && unit !== 10 && unit !== 13 && unit !== 27 && unit !== 8 && unit !== 12) controls++;
  return controls * 20 > units.length;
}

function charCodes(text: string): Uint16Array {
  return Uint16Array.from({ length: text.length }, (_, at) => text.charCodeAt(at));
}

function startsWith(bytes: Uint8Array, magic: readonly number[]): boolean {
  return magic.every((byte, at) => bytes[at] === byte);
}
