import { z } from 'zod';
import { defineCredential, defineWebhookSecrets, defineWriteSetting } from '../../config/variable.ts';
import { checkTokenApi, joinPath } from '../check.ts';
import type { Provider } from '../provider.ts';
import { buildkiteWebhook } from './webhook.ts';

/**
 * Creates the provider for Buildkite: logs and artifacts of builds, with an API access token. Buildkite hosts
 * no code.
 */
export function createBuildkiteProvider(settings: BuildkiteSettings): Provider {
  const { baseUrl, token, webhookSecrets } = settings;
  return {
    name: 'buildkite',
    webhook: buildkiteWebhook(webhookSecrets),
    secrets: [...webhookSecrets, ...(token === null ? [] : [token])],
    connection: async () => (await import('./api.ts')).createBuildkiteConnection(),
    openBuildSource: async (options) =>
      (await import('./api.ts')).createBuildkiteBuildSource({ baseUrl, token, ...options }),
    openPastRuns: null,
    code: null,
    channels: [],
    runs: null,
    rerun: !settings.writes.includes('rerun')
      ? null
      : async (build, { signal }) =>
          (await import('./api.ts')).rerunOnBuildkite({ baseUrl, token }, build, signal),
    checks: () =>
      checkTokenApi({
        name: 'buildkite',
        label: 'Buildkite',
        probe:
          token === null
            ? null
            : { url: joinPath(baseUrl, 'access-token'), headers: { authorization: `Bearer ${token}` } },
        lacking:
          webhookSecrets.length === 0
            ? null
            : {
                says: 'no token: logs of its builds cannot be fetched',
                remedy: 'set FAULTLINE_BUILDKITE_TOKEN (read_builds, read_build_logs, read_artifacts)',
              },
        says: (json) =>
          Token.transform(({ scopes }) => `token with ${scopes.join(', ') || 'no scope'}`).safeParse(json)
            .data ?? null,
        remedy: {
          reach: `can this machine reach ${baseUrl}?`,
          token:
            'create an API access token with read_builds, read_build_logs and read_artifacts, and ' +
            'set FAULTLINE_BUILDKITE_TOKEN',
          address: 'is a proxy answering in its place?',
        },
      }),
  };
}

const Token = z.object({ scopes: z.array(z.string()) });

/** The settings of Buildkite: its webhooks and the source of logs. */
export const BuildkiteSettings = z.object({
  webhookSecrets: defineWebhookSecrets(
    'FAULTLINE_BUILDKITE_WEBHOOK_SECRET',
    'Token of the Buildkite webhook, sent as it is or used to sign. ' +
      'Two, separated by a comma, during rotation.',
  ),
  /** The URL of Buildkite's API. There is only one. */
  baseUrl: z.url().default('https://api.buildkite.com/v2'),
  token: defineCredential(
    'FAULTLINE_BUILDKITE_TOKEN',
    'API access token with the scopes read_builds, read_build_logs and, for artifacts, read_artifacts.',
  ),
  writes: defineWriteSetting(
    'FAULTLINE_BUILDKITE_WRITES',
    ['rerun'],
    'What may be written: rerun (reviewers may re-run failed jobs). The token then needs ' + 'write_builds.',
  ),
});
export type BuildkiteSettings = z.infer<typeof BuildkiteSettings>;
