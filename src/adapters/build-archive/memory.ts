import type { ArchivedSource, BuildArchive } from '../../ports/build-archive.ts';
import { archivable, describeSource, windowOf } from './text-lines.ts';

interface Stored {
  readonly source: ArchivedSource;
  readonly text: string;
  readonly lines: readonly string[];
}

/** Keeps builds for the life of the process: the terminal's archive. */
export function createMemoryArchive(): BuildArchive {
  const builds = new Map<string, Map<string, Stored>>();
  const find = (buildId: string, name: string) => builds.get(buildId)?.get(name);

  return {
    driver: 'memory',
    put: async (buildId, source) => {
      const sources = builds.get(buildId) ?? new Map<string, Stored>();
      builds.set(buildId, sources);
      const text = archivable(source.text);
      sources.delete(source.name);
      sources.set(source.name, { source: describeSource(source, text), text, lines: text.split('\n') });
    },
    list: async (buildId) => [...(builds.get(buildId)?.values() ?? [])].map(({ source }) => source),
    read: async (buildId, name) => find(buildId, name)?.text ?? null,
    lines: async (buildId, name, from, to) => {
      const stored = find(buildId, name);
      if (stored === undefined) return null;
      const { first, last } = windowOf(from, to);
      return { lineStart: first, lines: stored.lines.slice(first - 1, Math.max(first - 1, last)) };
    },
    remove: async (buildId) => {
      builds.delete(buildId);
    },
  };
}
