import { TriageError } from '../domain/errors.ts';
import { inParallel } from '../lib/collections.ts';
import type { CodeHost, CommitInfo } from '../ports/code-host.ts';
import { filesBelow, filesEndingWith, MAX_COMMITS, plainRef, repositoryPath, searchText, searchWords } from './code-questions.ts';
import { createBoundedCache, createMemory } from './memory.ts';
import { readLineHistory } from './patches.ts';
import type { CommitDiff, KnownRepository, Place, RemoteChanges, RemoteCode } from './remote-code.ts';
import { createRemoteFiles, type RemoteFiles } from './remote-files.ts';

interface Parts {
  readonly code: RemoteCode;
  readonly places: Places;
  readonly files: RemoteFiles;
  readonly changes: RemoteChanges;
}

/** Reads repositories over a host's API, never writes. What cannot change (trees, blobs, commits) is kept in memory. */
export function createRemoteHost(code: RemoteCode): CodeHost {
  const changes = createChanges(code);
  const parts: Parts = { code, places: createPlaces(code), files: createRemoteFiles(code, changes), changes };
  return {
    driver: code.driver,
    canRead: (repository) => canRead(parts.places, repository),
    listRepositories: async ({ limit }, signal) => {
      const found = new Map((await code.repositories(limit, signal)).map((one) => [one.repository, one]));
      return [...found.values()].sort((left, right) => (left.repository < right.repository ? -1 : 1)).slice(0, limit);
    },
    ...fileQuestions(parts),
    ...searchQuestions(parts),
    ...changeQuestions(parts),
  };
}

/** While the host does not answer it may hold the repository: the questions themselves will say what is wrong. */
async function canRead(places: Places, repository: string): Promise<boolean> {
  try {
    return (await places.repository(repository, AbortSignal.timeout(15_000))) !== null;
  } catch (error) {
    return error instanceof TriageError && error.code !== 'upstream-auth';
  }
}

function fileQuestions({ code, places, files }: Parts): Pick<CodeHost, 'resolve' | 'readFile' | 'blame'> {
  return {
    async resolve(query, signal) {
      const place = await places.find(query, signal);
      if (place !== null) return { ref: place.commit, note: null };
      const head = query.ref === null ? null : await places.find({ ...query, ref: null }, signal);
      if (head === null) return { ref: null, note: null };
      return { ref: head.commit, note: `as of ${head.commit.slice(0, 10)}: ${query.ref?.slice(0, 10)} is not on ${code.label}` };
    },
    async readFile(query, signal) {
      const path = repositoryPath(query.path);
      const place = await places.find(query, signal);
      return place === null ? null : files.readFile(place, { ...query, path }, signal);
    },
    async blame(query, signal) {
      const path = repositoryPath(query.path);
      const place = await places.find(query, signal);
      return place === null ? [] : files.blame(place, { ...query, path }, signal);
    },
  };
}

function searchQuestions({ places, files }: Parts): Pick<CodeHost, 'search' | 'searchFiles' | 'findFiles' | 'listFiles'> {
  return {
    async search(query, signal) {
      const text = searchText(query.text);
      const place = await places.find(query, signal);
      return place === null ? [] : files.searchLines(place, { text, limit: query.limit }, signal);
    },
    async searchFiles(query, signal) {
      const words = searchWords(query.words);
      const place = await places.find(query, signal);
      return place === null ? [] : files.searchFiles(place, { words, limit: query.limit }, signal);
    },
    async findFiles(query, signal) {
      const suffix = repositoryPath(query.suffix);
      const place = await places.find(query, signal);
      if (place === null) return [];
      const tree = await files.tree(place, signal);
      const found = filesEndingWith(tree.paths, suffix, query.limit);
      if (found.length > 0 || !tree.truncated) return found;
      // The list was cut, but a whole path can be asked for.
      return (await files.holds(place, suffix, signal)) ? [suffix] : [];
    },
    async listFiles(query, signal) {
      const under = query.under === undefined ? null : repositoryPath(query.under);
      const place = await places.find(query, signal);
      return place === null ? { paths: [], truncated: false } : filesBelow(await files.tree(place, signal), under, query.limit);
    },
  };
}

