import { afterAll, beforeAll, expect, it } from 'vitest';
import { CI_SYSTEM_NAMES } from '../../src/domain/build.ts';
import { ProvidersConfig } from '../../src/providers/registry.ts';
import { type Host, startHost } from '../providers/contract.ts';
import { gitlabWorld } from '../providers/worlds/gitlab.ts';
import { getPage, openConsole, postForm, type TestConsole, TOKENS } from '../support/console.ts';
import { TEST_CONFIG } from '../support/http-deps.ts';

const SECRET = 'settings-secret-one';
let host: Host;
let console: TestConsole;

beforeAll(async () => {
  host = await startHost(gitlabWorld);
  const github = { webhookSecrets: ['settings-secret-two'] };
  const gitlab = { baseUrl: host.url, token: 'glpat-settings', webhookSecrets: [SECRET] };
  const http = { ...TEST_CONFIG.http, publicUrl: 'http://127.0.0.1:9' };
  const since = '2026-11-22T07:00:00.000Z';
  const redis = {
    state: 'down',
    says: 'connect ECONNREFUSED <redis>',
    remedy: 'start Redis',
    since,
  } as const;
  const backends = { database: { state: 'ok', says: 'postgres answers', since }, jobQueue: redis } as const;
  const readiness = async () => ({ ok: true, degraded: ['jobQueue'], backends });
  console = await openConsole({
    readiness,
    config: { ...TEST_CONFIG, http, providers: ProvidersConfig.parse({ github, gitlab }) },
  });
});
afterAll(async () => {
  await console.close();
  await host.close();
});

it('connected CI systems are listed with their webhooks, and all others are offered, for administrators', async () => {
  const { statusCode, body } = await getPage(console.app, '/settings');
  expect(statusCode).toBe(200);
  for (const name of CI_SYSTEM_NAMES) expect(body).toContain(`href="/settings?provider=${name}"`);
  expect(body.match(/http:\/\/127\.0\.0\.1:9\/webhooks\/\w+/g)).toEqual([
    'http://127.0.0.1:9/webhooks/github',
    'http://127.0.0.1:9/webhooks/gitlab',
  ]);
  expect(body).toContain('href="/settings" aria-current="page"');
  expect((await getPage(console.app, '/settings', TOKENS.review)).statusCode).toBe(403);
  expect((await getPage(console.app, '/builds', TOKENS.review)).body).not.toContain('href="/settings"');
});

it('the health of every backend is shown, problems first, with advice', async () => {
  const first = (await getPage(console.app, '/settings')).body;
  expect(first).toContain('Needs a look: Job queue.');
  expect(first).not.toContain('1 of 2 needs a look');
  expect((await getPage(console.app, '/me')).body).toContain('href="/me" aria-current="page">You</a>');
  expect((await getPage(console.app, '/me', TOKENS.review)).body).not.toContain('href="/settings');
  const { body } = await getPage(console.app, '/settings?list=service');
  expect(body).toContain('1 of 2 needs a look');
  expect(body).toMatch(/Job queue<\/b>.*connect ECONNREFUSED &lt;redis&gt;.*Start Redis\..*Down/s);
  expect(body).toMatch(/Down.*Database<\/b>.*postgres answers.*OK/s);
});

it('the steps to connect a system are shown without its secret', async () => {
  const { body } = await getPage(console.app, '/settings?provider=gitlab');
  expect(body).toContain('Pipeline events');
  expect(body).toContain('FAULTLINE_GITLAB_WEBHOOK_SECRET');
  expect(body).not.toContain(SECRET);
  expect((await getPage(console.app, '/settings?provider=jenkins')).body).toContain('none yet');
  const unknown = await getPage(console.app, '/settings?provider=%3Cscript%3E');
  expect([unknown.statusCode, unknown.body.includes('<script>')]).toEqual([400, false]);
});

it('the place of a secret is shown that an embedded installation created', async () => {
  const { body } = await getPage(console.app, '/settings?provider=github');
  expect(body).toContain(
    '<code>githubWebhookSecret</code> in <code>secrets.json</code> of its data directory',
  );
  expect((await getPage(console.app, '/settings?provider=gitlab')).body).not.toContain('secrets.json');
});

it('nothing that was not checked is called healthy, and terminal-only settings are omitted', async () => {
  const { body } = await postForm(console.app, '/settings', {
    provider: 'gitlab',
    repository: '',
    act: 'check',
  });
  expect(body).not.toContain('No problems found.');
  expect(body).toMatch(/Not complete: \d of \d checks? needs? attention\./);
  expect(body).not.toContain('pass --');
});

it('the permissions are checked, and the webhook is created', async () => {
  const { body } = await postForm(console.app, '/settings', {
    provider: 'gitlab',
    repository: 'shop/api',
    act: 'create',
  });
  expect(body).toContain('No problems found.');
  expect(body).toContain('created for http://127.0.0.1:9/webhooks/gitlab');
  expect(host.state.hooks).toMatchObject([{ address: 'http://127.0.0.1:9/webhooks/gitlab', secret: SECRET }]);
  expect(body).not.toContain(SECRET);
});

it('problems are shown with advice, and typed text remains text', async () => {
  const { body } = await postForm(console.app, '/settings', {
    provider: 'gitlab',
    repository: '"><script>',
    act: 'test',
  });
  expect(body).toContain('Problems found.');
  expect(body).toContain('check that http://127.0.0.1:9/webhooks/gitlab can be reached');
  expect(body).not.toContain('"><script>');
});
