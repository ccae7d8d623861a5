import { z } from 'zod';
import { Build } from './build.ts';
import { Diagnostic, ErrorMessage, Excerpt, ExitMark, FailingTest, Failure, Fingerprint, Section, ThrownException } from './failure.ts';
import { GreenBuild } from './green.ts';
import { Survey } from './survey.ts';

/**
 * What the graph is given to think about: one failure group of one build, as the reader left it. Logs stay in the
 * archive; only excerpts are here, so that a checkpoint stays small.
 */
export const TriageSubject = z.object({
  triageId: z.string(),
  build: Build,
  failures: z.array(Failure),
  fingerprint: Fingerprint,
  generic: z.boolean(),
  excerpts: z.array(Excerpt),
  failingTests: z.array(FailingTest),
  diagnostics: z.array(Diagnostic),
  exceptions: z.array(ThrownException),
  messages: z.array(ErrorMessage),
  exits: z.array(ExitMark),
  failedSections: z.array(Section),
  toolchains: z.array(z.string()),
  notes: z.array(z.string()),
  /** Names of the archived logs and reports, with their size in lines. */
  sources: z.array(z.object({ name: z.string(), lines: z.int(), bytes: z.int() })),
  tokens: z.int(),
  /** The green build since which some of the excerpts are new; absent where none of them is known to be. */
  green: GreenBuild.optional(),
  /** What was made of the build's files; absent where there is nothing but one log. */
  survey: Survey.optional(),
});
export type TriageSubject = z.infer<typeof TriageSubject>;
