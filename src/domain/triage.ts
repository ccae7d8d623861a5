import { z } from 'zod';
import { Build, GreenBuild } from './build.ts';
import { Failure } from './failure.ts';
import { Reading, Survey } from './reading.ts';
import { VersionChanges } from './version-changes.ts';

/**
 * The work on one build: fetch, read, group, and analyze. Its topic is `triage`, and its key is the build's
 * id.
 */
export const TriageJob = z.object({
  buildId: z.string(),
  state: z.enum(['queued', 'running', 'done', 'failed']),
  /**
   * The number of attempts since the last request that are running or ended without a result, for example
   * because the process died.
   */
  attempts: z.int(),
  /** The number of attempts since the last request that failed with a temporary error. */
  retries: z.int(),
  /**
   * A counter that increases with each new piece of information about the build, because its triage is then
   * requested again.
   */
  requested: z.int(),
  /** The value of `requested` for which the build's logs were fetched last. */
  fetched: z.int(),
  error: z.string().nullable(),
  /** The W3C traceparent of the request that caused it. Null if tracing is off. */
  traceparent: z.string().nullable(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});
export type TriageJob = z.infer<typeof TriageJob>;

/**
 * The work on one failure group. `id` is also the id of the graph's thread. `(buildId, fingerprint)` is
 * unique.
 */
export const Triage = z.object({
  id: z.string(),
  buildId: z.string(),
  fingerprint: z.string(),
  state: z.enum(['open', 'concluded']),
  analysisId: z.string().nullable(),
});
export type Triage = z.infer<typeof Triage>;

/**
 * The maximum number of findings of one failure that are judged. Findings of a linter are counted by rule.
 */
export const MAX_DIAGNOSTICS = 100;

/**
 * The input of the graph: one failure group of one build, as the reader produced it. It contains only
 * excerpts of the logs, which stay in the archive, so that checkpoints stay small.
 */
export const TriageSubject = z.object({
  triageId: z.string(),
  build: Build,
  failures: z.array(Failure),
  /** The part of the reading that concerns this group. */
  ...Reading.omit({ testResults: true, maskedSecrets: true }).shape,
  /** The green build since which some of the excerpts are new. Absent if none of them is known to be new. */
  green: GreenBuild.optional(),
  /** The versions that changed since the last green run. Absent if they are not known or none changed. */
  changes: VersionChanges.optional(),
  /** The survey of the build's files. Absent if there is only one log. */
  survey: Survey.optional(),
});
export type TriageSubject = z.infer<typeof TriageSubject>;