function changeQuestions({ code, places, files, changes }: Parts): Pick<CodeHost, 'history' | 'lineHistory' | 'commitDiff' | 'compare'> {
  return {
    async history(query, signal) {
      const path = query.path === undefined ? undefined : repositoryPath(query.path);
      const place = await places.find(query, signal);
      if (place === null) return [];
      return changes.withFiles(place, await code.commits(place, { path, limit: Math.min(query.limit, MAX_COMMITS) }, signal), signal);
    },
    async lineHistory(query, signal) {
      const path = repositoryPath(query.path);
      const place = await places.find(query, signal);
      return place === null ? [] : readLineHistory({ code, files, changes }, place, { ...query, path }, signal);
    },
    async commitDiff(query, signal) {
      const place = await places.find({ repository: query.repository, ref: query.commit }, signal);
      const diff = place === null ? null : await orNull(changes.commit(place, signal));
      if (place === null || diff === null) return null;
      const pullRequest = diff.commit.pullRequest ?? (await code.pullRequestOf(place, diff.commit.commit, signal));
      return { ...diff, commit: { ...diff.commit, pullRequest } };
    },
    async compare({ repository, base, head }, signal) {
      const refs = { base: plainRef(base), head: plainRef(head) };
      const known = await places.repository(repository, signal);
      const comparison = known === null ? null : await code.compare(known, refs, signal);
      if (known === null || comparison === null) return null;
      return { ...comparison, commits: await changes.withFiles({ ...known, commit: refs.head }, comparison.commits, signal) };
    },
  };
}

/** Characters of the diffs that are kept. */
const KEPT_CHARACTERS = 32 * 1024 * 1024;
const WITH_FILES = 20;
const AT_ONCE = 6;

function createChanges(code: RemoteCode): RemoteChanges {
  const kept = createBoundedCache<CommitDiff>(KEPT_CHARACTERS, weightOf);
  async function commit(place: Place, signal: AbortSignal): Promise<CommitDiff> {
    const key = `${place.owner}/${place.repo} ${place.commit}`;
    const known = kept.get(key);
    if (known !== undefined) return known;
    const diff = await code.commit(place, signal);
    kept.set(key, diff);
    return diff;
  }
  return {
    commit,
    withFiles: (place, commits, signal) =>
      inParallel([...commits.entries()], AT_ONCE, async ([index, info]): Promise<CommitInfo> => {
        if (index >= WITH_FILES) return info;
        return { ...info, files: (await commit({ ...place, commit: info.commit }, signal)).commit.files };
      }),
  };
}

function weightOf({ files }: CommitDiff): number {
  return files.reduce((sum, file) => sum + file.path.length + (file.patch?.length ?? 0) + 100, 100);
}

interface Places {
  repository(name: string, signal: AbortSignal): Promise<KnownRepository | null>;
  /** Null where the repository or the commit is missing, or the repository is empty. */
  find(query: { repository: string; ref: string | null }, signal: AbortSignal): Promise<Place | null>;
}

const FULL_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
/** A repository is seldom renamed; a branch moves with every push. */
const REPOSITORY_MS = 10 * 60_000;
const BRANCH_MS = 60_000;

function createPlaces(code: RemoteCode): Places {
  const repositories = createMemory<KnownRepository | null>(1_000);
  const commits = createMemory<string | null>(10_000);
  const repository = (name: string, signal: AbortSignal) =>
    repositories.recall(name, { signal, lifeMs: livesFor(REPOSITORY_MS), ask: () => code.repository(name, signal) });
  return {
    repository,
    async find(query, signal) {
      const ref = query.ref === null ? null : plainRef(query.ref);
      // What is kept in memory would answer without ever looking at the signal.
      if (signal.aborted) throw new TriageError('cancelled', `Reading ${code.label} was canceled.`, { cause: signal.reason });
      const known = await repository(query.repository, signal);
      const name = ref ?? known?.defaultBranch ?? null;
      if (known === null || name === null) return null;
      const key = `${known.owner}/${known.repo} ${name}`;
      const lifeMs = livesFor(FULL_ID.test(name) ? REPOSITORY_MS : BRANCH_MS);
      const commit = await commits.recall(key, { signal, lifeMs, ask: () => checkedCommit(code, known, name, signal) });
      return commit === null ? null : { ...known, commit };
    },
  };
}

async function checkedCommit(code: RemoteCode, known: KnownRepository, name: string, signal: AbortSignal): Promise<string | null> {
  const commit = await orNull(code.commitOf(known, name, signal));
  if (commit === null || FULL_ID.test(commit)) return commit;
  throw new TriageError('upstream-failed', `${code.label}'s response for the commit ${name} is not a commit ID.`);
}

/** What is missing may be pushed in the next minute. */
function livesFor(ms: number): (value: unknown) => number {
  return (value) => (value === null ? BRANCH_MS : ms);
}

/** Null in place of `not-found`. */
export async function orNull<Value>(asked: Promise<Value>): Promise<Value | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof TriageError && error.code === 'not-found') return null;
    throw error;
  }
}
