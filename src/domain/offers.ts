import { z } from 'zod';

/** A value that a list can be filtered by, with how many of its rows have it. */
export const Offer = z.object({
  /** The field of the filter, such as `repository`. */
  field: z.string(),
  value: z.string(),
  count: z.int(),
});
export type Offer = z.infer<typeof Offer>;
