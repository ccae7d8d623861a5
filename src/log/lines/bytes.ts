import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { TriageError } from '../../domain/errors.ts';

/**
 * The bytes of a log, read piece by piece, so that the log need not be in memory. UTF-8; lines end with `\n`.
 */
export interface LogBytes {
  /** The total number of bytes. */
  readonly size: number;
  /** Returns the bytes from `start` to before `end`, clipped to the log. Valid until the next call. */
  slice(start: number, end: number): Buffer;
  /** Returns the same bytes as text. Bytes that are not valid UTF-8 become U+FFFD. */
  text(start: number, end: number): string;
}

/** Wraps bytes that are already in memory. */
export function wrapBytes(bytes: Uint8Array): LogBytes {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return {
    size: buffer.length,
    slice: (start, end) => buffer.subarray(start, end),
    text: (start, end) => buffer.toString('utf8', start, end),
  };
}

/** Returns the bytes of a text. Lone surrogates, which no stored text can contain, become U+FFFD. */
export function toLogBytes(text: string): LogBytes {
  return Buffer.byteLength(text, 'utf8') === text.length
    ? openBytesOfAscii(text)
    : wrapBytes(Buffer.from(text, 'utf8'));
}

/** Opens an ASCII text without copying it: characters and bytes have the same offsets. */
function openBytesOfAscii(text: string): LogBytes {
  let memory = Buffer.alloc(0);
  return {
    size: text.length,
    slice: (start, end) => {
      const part = text.slice(start, end);
      if (memory.length < part.length) memory = Buffer.allocUnsafeSlow(part.length);
      return memory.subarray(0, memory.write(part, 'latin1'));
    },
    text: (start, end) => text.slice(start, end),
  };
}

const RETURN = 13;
const FEED = 10;
const SPACE = 32;

/** Returns a view of the bytes in which each lone carriage return is a line feed. Offsets do not change. */
export function withReturnsAsLineEnds(bytes: LogBytes): LogBytes {
  const slice = (start: number, end: number) => {
    const wide = bytes.slice(start, end + 1);
    const wanted = Math.min(end, bytes.size) - start;
    const copy = Buffer.from(wide.subarray(0, Math.max(0, wanted)));
    for (let at = copy.indexOf(RETURN); at !== -1; at = copy.indexOf(RETURN, at + 1))
      copy[at] = wide[at + 1] === FEED ? SPACE : FEED;
    return copy;
  };
  return { size: bytes.size, slice, text: (start, end) => slice(start, end).toString('utf8') };
}

/**
 * The distance between the beginnings of two windows. Windows are twice as long, so every short slice is in
 * one window.
 */
const STEP = 1 << 14;
const WINDOWS = 256;
/** The maximum size in bytes. Line starts are stored as 32-bit numbers. */
const MAX_SIZE = 2 ** 32 - 1;

/**
 * Opens a file for reading in pieces; at most a few megabytes are in memory at any time. `file` is its
 * descriptor, which other threads can read from. Throws the errors of the file system, and TriageError
 * 'too-large' from 4 GiB on.
 */
export function openFileBytes(path: string): LogBytes & { readonly file: number; close(): void } {
  const file = openSync(path, 'r');
  try {
    return { ...openBytesOfFile(file), file, close: () => closeSync(file) };
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

/**
 * Returns the bytes of a file by its descriptor, which the caller must close. The file must not change in the
 * meantime.
 */
export function openBytesOfFile(file: number): LogBytes {
  const { size } = fstatSync(file);
  if (size > MAX_SIZE)
    throw new TriageError('too-large', 'A log of 4 GiB or more cannot be read; split it into parts.');
  const windows = new Map<number, Buffer>();
  let large = Buffer.alloc(0);
  const window = (at: number) => {
    const known = windows.get(at);
    if (known !== undefined) return known;
    // The memory of the oldest window is reused, because garbage collection would be too late for a large
    // file.
    const [oldest] = windows.size < WINDOWS ? [] : windows;
    if (oldest !== undefined) windows.delete(oldest[0]);
    const memory =
      oldest === undefined ? Buffer.allocUnsafeSlow(2 * STEP) : Buffer.from(oldest[1].buffer, 0, 2 * STEP);
    const bytes = readAt(file, memory, at * STEP);
    windows.set(at, bytes);
    return bytes;
  };
  const slice = (start: number, end: number) => {
    const length = Math.max(0, Math.min(end, size) - start);
    if (length > STEP) {
      if (large.length < length) large = Buffer.allocUnsafeSlow(length);
      return readAt(file, large.subarray(0, length), start);
    }
    const at = Math.floor(start / STEP);
    return window(at).subarray(start - at * STEP, start - at * STEP + length);
  };
  return { size, slice, text: (start, end) => slice(start, end).toString('utf8') };
}

/** Fills the buffer from an offset in the file on. Returns a shorter buffer at the end of the file. */
function readAt(file: number, buffer: Buffer, position: number): Buffer {
  let filled = 0;
  while (filled < buffer.length) {
    const count = readSync(file, buffer, filled, buffer.length - filled, position + filled);
    if (count === 0) break;
    filled += count;
  }
  return buffer.subarray(0, filled);
}
