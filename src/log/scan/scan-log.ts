import { findFirstPlace, growCapacity } from '../../lib/collections.ts';
import type { LogBytes } from '../lines/bytes.ts';
import type { Matcher } from './matcher.ts';
import { type ScannedChunk, scanChunks } from './scan-chunks.ts';

/** The index of a log's lines, and the lines that contain the literals of each group. */
export interface Scan {
  readonly index: LineIndex;
  /**
   * The lines of each group, which contain one of its literals: 1-based, ascending, each once. Of more than
   * 2 × {@link MAX_HITS} lines, the first and the last {@link MAX_HITS} are kept.
   */
  readonly hits: readonly (readonly number[])[];
}

/** The maximum number of a group's lines that are kept from each end of a log. */
export const MAX_HITS = 5_000;

/** Scans a log smaller than 4 GiB in one pass. */
export function scanLog(log: LogBytes, matcher: Matcher): Scan {
  const { scan, add } = createGrowingScan(log, matcher.groupCount);
  for (const chunk of scanChunks(log, matcher)) add(chunk);
  return scan;
}

/**
 * Creates a scan that is filled during another pass over the same log. `add` must receive all chunks in
 * order. Only the first `groupCount` groups are used.
 */
export function createGrowingScan(
  log: LogBytes,
  groupCount: number,
): { readonly scan: Scan; readonly add: (chunk: ScannedChunk) => void } {
  const index = new LineIndex(log);
  const hits: number[][] = Array.from({ length: groupCount }, () => []);
  const add = ({ offset, firstLine, lineEnds, hits: found }: ScannedChunk) => {
    for (const end of lineEnds) index.add(offset + end + 1);
    for (const [group, kept] of hits.entries()) addHits(kept, found[group] ?? [], firstLine);
  };
  return { scan: { index, hits }, add };
}

/** Adds the hits of a chunk. Drops those in the middle of the log if there are more than 2 × MAX_HITS. */
function addHits(kept: number[], lines: readonly number[], firstLine: number): void {
  // A line that continues from the previous chunk has been added already.
  let next = lines[0] !== undefined && kept[kept.length - 1] === firstLine + lines[0] ? 1 : 0;
  while (kept.length < MAX_HITS && next < lines.length) kept.push(firstLine + (lines[next++] ?? 0));
  for (next = Math.max(next, lines.length - MAX_HITS); next < lines.length; next++)
    kept.push(firstLine + (lines[next] ?? 0));
  const surplus = kept.length - 2 * MAX_HITS;
  if (surplus <= 0) return;
  kept.copyWithin(MAX_HITS, MAX_HITS + surplus);
  kept.length = 2 * MAX_HITS;
}

/**
 * The maximum number of offsets that are kept: 4 MB. For a log of more lines, only the start of every second,
 * fourth, … line is kept.
 */
const MAX_OFFSETS = 1_000_000;
const LINE_FEED = 10;
/** The number of bytes that are searched at once for the end of a line. */
const STEP = 1 << 16;

/** The data of a line index that can be sent to another thread. */
export interface LineIndexState {
  /** The offset of every `stride`th line, from the first line on. */
  readonly starts: Uint32Array;
  /** The distance between two kept lines: 1, or a power of 2 for a log of very many lines. */
  readonly stride: number;
  /** The number of lines. */
  readonly lines: number;
}

/** The index of where each line of a log begins, in bounded memory. Lines are 1-based; offsets are bytes. */
export class LineIndex {
  readonly #bytes: LogBytes;
  #starts: Uint32Array;
  #used = 1;
  #stride = 1;
  #lines = 1;
  /** The line that was found last, with its start. The next one is often near. */
  #near = { line: 1, start: 0 };

  constructor(bytes: LogBytes, known?: LineIndexState) {
    this.#bytes = bytes;
    this.#starts = known?.starts ?? new Uint32Array(Math.min(MAX_OFFSETS, Math.max(16, bytes.size >> 5)));
    if (known === undefined) return;
    [this.#used, this.#stride, this.#lines] = [known.starts.length, known.stride, known.lines];
  }

  /** Returns the state from which another index of the same bytes can be created. */
  toState(): LineIndexState {
    return { starts: this.#starts.slice(0, this.#used), stride: this.#stride, lines: this.#lines };
  }

  /** Returns the number of lines. A log that ends with a line feed has an empty last line. */
  get lineCount(): number {
    return this.#lines;
  }

  /** Adds the line that begins at `start`. Lines must be added in order. */
  add(start: number): void {
    const index = this.#lines++;
    if (index % this.#stride !== 0) return;
    if (this.#used === MAX_OFFSETS) {
      this.#thin();
      if (index % this.#stride !== 0) return;
    }
    if (this.#used === this.#starts.length) this.#starts = growCapacity(this.#starts, MAX_OFFSETS);
    this.#starts[this.#used++] = start;
  }

  /** Returns the offset of a line's first byte, or `size` after the last line. */
  getLineStart(line: number): number {
    if (line > this.#lines) return this.#bytes.size;
    const index = line - 1;
    if (this.#stride === 1) return this.#starts[index] ?? 0;
    const kept = Math.floor(index / this.#stride);
    let from = { line: kept * this.#stride + 1, start: this.#starts[kept] ?? 0 };
    if (this.#near.line > from.line && this.#near.line <= line) from = this.#near;
    let start = from.start;
    for (let at = from.line; at < line; at++) start = this.#findLineFeed(start) + 1;
    this.#near = { line, start };
    return start;
  }

  /** Returns the offset of the line feed that ends a line, or `size` for the last line. */
  getLineEnd(line: number): number {
    if (line >= this.#lines) return this.#bytes.size;
    return this.#stride === 1 ? (this.#starts[line] ?? 0) - 1 : this.#findLineFeed(this.getLineStart(line));
  }

  /** Returns the line that contains a byte. */
  findLineAt(offset: number): number {
    const kept = Math.max(0, findFirstPlace(this.#used, (place) => (this.#starts[place] ?? 0) <= offset) - 1);
    let line = kept * this.#stride + 1;
    if (this.#stride > 1) while (line < this.#lines && this.getLineEnd(line) < offset) line++;
    return line;
  }

  #thin(): void {
    this.#stride *= 2;
    this.#used = Math.ceil(this.#used / 2);
    for (let kept = 0; kept < this.#used; kept++) this.#starts[kept] = this.#starts[kept * 2] ?? 0;
  }

  #findLineFeed(start: number): number {
    for (let at = start; at < this.#bytes.size; at += STEP) {
      const found = this.#bytes.slice(at, at + STEP).indexOf(LINE_FEED);
      if (found !== -1) return at + found;
    }
    return this.#bytes.size;
  }
}
