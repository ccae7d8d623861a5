import { z } from 'zod';
import {
  createApiUrlSchema,
  defineCredential,
  defineSetting,
  defineWebhookSecrets,
  defineWriteSetting,
} from '../../config/variable.ts';
import { checkTokenApi, joinPath } from '../check.ts';
import { readActionsPath } from '../named-runs.ts';
import { createHostChannels, isOfHost } from '../notice-rules.ts';
import type { Provider } from '../provider.ts';
import { giteaWebhook } from './webhook.ts';

/** Creates the provider for Gitea and Forgejo: Actions, code, comments and commit statuses, with a token. */
export function createGiteaProvider(settings: GiteaSettings): Provider {
  const { baseUrl, token, webhookSecrets } = settings;
  const credentials = { baseUrl, token };
  const isReadable = baseUrl !== null && token !== null;
  const because = isReadable ? null : 'FAULTLINE_GITEA_URL and FAULTLINE_GITEA_TOKEN are not both set';
  return {
    name: 'gitea',
    webhook: giteaWebhook(webhookSecrets),
    secrets: [...webhookSecrets, ...(token === null ? [] : [token])],
    connection: async () => (await import('./connection.ts')).createGiteaConnection(settings),
    openBuildSource: async (options) =>
      (await import('./build-source.ts')).createGiteaBuildSource({ ...credentials, ...options }),
    openPastRuns: isReadable
      ? async ({ timeoutMs }) => (await import('./past-runs.ts')).createGiteaPastRuns(credentials, timeoutMs)
      : null,
    code: {
      configured: isReadable,
      baseUrl: baseUrl ?? '',
      open: async ({ timeoutMs }) =>
        (await import('./code-host.ts')).createGiteaHost({ ...credentials, timeoutMs }),
    },
    runs: {
      site: baseUrl?.replace(/\/api\/v1$/, '') ?? null,
      form: `${baseUrl?.replace(/\/api\/v1$/, '') ?? 'https://gitea.example.com'}/OWNER/NAME/actions/runs/ID`,
      read: readActionsPath,
      buildPath: (repository, id) => `${repository}/actions/runs/${id}`,
      load: async (run, { timeoutMs }, signal) =>
        (await import('./past-runs.ts')).loadGiteaRun(credentials, run, timeoutMs, signal),
    },
    rerun: null,
    channels: createHostChannels({
      name: 'gitea',
      commentPage: (repository, pullRequest, id) =>
        `${baseUrl?.replace(/\/api\/v1$/, '') ?? ''}/${repository}/pulls/${pullRequest}#issuecomment-${id}`,
      isOfOurs: isOfHost('gitea', baseUrl?.replace(/\/api\/v1$/, '/') ?? null),
      comment: {
        wanted: settings.writes.includes('comment'),
        because,
        client: async () => (await import('./notices.ts')).createGiteaCommentClient(credentials),
      },
      status: {
        wanted: settings.writes.includes('status'),
        because,
        client: async () => (await import('./notices.ts')).createGiteaStatusClient(credentials),
      },
    }),
    checks: () =>
      checkTokenApi({
        name: 'gitea',
        label: 'Gitea or Forgejo',
        probe: isReadable
          ? { url: joinPath(baseUrl, 'version'), headers: { authorization: `token ${token}` } }
          : null,
        lacking: describeMissing(settings),
        says: (json) => Version.transform(({ version }) => `version ${version}`).safeParse(json).data ?? null,
        remedy: {
          reach:
            'check FAULTLINE_GITEA_URL: is Gitea or Forgejo running there, and can this machine reach it?',
          token: 'create a token with read:repository and set FAULTLINE_GITEA_TOKEN',
          address: 'check FAULTLINE_GITEA_URL: its API is at https://HOST/api/v1',
        },
      }),
  };
}

const Version = z.object({ version: z.string() });

function describeMissing({ baseUrl, webhookSecrets }: GiteaSettings) {
  if (baseUrl !== null)
    return {
      says: 'no token: logs of private repositories cannot be fetched',
      remedy: 'set FAULTLINE_GITEA_TOKEN (read:repository)',
    };
  if (webhookSecrets.length === 0) return null;
  return {
    says: 'no URL: logs of its builds cannot be fetched',
    remedy: 'set FAULTLINE_GITEA_URL and FAULTLINE_GITEA_TOKEN',
  };
}

/** The settings of Gitea and Forgejo: webhooks, the source of logs and code, and notices. */
export const GiteaSettings = z.object({
  webhookSecrets: defineWebhookSecrets(
    'FAULTLINE_GITEA_WEBHOOK_SECRET',
    'Gitea or Forgejo webhook secret. Two secrets, separated by a comma, during rotation.',
  ),
  /** The URL of the API. A URL from the browser is converted to it. If null, nothing is read or written. */
  baseUrl: defineSetting(
    'FAULTLINE_GITEA_URL',
    createApiUrlSchema(toGiteaApiAddress).nullable().default(null),
    'URL of Gitea or Forgejo, or of its API: https://git.example.com and ' +
      'https://git.example.com/api/v1 mean the same.',
  ),
  token: defineCredential(
    'FAULTLINE_GITEA_TOKEN',
    'Token with the scopes read:repository (logs and code) and, for comments and statuses, ' +
      'write:repository, write:issue and read:user.',
  ),
  writes: defineWriteSetting(
    'FAULTLINE_GITEA_WRITES',
    ['comment', 'status'],
    'What may be written, separated by commas: comment (one on each pull request with a failed ' +
      'build, kept up to date) and status (a commit status on each commit with a failed build).',
  ),
});
export type GiteaSettings = z.infer<typeof GiteaSettings>;

/**
 * Converts `https://host`, `https://host/git/` and `https://host/api/v1` to the URL of the API, without a
 * slash at the end.
 */
function toGiteaApiAddress(text: string): string {
  const url = new URL(text);
  const path = url.pathname.replace(/\/$/, '');
  return `${url.origin}${path.endsWith('/api/v1') ? path : `${path}/api/v1`}`;
}
