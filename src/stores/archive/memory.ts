import { toStorable } from '../../lib/text.ts';
import { type LogBytes, toLogBytes } from '../../log/lines/bytes.ts';
import { MAX_RAW } from '../../log/lines/lines.ts';
import type { LogInPieces } from '../../log/read-log.ts';
import { buildMatcher } from '../../log/scan/matcher.ts';
import { type ScannedChunk, scanChunks } from '../../log/scan/scan-chunks.ts';
import { LineIndex } from '../../log/scan/scan-log.ts';
import type { ArchivedSource, BuildArchive, NumberedLine } from '../../ports/build-archive.ts';
import { CHUNK_LINES, describeSource, toWindow } from './chunks.ts';

/** An archive that also accepts masked logs that are not in memory. */
export interface MemoryArchive extends BuildArchive {
  /**
   * Stores a log like `put`, but reads its bytes only on request, so they must stay open as long as the
   * archive is used. `read` returns null for such a log, and lines of more than 256 kB are cut off.
   */
  putPieces(buildId: string, log: LogInPieces): Promise<void>;
}

interface Stored {
  readonly describe: () => ArchivedSource;
  readonly read: () => string | null;
  readonly log: IndexedLog;
}

/** Creates an archive in memory, for the terminal. */
export function createMemoryArchive(): MemoryArchive {
  const builds = new Map<string, Map<string, Stored>>();
  const find = (buildId: string, name: string) => builds.get(buildId)?.get(name);
  const keep = (buildId: string, name: string, stored: Stored) => {
    const sources = builds.get(buildId) ?? new Map<string, Stored>();
    builds.set(buildId, sources);
    sources.delete(name);
    sources.set(name, stored);
  };

  return {
    driver: 'memory',
    put: async (buildId, source) => {
      const text = toStorable(source.text);
      const described = describeSource(source, text);
      keep(buildId, source.name, { describe: () => described, ...holdText(text) });
    },
    putPieces: async (buildId, { name, kind, bytes, notes, scan }) => {
      const log = createIndexedLog(bytes, MAX_RAW, scan?.index);
      const describe = () => ({ name, kind, lines: log.lineCount, bytes: bytes.size, notes: [...notes] });
      keep(buildId, name, { describe, read: () => null, log });
    },
    list: async (buildId) => [...(builds.get(buildId)?.values() ?? [])].map(({ describe }) => describe()),
    read: async (buildId, name) => find(buildId, name)?.read() ?? null,
    lines: async (buildId, name, from, to) => {
      const stored = find(buildId, name);
      if (stored === undefined) return null;
      const { first, last } = toWindow(from, to);
      return { lineStart: first, lines: stored.log.window(first, last) };
    },
    pieces: async function* (buildId, name) {
      const stored = find(buildId, name);
      for (let from = 1; stored !== undefined && from <= stored.log.lineCount; from += CHUNK_LINES)
        yield {
          lineStart: from,
          bytes: Buffer.from(stored.log.window(from, from + CHUNK_LINES - 1).join('\n')),
        };
    },
    linesWith: (buildId, name, literals) => find(buildId, name)?.log.linesWith(literals) ?? [],
    remove: async (buildId) => {
      builds.delete(buildId);
    },
  };
}

/**
 * Returns the accessors of a text that is held in memory only once: as its characters if these are equal to
 * its bytes, otherwise as its bytes.
 */
function holdText(text: string): Pick<Stored, 'read' | 'log'> {
  const bytes = toLogBytes(text);
  return { read: () => bytes.text(0, bytes.size), log: createIndexedLog(bytes) };
}

/** The number of bytes that are searched at once for line ends. */
const STEP = 1 << 18;
const LINE_FEED = 10;

type IndexedLog = ReturnType<typeof createIndexedLog>;

/**
 * Creates line access to a log whose bytes are read on request; lines are 1-based over `split('\n')`. Builds
 * the index on first use if it is not given. A window contains only the beginning of a line that is longer
 * than `longest` bytes.
 */
function createIndexedLog(bytes: LogBytes, longest = Number.POSITIVE_INFINITY, known?: LineIndex) {
  let made = known;
  const index = () => {
    made ??= indexLines(bytes);
    return made;
  };
  const line = (number: number) => {
    const start = index().getLineStart(number);
    return toStorable(bytes.text(start, Math.min(index().getLineEnd(number), start + longest)));
  };
  return {
    get lineCount(): number {
      return index().lineCount;
    },
    /** Returns the lines `first`..`last`, clipped to the log. */
    window: (first: number, last: number) => {
      const count = Math.min(last, index().lineCount) - first + 1;
      return Array.from({ length: Math.max(0, count) }, (_, offset) => line(first + offset));
    },
    linesWith: (literals: readonly string[]) => search(bytes, literals),
  };
}

function indexLines(bytes: LogBytes): LineIndex {
  const index = new LineIndex(bytes);
  for (let start = 0; start < bytes.size; start += STEP) {
    const piece = bytes.slice(start, start + STEP);
    for (let end = piece.indexOf(LINE_FEED); end !== -1; end = piece.indexOf(LINE_FEED, end + 1))
      index.add(start + end + 1);
  }
  return index;
}

function* search(bytes: LogBytes, literals: readonly string[]): Generator<readonly NumberedLine[]> {
  const matcher = buildMatcher(literals.length === 0 ? [] : [literals]);
  // The strings are created before the next chunk is requested, which invalidates the bytes.
  for (const chunk of scanChunks(bytes, matcher)) {
    const isLast = chunk.offset + chunk.bytes.length >= bytes.size;
    const lines = literals.length === 0 ? listAllLines(chunk, isLast) : (chunk.hits[0] ?? []);
    yield lines.map((line) => ({ line: chunk.firstLine + line, text: readLine(chunk, line) }));
  }
}

/**
 * Returns the line numbers of a chunk. The rest after the last line end counts as a line if it is not empty,
 * or at the end of the log.
 */
function listAllLines({ bytes, lineEnds }: ScannedChunk, isLast: boolean): number[] {
  const hasRest = isLast || (lineEnds.at(-1) ?? -1) < bytes.length - 1;
  return Array.from({ length: lineEnds.length + (hasRest ? 1 : 0) }, (_, line) => line);
}

function readLine({ bytes, lineEnds }: ScannedChunk, line: number): string {
  const start = line === 0 ? 0 : (lineEnds[line - 1] ?? 0) + 1;
  return toStorable(bytes.toString('utf8', start, lineEnds[line] ?? bytes.length));
}
