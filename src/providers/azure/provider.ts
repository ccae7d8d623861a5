import { z } from 'zod';
import { below } from '../probe.ts';
import type { Provider } from '../provider.ts';
import { tokenApi } from '../token-api.ts';
import { type AzureSettings, basicOf } from './settings.ts';
import { azureWebhook } from './webhook.ts';

/** Azure Pipelines: logs of builds, with a personal access token. Code in Azure Repos is not read. */
export function azureProvider(settings: AzureSettings): Provider {
  const { baseUrl, token, webhookSecrets } = settings;
  const isReadable = baseUrl !== null && token !== null;
  return {
    name: 'azure',
    webhook: azureWebhook(webhookSecrets),
    secrets: [...webhookSecrets, ...(token === null ? [] : [token])],
    connection: async () => (await import('./connection.ts')).azureConnection(settings),
    openBuildSource: async (options) => (await import('./build-source.ts')).createAzureBuildSource({ baseUrl, token, ...options }),
    openPastRuns: null,
    code: null,
    channels: [],
    ...tokenApi({
      ...{ name: 'azure', label: 'Azure DevOps' },
      probe: isReadable
        ? { url: below(baseUrl, '_apis/projects?$top=1&api-version=7.0'), headers: { authorization: basicOf(token) } }
        : null,
      lacking:
        webhookSecrets.length === 0 && baseUrl === null
          ? null
          : { says: 'no URL or token: logs of its builds cannot be fetched', mend: 'set FAULTLINE_AZURE_URL and FAULTLINE_AZURE_TOKEN' },
      // Where the token is not accepted it answers 203 with a page to sign in at.
      says: (json) =>
        Projects.transform(({ count }) => (count === 0 ? 'responds, but the token has access to no project' : 'answers')).safeParse(json)
          .data ?? null,
      mend: {
        reach: 'check FAULTLINE_AZURE_URL and whether this machine can reach it',
        token: 'create a personal access token with Build (Read) and set FAULTLINE_AZURE_TOKEN',
        address: 'check FAULTLINE_AZURE_URL (https://dev.azure.com/ORGANIZATION) and that FAULTLINE_AZURE_TOKEN has not expired',
      },
    }),
  };
}

const Projects = z.object({ count: z.int() });
