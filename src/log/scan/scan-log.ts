import type { LogBytes } from '../lines/log-bytes.ts';
import { LineIndex } from './line-index.ts';
import type { Matcher } from './matcher.ts';
import { type ScannedChunk, scanChunks } from './scan-chunks.ts';

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
  const { scan, add } = growingScan(log, matcher.groupCount);
  for (const chunk of scanChunks(log, matcher)) add(chunk);
  return scan;
}

/** A scan that another pass over the same log feeds: `add` takes its chunks in order, of which the first `groupCount` groups count. */
export function growingScan(log: LogBytes, groupCount: number): { readonly scan: Scan; readonly add: (chunk: ScannedChunk) => void } {
  const index = new LineIndex(log);
  const hits: number[][] = Array.from({ length: groupCount }, () => []);
  const add = ({ offset, firstLine, lineEnds, hits: found }: ScannedChunk) => {
    for (const end of lineEnds) index.add(offset + end + 1);
    for (const [group, kept] of hits.entries()) note(kept, found[group] ?? [], firstLine);
  };
  return { scan: { index, hits }, add };
}

/** Adds the lines of a chunk; of too many, those in the middle of the log go. */
function note(kept: number[], lines: readonly number[], firstLine: number): void {
  // A line that goes on from the chunk before is noted already.
  let next = lines[0] !== undefined && kept[kept.length - 1] === firstLine + lines[0] ? 1 : 0;
  while (kept.length < MAX_HITS && next < lines.length) kept.push(firstLine + (lines[next++] ?? 0));
  for (next = Math.max(next, lines.length - MAX_HITS); next < lines.length; next++) kept.push(firstLine + (lines[next] ?? 0));
  const surplus = kept.length - 2 * MAX_HITS;
  if (surplus <= 0) return;
  kept.copyWithin(MAX_HITS, MAX_HITS + surplus);
  kept.length = 2 * MAX_HITS;
}
