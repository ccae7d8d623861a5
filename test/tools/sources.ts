import type { Category } from '../../src/domain/category.ts';
import type { TriageSubject } from '../../src/domain/triage.ts';
import { createHashingEmbedder } from '../../src/models/embedder/hashing.ts';
import type { BuildArchive } from '../../src/ports/build-archive.ts';
import { createNoCodeHost } from '../../src/providers/combined-host.ts';
import { createEmptyHistory, createNoWebSearch } from '../../src/stores/memory.ts';
import { createMemoryIndex } from '../../src/stores/vectors/memory.ts';
import { createTools, type ToolSources } from '../../src/tools/all-tools.ts';
import { createToolbox } from '../../src/tools/toolbox.ts';
import { sampleSubject } from '../support/subject.ts';

/** An archive that holds the given logs for any build. */
export function createArchive(logs: Readonly<Record<string, string>>): BuildArchive {
  const listLines = (name: string) => logs[name]?.split('\n');
  return {
    driver: 'test',
    put: async () => undefined,
    remove: async () => undefined,
    pieces: async function* () {},
    list: async () =>
      Object.entries(logs).map(([name, text]) => {
        const kind = name.endsWith('.xml') ? ('report' as const) : ('log' as const);
        return { name, kind, lines: text.split('\n').length, bytes: text.length, notes: [] };
      }),
    read: async (_build, name) => logs[name] ?? null,
    lines: async (_build, name, from, to) => {
      const lines = listLines(name);
      return lines === undefined
        ? null
        : { lineStart: from, lines: lines.slice(from - 1, Math.min(to, from + 1_999)) };
    },
  };
}

/** Nothing configured, except what is given. */
export function createEmptySources(): ToolSources {
  return {
    vectorIndex: createMemoryIndex(createHashingEmbedder()),
    archive: createArchive({}),
    passingBuilds: { of: async () => null },
    codeHost: createNoCodeHost(),
    history: { ...createEmptyHistory(), kept: true },
    webSearch: createNoWebSearch(),
  };
}

/** Puts one question to the real tools. */
export function createContext(
  sources: Partial<ToolSources>,
  subject: TriageSubject = sampleSubject(),
  signal: AbortSignal = new AbortController().signal,
) {
  const toolbox = createToolbox(createTools({ ...createEmptySources(), ...sources }), {
    mask: (text) => text,
    resilience: { firstDelayMs: 1 },
  });
  return (category: Category, tool: string, args: Record<string, unknown> = {}, why = 'test') =>
    toolbox.run({ tool, args, why }, subject, category, signal);
}
