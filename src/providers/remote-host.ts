import { TriageError } from '../domain/errors.ts';
import { mapInParallel } from '../lib/collections.ts';
import type { CodeHost, CommitInfo } from '../ports/code-host.ts';
import {
  type CommitDiff,
  checkRef,
  createHost,
  findOrNull,
  MAX_CHANGED_FILES,
  MAX_COMMITS,
} from './code-questions.ts';
import { createBoundedCache, createMemory } from './memory.ts';
import { readLineHistory } from './patches.ts';
import type { KnownRepository, Place, RemoteChanges, RemoteCode } from './remote-code.ts';
import { createRemoteFiles } from './remote-files.ts';

/**
 * Creates a reader of repositories over a host's API, which never writes. Unchangeable objects (trees, blobs,
 * commits) are cached in memory.
 */
export function createRemoteHost(code: RemoteCode): CodeHost {
  const changes = createChanges(code);
  const places = createPlaces(code);
  const files = createRemoteFiles(code, changes);
  return createHost<Place>({
    driver: code.driver,
    where: `on ${code.label}`,
    find: places.find,
    canRead: (repository) => canRead(places, repository),
    listRepositories: async ({ limit }, signal) => {
      const found = new Map(
        (await code.repositories(limit, signal)).map((repositoryInfo) => [
          repositoryInfo.repository,
          repositoryInfo,
        ]),
      );
      return [...found.values()]
        .sort((left, right) => (left.repository < right.repository ? -1 : 1))
        .slice(0, limit);
    },
    ...files,
    history: async (place, { path, limit }, signal) =>
      changes.withFiles(
        place,
        await changes.list(place, { path, limit: Math.min(limit, MAX_COMMITS) }, signal),
        signal,
      ),
    lineHistory: (place, query, signal) =>
      readLineHistory({ readFile: files.readFile, changes }, place, query, signal),
    async commitDiff(place, signal) {
      const diff = await findOrNull(changes.commit(place, signal));
      if (diff === null) return null;
      const pullRequest =
        diff.commit.pullRequest ??
        (await findOrNull(code.findPullRequest(place, place.commit, signal), 'upstream-auth'));
      return { ...diff, commit: { ...diff.commit, pullRequest } };
    },
    async compare({ repository, ...refs }, signal) {
      const known = await places.repository(repository, signal);
      const comparison = known === null ? null : await findOrNull(code.compare(known, refs, signal));
      if (known === null || comparison === null) return null;
      return {
        ...comparison,
        commits: await changes.withFiles({ ...known, commit: refs.head }, comparison.commits, signal),
      };
    },
  });
}

/**
 * Checks whether the repository is readable. True if the host does not respond, because the actual questions
 * will report the error.
 */
async function canRead(places: Places, repository: string): Promise<boolean> {
  try {
    return (await places.repository(repository, AbortSignal.timeout(15_000))) !== null;
  } catch (error) {
    return error instanceof TriageError && error.code !== 'upstream-auth';
  }
}

/** The maximum number of characters of all cached diffs. */
const KEPT_CHARACTERS = 32 * 1024 * 1024;
/** The maximum number of commits whose files are fetched, and the number of requests at once for them. */
const MAX_WITH_FILES = 20;
const AT_ONCE = 6;

function createChanges(code: RemoteCode): RemoteChanges {
  const kept = createBoundedCache<CommitDiff>(KEPT_CHARACTERS, measureWeight);
  async function commit(place: Place, signal: AbortSignal): Promise<CommitDiff> {
    const key = `${place.owner}/${place.repo} ${place.commit}`;
    const known = kept.get(key);
    if (known !== undefined) return known;
    const { commit: info, files } = await code.commit(place, signal);
    const listed = files.slice(0, MAX_CHANGED_FILES);
    const diff = {
      commit: { ...info, files: listed.map(({ path }) => path) },
      files: listed,
      truncated: files.length >= MAX_CHANGED_FILES,
    };
    kept.set(key, diff);
    return diff;
  }
  return {
    commit,
    list: async (place, query, signal) =>
      ((await findOrNull(code.commits(place, query, signal))) ?? []).slice(0, query.limit),
    withFiles: (place, commits, signal) =>
      mapInParallel([...commits.entries()], AT_ONCE, async ([index, info]): Promise<CommitInfo> => {
        if (index >= MAX_WITH_FILES) return info;
        return { ...info, files: (await commit({ ...place, commit: info.commit }, signal)).commit.files };
      }),
  };
}

function measureWeight({ files }: CommitDiff): number {
  return files.reduce((sum, file) => sum + file.path.length + (file.patch?.length ?? 0) + 100, 100);
}

interface Places {
  repository(name: string, signal: AbortSignal): Promise<KnownRepository | null>;
  /** Returns null if the repository or the commit is missing, or if the repository is empty. */
  find(query: { repository: string; ref: string | null }, signal: AbortSignal): Promise<Place | null>;
}

const FULL_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
/**
 * The cache times of a repository and of a branch, in milliseconds. A repository is seldom renamed; a branch
 * moves with every push.
 */
const REPOSITORY_MS = 10 * 60_000;
const BRANCH_MS = 60_000;

function createPlaces(code: RemoteCode): Places {
  const repositories = createMemory<KnownRepository | null>(1_000);
  const commits = createMemory<string | null>(10_000);
  const repository = (name: string, signal: AbortSignal) =>
    repositories.recall(name, {
      signal,
      lifeMs: chooseLifetime(REPOSITORY_MS),
      ask: () => findOrNull(code.repository(name, signal)),
    });
  return {
    repository,
    async find(query, signal) {
      const ref = query.ref === null ? null : checkRef(query.ref);
      // A cached answer would be returned without a check of the signal.
      if (signal.aborted)
        throw new TriageError('cancelled', `Reading ${code.label} was canceled.`, { cause: signal.reason });
      const known = await repository(query.repository, signal);
      const name = ref ?? known?.defaultBranch ?? null;
      if (known === null || name === null) return null;
      const key = `${known.owner}/${known.repo} ${name}`;
      const lifeMs = chooseLifetime(FULL_ID.test(name) ? REPOSITORY_MS : BRANCH_MS);
      const commit = await commits.recall(key, {
        signal,
        lifeMs,
        ask: () => checkCommit(code, known, name, signal),
      });
      return commit === null ? null : { ...known, commit };
    },
  };
}

async function checkCommit(
  code: RemoteCode,
  known: KnownRepository,
  name: string,
  signal: AbortSignal,
): Promise<string | null> {
  const commit = await findOrNull(code.findCommit(known, name, signal));
  if (commit === null || FULL_ID.test(commit)) return commit;
  throw new TriageError(
    'upstream-failed',
    `${code.label}'s response for the commit ${name} is not a commit ID.`,
  );
}

/**
 * Returns the lifetime of a cached value. A missing one has a short lifetime, because it may be pushed within
 * a minute.
 */
function chooseLifetime(ms: number): (value: unknown) => number {
  return (value) => (value === null ? BRANCH_MS : ms);
}
