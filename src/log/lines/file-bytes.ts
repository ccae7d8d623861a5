import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { TriageError } from '../../domain/errors.ts';
import type { LogBytes } from './log-bytes.ts';

/** Bytes of a file, of which only a few megabytes are in memory at any time. */
export interface FileBytes extends LogBytes {
  /** Its descriptor, which other threads can read as well. */
  readonly file: number;
  close(): void;
}

/** A short slice lies whole in one window: windows begin at each multiple of `STEP` and are twice as long. */
const STEP = 1 << 14;
const WINDOWS = 256;
/** Line starts are 32-bit numbers. */
const MAX_SIZE = 2 ** 32 - 1;

/** Opens a file for reading in pieces. Throws what the file system throws, and TriageError 'too-large' from 4 GiB on. */
export function openFileBytes(path: string): FileBytes {
  const file = openSync(path, 'r');
  try {
    return { ...bytesOfFile(file), file, close: () => closeSync(file) };
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

/** The same over a descriptor that stays the caller's. The file must not change meanwhile. */
export function bytesOfFile(file: number): LogBytes {
  const { size } = fstatSync(file);
  if (size > MAX_SIZE) throw new TriageError('too-large', 'A log of 4 GiB or more cannot be read; split it into parts.');
  const windows = new Map<number, Buffer>();
  let large = Buffer.alloc(0);
  const window = (at: number) => {
    const known = windows.get(at);
    if (known !== undefined) return known;
    // The oldest window's memory is used again: a garbage collector would come too late for a large file.
    const [oldest] = windows.size < WINDOWS ? [] : windows;
    if (oldest !== undefined) windows.delete(oldest[0]);
    const memory = oldest === undefined ? Buffer.allocUnsafeSlow(2 * STEP) : Buffer.from(oldest[1].buffer, 0, 2 * STEP);
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

/** Fills the buffer from a place in the file on; what the file does not have is cut off. */
function readAt(file: number, buffer: Buffer, position: number): Buffer {
  let filled = 0;
  while (filled < buffer.length) {
    const count = readSync(file, buffer, filled, buffer.length - filled, position + filled);
    if (count === 0) break;
    filled += count;
  }
  return buffer.subarray(0, filled);
}
