import type { CodeHost } from '../../ports/code-host.ts';

/** No code: every repository is unreadable, every question has no answer. */
export function createNoCodeHost(): CodeHost {
  return {
    driver: 'none',
    canRead: async () => false,
    resolve: async () => ({ ref: null, note: null }),
    readFile: async () => null,
    search: async () => [],
    findFiles: async () => [],
    blame: async () => [],
    history: async () => [],
    lineHistory: async () => [],
    listRepositories: async () => [],
    listFiles: async () => ({ paths: [], truncated: false }),
    searchFiles: async () => [],
    commitDiff: async () => null,
    compare: async () => null,
  };
}
