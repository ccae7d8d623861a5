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
import { computeHmac } from '../webhook.ts';
import { createGiteaClient, type GiteaOptions, splitOwnerAndName } from './client.ts';

const EVENTS = {
  gitea: ['workflow_run', 'workflow_job'],
  forgejo: ['action_run_failure', 'action_run_recover', 'action_run_success'],
};

const Hooks = z.array(z.object({ id: HookId, config: z.object({ url: z.string().nullish() }) }));
const Version = z.object({ version: z.string() });

export function createGiteaConnection(settings: GiteaOptions): Connection {
  const { baseUrl, token } = settings;
  const isReadable = baseUrl !== null && token !== null;
  return {
    label: 'Gitea or Forgejo',
    page: 'docs/start/gitea.md',
    events: [`${EVENTS.gitea.join(', ')} (Gitea)`, `${EVENTS.forgejo.join(', ')} (Forgejo)`],
    secretSetting: 'FAULTLINE_GITEA_WEBHOOK_SECRET',
    tokenSetting: 'FAULTLINE_GITEA_TOKEN',
    rights: [
      { right: 'read:repository', why: 'logs, artifacts and code' },
      { right: 'write:issue, read:user', why: 'comments (FAULTLINE_GITEA_WRITES=comment)' },
      {
        right: 'write:repository',
        why: 'commit statuses (FAULTLINE_GITEA_WRITES=status), and creating the webhook with --create',
      },
    ],
    steps: [
      'In the repository or organization, open Settings → Webhooks → Add webhook → Gitea or Forgejo.',
      'Enter the address as Target URL and the secret as Secret; choose POST and application/json.',
      'Trigger on Custom events: Workflow run and Workflow job (Gitea), or Action run failure, ' +
        'recover and success (Forgejo).',
    ],
    createTestDelivery: (secret) => {
      const body = JSON.stringify({ action: 'ping' });
      const headers = {
        'x-gitea-event': 'ping',
        'x-gitea-delivery': createTestDeliveryId(),
        'x-gitea-signature': computeHmac(secret, body),
      };
      return { body, headers };
    },
    hooks: isReadable
      ? {
          nameFormat: 'owner/name',
          open: (repository) => openRepositoryWebhooks({ baseUrl, token }, repository),
        }
      : { because: 'FAULTLINE_GITEA_URL and FAULTLINE_GITEA_TOKEN are not both set' },
    ...(baseUrl !== null && { oauth: createOAuthRegistration(baseUrl, token) }),
  };
}

const NewApplication = z
  .object({ client_id: z.string().min(1), client_secret: z.string().min(1) })
  .transform(({ client_id, client_secret }) => ({ clientId: client_id, clientSecret: client_secret }));

function createOAuthRegistration(baseUrl: string, token: string | null): OAuthRegistration {
  const site = baseUrl.replace(/\/api\/v1$/, '');
  const right = 'write:user';
  return {
    issuer: site,
    groupsClaim: 'groups',
    groupExample: 'acme, or acme:ci for a team',
    // Gitea's applications have no scopes of their own.
    scopes: [],
    webhookScope: 'write:repository',
    pages: [
      { words: 'of your own', address: `${site}/user/settings/applications` },
      { words: 'of the whole server (administrators)', address: `${site}/-/admin/applications` },
    ],
    right,
    create:
      token === null
        ? null
        : async ({ name, returnTo }, signal) =>
            await createGiteaClient({ baseUrl, token }, CONNECT_MS).send(NewApplication, {
              method: 'POST',
              path: '/user/applications/oauth2',
              body: { name, redirect_uris: returnTo, confidential_client: true },
              what: 'an OAuth application',
              right,
              signal,
            }),
    openWebhooks: (repository, granted) => openRepositoryWebhooks({ baseUrl, token: granted }, repository),
  };
}

function openRepositoryWebhooks(options: GiteaOptions, repository: string): RepositoryWebhooks {
  const client = createGiteaClient(options, CONNECT_MS);
  const { owner, repo } = splitOwnerAndName(repository);
  const path = buildPath`/repos/${owner}/${repo}`;
  const right = 'write webhooks (write:repository, and its user must be an administrator of the repository)';
  const remedy = 'give the token read:repository, of a user who may read the repository';
  return {
    client,
    checks: [
      { name: 'repository', path, remedy },
      {
        name: 'runs',
        path: `${path}/actions/runs`,
        query: { limit: 1 },
        remedy: `${remedy}; before Gitea 1.24, and on Forgejo, runs are not listed`,
      },
      { name: 'code', path: `${path}/commits`, query: { limit: 1, stat: 'false' }, remedy },
      {
        name: 'webhooks',
        path: `${path}/hooks`,
        query: { limit: 1 },
        remedy: `for --create the token must ${right}; or add the webhook by hand`,
      },
    ],
    list: async (signal) => {
      const hooks = await client.get(Hooks, {
        path: `${path}/hooks`,
        query: { limit: HOOKS_PAGE },
        what: 'the webhooks',
        signal,
      });
      return hooks.map(({ id, config }) => ({ id, address: config.url ?? '' }));
    },
    create: async ({ address: url, secret }, signal) => {
      const { version } = await client.get(Version, { path: '/version', what: 'the version', signal });
      // Forgejo appends the version of Gitea that it is compatible with to its own.
      const type = version.includes('+gitea') ? 'forgejo' : 'gitea';
      const config = { url, content_type: 'json', secret };
      return { path: `${path}/hooks`, body: { type, active: true, events: EVENTS[type], config } };
    },
    right,
    buildTestPath: (id) => `${path}${buildPath`/hooks/${id}/tests`}`,
    deliveries: null,
  };
}
