import { z } from 'zod';
import type { Period } from './insights.ts';

/** A period, and one of the same length that it is compared with. Both are whole UTC days. */
export interface ComparedPeriod extends Period {
  /** The first day of the other, `2026-03-01`; absent: it ends where this one begins. */
  readonly comparedFrom?: string;
}

/** How a pipeline, or one of its branches, did in a period, and in the one that it is compared with. Times are of builds that say them. */
export const Health = z.object({
  provider: z.string(),
  repository: z.string(),
  pipeline: z.string(),
  /** Builds that passed or failed, on any branch unless one is meant. */
  builds: z.int(),
  failed: z.int(),
  buildsBefore: z.int(),
  failedBefore: z.int(),
  /** Median run time of the newest 100 builds of the period, in minutes; null where none is known. */
  minutes: z.number().nullable(),
  minutesBefore: z.number().nullable(),
  /** The branch that is meant, or the default branch of the pipeline; null where that is not known, or had no builds. */
  branch: z.string().nullable(),
  /** Hours for which the newest build of the branch was a failed one. */
  redHours: z.number(),
  /** Whether it was at the end of the period, or is now. */
  isRed: z.boolean(),
  /** How often the branch passed again, and the median hours from its first failed build until then. */
  recoveries: z.int(),
  hoursToGreen: z.number().nullable(),
  /** Failed builds per UTC day of the period, oldest first. */
  perDay: z.array(z.int()),
});
export type Health = z.infer<typeof Health>;

/** How many failed builds failed in a job; of each that several jobs failed in, all. */
export const JobHealth = z.object({ job: z.string(), builds: z.int() });
export type JobHealth = z.infer<typeof JobHealth>;

/** In which jobs the newest failed builds of a period failed. */
export interface FailedJobs {
  readonly jobs: readonly JobHealth[];
  /** The failed builds that were looked at, and those of them that name no job. */
  readonly builds: number;
  readonly unknown: number;
}
