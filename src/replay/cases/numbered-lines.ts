import { createReadStream } from 'node:fs';
import { messageOf, TriageError } from '../../domain/errors.ts';

/** A line of a file, 1-based, without its end; `text` is null where it is too long to be a row. */
export interface FileLine {
  readonly line: number;
  readonly text: string | null;
}

/** One row with its log inline; a longer line is no row, and would fill the memory. */
export const MAX_LINE_BYTES = 64 * 1024 * 1024;
const LINE_FEED = 10;

/** Streams the lines of a file that are not blank, one in memory at a time. Throws `not-found`. */
export async function* numberedLines(path: string, maxLineBytes = MAX_LINE_BYTES): AsyncGenerator<FileLine> {
  let line = 1;
  let held: Buffer[] = [];
  let bytes = 0;
  const take = (part: Buffer) => {
    bytes += part.length;
    if (bytes <= maxLineBytes) held.push(part);
    else held = [];
  };
  const ended = (): FileLine | null => {
    const text = bytes > maxLineBytes ? null : Buffer.concat(held).toString('utf8');
    const done = { line, text: line === 1 && text !== null ? text.replace(/^\ufeff/, '') : text };
    line++;
    held = [];
    bytes = 0;
    return done.text !== null && done.text.trim() === '' ? null : done;
  };
  for await (const chunk of chunksOf(path)) {
    let from = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, from)) {
      take(chunk.subarray(from, end));
      from = end + 1;
      const done = ended();
      if (done !== null) yield done;
    }
    take(chunk.subarray(from));
  }
  const last = ended();
  if (last !== null) yield last;
}

async function* chunksOf(path: string): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of createReadStream(path)) if (Buffer.isBuffer(chunk)) yield chunk;
  } catch (cause) {
    throw new TriageError('not-found', `${path} cannot be read: ${messageOf(cause)}.`, { cause });
  }
}
