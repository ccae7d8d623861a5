import type { CodeHost } from '../ports/code-host.ts';

type At = { readonly repository: string; readonly ref: string | null };

/**
 * Combines local clones with a remote host. A clone answers if it contains the commit, else the remote. Each
 * question is answered by only one of them, so
 * no line is quoted from another commit. If the remote does not answer, an outdated clone does, with a note.
 */
export function createCombinedHost(clones: CodeHost, remote: CodeHost): CodeHost {
  const hostFor = (at: At, signal: AbortSignal) => chooseHost(clones, remote, at, signal);
  return {
    driver: `${clones.driver}+${remote.driver}`,
    canRead: async (repository) => (await clones.canRead(repository)) || remote.canRead(repository),
    resolve: async (query, signal) => (await hostFor(query, signal)).resolve(query, signal),
    readFile: async (query, signal) => (await hostFor(query, signal)).readFile(query, signal),
    search: async (query, signal) => (await hostFor(query, signal)).search(query, signal),
    searchFiles: async (query, signal) => (await hostFor(query, signal)).searchFiles(query, signal),
    findFiles: async (query, signal) => (await hostFor(query, signal)).findFiles(query, signal),
    listFiles: async (query, signal) => (await hostFor(query, signal)).listFiles(query, signal),
    blame: async (query, signal) => (await hostFor(query, signal)).blame(query, signal),
    history: async (query, signal) => (await hostFor(query, signal)).history(query, signal),
    lineHistory: async (query, signal) => (await hostFor(query, signal)).lineHistory(query, signal),
    async commitDiff(query, signal) {
      const host = await hostFor({ repository: query.repository, ref: query.commit }, signal);
      return host.commitDiff(query, signal);
    },
    async compare(query, signal) {
      const { repository, base, head } = query;
      const hosts = await Promise.all([base, head].map((ref) => hostFor({ repository, ref }, signal)));
      return (hosts.every((host) => host === clones) ? clones : remote).compare(query, signal);
    },
    async listRepositories({ limit }, signal) {
      const cloned = await clones.listRepositories({ limit }, signal);
      const names = new Set(cloned.map((repositoryInfo) => repositoryInfo.repository));
      const others = cloned.length >= limit ? [] : await remote.listRepositories({ limit }, signal);
      const all = [...cloned, ...others.filter((other) => !names.has(other.repository))].slice(0, limit);
      return all.sort((left, right) => (left.repository < right.repository ? -1 : 1));
    },
  };
}

async function chooseHost(
  clones: CodeHost,
  remote: CodeHost,
  at: At,
  signal: AbortSignal,
): Promise<CodeHost> {
  if (!(await clones.canRead(at.repository))) return remote;
  if (at.ref === null || (await holdsCommit(clones, at, signal))) return clones;
  try {
    return (await holdsCommit(remote, at, signal)) ? remote : clones;
  } catch (error) {
    if (signal.aborted) throw error;
    return clones;
  }
}

async function holdsCommit(host: CodeHost, at: At, signal: AbortSignal): Promise<boolean> {
  const { ref, note } = await host.resolve(at, signal);
  return ref !== null && note === null;
}

/** Creates a host without code: no repository is readable, and every answer is empty. */
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
