import { z } from 'zod';

/** A value for filtering a list, and the number of rows that have it. */
export const Offer = z.object({
  /** The field of the filter, such as `repository`. */
  field: z.string(),
  value: z.string(),
  count: z.int(),
});
export type Offer = z.infer<typeof Offer>;
