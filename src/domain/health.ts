import { z } from 'zod';
import { Provider } from './build.ts';
import type { Period } from './insights.ts';

/** A period, and the period of the same length with which it is compared. Both are whole UTC days. */
export interface ComparedPeriod extends Period {
  /**
   * The first day of the other period, such as `2026-03-01`. If absent, the other period ends where this one
   * begins.
   */
  readonly comparedFrom?: string;
}

/**
 * The health figures of a pipeline, or of one of its branches, in a period and in the period with which it is
 * compared. Durations come from builds that report them.
 */
export const Health = z.object({
  provider: z.string(),
  repository: z.string(),
  pipeline: z.string(),
  /** The number of builds that passed or failed, on any branch unless one was chosen. */
  builds: z.int(),
  failed: z.int(),
  buildsBefore: z.int(),
  failedBefore: z.int(),
  /** The median run time of the newest 100 builds of the period, in minutes. Null if none is known. */
  minutes: z.number().nullable(),
  minutesBefore: z.number().nullable(),
  /** The same median for the time before they started. */
  queueMinutes: z.number().nullable(),
  queueMinutesBefore: z.number().nullable(),
  /** The chosen branch, or the default branch of the pipeline. Null if it is not known, or had no builds. */
  branch: z.string().nullable(),
  /** The hours during which the newest build of the branch was a failed one. */
  redHours: z.number(),
  /** True if the branch was red at the end of the period, or is red now if the period has not ended. */
  isRed: z.boolean(),
  /**
   * The number of times that the branch passed again, and the median hours from its first failed build until
   * then.
   */
  recoveries: z.int(),
  hoursToGreen: z.number().nullable(),
  /** The number of failed builds per UTC day of the period, oldest first. */
  perDay: z.array(z.int()),
});
export type Health = z.infer<typeof Health>;

/**
 * The jobs in which the newest failed builds of a period failed. A build counts once for each job that failed
 * in it.
 */
export const FailedJobs = z.object({
  /** The most frequent jobs, at most 50. */
  jobs: z.array(z.object({ job: z.string(), builds: z.int() })),
  /** The numbers of failed builds that were examined, and of those that name no job. */
  builds: z.int(),
  unknown: z.int(),
});
export type FailedJobs = z.infer<typeof FailedJobs>;

/**
 * Counts the builds of one repository that failed in a period and whose logs could not be read. The operator
 * has to fix that.
 */
export const UnreadLogs = z.object({
  provider: Provider,
  repository: z.string(),
  builds: z.int(),
  /** The newest of these builds, and the reason why its log could not be read. */
  buildId: z.string(),
  why: z.string(),
});
export type UnreadLogs = z.infer<typeof UnreadLogs>;

/** A deployment. Its texts are masked, and its URL uses HTTP or HTTPS. */
export interface Deployment {
  readonly repository: string;
  readonly environment: string;
  /** A tag, a branch, or the first characters of a commit. */
  readonly version: string;
  readonly url: string | null;
  /** The time in ISO 8601. */
  readonly at: string;
}

/**
 * An event that may explain a change of figures: a deployment of the repository, or a new release of
 * Faultline itself.
 */
export const Mark = z.object({
  kind: z.enum(['deployment', 'upgrade']),
  at: z.iso.datetime(),
  /** The name, such as "1.4.2 to production" or "Faultline 0.9.0". */
  name: z.string(),
  url: z.string().nullable(),
});
export type Mark = z.infer<typeof Mark>;

/** The health figures of one repository in a period. */
export const RepositoryHealth = z.object({
  branches: z.array(Health),
  jobs: FailedJobs,
  /** The number of builds that passed or failed per UTC day that had any, oldest first. */
  days: z.array(z.object({ day: z.string(), builds: z.int(), failed: z.int() })),
  /** The newest 100 marks, oldest first. */
  marks: z.array(Mark),
});
export type RepositoryHealth = z.infer<typeof RepositoryHealth>;
