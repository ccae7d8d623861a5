import type { CommitInfo, Comparison, RepositoryInfo } from '../ports/code-host.ts';
import type { CommitDiff } from './code-questions.ts';

/** A repository under its current name, even if it was renamed. */
export interface KnownRepository {
  /** Everything before the last slash, because GitLab's groups can be nested. */
  readonly owner: string;
  readonly repo: string;
  readonly defaultBranch: string | null;
}

/** The repository and commit of one request, already checked. */
export interface Place extends KnownRepository {
  readonly commit: string;
}

export interface TreeEntry {
  readonly path: string;
  /** The mode as git writes it: `120000` is a link, `160000` a submodule. */
  readonly mode: string;
  readonly type: string;
  readonly sha: string;
  readonly size?: number | undefined;
}

/** A range of lines of a file; 1-based, inclusive. */
export interface LinesOf {
  readonly path: string;
  readonly first: number;
  readonly last: number;
}

/** Neighboring lines with the same last commit; 1-based, inclusive. */
export interface BlamedRange {
  readonly first: number;
  readonly last: number;
  readonly commit: string;
  readonly author: string;
  /** The time, ISO 8601. */
  readonly at: string;
  readonly subject: string;
}

/**
 * The requests in which hosts differ. `createRemoteHost` makes a `CodeHost` of them. All throw only
 * TriageErrors: `not-found` if something is missing, which `createRemoteHost` converts to null or an empty
 * result.
 */
export interface RemoteCode {
  readonly driver: string;
  /** The display name: "GitHub". */
  readonly label: string;
  repository(name: string, signal: AbortSignal): Promise<KnownRepository | null>;
  /** Returns the full id of a commit, branch or tag; null if it is missing or the repository is empty. */
  findCommit(repository: KnownRepository, ref: string, signal: AbortSignal): Promise<string | null>;
  tree(
    place: Place,
    signal: AbortSignal,
  ): Promise<{ readonly entries: readonly TreeEntry[]; readonly truncated: boolean }>;
  /** Returns one file of a tree that is too large to be listed completely; null for a folder. */
  entry(place: Place, path: string, signal: AbortSignal): Promise<TreeEntry | null>;
  blob(place: Place, entry: TreeEntry, signal: AbortSignal): Promise<string>;
  /** Returns paths that the host's own search finds for a search term; none if it has no search. */
  searchPaths(place: Place, word: string, limit: number, signal: AbortSignal): Promise<readonly string[]>;
  /** Lists the commits of a path, or all, newest first, without their files. */
  commits(
    place: Place,
    query: { path?: string | undefined; limit: number },
    signal: AbortSignal,
  ): Promise<CommitInfo[]>;
  /** Returns a commit and its changed files, at most 300. */
  commit(place: Place, signal: AbortSignal): Promise<Pick<CommitDiff, 'commit' | 'files'>>;
  /** Compares two commits. The commits between them are newest first, without their files. */
  compare(
    repository: KnownRepository,
    query: { base: string; head: string },
    signal: AbortSignal,
  ): Promise<Comparison>;
  /**
   * Requests the blame. Throws `forbidden` if the host requires a token for it. Null if the host has no such
   * API.
   */
  readonly blame:
    | ((place: Place, query: LinesOf, signal: AbortSignal) => Promise<readonly BlamedRange[]>)
    | null;
  /** Returns the merged pull request that contains a commit, else any pull request; null if there is none. */
  findPullRequest(place: Place, commit: string, signal: AbortSignal): Promise<number | null>;
  repositories(limit: number, signal: AbortSignal): Promise<readonly RepositoryInfo[]>;
}

/** Cached access to commits and their changes. */
export interface RemoteChanges {
  commit(place: Place, signal: AbortSignal): Promise<CommitDiff>;
  /** Lists the commits of a path, or all, newest first, without their files. */
  list(
    place: Place,
    query: { path?: string | undefined; limit: number },
    signal: AbortSignal,
  ): Promise<CommitInfo[]>;
  /** Adds the files of the first 20 commits only, because each commit needs a request. */
  withFiles(place: Place, commits: readonly CommitInfo[], signal: AbortSignal): Promise<CommitInfo[]>;
}
