import type { LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createOpenIdProvider } from '../../src/adapters/identity/openid.ts';
import { createPreset, loadConfig } from '../../src/config/load.ts';
import type { SignInProvider } from '../../src/ports/access.ts';
import { ProvidersConfig } from '../../src/providers/registry.ts';
import { openConsole, type TestConsole, TOKENS } from '../support/console.ts';
import { type Account, type GiteaServer, startGitea } from '../support/gitea-server.ts';
import { TEST_CONFIG } from '../support/http-deps.ts';
import { installOtherNode } from '../support/other-node.ts';

const PUBLIC_URL = 'https://faultline.shop.example';
const Hooks = z.array(
  z.object({ type: z.string(), events: z.array(z.string()), config: z.object({ url: z.string() }) }),
);

let gitea: GiteaServer;
let ben: Account;
let cleo: Account;
let token: string;
let settings: Record<string, string> = {};

beforeAll(async () => {
  gitea = await startGitea(await installOtherNode('20.20.2'));
  const { admin, api } = gitea;
  [ben, cleo] = [await gitea.addAccount('ben'), await gitea.addAccount('cleo')];
  await api(admin, 'POST', '/orgs', z.unknown(), { username: 'acme' });
  await api(admin, 'POST', '/orgs/acme/repos', z.unknown(), { name: 'shop', private: true });
  const team = { name: 'ci', permission: 'admin', units: ['repo.code'], includes_all_repositories: true };
  const { id } = await api(admin, 'POST', '/orgs/acme/teams', z.object({ id: z.int() }), team);
  await api(admin, 'PUT', `/teams/${id}/members/ben`, z.unknown());
  const scopes = { name: 'faultline', scopes: ['read:repository', 'write:user'] };
  const made = await api(admin, 'POST', '/users/operator/tokens', z.object({ sha1: z.string() }), scopes);
  token = made.sha1;
});
afterAll(() => gitea?.stop());

/** A person's browser: a session at Gitea, and one at Faultline. */
class Browser {
  readonly #there = new Map<string, string>();
  readonly #here = new Map<string, string>();

  readonly #console: TestConsole;

  constructor(console: TestConsole) {
    this.#console = console;
  }

  /** Requests a page of Faultline. */
  async request(
    url: string,
    form?: Record<string, string>,
    bearer?: string,
  ): Promise<LightMyRequestResponse> {
    const response = await this.#console.app.inject({
      url: url.replace(PUBLIC_URL, ''),
      method: form === undefined ? 'GET' : 'POST',
      headers: {
        host: new URL(PUBLIC_URL).host,
        ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
        ...(form !== undefined && {
          origin: PUBLIC_URL,
          'content-type': 'application/x-www-form-urlencoded',
        }),
      },
      cookies: Object.fromEntries(this.#here),
      ...(form !== undefined && { payload: new URLSearchParams(form).toString() }),
    });
    for (const { name, value } of response.cookies) this.#here.set(name, value);
    return response;
  }

  async signInThere({ name, password }: Account): Promise<void> {
    await this.#ask('/user/login');
    const answer = await this.#ask('/user/login', { user_name: name, password });
    expect(answer.status).toBe(303);
  }

  /** Presses "Authorize" if Gitea asks, and returns the address to which it sends the browser. */
  async authorize(address: string): Promise<string> {
    const asked = await this.#ask(address.replace(gitea.url, ''));
    if (asked.location !== null) return asked.location;
    const form = Object.fromEntries(
      [...asked.text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(
        ([, name = '', value = '']) => [name, value],
      ),
    );
    return (await this.#ask('/login/oauth/grant', { ...form, granted: 'true' })).location ?? '';
  }

  async #ask(path: string, form?: Record<string, string>) {
    const cookie = [...this.#there].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(`${gitea.url}${path}`, {
      method: form === undefined ? 'GET' : 'POST',
      redirect: 'manual',
      headers: { cookie, origin: gitea.url },
      body: form === undefined ? null : new URLSearchParams(form),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      this.#there.set(name, value);
    }
    return {
      status: response.status,
      location: response.headers.get('location'),
      text: await response.text(),
    };
  }
}

async function open(signIn: SignInProvider | null): Promise<TestConsole> {
  const given = { baseUrl: `${gitea.url}/api/v1`, token, webhookSecrets: ['a-webhook-secret'] };
  return await openConsole({
    config: {
      ...TEST_CONFIG,
      http: { ...TEST_CONFIG.http, publicUrl: PUBLIC_URL },
      providers: ProvidersConfig.parse({ gitea: given }),
    },
    keepSettings: async (made) => void Object.assign(settings, made),
    signIn,
  });
}

