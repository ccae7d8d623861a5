import { z } from 'zod';
import {
  CONNECT_MS,
  type Connection,
  createTestDeliveryId,
  HOOKS_PAGE,
  HookId,
  type OAuthRegistration,
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
    oauth: createOAuthRegistration(baseUrl, token),
  };
}

const NewApplication = z
  .object({ application_id: z.string().min(1), secret: z.string().min(1) })
  .transform(({ application_id, secret }) => ({ clientId: application_id, clientSecret: secret }));

function createOAuthRegistration(baseUrl: string, token: string | null): OAuthRegistration {
  const site = baseUrl.replace(/\/api\/v4$/, '');
  const scopes = ['openid', 'email', 'profile', 'api'];
  const right = 'api, of an administrator of GitLab';
  return {
    issuer: site,
    // An ID token of GitLab names the groups in which a user is a direct member.
    groupsClaim: 'groups_direct',
    groupExample: 'acme, or acme/ci for a group in it',
    scopes,
    webhookScope: 'api',
    pages: [
      { words: 'of your own', address: `${site}/-/user_settings/applications` },
      { words: 'of a group', address: `${site}/groups/GROUP/-/settings/applications` },
      { words: 'of the whole server (administrators)', address: `${site}/admin/applications` },
    ],
    right,
    create:
      token === null
        ? null
        : async ({ name, returnTo }, signal) =>
            await createGitlabClient({ baseUrl, token }, CONNECT_MS).send(NewApplication, {
              method: 'POST',
              path: '/applications',
              body: { name, redirect_uri: returnTo.join('\n'), scopes: scopes.join(' '), confidential: true },
              what: 'an OAuth application',
              right,
              signal,
            }),
    openWebhooks: (project, granted) =>
      openRepositoryWebhooks({ baseUrl, token: granted, isGranted: true }, project),
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
