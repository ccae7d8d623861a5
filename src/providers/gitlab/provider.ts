import { z } from 'zod';
import { hostChannels, isOfHost } from '../notice-rules.ts';
import { below } from '../probe.ts';
import type { Provider } from '../provider.ts';
import { tokenApi } from '../token-api.ts';
import type { GitlabSettings } from './settings.ts';
import { gitlabWebhook } from './webhook.ts';

/** GitLab: pipelines, test reports, code, notes on merge requests and commit statuses, with a token of a project, a group or a person. */
export function gitlabProvider(settings: GitlabSettings): Provider {
  const { baseUrl, token, webhookSecrets } = settings;
  const credentials = { baseUrl, token };
  return {
    name: 'gitlab',
    webhook: gitlabWebhook(webhookSecrets),
    secrets: [...webhookSecrets, ...(token === null ? [] : [token])],
    connection: async () => (await import('./connection.ts')).gitlabConnection(settings),
    openBuildSource: async (options) => (await import('./build-source.ts')).createGitlabBuildSource({ ...credentials, ...options }),
    openPastRuns: async ({ timeoutMs }) => (await import('./past-runs.ts')).createGitlabPastRuns(credentials, timeoutMs),
    code: {
      configured: token !== null,
      baseUrl,
      open: async ({ timeoutMs }) => (await import('./code-host.ts')).createGitlabHost({ ...credentials, timeoutMs }),
    },
    channels: hostChannels({
      ...{ name: 'gitlab', comment: settings.comment, status: settings.status },
      because: token === null ? 'FAULTLINE_GITLAB_TOKEN is not set' : null,
      isOfOurs: isOfHost('gitlab', baseUrl.replace(/\/api\/v4$/, '/')),
      commentClient: async () => (await import('./notices.ts')).createGitlabCommentClient(credentials),
      statusClient: async () => (await import('./notices.ts')).createGitlabStatusClient(credentials),
    }),
    ...tokenApi({
      ...{ name: 'gitlab', label: 'GitLab' },
      probe: token === null ? null : { url: below(baseUrl, 'version'), headers: { 'private-token': token } },
      lacking:
        webhookSecrets.length === 0
          ? null
          : { says: 'no token: logs of its pipelines cannot be fetched', mend: 'set FAULTLINE_GITLAB_TOKEN (read_api)' },
      says: (json) => Version.transform(({ version }) => `version ${version}`).safeParse(json).data ?? null,
      mend: {
        reach: `check FAULTLINE_GITLAB_URL (${baseUrl}) and whether this machine can reach it`,
        token: 'create a token with the scope read_api and set FAULTLINE_GITLAB_TOKEN',
        address: 'check FAULTLINE_GITLAB_URL: its API is at https://HOST/api/v4',
      },
    }),
  };
}

const Version = z.object({ version: z.string() });
