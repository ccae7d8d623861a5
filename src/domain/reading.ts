import { z } from 'zod';
import { TestResult } from './build.ts';
import {
  Diagnostic,
  ErrorMessage,
  Excerpt,
  ExitMark,
  FailingTest,
  type Failure,
  Fingerprint,
  Section,
  ThrownException,
} from './failure.ts';

/** What `src/log` makes of all logs and reports of one build. Pure data; everything in it is masked. */
export const Reading = z.object({
  excerpts: z.array(Excerpt),
  /** Tokens of all excerpts together. */
  tokens: z.int(),
  failingTests: z.array(FailingTest),
  testResults: z.array(TestResult),
  diagnostics: z.array(Diagnostic),
  exceptions: z.array(ThrownException),
  messages: z.array(ErrorMessage),
  exits: z.array(ExitMark),
  /** The failed sections, or empty where the log has none. */
  failedSections: z.array(Section),
  /** Toolchains seen at work: "pytest", "npm", "maven". */
  toolchains: z.array(z.string()),
  /** Of the build as a whole: of its first failure. */
  fingerprint: Fingerprint,
  /** The same as a failure's: the fingerprint groups, but never recalls an answer. */
  generic: z.boolean(),
  sources: z.array(z.object({ name: z.string(), lines: z.int(), bytes: z.int() })),
  /** How many secrets were hidden. */
  maskedSecrets: z.int(),
  /** Honest remarks: binary input, invalid UTF-8, no error found. */
  notes: z.array(z.string()),
});
export type Reading = z.infer<typeof Reading>;

/** Failures of one build that share a cause and get one triage; the fingerprint is that of the first. No answer is recalled for a generic one. */
export interface FailureGroup {
  readonly fingerprint: Fingerprint;
  readonly generic: boolean;
  readonly failures: readonly Failure[];
}
