import { z } from 'zod';

/**
 * What a green log says, as templates instead of the log itself: a plain value that JSON keeps as it is. A template is a clean,
 * normalised line whose changing words are `<*>`. Everything in it is masked.
 */
export const Templates = z.object({
  /** Templates of another version are not understood. */
  version: z.literal(1),
  lines: z.array(z.string()),
});
export type Templates = z.infer<typeof Templates>;

/** A passed build that a failed one was compared with. */
export const GreenBuild = z.object({
  buildId: z.string(),
  /** As its CI shows it. */
  number: z.string(),
  url: z.string().nullable(),
});
export type GreenBuild = z.infer<typeof GreenBuild>;
