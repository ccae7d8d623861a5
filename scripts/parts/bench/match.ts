import { once } from 'node:events';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { type LogBytes, openFileBytes } from '../../../src/log/lines/bytes.ts';
import { buildMatcher } from '../../../src/log/scan/matcher.ts';
import { scanChunks } from '../../../src/log/scan/scan-chunks.ts';

const LINE_FEED = 10;

/** Counts the lines of a part of a log that contain one of the literals. Parts begin at line starts. */
export function scanPieces(
  literals: readonly string[],
): (log: LogBytes, part: number, parts: number) => number {
  const matcher = buildMatcher([literals]);
  return (log, part, parts) => {
    const start = findLineStart(log, Math.floor((log.size * part) / parts));
    const end = findLineStart(log, Math.floor((log.size * (part + 1)) / parts));
    let lines = 0;
    let last = -1;
    for (const chunk of scanChunks(takePart(log, start, end), matcher)) {
      const [hits = []] = chunk.hits;
      const first = hits[0];
      // A line that is longer than a chunk is counted once.
      lines += first !== undefined && chunk.firstLine + first === last ? hits.length - 1 : hits.length;
      last = chunk.firstLine + (hits.at(-1) ?? Number.NaN);
    }
    return lines;
  };
}

/** Yields the numbers of the lines of a file that contain one of the literals, ascending. */
export function* findLinesHolding(path: string, literals: readonly string[]): Generator<number> {
  const file = openFileBytes(path);
  try {
    let last = 0;
    for (const chunk of scanChunks(file, buildMatcher([literals]))) {
      for (const line of chunk.hits[0] ?? []) {
        if (chunk.firstLine + line > last) yield chunk.firstLine + line;
        last = chunk.firstLine + line;
      }
    }
  } finally {
    file.close();
  }
}

/** Returns the lines and milliseconds of this reader's matching on one thread. */
export function matchAlone(
  path: string,
  literals: readonly string[],
): { lines: number; milliseconds: number } {
  const count = scanPieces(literals);
  const startedAt = performance.now();
  const file = openFileBytes(path);
  try {
    return { lines: count(file, 0, 1), milliseconds: performance.now() - startedAt };
  } finally {
    file.close();
  }
}

/** Does the same on several threads. Starting them is not timed. */
export async function matchTogether(
  path: string,
  literals: readonly string[],
  parts: number,
): Promise<{ lines: number; milliseconds: number }> {
  const workers = Array.from(
    { length: parts },
    (_, part) =>
      new Worker(new URL(`./match-worker${extname(import.meta.url)}`, import.meta.url), {
        workerData: { path, literals, part, parts },
      }),
  );
  try {
    await Promise.all(workers.map((worker) => once(worker, 'message')));
    const startedAt = performance.now();
    const counts = workers.map(async (worker) => {
      worker.postMessage('begin');
      const [count] = await once(worker, 'message');
      return Number(count);
    });
    const lines = (await Promise.all(counts)).reduce((total, count) => total + count, 0);
    return { lines, milliseconds: performance.now() - startedAt };
  } finally {
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
}

function takePart(log: LogBytes, start: number, end: number): LogBytes {
  const clipped = (to: number) => Math.min(end, start + to);
  return {
    size: end - start,
    slice: (from, to) => log.slice(start + from, clipped(to)),
    text: (from, to) => log.text(start + from, clipped(to)),
  };
}

function findLineStart(log: LogBytes, offset: number): number {
  if (offset === 0) return 0;
  for (let at = offset; at < log.size; at += 65_536) {
    const found = log.slice(at, at + 65_536).indexOf(LINE_FEED);
    if (found !== -1) return at + found + 1;
  }
  return log.size;
}