/** Opens the console with the settings that were kept, as after a restart. */
async function reopen(changes: Record<string, string> = {}): Promise<TestConsole> {
  const set = { ...settings, ...changes };
  const { issuer, clientId, ...rest } = loadConfig(createPreset(set, '/tmp/none', '/tmp/none'), set, () => '')
    .auth.openId;
  return await open(createOpenIdProvider({ issuer: issuer ?? '', clientId: clientId ?? '', ...rest }));
}

async function signIn(console: TestConsole, account: Account): Promise<[Browser, LightMyRequestResponse]> {
  const browser = new Browser(console);
  await browser.signInThere(account);
  const begun = await browser.request('/sign-in/openid?next=/builds');
  const back = await browser.authorize(String(begun.headers.location));
  return [browser, await browser.request(back)];
}

describe('an OAuth application at a real Gitea', () => {
  it('is created with one button', async () => {
    settings = {};
    const console = await open(null);
    const form = { provider: 'gitea', act: 'create', group: 'acme:ci', role: 'admin' };
    const { statusCode } = await new Browser(console).request('/settings/oauth', form, TOKENS.admin);
    expect(statusCode).toBe(200);
    expect(settings).toMatchObject({
      FAULTLINE_OIDC_ISSUER: gitea.url,
      FAULTLINE_OIDC_CLIENT_ID: expect.stringMatching(/^[0-9a-f-]{36}$/),
      FAULTLINE_OIDC_CLIENT_SECRET: expect.stringMatching(/^gto_/),
      FAULTLINE_OIDC_ROLES: 'acme:ci=admin',
    });
    await console.close();
  });

  it('signs in the members of the group, and nobody else', async () => {
    const console = await reopen();
    const [browser, answer] = await signIn(console, ben);
    expect([answer.statusCode, answer.headers.location]).toEqual([303, '/builds']);
    expect((await browser.request('/me')).body).toContain('ben@example.test');
    const [, other] = await signIn(console, cleo);
    expect([other.statusCode, other.body]).toEqual([
      403,
      expect.stringContaining('none of their groups may use Faultline'),
    ]);
    await console.close();
  });

  it('creates a webhook with the account of the reader, once for each time that they confirm', async () => {
    const console = await reopen();
    const [browser] = await signIn(console, ben);
    const form = { provider: 'gitea', repository: 'acme/shop' };
    const begun = await browser.request('/settings/grant', form);
    expect(begun.statusCode, begun.body).toBe(303);
    const back = await browser.authorize(String(begun.headers.location));
    const made = await browser.request(back);
    expect([made.statusCode, made.body]).toEqual([
      200,
      expect.stringContaining(`created for ${PUBLIC_URL}/webhooks/gitea`),
    ]);
    expect((await browser.request(back)).statusCode).toBe(403);
    const hooks = await gitea.api(gitea.admin, 'GET', '/repos/acme/shop/hooks', Hooks);
    expect(hooks).toEqual([
      {
        type: 'gitea',
        events: expect.arrayContaining(['workflow_run', 'workflow_job']),
        config: expect.objectContaining({ url: `${PUBLIC_URL}/webhooks/gitea` }),
      },
    ]);
    await console.close();
  });

  it('creates nothing with the account of somebody who may not', async () => {
    const console = await reopen({ FAULTLINE_OIDC_ROLES: '*=admin' });
    const [browser] = await signIn(console, cleo);
    const form = { provider: 'gitea', repository: 'acme/shop' };
    const begun = await browser.request('/settings/grant', form);
    const { body } = await browser.request(await browser.authorize(String(begun.headers.location)));
    expect(body).toMatch(/Wrong<\/strong> · webhook/);
    await console.close();
  });

  it('says which scope a token lacks that may not create applications', async () => {
    const scopes = { name: 'poor', scopes: ['read:repository'] };
    const made = await gitea.api(
      gitea.admin,
      'POST',
      '/users/operator/tokens',
      z.object({ sha1: z.string() }),
      scopes,
    );
    token = made.sha1;
    const console = await open(null);
    const form = { provider: 'gitea', act: 'create', group: '*', role: 'read' };
    const { statusCode, body } = await new Browser(console).request('/settings/oauth', form, TOKENS.admin);
    expect([statusCode >= 400, body]).toEqual([true, expect.stringContaining('write:user')]);
    await console.close();
  });
});
