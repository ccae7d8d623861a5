import { isUtf8 } from 'node:buffer';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getErrorMessage, TriageError } from '../../domain/errors.ts';
import { detectFileType } from '../decode/decode.ts';
import { READER_GROUPS } from '../extract/run.ts';
import { type LogBytes, openBytesOfFile, openFileBytes } from '../lines/bytes.ts';
import { createGrowingScan, type Scan } from '../scan/scan-log.ts';
import { findCharacterEnd } from './find-secrets.ts';
import type { Masker } from './mask.ts';

/** A masked log in a file. Its bytes must not be read after `close`. */
export interface MaskedFile {
  readonly bytes: LogBytes;
  /** The file descriptor, from which other threads can read as well. */
  readonly file: number;
  /** The number of places in which a secret was hidden. */
  readonly secrets: number;
  readonly notes: readonly string[];
  /** The scan for the log's readers; present if nothing had to be hidden. */
  readonly scan?: Scan;
  close(): void;
}

const SAMPLE = 65_536;
const STEP = 1 << 22;
const LINE_FEED = 10;
/** The beginning of XML or JSON. It may be a report, which is parsed as a whole. */
const DOCUMENT = /^\ufeff?\s{0,1000}(?:<|\{|\[\s{0,1000}\{)/;

/**
 * Masks a log without loading it into memory. Returns the file itself if nothing has to be hidden, or else a
 * masked copy in a temporary file, which is deleted when it is closed. Returns null if the file is not plain
 * UTF-8 text (compressed, UTF-16, binary) or may be a report; these must be decoded first. Throws the errors
 * of the file system on reading, TriageError 'too-large' from 4 GiB on, and 'storage-failed' if the copy
 * cannot be written.
 */
export async function maskFile(path: string, masker: Masker): Promise<MaskedFile | null> {
  const file = openFileBytes(path);
  let copy: ReturnType<typeof openCopy> | undefined;
  try {
    const sample = file.slice(0, SAMPLE);
    if (
      detectFileType(sample).kind !== 'text' ||
      sample.includes(0) ||
      DOCUMENT.test(sample.toString('utf8'))
    ) {
      file.close();
      return null;
    }
    const notes = listOddities(file);
    const { scan, add } = createGrowingScan(file, READER_GROUPS.length);
    const write = (piece: Buffer) => {
      copy ??= tryWriting(openCopy);
      tryWriting(() => copy?.write(piece));
    };
    const secrets = await masker.maskPieces(file, write, { groups: READER_GROUPS, add });
    if (copy === undefined)
      return { bytes: file, file: file.file, secrets, notes, scan, close: () => file.close() };
    file.close();
    return { bytes: openBytesOfFile(copy.file), file: copy.file, secrets, notes, close: () => copy?.close() };
  } catch (error) {
    copy?.close();
    file.close();
    throw error;
  }
}

function tryWriting<T>(act: () => T): T {
  try {
    return act();
  } catch (error) {
    const why =
      `A masked copy of the log cannot be written to ${tmpdir()}: ${getErrorMessage(error)}. ` +
      'TMPDIR names another folder.';
    throw new TriageError('storage-failed', why, { cause: error });
  }
}

function openCopy() {
  const folder = mkdtempSync(join(tmpdir(), 'faultline-masked-'));
  const file = openSync(join(folder, 'log'), 'wx+', 0o600);
  const remove = () => rmSync(folder, { recursive: true, force: true });
  // Windows cannot delete an open file, so there it is deleted on closing.
  const isWindows = process.platform === 'win32';
  if (!isWindows) remove();
  return {
    file,
    write: (piece: Buffer) => {
      for (let at = 0; at < piece.length; ) at += writeSync(file, piece, at);
    },
    close: () => {
      closeSync(file);
      if (isWindows) remove();
    },
  };
}

/** Lists the notes about a decoded text that do not depend on its name. */
function listOddities(log: LogBytes): string[] {
  let isWhole = true;
  let hasNul = false;
  let hasLineFeed = false;
  for (let start = 0; start < log.size; ) {
    const piece = log.slice(start, start + STEP);
    // The file was truncated while it is read.
    if (piece.length === 0) break;
    const isLast = start + piece.length >= log.size;
    const line = piece.lastIndexOf(LINE_FEED) + 1;
    const length = isLast ? piece.length : line > 0 ? line : findCharacterEnd(piece, piece.length - 1);
    isWhole &&= isUtf8(piece.subarray(0, length));
    hasNul ||= piece.includes(0);
    hasLineFeed ||= line > 0;
    start += length;
  }
  return [
    ...(isWhole ? [] : ['The log has invalid UTF-8 sequences, shown as \ufffd.']),
    ...(hasNul ? ['The log holds NUL characters.'] : []),
    ...(hasLineFeed || log.size === 0 ? [] : ['The log has no line feed: it is one long line.']),
  ];
}
