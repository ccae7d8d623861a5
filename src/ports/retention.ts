/** Which builds, and what hangs on them, are meant. */
export interface ForgetScope {
  /** Null: every repository but `except`. */
  readonly repository: string | null;
  readonly except: readonly string[];
  /** Received, or seen last, before this time (ISO 8601). */
  readonly before: string;
  /** Builds whose triage is owed or runs are left out. */
  readonly settledOnly: boolean;
}

/** Rows by table, under the words that people know. */
export type RowCounts = Readonly<
  Record<'builds' | 'failures' | 'analyses' | 'reviews' | 'conversations' | 'libraryEntries' | 'cachedAnswers', number>
>;

/** Deletes in batches, each of which is one transaction: a process may die between any two. */
export interface RetentionStore {
  /** Holds the office for `holdMs`, anew where it is held already; `false` where another process does. */
  hold(office: string, holder: string, holdMs: number): Promise<boolean>;
  /** Gives the office up. */
  leave(office: string, holder: string): Promise<void>;
  /** What `forgetBuilds` and `forgetRepository` would delete. */
  count(scope: ForgetScope): Promise<RowCounts>;
  /**
   * Deletes at most `limit` builds, oldest first, with everything that hangs on them, and owes the deletion of their texts. Of the audit trail
   * stays who did what and when. Returns how many.
   */
  forgetBuilds(scope: ForgetScope, limit: number): Promise<number>;
  /** Owes the deletion of the texts of at most `limit` builds that stay. Returns how many. */
  forgetLogs(scope: ForgetScope, limit: number): Promise<number>;
  /** Deletes at most `limit` library entries of the repository, owes their deletion in the index, and returns their ids. */
  forgetLibrary(scope: ForgetScope & { readonly repository: string }, limit: number): Promise<string[]>;
  /** Deletes what else is kept under the repository's name: answers of tools, deliveries that became no build, its default branch. */
  forgetRepository(scope: ForgetScope & { readonly repository: string }): Promise<void>;
  /** Builds whose texts are still to be deleted, in the order in which that was owed. */
  owedLogs(limit: number): Promise<string[]>;
  logsGone(buildIds: readonly string[]): Promise<void>;
  countOwedLogs(): Promise<number>;
}
