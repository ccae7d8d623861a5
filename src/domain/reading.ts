import { z } from 'zod';
import { SourceKind, TestResult } from './build.ts';
import { BuildEnvironment } from './environment.ts';
import {
  Diagnostic,
  ErrorMessage,
  Excerpt,
  ExitMark,
  FailingTest,
  type Failure,
  Fingerprint,
  LogPosition,
  LogRange,
  Section,
  ThrownException,
} from './failure.ts';

/**
 * A test that failed first and passed when it was run again in the same build. It is not a failure of the
 * build.
 */
export const PassedOnRetry = z.object({
  name: z.string(),
  suite: z.string().nullable(),
  at: LogPosition.nullable(),
});
export type PassedOnRetry = z.infer<typeof PassedOnRetry>;

/** The maximum number of ranges of other failures' lines that are kept, so that checkpoints stay small. */
export const MAX_FOREIGN = 200;

/**
 * The result of reading all logs and reports of one build in `src/log`. It is plain data, and all of it is
 * masked.
 */
export const Reading = z.object({
  excerpts: z.array(Excerpt),
  /** The number of tokens of all excerpts together. */
  tokens: z.int(),
  failingTests: z.array(FailingTest),
  /**
   * The tests that failed and passed when they were run again. They are flaky here, and never among the
   * failing ones.
   */
  passedOnRetry: z.array(PassedOnRetry).optional(),
  testResults: z.array(TestResult),
  diagnostics: z.array(Diagnostic),
  exceptions: z.array(ThrownException),
  messages: z.array(ErrorMessage),
  exits: z.array(ExitMark),
  /** The failed sections; empty if the log has none. */
  failedSections: z.array(Section),
  /**
   * The lines of the build's other failures, which are answered apart; at most {@link MAX_FOREIGN} ranges.
   * Absent if there are none.
   */
  foreign: z.array(LogRange).optional(),
  /** The toolchains that the logs show: "pytest", "npm", "maven". */
  toolchains: z.array(z.string()),
  /** The versions that may matter for the failure. Absent if the logs show none. */
  environment: BuildEnvironment.optional(),
  /** The fingerprint of the build as a whole, which is that of its first failure. */
  fingerprint: Fingerprint,
  /**
   * The same as a failure's `generic`: the fingerprint is used for grouping, but never to recall an answer.
   */
  generic: z.boolean(),
  /** The logs and reports in their archived form. */
  sources: z.array(z.object({ name: z.string(), lines: z.int(), bytes: z.int() })),
  /** True if every log belongs to a run that passed, whatever errors it prints. */
  hasPassed: z.boolean().optional(),
  /** The number of secrets that were hidden. */
  maskedSecrets: z.int(),
  /** Notes such as: binary input, invalid UTF-8, no error found. */
  notes: z.array(z.string()),
});
export type Reading = z.infer<typeof Reading>;

/**
 * The failures of one build that share a cause and get one triage. The fingerprint is that of the first. No
 * answer is recalled for a generic one.
 */
export interface FailureGroup {
  readonly fingerprint: Fingerprint;
  readonly generic: boolean;
  readonly failures: readonly Failure[];
}

/** The expected value of a build's file, before it is read in depth. */
export const FileGrade = z.enum(['relevant', 'maybe', 'skip']);
export type FileGrade = z.infer<typeof FileGrade>;

/** One log, report or artifact of a build, as the survey found it. */
export const SurveyedFile = z.object({
  name: z.string(),
  kind: SourceKind,
  /** A description for people: "JVM crash report", "a PNG image". */
  what: z.string(),
  grade: FileGrade,
  /** The reason for the grade; for people. */
  reason: z.string(),
  /** Its most informative lines, shortened. */
  preview: z.string(),
  lines: z.int(),
  bytes: z.int(),
  /**
   * The reason why it was read: as one of the build's logs and reports (`own`), for its grade (`relevant`),
   * or because another file refers to it (`referred`); null if it was not read.
   */
  read: z.enum(['own', 'relevant', 'referred']).nullable(),
  /** The line that refers to it, if there is one. */
  referredBy: z.object({ source: z.string(), line: z.int().min(1) }).optional(),
});
export type SurveyedFile = z.infer<typeof SurveyedFile>;

/** The result of the survey of a build's files, the most informative first. */
export const Survey = z.object({
  files: z.array(SurveyedFile),
  /** The number of files that are not listed, because there are too many. */
  unlisted: z.int(),
  /** The files to which a text refers and that the build did not bring. */
  missing: z.array(z.object({ path: z.string(), source: z.string(), line: z.int().min(1) })),
});
export type Survey = z.infer<typeof Survey>;
