import { z } from 'zod';
import { below } from '../probe.ts';
import type { Provider } from '../provider.ts';
import { tokenApi } from '../token-api.ts';
import type { CircleciSettings } from './settings.ts';
import { circleciWebhook } from './webhook.ts';

/** CircleCI: the output of jobs, with a personal API token. It holds no code. */
export function circleciProvider(settings: CircleciSettings): Provider {
  const { baseUrl, token, webhookSecrets } = settings;
  return {
    name: 'circleci',
    webhook: circleciWebhook(webhookSecrets),
    secrets: [...webhookSecrets, ...(token === null ? [] : [token])],
    connection: async () => (await import('./connection.ts')).circleciConnection(settings),
    openBuildSource: async (options) => (await import('./build-source.ts')).createCircleciBuildSource({ baseUrl, token, ...options }),
    openPastRuns: null,
    code: null,
    channels: [],
    ...tokenApi({
      ...{ name: 'circleci', label: 'CircleCI' },
      probe: token === null ? null : { url: below(baseUrl, 'v2/me'), headers: { 'circle-token': token } },
      lacking:
        webhookSecrets.length === 0
          ? null
          : { says: 'no token: logs of private projects cannot be fetched', mend: 'set FAULTLINE_CIRCLECI_TOKEN (a personal API token)' },
      says: (json) => User.transform(({ login }) => `token of ${login}`).safeParse(json).data ?? null,
      mend: {
        reach: `check FAULTLINE_CIRCLECI_URL (${baseUrl}) and whether this machine can reach it`,
        token: 'create a personal API token and set FAULTLINE_CIRCLECI_TOKEN; project tokens cannot use version 2 of the API',
        address: 'check FAULTLINE_CIRCLECI_URL: its API is at https://HOST/api',
      },
    }),
  };
}

const User = z.object({ login: z.string() });
