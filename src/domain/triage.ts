import { z } from 'zod';
import { Build, GreenBuild } from './build.ts';
import { Failure } from './failure.ts';
import { Reading, Survey } from './reading.ts';
import { VersionChanges } from './version-changes.ts';

/** The work on one build: fetch, read, group, think. Its topic is `triage`, its key the build's id. */
export const TriageJob = z.object({
  buildId: z.string(),
  state: z.enum(['queued', 'running', 'done', 'failed']),
  /**
   * Attempts since the last request that are running or ended without a result, for example because the
   * process died.
   */
  attempts: z.int(),
  /** Attempts since the last request that failed with a temporary error. */
  retries: z.int(),
  /**
   * A counter that rises with each piece of news about the build, because its triage is then requested once
   * more.
   */
  requested: z.int(),
  /** The `requested` up to which the build's logs were fetched. */
  fetched: z.int(),
  error: z.string().nullable(),
  /** W3C traceparent of the request that caused it; null if tracing is off. */
  traceparent: z.string().nullable(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});
export type TriageJob = z.infer<typeof TriageJob>;

/** The work on one failure group. `id` is also the graph's thread id. `(buildId, fingerprint)` is unique. */
export const Triage = z.object({
  id: z.string(),
  buildId: z.string(),
  fingerprint: z.string(),
  state: z.enum(['open', 'concluded']),
  analysisId: z.string().nullable(),
});
export type Triage = z.infer<typeof Triage>;

/** Findings of one failure that are judged; a linter's are counted by rule. */
export const MAX_DIAGNOSTICS = 100;

/**
 * The input of the graph: one failure group of one build, as the reader produced it. Logs stay in the
 * archive; only excerpts are included, so that checkpoints stay small.
 */
export const TriageSubject = z.object({
  triageId: z.string(),
  build: Build,
  failures: z.array(Failure),
  /** The part of the reading that is about this group. */
  ...Reading.omit({ testResults: true, maskedSecrets: true }).shape,
  /** The green build since which some of the excerpts are new; absent if none of them is known to be new. */
  green: GreenBuild.optional(),
  /** The versions that changed since the last green run; absent if it is not known or nothing did. */
  changes: VersionChanges.optional(),
  /** The survey of the build's files; absent if there is nothing but one log. */
  survey: Survey.optional(),
});
export type TriageSubject = z.infer<typeof TriageSubject>;
