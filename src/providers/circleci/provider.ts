import { z } from 'zod';
import {
  createApiUrlSchema,
  defineCredential,
  defineSetting,
  defineWebhookSecrets,
  defineWriteSetting,
} from '../../config/variable.ts';
import { checkTokenApi, joinPath } from '../check.ts';
import type { Provider } from '../provider.ts';
import { circleciWebhook } from './webhook.ts';

/**
 * Creates the provider for CircleCI: the output of jobs, with a personal API token. CircleCI hosts no code.
 */
export function createCircleciProvider(settings: CircleciSettings): Provider {
  const { baseUrl, token, webhookSecrets } = settings;
  return {
    name: 'circleci',
    webhook: circleciWebhook(webhookSecrets),
    secrets: [...webhookSecrets, ...(token === null ? [] : [token])],
    connection: async () => (await import('./api.ts')).createCircleciConnection(settings),
    openBuildSource: async (options) =>
      (await import('./api.ts')).createCircleciBuildSource({ baseUrl, token, ...options }),
    openPastRuns: null,
    code: null,
    channels: [],
    runs: null,
    rerun: !settings.writes.includes('rerun')
      ? null
      : async (build, { signal }) =>
          (await import('./api.ts')).rerunOnCircleci({ baseUrl, token }, build, signal),
    checks: () =>
      checkTokenApi({
        name: 'circleci',
        label: 'CircleCI',
        probe:
          token === null ? null : { url: joinPath(baseUrl, 'v2/me'), headers: { 'circle-token': token } },
        lacking:
          webhookSecrets.length === 0
            ? null
            : {
                says: 'no token: logs of private projects cannot be fetched',
                remedy: 'set FAULTLINE_CIRCLECI_TOKEN (a personal API token)',
              },
        says: (json) => User.transform(({ login }) => `token of ${login}`).safeParse(json).data ?? null,
        remedy: {
          reach: `check FAULTLINE_CIRCLECI_URL (${baseUrl}) and whether this machine can reach it`,
          token:
            'create a personal API token and set FAULTLINE_CIRCLECI_TOKEN; ' +
            'project tokens cannot use version 2 of the API',
          address: 'check FAULTLINE_CIRCLECI_URL: its API is at https://HOST/api',
        },
      }),
  };
}

const User = z.object({ login: z.string() });

/** The settings of CircleCI: its webhooks and the source of step output. */
export const CircleciSettings = z.object({
  webhookSecrets: defineWebhookSecrets(
    'FAULTLINE_CIRCLECI_WEBHOOK_SECRET',
    'Secret token of the CircleCI webhook. Two, separated by a comma, during rotation.',
  ),
  baseUrl: defineSetting(
    'FAULTLINE_CIRCLECI_URL',
    createApiUrlSchema((text) => text.replace(/(?:\/api)?\/?$/, '/api')).default('https://circleci.com/api'),
    'URL of CircleCI, or of CircleCI server.',
  ),
  token: defineCredential(
    'FAULTLINE_CIRCLECI_TOKEN',
    'Personal API token of a user who may see the projects.',
  ),
  writes: defineWriteSetting(
    'FAULTLINE_CIRCLECI_WRITES',
    ['rerun'],
    'What may be written: rerun (reviewers may re-run failed jobs). The token may already do so.',
  ),
});
export type CircleciSettings = z.infer<typeof CircleciSettings>;
