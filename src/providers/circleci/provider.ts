import { z } from 'zod';
import {
  createApiUrlSchema,
  defineCredential,
  defineSetting,
  defineWebhookSecrets,
  defineWriteSetting,
} from '../../config/variable.ts';
import { checkTokenApi, joinPath } from '../check.ts';
import type { NamedRun } from '../named-runs.ts';
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
    runs: {
      site: toSiteUrl(baseUrl),
      form: `${toSiteUrl(baseUrl)}/pipelines/gh/OWNER/NAME/NUMBER/workflows/ID`,
      read: readWorkflowPath,
      buildPath: (repository, id) => `pipelines/gh/${repository}/0/workflows/${id}`,
      load: async (run, { timeoutMs }, signal) =>
        await (await import('./named-workflow.ts')).loadCircleciWorkflow(
          { baseUrl, token, siteUrl: toSiteUrl(baseUrl) },
          run,
          timeoutMs,
          signal,
        ),
    },
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

/** Returns the URL of the pages that belong to an API. In the cloud they are on a host of their own. */
function toSiteUrl(baseUrl: string): string {
  const site = baseUrl.replace(/\/api$/, '');
  return site === 'https://circleci.com' ? 'https://app.circleci.com' : site;
}

/** Reads `pipelines/gh/OWNER/NAME/NUMBER/workflows/ID`, with a job behind it. */
function readWorkflowPath(path: string): NamedRun | null {
  const [, repository, rest = ''] =
    /^pipelines\/([\w-]{2,20}\/[\w.-]{1,100}\/[\w.-]{1,100})\/(.*)$/.exec(path) ?? [];
  const [, id] = /^\d{1,9}\/workflows\/([0-9a-f-]{36})(?:\/|$)/.exec(rest) ?? [];
  return repository === undefined || id === undefined ? null : { repository, id, attempt: null };
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
