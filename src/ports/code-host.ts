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
  /** Null where the file does not exist. At most 200 lines a call; `lines` holds the requested window. */
  readFile(
    query: { repository: string; ref: string | null; path: string; lineStart?: number; lineEnd?: number },
    signal: AbortSignal,
  ): Promise<{ readonly path: string; readonly lineStart: number; readonly lines: readonly string[]; readonly totalLines: number } | null>;
  /** Literal, case-sensitive search; at most `limit` lines. */
  search(query: { repository: string; ref: string | null; text: string; limit: number }, signal: AbortSignal): Promise<CodeLine[]>;
  /** Paths whose end equals `suffix` (whole path segments), shortest first; finds a log's path in the repository. */
  findFiles(query: { repository: string; ref: string | null; suffix: string; limit: number }, signal: AbortSignal): Promise<string[]>;
  blame(
    query: { repository: string; ref: string | null; path: string; lineStart: number; lineEnd: number },
    signal: AbortSignal,
  ): Promise<BlameLine[]>;
  /** Newest first; of one path where given. */
  history(query: { repository: string; ref: string | null; path?: string; limit: number }, signal: AbortSignal): Promise<CommitInfo[]>;
}
