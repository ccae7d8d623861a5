export interface CodeLine {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

export interface CommitInfo {
  readonly commit: string;
  readonly author: string;
  readonly at: string;
  readonly subject: string;
  readonly files: readonly string[];
  /** The pull request that brought it, where the host or the commit's own words name it. */
  readonly pullRequest?: number | null;
}

export interface RepositoryInfo {
  /** `owner/name`. */
  readonly repository: string;
  readonly defaultBranch: string | null;
  readonly description: string | null;
}

/** How often the words of a search stand in a file, most telling first. */
export interface FileHits {
  readonly path: string;
  /** Of all words together. */
  readonly occurrences: number;
  /** How many of the different words the file holds. */
  readonly words: number;
}

export interface ChangedFile {
  readonly path: string;
  /** Where it was moved from; null where it was not. */
  readonly previousPath: string | null;
  readonly status: 'added' | 'modified' | 'removed' | 'renamed';
  /** Lines. 0 for binary files. */
  readonly additions: number;
  readonly deletions: number;
  /** Unified diff without its header, cut at 20,000 characters; null for binary files and where the host gives none. */
  readonly patch: string | null;
}

export interface Comparison {
  /** Newest first. */
  readonly commits: readonly CommitInfo[];
  readonly files: readonly ChangedFile[];
  /** There was more than the host or our limits give. */
  readonly truncated: boolean;
}

export interface BlameLine {
  readonly line: number;
  readonly commit: string;
  readonly author: string;
  readonly at: string;
  readonly subject: string;
  readonly text: string;
}

/**
 * Reads a repository, never writes. `ref` null means the default branch or the checked-out state. Paths are relative to
 * the repository's root with `/`; one that leaves it is refused (`invalid-input`).
 */
export interface CodeHost {
  readonly driver: string;
  /** Whether it can read this repository at all. */
  canRead(repository: string): Promise<boolean>;
  /**
   * The commit that can answer for `ref`. Where this host does not have `ref` (a clone that is behind), its default branch
   * answers and `note` says so for people; `ref` null: it has no commit at all. The other questions answer null or
   * nothing for a ref that is missing, so that no line is quoted from another commit unsaid.
   */
  resolve(
    query: { repository: string; ref: string | null },
    signal: AbortSignal,
  ): Promise<{ readonly ref: string | null; readonly note: string | null }>;
  /**
   * Null where the file does not exist. At most 200 lines a call; `lines` holds the requested window. A link within the
   * commit is followed: `path` is then the file it leads to. Throws `unsupported-type` for binary files, submodules, links
   * that lead nowhere and pointers of Git LFS, `too-large` above 5 MB.
   */
  readFile(
    query: { repository: string; ref: string | null; path: string; lineStart?: number; lineEnd?: number },
    signal: AbortSignal,
  ): Promise<{ readonly path: string; readonly lineStart: number; readonly lines: readonly string[]; readonly totalLines: number } | null>;
  /** Literal, case-sensitive search; at most `limit` lines. A host without a full index may miss lines, but quotes none of another commit. */
  search(query: { repository: string; ref: string | null; text: string; limit: number }, signal: AbortSignal): Promise<CodeLine[]>;
  /** Paths whose end equals `suffix` (whole path segments), shortest first; finds a log's path in the repository. */
  findFiles(query: { repository: string; ref: string | null; suffix: string; limit: number }, signal: AbortSignal): Promise<string[]>;
  /** At most 200 lines. Throws `forbidden` where the host tells only those with a token. */
  blame(
    query: { repository: string; ref: string | null; path: string; lineStart: number; lineEnd: number },
    signal: AbortSignal,
  ): Promise<BlameLine[]>;
  /** Newest first; of one path where given. Where files cost a call for each commit, only the first 20 carry theirs. */
  history(query: { repository: string; ref: string | null; path?: string; limit: number }, signal: AbortSignal): Promise<CommitInfo[]>;
  /** Commits that touched these lines, newest first; at most 200 lines. */
  lineHistory(
    query: { repository: string; ref: string | null; path: string; lineStart: number; lineEnd: number; limit: number },
    signal: AbortSignal,
  ): Promise<CommitInfo[]>;
  /** Repositories that can be read, by name; at most `limit`. */
  listRepositories(query: { limit: number }, signal: AbortSignal): Promise<RepositoryInfo[]>;
  /** Paths of all files, or of those below a folder, in order of their names, without submodules; at most `limit`. */
  listFiles(
    query: { repository: string; ref: string | null; under?: string; limit: number },
    signal: AbortSignal,
  ): Promise<{ readonly paths: readonly string[]; readonly truncated: boolean }>;
  /** Files that hold any of the literal words (1 to 16, in any case), most different words and most occurrences first. */
  searchFiles(
    query: { repository: string; ref: string | null; words: readonly string[]; limit: number },
    signal: AbortSignal,
  ): Promise<FileHits[]>;
  /** What one commit changed against its first parent; null where there is no such commit. */
  commitDiff(
    query: { repository: string; commit: string },
    signal: AbortSignal,
  ): Promise<(Pick<Comparison, 'files' | 'truncated'> & { readonly commit: CommitInfo }) | null>;
  /** What `head` has that `base` has not (since their merge base); null where either is missing or they share no history. */
  compare(query: { repository: string; base: string; head: string }, signal: AbortSignal): Promise<Comparison | null>;
}
