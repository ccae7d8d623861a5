import { z } from 'zod';
import { githubApiAddress } from './github-address.ts';
import { GithubAppConfig } from './github-app.ts';

/** Where code is read. */
export const CodeHostConfig = z.object({
  /** auto: a clone where one is named, else GitHub where a token or an App is configured. */
  driver: z.enum(['auto', 'local-git', 'github', 'none']),
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

/** Where logs and reports of builds are fetched. */
export const BuildSourceConfig = z.object({
  github: z.object({
    /** Of the REST API; what people see in the browser becomes it. */
    baseUrl: z
      .url({ protocol: /^https?$/ })
      .refine((text) => !/^https?:\/\/[^/]{0,400}@/.test(text), 'must not contain a user or password')
      .transform(githubApiAddress),
    token: z.string().nullable(),
    /** Asked before the token, which serves repositories on which the App is not installed. */
    app: GithubAppConfig.nullable(),
  }),
  jenkins: z.object({ baseUrl: z.url().nullable(), user: z.string().nullable(), token: z.string().nullable() }),
  timeoutMs: z.int().positive(),
});

/** What holds where nobody says otherwise. */
export const USUAL_SOURCES = {
  codeHost: { driver: 'auto', clones: {} },
  webSearch: { driver: 'none', baseUrl: null, apiKey: null, timeoutMs: 10_000, pages: 2 },
  buildSource: {
    github: { baseUrl: 'https://api.github.com', token: null, app: null },
    jenkins: { baseUrl: null, user: null, token: null },
    timeoutMs: 60_000,
  },
} as const;
