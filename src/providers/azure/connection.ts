import { z } from 'zod';
import { type Connection, greetingId, HookId, type WebhookQuestions } from '../connection.ts';
import { at } from '../rest-client.ts';
import { API, type AzureOptions, createAzureClient } from './client.ts';
import { type AzureSettings, basicOf } from './settings.ts';

const LIMIT_MS = 30_000;
const HOOK = { publisherId: 'tfs', eventType: 'build.complete', consumerId: 'webHooks', consumerActionId: 'httpRequest' };

const Subscriptions = z.object({
  value: z.array(z.object({ id: HookId, consumerInputs: z.object({ url: z.string().nullish() }).nullish() })),
});
const Project = z.object({ id: z.string() });

export function azureConnection({ baseUrl, token }: AzureSettings): Connection {
  const isReadable = baseUrl !== null && token !== null;
  return {
    label: 'Azure Pipelines',
    page: 'docs/start/azure-pipelines.md',
    events: ['Build completed'],
    secretSetting: 'FAULTLINE_AZURE_WEBHOOK_SECRET',
    tokenSetting: 'FAULTLINE_AZURE_TOKEN',
    rights: [
      { right: 'Build (Read)', why: 'jobs and their logs' },
      { right: 'Project and Team (Read), and the permission Edit subscriptions', why: 'making the service hook with --create' },
    ],
    clicks: [
      'Open Project settings → Service hooks → Create subscription → Web Hooks, with the trigger Build completed.',
      'Enter the address as URL, and the secret as basic authentication password (any username) or as the header X-Faultline-Token.',
      'Send all resource details.',
    ],
    greet: (secret) => ({
      body: JSON.stringify({ id: greetingId(), eventType: 'ping' }),
      headers: { authorization: basicOf(secret) },
    }),
    hooks: isReadable
      ? { of: 'the name of the project', open: (project) => questionsOf({ baseUrl, token }, project) }
      : { because: 'FAULTLINE_AZURE_URL and FAULTLINE_AZURE_TOKEN are not both set' },
  };
}

function questionsOf(options: AzureOptions, project: string): WebhookQuestions {
  const client = createAzureClient(options, LIMIT_MS);
  const path = '/_apis/hooks/subscriptions';
  return {
    client,
    checks: [
      {
        name: 'project',
        path: at`/_apis/projects/${project}`,
        query: API,
        mend: 'check its name, and give the token Project and Team (Read)',
      },
      { name: 'builds', path: at`/${project}/_apis/build/builds`, query: { ...API, $top: 1 }, mend: 'give the token Build (Read)' },
      {
        name: 'service hooks',
        path,
        query: API,
        mend: 'for --create its user needs the permission View subscriptions; or add the service hook by hand',
      },
    ],
    list: async (signal) => {
      const query = { ...API, publisherId: HOOK.publisherId, eventType: HOOK.eventType };
      const { value } = await client.get(Subscriptions, { path, query, what: 'the service hooks', signal });
      return value.map(({ id, consumerInputs }) => ({ id, address: consumerInputs?.url ?? '' }));
    },
    create: async ({ address: url, secret }, signal) => {
      const { id: projectId } = await client.get(Project, {
        path: at`/_apis/projects/${project}`,
        query: API,
        what: 'the project',
        signal,
      });
      const consumerInputs = { url, basicAuthUsername: 'faultline', basicAuthPassword: secret, resourceDetailsToSend: 'all' };
      const body = { ...HOOK, resourceVersion: '2.0', publisherInputs: { projectId }, consumerInputs };
      const right = 'write service hooks (the permission Edit subscriptions)';
      const change = { method: 'POST', path, query: API, body, what: 'a service hook', right, signal } as const;
      return (await client.send(z.object({ id: HookId }), change)).id;
    },
    ping: null,
    deliveries: null,
  };
}
