import { z } from 'zod';

/** What somebody set for the pages. Unknown fields of other versions are left out, broken ones read as the default. */
export const Preferences = z.object({
  /** Whether single keys act (WCAG 2.1.4 asks that they can be turned off). */
  keys: z.boolean().catch(true).default(true),
  theme: z.enum(['system', 'light', 'dark']).catch('system').default('system'),
  /** Whether long lines of logs wrap. */
  wrap: z.boolean().catch(true).default(true),
  /** Whether time stamps of logs are shown where every line has one. */
  timestamps: z.boolean().catch(false).default(false),
});
export type Preferences = z.infer<typeof Preferences>;

export const DEFAULT_PREFERENCES: Preferences = Preferences.parse({});
