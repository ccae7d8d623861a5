import type { IncomingMessage, ServerResponse } from 'node:http';
import type { LightMyRequestResponse } from 'fastify';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createOpenIdProvider } from '../../src/adapters/identity/openid.ts';
import { createPreset, loadConfig } from '../../src/config/load.ts';
import type { Role } from '../../src/domain/review.ts';
import { ProvidersConfig } from '../../src/providers/registry.ts';
import { openConsole, type TestConsole, TOKENS } from '../support/console.ts';
import { TEST_CONFIG } from '../support/http-deps.ts';
import { sendJson } from '../support/loopback-server.ts';
import { type OpenIdIssuer, startOpenIdIssuer } from '../support/openid-provider.ts';

const PUBLIC_URL = 'https://faultline.shop.example';
const ADMIN_TOKEN = 'glpat-of-an-administrator';
const RETURNS = `${PUBLIC_URL}/sign-in/openid/callback\n${PUBLIC_URL}/settings/granted`;

let gitlab: OpenIdIssuer;
let applications: object[];
let hooks: object[];

beforeEach(async () => {
  applications = [];
  hooks = [];
  gitlab = await startOpenIdIssuer({
    metadata: (url) => ({ revocation_endpoint: `${url}/revoke`, scopes_supported: ['api', 'openid'] }),
    answerMore: (request, response) => {
      void answerGitlab(request, response);
      return true;
    },
  });
});
afterEach(() => gitlab.close());

/** Answers as GitLab's API documents: applications for administrators, webhooks for who may write them. */
async function answerGitlab(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  const body = text === '' ? {} : JSON.parse(text);
  const { pathname } = new URL(request.url ?? '', 'http://x');
  if (pathname === '/api/v4/applications') {
    if (request.headers['private-token'] !== ADMIN_TOKEN)
      return sendJson(response, 403, { message: '403 Forbidden' });
    applications.push(body);
    gitlab.clients.set('an-application', 'gloas-its-secret');
    return sendJson(response, 201, {
      id: 1,
      application_id: 'an-application',
      application_name: body.name,
      secret: 'gloas-its-secret',
      callback_url: body.redirect_uri,
      confidential: body.confidential,
    });
  }
  const token = request.headers.authorization?.replace('Bearer ', '') ?? '';
  const scopes = gitlab.granted.get(token)?.split(' ') ?? [];
  if (!scopes.includes('api')) return sendJson(response, 401, { message: '401 Unauthorized' });
  if (pathname === '/api/v4/projects/shop%2Fapi/hooks' && request.method === 'POST') {
    hooks.push(body);
    return sendJson(response, 201, { id: 7, url: body.url });
  }
  sendJson(response, 200, pathname.endsWith('/hooks') ? hooks : {});
}

interface Opened {
  readonly console: TestConsole;
  readonly settings: Record<string, string>;
  send(url: string, form?: Record<string, string>, token?: string): Promise<LightMyRequestResponse>;
}

/** Opens the console as one browser, whose cookies are kept. */
async function open({
  token = ADMIN_TOKEN as string | null,
  publicUrl = PUBLIC_URL as string | null,
  signIn = false,
}): Promise<Opened> {
  const settings: Record<string, string> = {};
  const roles: Record<string, readonly Role[]> = { 'shop/platform': ['read'] };
  const console = await openConsole({
    config: {
      ...TEST_CONFIG,
      http: { ...TEST_CONFIG.http, publicUrl },
      providers: ProvidersConfig.parse({
        gitlab: { baseUrl: `${gitlab.url}/api/v4`, token, webhookSecrets: ['a-webhook-secret'] },
      }),
    },
    keepSettings: async (made) => void Object.assign(settings, made),
    signIn: signIn
      ? createOpenIdProvider({
          issuer: gitlab.url,
          clientId: 'an-application',
          clientSecret: 'gloas-its-secret',
          groupsClaim: 'groups_direct',
          roles,
        })
      : null,
  });
  const cookies = new Map<string, string>();
  const send: Opened['send'] = async (url, form, as = TOKENS.admin) => {
    const response = await console.app.inject({
      url,
      method: form === undefined ? 'GET' : 'POST',
      headers: {
        authorization: `Bearer ${as}`,
        ...(form !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }),
      },
      cookies: Object.fromEntries(cookies),
      ...(form !== undefined && { payload: new URLSearchParams(form).toString() }),
    });
    for (const { name, value } of response.cookies) cookies.set(name, value);
    return response;
  };
  return { console, settings, send };
}

const FORM = { provider: 'gitlab', group: 'shop/platform', role: 'read+review' };

/** Confirms there, and returns the path to which the host sends the browser. */
async function confirm(begun: LightMyRequestResponse): Promise<string> {
  const there = await fetch(String(begun.headers.location), { redirect: 'manual' });
  return String(there.headers.get('location')).replace(PUBLIC_URL, '');
}

it('creates the application with one button, and keeps settings with which the service starts', async () => {
  const { console, settings, send } = await open({});
  const page = await send('/settings?provider=gitlab');
  expect(page.body).toContain('Create the application');

  const { statusCode, body } = await send('/settings/oauth', { ...FORM, act: 'create' });

  expect(statusCode).toBe(200);
  expect(body).not.toContain('gloas-its-secret');
  expect(applications).toEqual([
    {
      name: 'Faultline faultline.shop.example',
      redirect_uri: RETURNS,
      scopes: 'openid email profile api',
      confidential: true,
    },
  ]);
  const { openId } = loadConfig(createPreset(settings, '/tmp/none', '/tmp/none'), settings, () => '').auth;
  expect(openId).toEqual({
    issuer: gitlab.url,
    clientId: 'an-application',
    clientSecret: 'gloas-its-secret',
    groupsClaim: 'groups_direct',
    roles: { 'shop/platform': ['read', 'review'] },
  });
  await console.close();
});

