import { type FileHandle, open } from 'node:fs/promises';
import { messageOf, TriageError } from '../../domain/errors.ts';
import { numberedLines } from '../cases/numbered-lines.ts';
import type { CaseResult } from './result.ts';
import { parseResult } from './result-line.ts';

/** A results file that grows a line a case; whatever happens, it holds whole lines only. */
export interface ResultsFile {
  readonly path: string;
  /** Lines that an earlier run wrote, in their order, one at a time; null when they are all told. */
  next(): Promise<CaseResult | null>;
  /** Rejects where the disk is full, with the file as it was before. */
  append(result: CaseResult): Promise<void>;
  close(): Promise<void>;
}

const PIECE = 65_536;
/** They quote logs: a new file is its owner's alone. */
const OWNER_ONLY = 0o600;

/** Opens a new file, over an old one. */
export async function createResults(path: string): Promise<ResultsFile> {
  const handle = await opened(path, 'w');
  // A pipe or a device has no positions; a file is written by them.
  return resultsFile(path, handle, (await handle.stat()).isFile() ? 0 : null);
}

/** Opens a file that an earlier run left, to go on behind it; a torn last line is dropped. A file that is not there begins. */
export async function resumeResults(path: string): Promise<ResultsFile> {
  // 'a+' makes it where it is missing; writing goes by position, so that a torn end is written over.
  await (await opened(path, 'a+')).close();
  const handle = await opened(path, 'r+');
  const whole = await wholeLines(handle);
  await handle.truncate(whole);
  return resultsFile(path, handle, whole);
}

/** Every result of a file, in its order. Throws with the line where one is none. */
export async function* readResultLines(path: string): AsyncGenerator<CaseResult> {
  for await (const { line, text } of numberedLines(path)) {
    const result = text === null ? null : parseResult(text);
    if (result === null) throw new TriageError('invalid-input', `${path}, line ${line} is not a replay result.`);
    yield result;
  }
}

function resultsFile(path: string, handle: FileHandle, start: number | null): ResultsFile {
  let end = start;
  const earlier = start === null || start === 0 ? null : readResultLines(path);
  return {
    path,
    async next() {
      const read = await earlier?.next();
      return read === undefined || read.done === true ? null : read.value;
    },
    async append(result) {
      const bytes = Buffer.from(`${JSON.stringify(result)}\n`);
      try {
        await writeAll(handle, bytes, end);
      } catch (cause) {
        if (end !== null) await handle.truncate(end).catch(() => undefined);
        throw new TriageError('storage-failed', unwritten(path, cause), { cause });
      }
      if (end !== null) end += bytes.length;
    },
    close: () => handle.close(),
  };
}

async function writeAll(handle: FileHandle, bytes: Buffer, position: number | null): Promise<void> {
  let at = 0;
  while (at < bytes.length) {
    const { bytesWritten } = await handle.write(bytes, at, bytes.length - at, position === null ? null : position + at);
    at += bytesWritten;
  }
}

function unwritten(path: string, cause: unknown): string {
  const isFull = cause instanceof Error && 'code' in cause && (cause.code === 'ENOSPC' || cause.code === 'EDQUOT');
  const why = isFull ? 'the disk is full' : messageOf(cause);
  return `${path} cannot be written further: ${why}. Its content is intact; free some space and continue with --resume.`;
}

/** Where the last whole line of a file ends, in bytes; what stands behind it a process that died has left. */
export async function wholeLines(handle: FileHandle): Promise<number> {
  let { size: end } = await handle.stat();
  while (end > 0) {
    const start = Math.max(0, end - PIECE);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(end - start), 0, end - start, start);
    const at = buffer.subarray(0, bytesRead).lastIndexOf(0x0a);
    if (at !== -1) return start + at + 1;
    end = start;
  }
  return 0;
}

async function opened(path: string, flags: string): Promise<FileHandle> {
  return open(path, flags, OWNER_ONLY).catch((cause: unknown) => {
    throw new TriageError('not-found', `--out: ${path} cannot be written: ${messageOf(cause)}.`, { cause });
  });
}
