import { z } from 'zod';

/** The default branch of a pipeline, and the results of its builds. */
export const Lane = z.object({
  repository: z.string(),
  pipeline: z.string(),
  branch: z.string(),
  /** True if its newest build failed. */
  isRed: z.boolean(),
  /** The end of the first failed build since the last one that passed; null on a green branch. */
  redSince: z.iso.datetime().nullable(),
  /** The builds of a red branch, oldest first. Empty on a green branch. */
  builds: z.array(z.object({ at: z.iso.datetime(), failed: z.boolean() })),
  /** The total number of default branches, of which only some are listed. */
  of: z.int(),
});
export type Lane = z.infer<typeof Lane>;
