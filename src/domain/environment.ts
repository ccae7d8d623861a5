import { z } from 'zod';
import { LogPosition } from './failure.ts';

/** The version of a runtime or compiler, as a line of the log shows it. */
export const ShownRuntime = z.object({
  tool: z.enum(['node', 'python', 'go', 'java', 'rust']),
  /** "18.20.4", "3.8": as exact as the log is. */
  version: z.string(),
  at: LogPosition,
});
export type ShownRuntime = z.infer<typeof ShownRuntime>;

/** A released package that the log names and that the failure is about. */
export const InvolvedArtifact = z.object({
  /** `group:name` for Maven, the name elsewhere. */
  name: z.string(),
  version: z.string(),
  at: LogPosition,
  /**
   * The name of something missing or changed that belongs to the artifact, as the failure states it; null if
   * the failure states no such name.
   */
  symbol: z.string().nullable(),
  /** The dependency that it needs in another version than the build has; null if there is none. */
  needs: z
    .object({ name: z.string(), version: z.string(), used: z.string().nullable(), at: LogPosition })
    .nullable(),
  /** Other artifacts of its group that the build used; those of another version come first. */
  siblings: z.array(z.object({ name: z.string(), version: z.string() })),
});
export type InvolvedArtifact = z.infer<typeof InvolvedArtifact>;

/** A change of a dependency's version, as a title, a branch or a tool's output announces it. */
export const AnnouncedChange = z.object({
  name: z.string(),
  from: z.string().nullable(),
  to: z.string(),
  /** The position in the log that announces the change; null if the build's branch announces it. */
  at: LogPosition.nullable(),
});
export type AnnouncedChange = z.infer<typeof AnnouncedChange>;

/** A run that was stopped from outside, and how long it had taken by the time stamps of its log. */
export const StoppedRun = z.object({
  /** The line that says so. */
  at: LogPosition,
  /** Since the first line of the job; null if the log holds other jobs too. */
  jobSeconds: z.int().min(0).nullable(),
  /** Since the first line of the step; null if the log does not show where it begins. */
  stepSeconds: z.int().min(0).nullable(),
  /** Since the line before. */
  silentSeconds: z.int().min(0),
});
export type StoppedRun = z.infer<typeof StoppedRun>;

/**
 * The versions that the failed step worked with according to the log, as far as the failure may be about
 * them.
 */
export const BuildEnvironment = z.object({
  runtimes: z.array(ShownRuntime),
  artifacts: z.array(InvolvedArtifact),
  /** Bills of materials that may have chosen the artifacts' versions. */
  boms: z.array(z.object({ name: z.string(), version: z.string(), at: LogPosition })),
  changes: z.array(AnnouncedChange),
  /** Absent if the run was not stopped, or if its log has no time stamps. */
  stopped: StoppedRun.optional(),
});
export type BuildEnvironment = z.infer<typeof BuildEnvironment>;
