import { z } from 'zod';
import { apiAddress, credential, flag, setting, webhookSecrets } from '../../config/variable.ts';

/** Gitea and Forgejo: what they send, where logs and code are read, and what is written there. */
export const GiteaSettings = z.object({
  webhookSecrets: webhookSecrets(
    'FAULTLINE_GITEA_WEBHOOK_SECRET',
    'Gitea or Forgejo webhook secret. Two secrets, separated by a comma, during rotation.',
  ),
  /** Of the API; what people see in the browser becomes it. Null: nothing is read or written. */
  baseUrl: setting(
    'FAULTLINE_GITEA_URL',
    apiAddress(giteaApiAddress).nullable().default(null),
    'URL of Gitea or Forgejo, or of its API: https://git.example.com and https://git.example.com/api/v1 mean the same.',
  ),
  token: credential(
    'FAULTLINE_GITEA_TOKEN',
    'Token with the scopes read:repository (logs and code) and, for comments and statuses, write:repository, write:issue and read:user.',
  ),
  /** Written with that token. */
  comment: flag(
    'FAULTLINE_GITEA_COMMENT',
    'Set to true to post one comment on each pull request with a failed build and keep it up to date.',
  ),
  status: flag('FAULTLINE_GITEA_STATUS', 'Set to true to set a commit status on each commit with a failed build.'),
});
export type GiteaSettings = z.infer<typeof GiteaSettings>;

/** `https://host`, `https://host/git/` and `https://host/api/v1` all mean the API below. Without a slash at the end. */
function giteaApiAddress(text: string): string {
  const url = new URL(text);
  const path = url.pathname.replace(/\/$/, '');
  return `${url.origin}${path.endsWith('/api/v1') ? path : `${path}/api/v1`}`;
}
