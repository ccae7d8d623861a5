import { z } from 'zod';
import {
  createApiUrlSchema,
  defineCredential,
  defineSetting,
  defineWebhookSecrets,
} from '../../config/variable.ts';
import { checkTokenApi, createBasicAuth, joinPath } from '../check.ts';
import type { NamedRun } from '../named-runs.ts';
import type { Provider } from '../provider.ts';
import { azureWebhook } from './webhook.ts';

/**
 * Creates the provider for Azure Pipelines: logs of builds, with a personal access token. Code in Azure Repos
 * is not read.
 */
export function createAzureProvider(settings: AzureSettings): Provider {
  const { baseUrl, token, webhookSecrets } = settings;
  const isReadable = baseUrl !== null && token !== null;
  return {
    name: 'azure',
    webhook: azureWebhook(webhookSecrets),
    secrets: [...webhookSecrets, ...(token === null ? [] : [token])],
    connection: async () => (await import('./api.ts')).createAzureConnection(settings),
    openBuildSource: async (options) =>
      (await import('./api.ts')).createAzureBuildSource({ baseUrl, token, ...options }),
    openPastRuns: null,
    code: null,
    runs: {
      site: baseUrl,
      form: `${baseUrl ?? 'https://dev.azure.com/ORGANIZATION'}/PROJECT/_build/results?buildId=ID`,
      read: readBuildAddress,
      buildPath: (repository, id) => `${repository}/_build/results?buildId=${id}`,
      load: async (run, { timeoutMs }, signal) =>
        await (await import('./named-build.ts')).loadAzureBuild({ baseUrl, token }, run, timeoutMs, signal),
    },
    rerun: null,
    channels: [],
    checks: () =>
      checkTokenApi({
        name: 'azure',
        label: 'Azure DevOps',
        probe: isReadable
          ? {
              url: joinPath(baseUrl, '_apis/projects?$top=1&api-version=7.0'),
              headers: { authorization: createBasicAuth('', token) },
            }
          : null,
        lacking:
          webhookSecrets.length === 0 && baseUrl === null
            ? null
            : {
                says: 'no URL or token: logs of its builds cannot be fetched',
                remedy: 'set FAULTLINE_AZURE_URL and FAULTLINE_AZURE_TOKEN',
              },
        // If the token is not accepted, the response is 203 with a sign-in page.
        says: (json) =>
          Projects.transform(({ count }) =>
            count === 0 ? 'responds, but the token has access to no project' : 'answers',
          ).safeParse(json).data ?? null,
        remedy: {
          reach: 'check FAULTLINE_AZURE_URL and whether this machine can reach it',
          token: 'create a personal access token with Build (Read) and set FAULTLINE_AZURE_TOKEN',
          address:
            'check FAULTLINE_AZURE_URL (https://dev.azure.com/ORGANIZATION) and that ' +
            'FAULTLINE_AZURE_TOKEN has not expired',
        },
      }),
  };
}

const Projects = z.object({ count: z.int() });

/** Reads `PROJECT/_build/results?buildId=ID`. */
function readBuildAddress(path: string, query?: URLSearchParams): NamedRun | null {
  const [, project] = /^([^/]{1,300})\/_build\/results\/?$/.exec(path) ?? [];
  const [id] = /^\d{1,15}$/.exec(query?.get('buildId') ?? '') ?? [];
  if (project === undefined || id === undefined) return null;
  try {
    return { repository: decodeURIComponent(project), id, attempt: null };
  } catch {
    return null;
  }
}

/** The settings of Azure Pipelines: its webhooks and the source of logs. */
export const AzureSettings = z.object({
  webhookSecrets: defineWebhookSecrets(
    'FAULTLINE_AZURE_WEBHOOK_SECRET',
    'Password of the Azure DevOps service hook, or the value of its header X-Faultline-Token. ' +
      'Two, separated by a comma, during rotation.',
  ),
  /** The URL of the API. Without it, nothing is requested. */
  baseUrl: defineSetting(
    'FAULTLINE_AZURE_URL',
    createApiUrlSchema((text) => text.replace(/\/$/, ''))
      .nullable()
      .default(null),
    'URL of the Azure DevOps organization, such as https://dev.azure.com/acme, or of a collection of ' +
      'Azure DevOps Server.',
  ),
  token: defineCredential('FAULTLINE_AZURE_TOKEN', 'Personal access token with the scope Build (Read).'),
});
export type AzureSettings = z.infer<typeof AzureSettings>;
