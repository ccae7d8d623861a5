import { z } from 'zod';
import { CODE_HOSTS } from '../providers/settings.ts';

/** Where code is read. */
export const CodeHostConfig = z.object({
  /** auto: a clone where one is named, else each provider for which credentials are configured. */
  driver: z.enum(['auto', 'local-git', 'none', ...CODE_HOSTS]),
  /** `owner/name` → folder of a local clone. */
  clones: z.record(z.string(), z.string()),
});

/** Who searches the web, where everything else failed. */
export const WebSearchConfig = z
  .object({
    driver: z.enum(['none', 'searxng', 'brave', 'tavily']),
    /** Null: the provider's own address. */
    baseUrl: z.url({ protocol: /^https?$/ }).nullable(),
    apiKey: z.string().nullable(),
    /** Of one search, in milliseconds. */
    timeoutMs: z.int().positive(),
    /** The pages of so many first results are read. */
    pages: z.int().min(0).max(5),
  })
  .refine(({ driver, baseUrl }) => driver !== 'searxng' || baseUrl !== null, { path: ['baseUrl'], error: 'searxng needs an address' })
  .refine(({ driver, apiKey }) => (driver !== 'brave' && driver !== 'tavily') || apiKey !== null, {
    path: ['apiKey'],
    error: 'brave and tavily need a key',
  });

/** What holds where nobody says otherwise. */
export const USUAL_SOURCES = {
  codeHost: { driver: 'auto', clones: {} },
  webSearch: { driver: 'none', baseUrl: null, apiKey: null, timeoutMs: 10_000, pages: 2 },
  buildSource: { timeoutMs: 60_000 },
} as const;
