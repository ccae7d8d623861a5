import { MAX_RAW } from '../../log/lines/lines.ts';
import { bytesOfText } from '../../log/lines/log-bytes.ts';
import type { LogInPieces } from '../../log/read-sources.ts';
import type { ArchivedSource, BuildArchive } from '../../ports/build-archive.ts';
import { CHUNK_LINES } from './chunks.ts';
import { type IndexedLog, indexedLog } from './indexed-log.ts';
import { archivable, describeSource, windowOf } from './text-lines.ts';

/** An archive that also takes masked logs that are not in memory. */
export interface MemoryArchive extends BuildArchive {
  /**
   * The same as `put`. The log's bytes are read when they are asked for, so they must stay open as long as the archive is used. `read` gives
   * null for it, and of a line of more than 256 kB only the beginning is shown.
   */
  putPieces(buildId: string, log: LogInPieces): Promise<void>;
}

interface Stored {
  readonly describe: () => ArchivedSource;
  readonly read: () => string | null;
  readonly log: IndexedLog;
}

/** Keeps builds for the life of the process: the terminal's archive. */
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
      const text = archivable(source.text);
      const described = describeSource(source, text);
      keep(buildId, source.name, { describe: () => described, ...heldText(text) });
    },
    putPieces: async (buildId, { name, kind, bytes, notes, scan }) => {
      const log = indexedLog(bytes, MAX_RAW, scan?.index);
      const describe = () => ({ name, kind, lines: log.lineCount, bytes: bytes.size, notes: [...notes] });
      keep(buildId, name, { describe, read: () => null, log });
    },
    list: async (buildId) => [...(builds.get(buildId)?.values() ?? [])].map(({ describe }) => describe()),
    read: async (buildId, name) => find(buildId, name)?.read() ?? null,
    lines: async (buildId, name, from, to) => {
      const stored = find(buildId, name);
      if (stored === undefined) return null;
      const { first, last } = windowOf(from, to);
      return { lineStart: first, lines: stored.log.window(first, last) };
    },
    pieces: async function* (buildId, name) {
      const stored = find(buildId, name);
      for (let from = 1; stored !== undefined && from <= stored.log.lineCount; from += CHUNK_LINES)
        yield { lineStart: from, bytes: Buffer.from(stored.log.window(from, from + CHUNK_LINES - 1).join('\n')) };
    },
    linesWith: (buildId, name, literals) => find(buildId, name)?.log.linesWith(literals) ?? [],
    remove: async (buildId) => {
      builds.delete(buildId);
    },
  };
}

/** Held once: as its characters where they are its bytes, too, else as its bytes. */
function heldText(text: string): Pick<Stored, 'read' | 'log'> {
  const bytes = bytesOfText(text);
  return { read: () => bytes.text(0, bytes.size), log: indexedLog(bytes) };
}
