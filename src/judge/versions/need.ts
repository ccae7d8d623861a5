/** The names of runtimes, compilers and libraries. */
export type Tool = 'Node' | 'Python' | 'Go' | 'Java' | 'Rust' | 'glibc';

/** A need for a version that a line of the log or a table states. */
export interface VersionNeed {
  readonly tool: Tool;
  /** The name of what needs it, for use in a sentence: "`toReversed`", "spring-core-6.0.4.jar". */
  readonly subject: string;
  /** The first version that has it, or, with `isGone`, the first version that no longer has it. */
  readonly version: string;
  readonly isGone: boolean;
  /** The running version, if the same line states it. */
  readonly running: string | null;
  /** True if a table states the need. Then it only counts if the log shows the running version. */
  readonly isFromTable: boolean;
}
