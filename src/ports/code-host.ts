export interface CodeLine {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

export interface CommitInfo {
  readonly commit: string;
  readonly author: string;
  /** The time of the change by its author, in ISO 8601. */
  readonly at: string;
  readonly subject: string;
  readonly files: readonly string[];
  /** The pull request of the commit, if the host or the commit message names it. */
  readonly pullRequest?: number | null;
}

export interface RepositoryInfo {
  /** `owner/name`. */
  readonly repository: string;
  readonly defaultBranch: string | null;
  readonly description: string | null;
}

/** A file that contains words of a search. */
export interface FileHits {
  readonly path: string;
  /** The number of occurrences of all words together. */
  readonly occurrences: number;
  /** The number of different words that the file contains. */
  readonly words: number;
}

export interface ChangedFile {
  readonly path: string;
  /** The path before a rename. Null if the file was not moved. */
  readonly previousPath: string | null;
  readonly status: 'added' | 'modified' | 'removed' | 'renamed';
  /** The number of added lines. 0 for binary files. */
  readonly additions: number;
  readonly deletions: number;
  /**
   * The unified diff without its header, cut at 20,000 characters. Null for binary files, and if the host
   * returns none.
   */
  readonly patch: string | null;
}

export interface Comparison {
  /** The commits, newest first. */
  readonly commits: readonly CommitInfo[];
  readonly files: readonly ChangedFile[];
  /** True if there is more than the host or our limits return. */
  readonly truncated: boolean;
}

export interface BlameLine {
  readonly line: number;
  readonly commit: string;
  readonly author: string;
  /** The time of the change by its author, in ISO 8601. */
  readonly at: string;
  readonly subject: string;
  readonly text: string;
}

/**
 * A reader of repositories. It never writes. If `ref` is null, the default branch or the checked-out state is
 * read. Paths are relative to the repository's root and use `/`. A path that leaves the repository is refused
 * (`invalid-input`).
 */
export interface CodeHost {
  readonly driver: string;
  /** Returns true if the host can read this repository. */
  canRead(repository: string): Promise<boolean>;
  /**
   * Resolves `ref` to the commit that can be read. If this host does not have `ref` (for example because a
   * clone is behind), it resolves as for a null `ref`, and `note` says so for people. Returns `ref` null if
   * there is no commit at all. The other methods return null or nothing for a missing ref, so that no line of
   * another commit is quoted unnoticed.
   */
  resolve(
    query: { repository: string; ref: string | null },
    signal: AbortSignal,
  ): Promise<{ readonly ref: string | null; readonly note: string | null }>;
  /**
   * Reads at most 200 lines of a file; `lines` is the requested range. Returns null if the file does not
   * exist. A link within the commit is followed, and `path` is then its target. Throws `unsupported-type` for
   * binary files, submodules, broken links and Git LFS pointers, and `too-large` above 5 MB.
   */
  readFile(
    query: { repository: string; ref: string | null; path: string; lineStart?: number; lineEnd?: number },
    signal: AbortSignal,
  ): Promise<{
    readonly path: string;
    readonly lineStart: number;
    readonly lines: readonly string[];
    readonly totalLines: number;
  } | null>;
  /**
   * Searches for a literal text, case-sensitive; returns at most `limit` lines. A host without a full index
   * may miss lines, but never quotes a line of another commit. `isPattern`: the text is a regular expression
   * in RE2's syntax, which a host may refuse (`invalid-input`).
   */
  search(
    query: { repository: string; ref: string | null; text: string; limit: number; isPattern?: boolean },
    signal: AbortSignal,
  ): Promise<CodeLine[]>;
  /**
   * Finds paths that end with the path segments of `suffix`, shortest first. This finds the file that a path
   * in a log names.
   */
  findFiles(
    query: { repository: string; ref: string | null; suffix: string; limit: number },
    signal: AbortSignal,
  ): Promise<string[]>;
  /**
   * Returns who last changed each line, for at most 200 lines. Throws `forbidden` if the host requires a
   * token for this.
   */
  blame(
    query: { repository: string; ref: string | null; path: string; lineStart: number; lineEnd: number },
    signal: AbortSignal,
  ): Promise<BlameLine[]>;
  /**
   * Returns commits, newest first. If `path` is given, returns only those that touch it. If listing files
   * needs a call for each commit, only the first 20 commits include them.
   */
  history(
    query: { repository: string; ref: string | null; path?: string; limit: number },
    signal: AbortSignal,
  ): Promise<CommitInfo[]>;
  /** Returns the commits that touched these lines, newest first. At most 200 lines. */
  lineHistory(
    query: {
      repository: string;
      ref: string | null;
      path: string;
      lineStart: number;
      lineEnd: number;
      limit: number;
    },
    signal: AbortSignal,
  ): Promise<CommitInfo[]>;
  /** Lists the repositories that can be read, by name. At most `limit`. */
  listRepositories(query: { limit: number }, signal: AbortSignal): Promise<RepositoryInfo[]>;
  /**
   * Lists the paths of all files, or of those below a folder, sorted by name and without submodules. At most
   * `limit`.
   */
  listFiles(
    query: { repository: string; ref: string | null; under?: string; limit: number },
    signal: AbortSignal,
  ): Promise<{ readonly paths: readonly string[]; readonly truncated: boolean }>;
  /**
   * Returns files that contain any of the literal words (1 to 16, ignoring case). Files with the most
   * different words come first, then those with the most occurrences.
   */
  searchFiles(
    query: { repository: string; ref: string | null; words: readonly string[]; limit: number },
    signal: AbortSignal,
  ): Promise<FileHits[]>;
  /** Returns the changes of one commit against its first parent, or null if there is no such commit. */
  commitDiff(
    query: { repository: string; commit: string },
    signal: AbortSignal,
  ): Promise<(Pick<Comparison, 'files' | 'truncated'> & { readonly commit: CommitInfo }) | null>;
  /**
   * Returns the changes in `head` that are not in `base` (since their merge base). Returns null if either is
   * missing or if they share no history.
   */
  compare(
    query: { repository: string; base: string; head: string },
    signal: AbortSignal,
  ): Promise<Comparison | null>;
}
