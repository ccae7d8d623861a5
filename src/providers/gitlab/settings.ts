import { z } from 'zod';
import { apiAddress, credential, flag, setting, webhookSecrets } from '../../config/variable.ts';

/** GitLab: what it sends, where traces, reports and code are read, and what is written there. */
export const GitlabSettings = z.object({
  webhookSecrets: webhookSecrets(
    'FAULTLINE_GITLAB_WEBHOOK_SECRET',
    'GitLab webhook secret token, or signing token (whsec_…). Two, separated by a comma, during rotation.',
  ),
  /** Of the API; what people see in the browser becomes it. */
  baseUrl: setting(
    'FAULTLINE_GITLAB_URL',
    apiAddress(gitlabApiAddress).default('https://gitlab.com/api/v4'),
    'URL of GitLab or its API: https://gitlab.example.com and https://gitlab.example.com/api/v4 mean the same.',
  ),
  token: credential(
    'FAULTLINE_GITLAB_TOKEN',
    'Project, group or personal access token with the scope read_api or, for notes and statuses, api.',
  ),
  /** Written with that token. */
  comment: flag(
    'FAULTLINE_GITLAB_COMMENT',
    'Set to true to post one note on each merge request with a failed pipeline and keep it up to date.',
  ),
  status: flag(
    'FAULTLINE_GITLAB_STATUS',
    'Set to true to set an external commit status on each commit with a failed pipeline. GitLab counts it as a job of the pipeline.',
  ),
});
export type GitlabSettings = z.infer<typeof GitlabSettings>;

/** `https://host`, `https://host/gitlab/` and `https://host/api/v4` all mean the API below. Without a slash at the end. */
function gitlabApiAddress(text: string): string {
  const url = new URL(text);
  const path = url.pathname.replace(/\/$/, '');
  return `${url.origin}${path.endsWith('/api/v4') ? path : `${path}/api/v4`}`;
}
