/** Runtimes, compilers and libraries as people name them. */
export type Tool = 'Node' | 'Python' | 'Go' | 'Java' | 'Rust' | 'glibc';

/** A need that a line of the log states, or a table knows. */
export interface VersionNeed {
  readonly tool: Tool;
  /** The name of what needs it, ready for a sentence: "`toReversed`", "spring-core-6.0.4.jar". */
  readonly subject: string;
  /** The first version that has it, or with `isGone` the first that has it no more. */
  readonly version: string;
  readonly isGone: boolean;
  /** The version at work, where the same line says so. */
  readonly running: string | null;
  /** True if a table says so, which only counts against a version that the log shows. */
  readonly isFromTable: boolean;
}
