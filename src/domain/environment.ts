import { z } from 'zod';
import { LogPosition } from './failure.ts';

/** The version of a runtime or compiler, as a line of the log shows it. */
export const ShownRuntime = z.object({
  tool: z.enum(['node', 'python', 'go', 'java', 'rust']),
  /** The version, as exact as in the log: "18.20.4", "3.8". */
  version: z.string(),
  at: LogPosition,
});
export type ShownRuntime = z.infer<typeof ShownRuntime>;

/** A released package that the log names and that the failure concerns. */
export const InvolvedArtifact = z.object({
  /** The name: `group:name` for Maven, the plain name elsewhere. */
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
  /** The other artifacts of its group that the build used. Those with another version come first. */
  siblings: z.array(z.object({ name: z.string(), version: z.string() })),
});
export type InvolvedArtifact = z.infer<typeof InvolvedArtifact>;

/** A change of a dependency's version that a title, a branch or a tool's output announces. */
export const AnnouncedChange = z.object({
  name: z.string(),
  from: z.string().nullable(),
  to: z.string(),
  /** The position in the log that announces the change; null if the build's branch announces it. */
  at: LogPosition.nullable(),
});
export type AnnouncedChange = z.infer<typeof AnnouncedChange>;

/** A run that was stopped from outside, and its duration according to the time stamps of its log. */
export const StoppedRun = z.object({
  /** The line that says that it was stopped. */
  at: LogPosition,
  /** The seconds since the first line of the job. Null if the log contains other jobs too. */
  jobSeconds: z.int().min(0).nullable(),
  /** The seconds since the first line of the step. Null if the log does not show where it begins. */
  stepSeconds: z.int().min(0).nullable(),
  /** The seconds since the previous line. */
  silentSeconds: z.int().min(0),
});
export type StoppedRun = z.infer<typeof StoppedRun>;

/** The versions that the failed step used according to the log, as far as they may matter for the failure. */
export const BuildEnvironment = z.object({
  runtimes: z.array(ShownRuntime),
  artifacts: z.array(InvolvedArtifact),
  /** The bills of materials that may have determined the artifacts' versions. */
  boms: z.array(z.object({ name: z.string(), version: z.string(), at: LogPosition })),
  changes: z.array(AnnouncedChange),
  /** The stopped run. Absent if the run was not stopped, or if its log has no time stamps. */
  stopped: StoppedRun.optional(),
});
export type BuildEnvironment = z.infer<typeof BuildEnvironment>;
