import { z } from 'zod';
import { hostChannels, isOfHost } from '../notice-rules.ts';
import { below } from '../probe.ts';
import type { Provider } from '../provider.ts';
import { tokenApi } from '../token-api.ts';
import type { GiteaSettings } from './settings.ts';
import { giteaWebhook } from './webhook.ts';

/** Gitea and Forgejo: Actions, code, comments and commit statuses, with a token. */
export function giteaProvider(settings: GiteaSettings): Provider {
  const { baseUrl, token, webhookSecrets } = settings;
  const credentials = { baseUrl, token };
  const isReadable = baseUrl !== null && token !== null;
  return {
    name: 'gitea',
    webhook: giteaWebhook(webhookSecrets),
    secrets: [...webhookSecrets, ...(token === null ? [] : [token])],
    connection: async () => (await import('./connection.ts')).giteaConnection(settings),
    openBuildSource: async (options) => (await import('./build-source.ts')).createGiteaBuildSource({ ...credentials, ...options }),
    openPastRuns: isReadable ? async ({ timeoutMs }) => (await import('./past-runs.ts')).createGiteaPastRuns(credentials, timeoutMs) : null,
    code: {
      configured: isReadable,
      baseUrl: baseUrl ?? '',
      open: async ({ timeoutMs }) => (await import('./code-host.ts')).createGiteaHost({ ...credentials, timeoutMs }),
    },
    channels: hostChannels({
      ...{ name: 'gitea', comment: settings.comment, status: settings.status },
      because: isReadable ? null : 'FAULTLINE_GITEA_URL and FAULTLINE_GITEA_TOKEN are not both set',
      isOfOurs: isOfHost('gitea', baseUrl?.replace(/\/api\/v1$/, '/') ?? null),
      commentClient: async () => (await import('./notices.ts')).createGiteaCommentClient(credentials),
      statusClient: async () => (await import('./notices.ts')).createGiteaStatusClient(credentials),
    }),
    ...tokenApi({
      ...{ name: 'gitea', label: 'Gitea or Forgejo' },
      probe: isReadable ? { url: below(baseUrl, 'version'), headers: { authorization: `token ${token}` } } : null,
      lacking: lackingOf(settings),
      says: (json) => Version.transform(({ version }) => `version ${version}`).safeParse(json).data ?? null,
      mend: {
        reach: 'check FAULTLINE_GITEA_URL: is Gitea or Forgejo running there, and can this machine reach it?',
        token: 'create a token with read:repository and set FAULTLINE_GITEA_TOKEN',
        address: 'check FAULTLINE_GITEA_URL: its API is at https://HOST/api/v1',
      },
    }),
  };
}

const Version = z.object({ version: z.string() });

function lackingOf({ baseUrl, webhookSecrets }: GiteaSettings) {
  if (baseUrl !== null)
    return { says: 'no token: logs of private repositories cannot be fetched', mend: 'set FAULTLINE_GITEA_TOKEN (read:repository)' };
  if (webhookSecrets.length === 0) return null;
  return { says: 'no URL: logs of its builds cannot be fetched', mend: 'set FAULTLINE_GITEA_URL and FAULTLINE_GITEA_TOKEN' };
}
