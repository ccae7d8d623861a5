import { z } from 'zod';
import { type Connection, greetingId, HookId, type WebhookQuestions } from '../connection.ts';
import type { RestClient } from '../rest-client.ts';
import { hmacOf } from '../webhook.ts';
import { type CircleciOptions, createCircleciClient, projectSlug } from './client.ts';
import type { CircleciSettings } from './settings.ts';

const LIMIT_MS = 30_000;
const EVENTS = ['workflow-completed', 'job-completed'];

const Hooks = z.object({ items: z.array(z.object({ id: HookId, url: z.string() })) });
const Project = z.object({ id: z.string() });

export function circleciConnection({ baseUrl, token }: CircleciSettings): Connection {
  return {
    label: 'CircleCI',
    page: 'docs/start/circleci.md',
    events: EVENTS,
    secretSetting: 'FAULTLINE_CIRCLECI_WEBHOOK_SECRET',
    tokenSetting: 'FAULTLINE_CIRCLECI_TOKEN',
    rights: [{ right: 'a personal API token of a user who may see the project', why: 'workflows and the output of their jobs' }],
    clicks: [
      'Open Project Settings → Webhooks → Add Webhook.',
      'Enter the address as Receiver URL and the secret as Secret token.',
      'Choose Workflow Completed and, for earlier answers, Job Completed.',
    ],
    greet: (secret) => {
      const body = JSON.stringify({ id: greetingId(), type: 'ping' });
      return { body, headers: { 'circleci-event-type': 'ping', 'circleci-signature': `v1=${hmacOf(secret, body)}` } };
    },
    hooks:
      token === null
        ? { because: 'FAULTLINE_CIRCLECI_TOKEN is not set' }
        : { of: 'gh/owner/name, the slug of the project', open: (slug) => questionsOf({ baseUrl, token }, slug) },
  };
}

function questionsOf(options: CircleciOptions, slug: string): WebhookQuestions {
  const client = createCircleciClient(options, LIMIT_MS);
  const path = `/v2/project/${projectSlug(slug)}`;
  const mend = 'check the slug of the project (gh/owner/name), and that the user of the token may see it';
  return {
    client,
    checks: [
      { name: 'project', path, mend },
      { name: 'pipelines', path: `${path}/pipeline`, mend },
    ],
    list: async (signal) => {
      const query = { 'scope-id': await idOf(client, path, signal), 'scope-type': 'project' };
      const { items } = await client.get(Hooks, { path: '/v2/webhook', query, what: 'the webhooks', signal });
      return items.map(({ id, url: address }) => ({ id, address }));
    },
    create: async ({ address: url, secret }, signal) => {
      const scope = { id: await idOf(client, path, signal), type: 'project' };
      const body = { name: 'Faultline', url, events: EVENTS, 'verify-tls': true, 'signing-secret': secret, scope };
      const right = 'write webhooks (its user must be an administrator of the project)';
      return (await client.send(z.object({ id: HookId }), { method: 'POST', path: '/v2/webhook', body, what: 'a webhook', right, signal }))
        .id;
    },
    ping: null,
    deliveries: null,
  };
}

async function idOf(client: RestClient, path: string, signal: AbortSignal): Promise<string> {
  return (await client.get(Project, { path, what: 'the project', signal })).id;
}
