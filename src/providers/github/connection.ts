import { z } from 'zod';
import {
  CONNECT_MS,
  type Connection,
  createTestDeliveryId,
  HOOKS_PAGE,
  HookId,
  type RepositoryWebhooks,
} from '../connection.ts';
import { buildPath, createRestClient } from '../rest-client.ts';
import { computeHmac } from '../webhook.ts';
import { createAppRegistration } from './app-manifest.ts';

const EVENTS = ['workflow_run', 'workflow_job'];

const Hooks = z.array(z.object({ id: HookId, config: z.object({ url: z.string().nullish() }) }));
const Deliveries = z.array(z.object({ event: z.string(), status_code: z.int().nullish() }));

export function createGithubConnection({
  baseUrl,
  token,
  app,
  writes,
  siteUrl,
}: {
  baseUrl: string;
  token: string | null;
  app: object | null;
  writes: readonly string[];
  siteUrl: string;
}): Connection {
  return {
    label: 'GitHub',
    page: 'docs/start/github.md',
    events: EVENTS,
    secretSetting: 'FAULTLINE_GITHUB_WEBHOOK_SECRET',
    tokenSetting: 'FAULTLINE_GITHUB_TOKEN',
    rights: [
      { right: 'Actions: read', why: 'runs and their logs' },
      { right: 'Contents: read, Pull requests: read', why: 'suspects from code' },
      { right: 'Pull requests: write', why: 'comments (FAULTLINE_GITHUB_WRITES=comment)' },
      { right: 'Commit statuses: write', why: 'commit statuses (FAULTLINE_GITHUB_WRITES=status)' },
      { right: 'Webhooks: write', why: 'creating the webhook with --create; not needed afterwards' },
    ],
    steps: [
      'In the repository or organization, open Settings → Webhooks → Add webhook.',
      'Enter the address as Payload URL and the secret as Secret; choose the content type application/json.',
      'Choose "Let me select individual events": Workflow runs and Workflow jobs, and nothing else.',
    ],
    createTestDelivery: (secret) => {
      const body = JSON.stringify({ zen: 'Faultline connect', hook_id: 0 });
      const headers = { 'x-github-event': 'ping', 'x-github-delivery': createTestDeliveryId() };
      return { body, headers: { ...headers, 'x-hub-signature-256': `sha256=${computeHmac(secret, body)}` } };
    },
    hooks:
      token === null
        ? { because: withoutToken(app !== null) }
        : { nameFormat: 'owner/name', open: (name) => openRepositoryWebhooks(baseUrl, token, name) },
    app: {
      ...createAppRegistration({ baseUrl, siteUrl, writes, events: EVENTS }),
      isConfigured: app !== null,
    },
  };
}

function withoutToken(isApp: boolean): string {
  return isApp
    ? 'an App has one webhook of its own: set its address and secret in the settings of the App'
    : 'FAULTLINE_GITHUB_TOKEN is not set';
}

function openRepositoryWebhooks(baseUrl: string, token: string, repository: string): RepositoryWebhooks {
  const headers = { accept: 'application/vnd.github+json', authorization: `Bearer ${token}` };
  const client = createRestClient({
    label: 'GitHub',
    baseUrl,
    headers,
    tokenSetting: 'FAULTLINE_GITHUB_TOKEN',
    timeoutMs: CONNECT_MS,
  });
  const [owner = '', name = ''] = repository.split('/', 2);
  const path = buildPath`/repos/${owner}/${name}`;
  return {
    client,
    checks: [
      { name: 'repository', path, remedy: 'check its name, and that the token is for it' },
      {
        name: 'runs',
        path: `${path}/actions/runs`,
        query: { per_page: 1 },
        remedy: 'give the token Actions: read',
      },
      {
        name: 'code',
        path: `${path}/commits`,
        query: { per_page: 1 },
        remedy: 'give the token Contents: read',
      },
      {
        name: 'pull requests',
        path: `${path}/pulls`,
        query: { per_page: 1 },
        remedy: 'give the token Pull requests: read',
      },
      {
        name: 'webhooks',
        path: `${path}/hooks`,
        query: { per_page: 1 },
        remedy: 'for --create give the token Webhooks: write, or add the webhook by hand',
      },
    ],
    list: async (signal) => {
      const hooks = await client.get(Hooks, {
        path: `${path}/hooks`,
        query: { per_page: HOOKS_PAGE },
        what: 'the webhooks',
        signal,
      });
      return hooks.map(({ id, config }) => ({ id, address: config.url ?? '' }));
    },
    create: ({ address: url, secret }) => ({
      path: `${path}/hooks`,
      body: { name: 'web', active: true, events: EVENTS, config: { url, content_type: 'json', secret } },
    }),
    right: 'write webhooks (Webhooks: write, or admin:repo_hook)',
    buildTestPath: (id) => `${path}${buildPath`/hooks/${id}/pings`}`,
    deliveries: async (id, signal) => {
      const question = {
        path: `${path}${buildPath`/hooks/${id}/deliveries`}`,
        query: { per_page: 3 },
        what: 'the deliveries',
        signal,
      };
      return (await client.get(Deliveries, question)).map(({ event, status_code }) => ({
        event,
        status: status_code || null,
      }));
    },
  };
}
