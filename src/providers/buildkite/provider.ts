import { z } from 'zod';
import { below } from '../probe.ts';
import type { Provider } from '../provider.ts';
import { tokenApi } from '../token-api.ts';
import type { BuildkiteSettings } from './settings.ts';
import { buildkiteWebhook } from './webhook.ts';

/** Buildkite: logs and artifacts of builds, with an API access token. It holds no code. */
export function buildkiteProvider(settings: BuildkiteSettings): Provider {
  const { baseUrl, token, webhookSecrets } = settings;
  return {
    name: 'buildkite',
    webhook: buildkiteWebhook(webhookSecrets),
    secrets: [...webhookSecrets, ...(token === null ? [] : [token])],
    connection: async () => (await import('./connection.ts')).buildkiteConnection(),
    openBuildSource: async (options) => (await import('./build-source.ts')).createBuildkiteBuildSource({ baseUrl, token, ...options }),
    openPastRuns: null,
    code: null,
    channels: [],
    ...tokenApi({
      ...{ name: 'buildkite', label: 'Buildkite' },
      probe: token === null ? null : { url: below(baseUrl, 'access-token'), headers: { authorization: `Bearer ${token}` } },
      lacking:
        webhookSecrets.length === 0
          ? null
          : {
              says: 'no token: logs of its builds cannot be fetched',
              mend: 'set FAULTLINE_BUILDKITE_TOKEN (read_builds, read_build_logs, read_artifacts)',
            },
      says: (json) => Token.transform(({ scopes }) => `token with ${scopes.join(', ') || 'no scope'}`).safeParse(json).data ?? null,
      mend: {
        reach: `check FAULTLINE_BUILDKITE_URL (${baseUrl}) and whether this machine can reach it`,
        token: 'create an API access token with read_builds, read_build_logs and read_artifacts, and set FAULTLINE_BUILDKITE_TOKEN',
        address: 'check FAULTLINE_BUILDKITE_URL: the API is at https://api.buildkite.com/v2',
      },
    }),
  };
}

const Token = z.object({ scopes: z.array(z.string()) });
