import { constants, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { messageOf, TriageError } from '../../domain/errors.ts';
import { fileTypeOf } from './file-type.ts';

/** How much a log or report may weigh once decompressed. */
export interface DecodeLimits {
  readonly maxBytes: number;
}

/** Compressed files of compressed files of … : more layers than this have no honest use. */
const MAX_LAYERS = 3;
const AGAIN = 'Fetch or compress it again.';

/**
 * Takes gzip and Zstandard off, also twice or three times. A gzip stream that was cut off gives what came before, with a note. Throws
 * TriageError 'too-large' above the limit, 'invalid-input' for what is broken.
 */
export function decompress(name: string, bytes: Uint8Array, limits: DecodeLimits, notes: string[]): Uint8Array {
  let plain = bytes;
  for (let layer = 0; ; layer++) {
    const { kind } = fileTypeOf(plain);
    if (kind !== 'gzip' && kind !== 'zstd') return plain;
    if (layer === MAX_LAYERS)
      throw new TriageError('unsupported-type', `${name} is compressed more than ${MAX_LAYERS} times over: unpack it first.`);
    // Zero would mean "no limit" to zlib.
    const maxOutputLength = Math.max(1, limits.maxBytes);
    plain = kind === 'gzip' ? gunzip(name, plain, maxOutputLength, notes) : unzstd(name, plain, maxOutputLength);
  }
}

/** The error for a text above its limit. */
export function tooLarge(name: string, maxBytes: number): TriageError {
  return new TriageError('too-large', `${name} is larger than the limit of ${sizeInWords(maxBytes)}.`, { details: { maxBytes } });
}

function gunzip(name: string, bytes: Uint8Array, maxOutputLength: number, notes: string[]): Uint8Array {
  try {
    return gunzipSync(bytes, { maxOutputLength });
  } catch (error) {
    if (error instanceof RangeError) throw tooLarge(name, maxOutputLength);
    const rest = messageOf(error) === 'unexpected end of file' ? gunzipCut(bytes, maxOutputLength) : null;
    if (rest === null) throw new TriageError('invalid-input', `${name} is broken gzip: ${messageOf(error)}. ${AGAIN}`, { cause: error });
    notes.push(`${name} is gzip that was cut off: its end is missing.`);
    return rest;
  }
}

/** What a cut stream still says, if that is a line at least. */
function gunzipCut(bytes: Uint8Array, maxOutputLength: number): Uint8Array | null {
  try {
    const rest = gunzipSync(bytes, { maxOutputLength, finishFlush: constants.Z_SYNC_FLUSH });
    return rest.includes(10) ? rest : null;
  } catch {
    return null;
  }
}

function unzstd(name: string, bytes: Uint8Array, maxOutputLength: number): Uint8Array {
  try {
    return zstdDecompressSync(bytes, { maxOutputLength });
  } catch (error) {
    if (error instanceof RangeError) throw tooLarge(name, maxOutputLength);
    throw new TriageError('invalid-input', `${name} is broken Zstandard data: ${messageOf(error)}. ${AGAIN}`, { cause: error });
  }
}

/** 1500000 → "1.5 MB". */
export function sizeInWords(bytes: number): string {
  if (bytes >= 1_000_000) return `${Math.round(bytes / 100_000) / 10} MB`;
  return bytes >= 1_000 ? `${Math.round(bytes / 100) / 10} kB` : `${bytes} bytes`;
}
