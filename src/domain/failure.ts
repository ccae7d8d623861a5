import { z } from 'zod';
import { Category } from './category.ts';

/**
 * Lines of a stored log. `lineStart` and `lineEnd` count the elements of `text.split('\n')` from 1, and both
 * are included. A lone `\r` never ends a line.
 */
export const Excerpt = z.object({
  source: z.string(),
  lineStart: z.int().min(1),
  lineEnd: z.int().min(1),
  /**
   * The masked lines without the time stamps and columns of a CI system, at most 1,000 characters each,
   * joined with `\n`.
   */
  text: z.string(),
  /** The reason why the reducer kept it, for people: "pytest failure summary". */
  reason: z.string(),
  /** A higher weight means a more informative excerpt. */
  weight: z.number(),
});
export type Excerpt = z.infer<typeof Excerpt>;

/** One frame of a stack trace. `own` is false for library and runtime code. */
export const StackFrame = z.object({
  file: z.string(),
  line: z.int().nullable(),
  function: z.string().nullable(),
  own: z.boolean(),
});
export type StackFrame = z.infer<typeof StackFrame>;

/**
 * The versioned identity of a failure. Equal values mean the same failure only within one algorithm and
 * version.
 */
export const Fingerprint = z.object({ algorithm: z.string(), version: z.int(), value: z.string() });
export type Fingerprint = z.infer<typeof Fingerprint>;

/** A position in a log. */
export const LogPosition = z.object({ source: z.string(), line: z.int().min(1) });
export type LogPosition = z.infer<typeof LogPosition>;

/** The lines of a log or report. Lines are counted from 1, and both ends are included. */
export const LogRange = z.object({ source: z.string(), lineStart: z.int().min(1), lineEnd: z.int().min(1) });
export type LogRange = z.infer<typeof LogRange>;

/** A test that failed, as a report or a log named it. */
export const FailingTest = z.object({
  name: z.string(),
  suite: z.string().nullable(),
  file: z.string().nullable(),
  line: z.int().nullable(),
  message: z.string().nullable(),
  expected: z.string().nullable(),
  actual: z.string().nullable(),
  /** The extractor that named it: "pytest", "junit-xml". */
  framework: z.string(),
  at: LogPosition.nullable(),
  /** The lines that report it: each block in which it is named. Absent if only its position is known. */
  spans: z.array(LogRange).optional(),
  /** The paths of the files that its report attaches to it, as the report writes them; absent if none. */
  attachments: z.array(z.string()).optional(),
});
export type FailingTest = z.infer<typeof FailingTest>;

/** A message of a compiler, linter or package manager about one place. */
export const Diagnostic = z.object({
  tool: z.string(),
  severity: z.enum(['error', 'warning']),
  file: z.string().nullable(),
  line: z.int().nullable(),
  column: z.int().nullable(),
  code: z.string().nullable(),
  message: z.string(),
  at: LogPosition.nullable(),
});
export type Diagnostic = z.infer<typeof Diagnostic>;

/**
 * A thrown exception: `type` and `message` of the deepest cause, with the chain from the outermost to the
 * deepest.
 */
export const ThrownException = z.object({
  type: z.string(),
  message: z.string(),
  chain: z.array(z.string()),
  frames: z.array(StackFrame),
  /** The frames of the exceptions around the deepest cause, the innermost first. */
  outerFrames: z.array(StackFrame).optional(),
  at: LogPosition.nullable(),
});
export type ThrownException = z.infer<typeof ThrownException>;

/** An informative error line that no structured extractor claimed. The most informative come first. */
export const ErrorMessage = z.object({ text: z.string(), at: LogPosition.nullable(), weight: z.number() });
export type ErrorMessage = z.infer<typeof ErrorMessage>;

/** A range of lines of a log that one step printed. Lines are counted from 1, and both ends are included. */
export const Section = z.object({
  source: z.string(),
  name: z.string(),
  lineStart: z.int().min(1),
  lineEnd: z.int().min(1),
  failed: z.boolean(),
  /** The exit code of its last command, if the log states it. */
  exitCode: z.int().optional(),
  /**
   * True if it failed only because another one had failed before, such as a clean-up, or an upload of
   * something that was never built.
   */
  consequence: z.boolean().optional(),
  /**
   * True if it failed, the job continued as if it had not, and the job failed later. Such a section is never
   * a consequence.
   */
  tolerated: z.boolean().optional(),
  /**
   * The reason why it says nothing of its own if something else failed: it was stopped, it only checks how
   * jobs ended, or it found no files to report.
   */
  follows: z.enum(['stopped', 'other-jobs', 'no-files']).optional(),
});
export type Section = z.infer<typeof Section>;

/** The way a process ended: "exit code 137", "SIGSEGV". */
export const ExitMark = z.object({
  code: z.int().nullable(),
  signal: z.string().nullable(),
  source: z.string(),
  line: z.int(),
});
export type ExitMark = z.infer<typeof ExitMark>;

/** One failed test or step of a build, as read from its logs and reports. Everything in it is masked. */
export const Failure = z.object({
  id: z.string(),
  buildId: z.string(),
  test: FailingTest.nullable(),
  /** The line that describes the error. */
  message: z.string(),
  frames: z.array(StackFrame),
  excerpt: Excerpt.nullable(),
  /** The lines that belong to this failure and to no other. Absent if none are known. */
  spans: z.array(LogRange).optional(),
  /** The logs of the jobs in which it failed in the same way. Absent if it failed in one. */
  logs: z.array(z.string()).optional(),
  fingerprint: Fingerprint,
  /**
   * True if the fingerprint says that the same thing happened, but not why. It then consists of a test's name
   * and how the test ended (time limit, signal, or no message at all). Such failures are grouped and counted
   * by it, but no answer is ever recalled by it.
   */
  generic: z.boolean(),
  /** True if the job continued after it, and failed for another reason. */
  tolerated: z.boolean().optional(),
});
export type Failure = z.infer<typeof Failure>;

/**
 * A failure with its build's coordinates and, once it has one, its category. A person's decision takes
 * precedence over the machine's.
 */
export const FailureRow = z.object({
  failure: Failure,
  repository: z.string(),
  pipeline: z.string(),
  number: z.string(),
  branch: z.string().nullable(),
  commit: z.string().nullable(),
  category: Category.nullable(),
  analysisId: z.string().nullable(),
  /** The person who accepted or corrected the category; null or absent if the category is a machine's. */
  decidedBy: z.string().nullable().optional(),
  seenAt: z.string(),
});
export type FailureRow = z.infer<typeof FailureRow>;
