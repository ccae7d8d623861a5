import { z } from 'zod';
import type { Variable } from '../../config/variable.ts';

/** Gitea and Forgejo: what they send, where logs and code are read, and what is written there. */
export const GiteaSettings = z.object({
  webhookSecrets: z.array(z.string().min(8)).default([]),
  /** Of the API; what people see in the browser becomes it. Null: nothing is read or written. */
  baseUrl: z
    .url({ protocol: /^https?$/ })
    .refine((text) => !/^https?:\/\/[^/]{0,400}@/.test(text), 'must not contain a user or password')
    .transform(giteaApiAddress)
    .nullable()
    .default(null),
  token: z.string().nullable().default(null),
  /** Written with that token. */
  comment: z.boolean().default(false),
  status: z.boolean().default(false),
});
export type GiteaSettings = z.infer<typeof GiteaSettings>;

/** `https://host`, `https://host/git/` and `https://host/api/v1` all mean the API below. Without a slash at the end. */
function giteaApiAddress(text: string): string {
  const url = new URL(text);
  const path = url.pathname.replace(/\/+$/, '');
  return `${url.origin}${path.endsWith('/api/v1') ? path : `${path}/api/v1`}`;
}

export const GITEA_VARIABLES: readonly Variable[] = [
  {
    name: 'FAULTLINE_GITEA_WEBHOOK_SECRET',
    path: 'providers.gitea.webhookSecrets',
    type: 'list',
    secret: true,
    meaning: 'Gitea or Forgejo webhook secret. Two secrets, separated by a comma, during rotation.',
  },
  {
    name: 'FAULTLINE_GITEA_URL',
    path: 'providers.gitea.baseUrl',
    type: 'text',
    meaning: 'URL of Gitea or Forgejo, or of its API: https://git.example.com and https://git.example.com/api/v1 mean the same.',
  },
  {
    name: 'FAULTLINE_GITEA_TOKEN',
    path: 'providers.gitea.token',
    type: 'text',
    secret: true,
    meaning:
      'Token with the scopes read:repository (logs and code) and, for comments and statuses, write:repository, write:issue and read:user.',
  },
  {
    name: 'FAULTLINE_GITEA_COMMENT',
    path: 'providers.gitea.comment',
    type: 'flag',
    meaning: 'Set to true to post one comment on each pull request with a failed build and keep it up to date.',
  },
  {
    name: 'FAULTLINE_GITEA_STATUS',
    path: 'providers.gitea.status',
    type: 'flag',
    meaning: 'Set to true to set a commit status on each commit with a failed build.',
  },
];
