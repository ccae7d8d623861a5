import type { CommitInfo, Comparison, RepositoryInfo } from '../ports/code-host.ts';
import type { CommitDiff } from './code-questions.ts';

/** A repository as the host calls it today: a renamed one by its new name. */
export interface KnownRepository {
  /** Everything before the last slash: GitLab's groups lie in each other. */
  readonly owner: string;
  readonly repo: string;
  readonly defaultBranch: string | null;
}

/** What one question needs: the repository and the commit, already checked. */
export interface Place extends KnownRepository {
  readonly commit: string;
}

export interface TreeEntry {
  readonly path: string;
  /** As git writes it: `120000` is a link, `160000` a submodule. */
  readonly mode: string;
  readonly type: string;
  readonly sha: string;
  readonly size?: number | undefined;
}

/** Lines of a file; 1-based, the last included. */
export interface LinesOf {
  readonly path: string;
  readonly first: number;
  readonly last: number;
}

/** Neighbouring lines that one commit changed last; 1-based, the last included. */
export interface BlamedRange {
  readonly first: number;
  readonly last: number;
  readonly commit: string;
  readonly author: string;
  /** ISO 8601. */
  readonly at: string;
  readonly subject: string;
}

/**
 * The few questions in which hosts differ; `createRemoteHost` makes a `CodeHost` of them. All throw TriageErrors only:
 * `not-found` where something is missing, which `createRemoteHost` takes for null or nothing.
 */
export interface RemoteCode {
  readonly driver: string;
  /** As people write it: "GitHub". */
  readonly label: string;
  repository(name: string, signal: AbortSignal): Promise<KnownRepository | null>;
  /** The whole id of a commit, branch or tag; null where it is missing or the repository is empty. */
  commitOf(repository: KnownRepository, ref: string, signal: AbortSignal): Promise<string | null>;
  tree(place: Place, signal: AbortSignal): Promise<{ readonly entries: readonly TreeEntry[]; readonly truncated: boolean }>;
  /** One file of a tree that is too large to be listed whole; null for a folder. */
  entry(place: Place, path: string, signal: AbortSignal): Promise<TreeEntry | null>;
  blob(place: Place, entry: TreeEntry, signal: AbortSignal): Promise<string>;
  /** Paths that the host's own search names for a word; none where it has no search. */
  searchPaths(place: Place, word: string, limit: number, signal: AbortSignal): Promise<readonly string[]>;
  /** Commits of a path, or all, newest first; without their files. */
  commits(place: Place, query: { path?: string | undefined; limit: number }, signal: AbortSignal): Promise<CommitInfo[]>;
  /** A commit and the files it changed, of which 300 are kept. */
  commit(place: Place, signal: AbortSignal): Promise<Pick<CommitDiff, 'commit' | 'files'>>;
  /** Commits newest first, without their files. */
  compare(repository: KnownRepository, query: { base: string; head: string }, signal: AbortSignal): Promise<Comparison>;
  /** Throws `forbidden` where the host tells nobody without a token; null: it has no such question. */
  readonly blame: ((place: Place, query: LinesOf, signal: AbortSignal) => Promise<readonly BlamedRange[]>) | null;
  /** The merged pull request that holds a commit, else any; null where there is none. */
  pullRequestOf(place: Place, commit: string, signal: AbortSignal): Promise<number | null>;
  repositories(limit: number, signal: AbortSignal): Promise<readonly RepositoryInfo[]>;
}

/** Commits and what they changed; what was asked is kept. */
export interface RemoteChanges {
  commit(place: Place, signal: AbortSignal): Promise<CommitDiff>;
  /** Commits of a path, or all, newest first; without their files. */
  list(place: Place, query: { path?: string | undefined; limit: number }, signal: AbortSignal): Promise<CommitInfo[]>;
  /** Their files too, of the first 20 only, as each commit is a call of its own. */
  withFiles(place: Place, commits: readonly CommitInfo[], signal: AbortSignal): Promise<CommitInfo[]>;
}
