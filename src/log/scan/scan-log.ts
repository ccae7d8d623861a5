import type { LogBytes } from '../log-bytes.ts';
import { LineIndex } from './line-index.ts';
import type { Matcher } from './matcher.ts';
import { scanChunks } from './scan-chunks.ts';

/** Where the lines of a log begin, and which of them hold the literals of which group. */
export interface Scan {
  readonly index: LineIndex;
  /** By group: 1-based lines, ascending, each once; of very many the first and the last {@link MAX_HITS}. */
  readonly hits: readonly (readonly number[])[];
}

/** Lines kept for one group from each end of a log: enough for any real log, bounded for hostile ones. */
export const MAX_HITS = 5_000;

/** One pass over a log of at most 4 GiB. */
export function scanLog(log: LogBytes, matcher: Matcher): Scan {
  const index = new LineIndex(log);
  const hits: number[][] = Array.from({ length: matcher.groupCount }, () => []);
  for (const chunk of scanChunks(log, matcher)) {
    for (const end of chunk.lineEnds) index.add(chunk.offset + end + 1);
    for (const [group, lines] of chunk.hits.entries()) for (const line of lines) note(hits[group] ?? [], chunk.firstLine + line);
  }
  return { index, hits };
}

function note(lines: number[], line: number): void {
  if (lines[lines.length - 1] === line) return;
  if (lines.length === 2 * MAX_HITS) {
    // The middle goes, half of the last ones at a time.
    lines.copyWithin(MAX_HITS, MAX_HITS + MAX_HITS / 2);
    lines.length = MAX_HITS + MAX_HITS / 2;
  }
  lines.push(line);
}
