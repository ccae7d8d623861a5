import type { LogBytes } from '../../log/lines/log-bytes.ts';
import { LineIndex } from '../../log/scan/line-index.ts';
import { buildMatcher } from '../../log/scan/matcher.ts';
import { type ScannedChunk, scanChunks } from '../../log/scan/scan-chunks.ts';
import type { NumberedLine } from '../../ports/build-archive.ts';
import { archivable } from './text-lines.ts';

/** Bytes looked through at once for line ends. */
const STEP = 1 << 18;
const LINE_FEED = 10;

/** A log by its lines, which are read from its bytes when they are asked for. Lines are 1-based over `split('\n')`. */
export interface IndexedLog {
  readonly lineCount: number;
  /** Lines `first`..`last`, clipped to the log. */
  window(first: number, last: number): string[];
  /** See `linesWith` of the port. */
  linesWith(literals: readonly string[]): Iterable<readonly NumberedLine[]>;
}

/** The index, where it is not known, is made when it is first needed; of a line longer than `longest` bytes a window has only the beginning. */
export function indexedLog(bytes: LogBytes, longest = Number.POSITIVE_INFINITY, known?: LineIndex): IndexedLog {
  let made = known;
  const index = () => {
    made ??= indexLines(bytes);
    return made;
  };
  const line = (number: number) => {
    const start = index().startOf(number);
    return archivable(bytes.text(start, Math.min(index().endOf(number), start + longest)));
  };
  return {
    get lineCount() {
      return index().lineCount;
    },
    window: (first, last) => {
      const count = Math.min(last, index().lineCount) - first + 1;
      return Array.from({ length: Math.max(0, count) }, (_, offset) => line(first + offset));
    },
    linesWith: (literals) => search(bytes, literals),
  };
}

function indexLines(bytes: LogBytes): LineIndex {
  const index = new LineIndex(bytes);
  for (let start = 0; start < bytes.size; start += STEP) {
    const piece = bytes.slice(start, start + STEP);
    for (let end = piece.indexOf(LINE_FEED); end !== -1; end = piece.indexOf(LINE_FEED, end + 1)) index.add(start + end + 1);
  }
  return index;
}

function* search(bytes: LogBytes, literals: readonly string[]): Generator<readonly NumberedLine[]> {
  const matcher = buildMatcher(literals.length === 0 ? [] : [literals]);
  // Strings are made before the next chunk is asked for: its bytes are gone by then.
  for (const chunk of scanChunks(bytes, matcher)) {
    const isLast = chunk.offset + chunk.bytes.length >= bytes.size;
    const lines = literals.length === 0 ? allLines(chunk, isLast) : (chunk.hits[0] ?? []);
    yield lines.map((line) => ({ line: chunk.firstLine + line, text: textOf(chunk, line) }));
  }
}

/** What follows the last line end of a chunk is a line where there is something, and at the end of the log. */
function allLines({ bytes, lineEnds }: ScannedChunk, isLast: boolean): number[] {
  const hasRest = isLast || (lineEnds.at(-1) ?? -1) < bytes.length - 1;
  return Array.from({ length: lineEnds.length + (hasRest ? 1 : 0) }, (_, line) => line);
}

function textOf({ bytes, lineEnds }: ScannedChunk, line: number): string {
  const start = line === 0 ? 0 : (lineEnds[line - 1] ?? 0) + 1;
  return archivable(bytes.toString('utf8', start, lineEnds[line] ?? bytes.length));
}
