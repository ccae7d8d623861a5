import { z } from 'zod';

/** A value that a list can be filtered by, and the number of rows that have it. */
export const Offer = z.object({
  /** The field of the filter, such as `repository`. */
  field: z.string(),
  value: z.string(),
  count: z.int(),
});
export type Offer = z.infer<typeof Offer>;
