import { z } from 'zod';
import {
  CONNECT_MS,
  type Connection,
  createTestDeliveryId,
  HOOKS_PAGE,
  HookId,
  type RepositoryWebhooks,
} from '../connection.ts';
import { buildPath } from '../rest-client.ts';
import { createGitlabClient, type GitlabOptions, getProjectPath } from './client.ts';

const Hooks = z.array(z.object({ id: HookId, url: z.string() }));
const Deliveries = z.array(z.object({ trigger: z.string(), response_status: z.string().nullish() }));

export function createGitlabConnection({ baseUrl, token }: GitlabOptions): Connection {
  return {
    label: 'GitLab',
    page: 'docs/start/gitlab.md',
    events: ['Pipeline events', 'Job events (optional)'],
    secretSetting: 'FAULTLINE_GITLAB_WEBHOOK_SECRET',
    tokenSetting: 'FAULTLINE_GITLAB_TOKEN',
    rights: [
      { right: 'read_api, Reporter', why: 'logs, test reports, artifacts and code' },
      { right: 'api, Reporter', why: 'notes on merge requests (FAULTLINE_GITLAB_WRITES=comment)' },
      { right: 'api, Developer', why: 'commit statuses (FAULTLINE_GITLAB_WRITES=status)' },
      { right: 'api, Maintainer', why: 'creating the webhook with --create; not needed afterwards' },
    ],
    steps: [
      'In the project or group, open Settings → Webhooks → Add new webhook.',
      'Enter the address as URL and the secret as Secret token.',
      'Choose the triggers Pipeline events and, for earlier answers, Job events.',
    ],
    createTestDelivery: (secret) => ({
      body: JSON.stringify({ object_kind: 'ping' }),
      headers: {
        'x-gitlab-event': 'Ping',
        'x-gitlab-token': secret,
        'idempotency-key': createTestDeliveryId(),
      },
    }),
    hooks:
      token === null
        ? { because: 'FAULTLINE_GITLAB_TOKEN is not set' }
        : {
            nameFormat: 'group/project',
            open: (project) => openRepositoryWebhooks({ baseUrl, token }, project),
          },
  };
}

function openRepositoryWebhooks(options: GitlabOptions, project: string): RepositoryWebhooks {
  const client = createGitlabClient(options, CONNECT_MS);
  const path = getProjectPath(project);
  const right = 'write webhooks (the scope api, and the role Maintainer)';
  const remedy = 'give the token the scope read_api and the role Reporter in the project';
  return {
    client,
    checks: [
      { name: 'project', path, remedy },
      { name: 'pipelines', path: `${path}/pipelines`, query: { per_page: 1 }, remedy },
      { name: 'code', path: `${path}/repository/commits`, query: { per_page: 1 }, remedy },
      { name: 'merge requests', path: `${path}/merge_requests`, query: { per_page: 1 }, remedy },
      {
        name: 'webhooks',
        path: `${path}/hooks`,
        query: { per_page: 1 },
        remedy: `for --create the token must ${right}; or add the webhook by hand`,
      },
    ],
    list: async (signal) => {
      const hooks = await client.get(Hooks, {
        path: `${path}/hooks`,
        query: { per_page: HOOKS_PAGE },
        what: 'the webhooks',
        signal,
      });
      return hooks.map(({ id, url: address }) => ({ id, address }));
    },
    create: ({ address: url, secret: token }) => {
      const events = { pipeline_events: true, job_events: true, push_events: false };
      return { path: `${path}/hooks`, body: { url, token, ...events, enable_ssl_verification: true } };
    },
    right,
    // A push event is used, because a test pipeline event would contain the project's newest pipeline again.
    buildTestPath: (id) => `${path}${buildPath`/hooks/${id}/test/push_events`}`,
    deliveries: async (id, signal) => {
      const question = {
        path: `${path}${buildPath`/hooks/${id}/events`}`,
        query: { per_page: 3 },
        what: 'the deliveries',
        signal,
      };
      const delivered = await client.get(Deliveries, question);
      return delivered.map(({ trigger: event, response_status: status }) => ({
        event,
        status: Number(status) || null,
      }));
    },
  };
}