it('shows what to enter by hand, and takes what GitLab then shows', async () => {
  const { console, settings, send } = await open({ token: null });
  const { body } = await send('/settings?provider=gitlab');
  expect(body).not.toContain('>Create the application<');
  for (const words of [
    ...RETURNS.split('\n'),
    'openid, email, profile, api',
    '/-/user_settings/applications',
  ])
    expect(body).toContain(words);

  const refused = await send('/settings/oauth', { ...FORM, act: 'create' });
  expect([refused.statusCode, refused.body]).toEqual([
    400,
    expect.stringContaining('FAULTLINE_GITLAB_TOKEN'),
  ]);
  const used = { ...FORM, act: 'use', clientId: ' by-hand ', clientSecret: 'gloas-by-hand' };
  expect((await send('/settings/oauth', used)).statusCode).toBe(200);
  expect(settings).toMatchObject({ FAULTLINE_OIDC_CLIENT_ID: 'by-hand' });
  await console.close();
});

it('says which right the token lacks, and which fields are wrong', async () => {
  const { console, settings, send } = await open({ token: 'glpat-of-a-developer' });
  const refused = await send('/settings/oauth', { ...FORM, act: 'create' });
  expect([refused.statusCode, refused.body]).toEqual([
    expect.any(Number),
    expect.stringContaining('of an administrator of GitLab'),
  ]);
  expect(refused.statusCode).toBeGreaterThanOrEqual(400);
  const hostile = await send('/settings/oauth', { ...FORM, group: 'a=admin,b', act: 'create' });
  expect(hostile.statusCode).toBe(400);
  expect((await send('/settings/oauth', { ...FORM, act: 'use' })).body).toContain('Enter the client ID');
  expect(settings).toEqual({});
  await console.close();
});

it('creates a webhook with a grant, and gives the grant back', async () => {
  const { console, send } = await open({ token: null, signIn: true });
  gitlab.clients.set('an-application', 'gloas-its-secret');
  gitlab.claims = { sub: 'ada' };
  const page = await send('/settings?provider=gitlab');
  expect(page.body).toContain('Create the webhook with my account');
  expect(page.headers['content-security-policy']).toContain(`form-action 'self' ${gitlab.url}`);

  const begun = await send('/settings/grant', { provider: 'gitlab', repository: 'shop/api' });
  expect(begun.statusCode).toBe(303);
  expect(new URL(String(begun.headers.location)).searchParams.get('scope')).toBe('openid email profile api');
  const { statusCode, body } = await send(await confirm(begun));

  expect(statusCode).toBe(200);
  expect(body).toContain(`created for ${PUBLIC_URL}/webhooks/gitlab`);
  expect(hooks).toMatchObject([{ url: `${PUBLIC_URL}/webhooks/gitlab`, token: 'a-webhook-secret' }]);
  expect(gitlab.granted.size).toBe(0);
  await console.close();
});

it('takes a grant once, from the browser and the person who began it', async () => {
  const { console, send } = await open({ signIn: true });
  gitlab.clients.set('an-application', 'gloas-its-secret');
  gitlab.claims = { sub: 'ada' };
  const asked = { provider: 'gitlab', repository: 'shop/api' };
  const back = await confirm(await send('/settings/grant', asked));

  const elsewhere = await console.app.inject({
    url: back,
    headers: { authorization: `Bearer ${TOKENS.admin}` },
  });
  expect([elsewhere.statusCode, elsewhere.body]).toEqual([403, expect.stringContaining('another browser')]);
  expect((await send(back, undefined, TOKENS.review)).statusCode).toBe(403);
  const wrong = await send(back.replace(/state=[^&]+/, 'state=of-somebody-else'));
  expect([wrong.statusCode, wrong.body]).toEqual([403, expect.stringContaining('The sign-in failed')]);
  expect((await send(back)).statusCode).toBe(403);
  expect(hooks).toEqual([]);
  await console.close();
});

it('leaves a sign-in that is set up as it is, and asks for a public address first', async () => {
  const unset = await open({ publicUrl: null });
  expect((await unset.send('/settings?provider=gitlab')).body).toMatch(/It needs the\s+public address/);
  await unset.console.close();

  const { console, send } = await open({});
  const refused = await send('/settings/grant', { provider: 'gitlab', repository: 'shop/api' });
  expect([refused.statusCode, refused.body]).toEqual([
    expect.any(Number),
    expect.stringContaining('Nobody signs in with GitLab'),
  ]);
  const everybody = await send('/settings/oauth', { ...FORM, group: '*', role: 'admin', act: 'create' });
  expect([everybody.statusCode, everybody.body]).toEqual([
    400,
    expect.stringContaining('for the role read only'),
  ]);
  const github = await send('/settings/oauth', { ...FORM, provider: 'github', act: 'create' });
  expect([github.statusCode, github.body]).toEqual([400, expect.stringContaining('no OAuth application')]);
  await console.close();
});

it('creates no second application while people sign in with one', async () => {
  const { console, send } = await open({ signIn: true });
  const refused = await send('/settings/oauth', { ...FORM, act: 'create' });
  expect([refused.statusCode, refused.body]).toEqual([409, expect.stringContaining('sign in with')]);
  await console.close();
});
