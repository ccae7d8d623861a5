import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LightMyRequestResponse } from 'fastify';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { z } from 'zod';
import { keepSettings, readConfig, readOrCreateSecrets } from '../../src/cli/settings.ts';
import { createMaskingOptions } from '../../src/config/masking.ts';
import type { Config } from '../../src/config/schema.ts';
import { runCheck } from '../../src/ports/health.ts';
import { createGithubProvider } from '../../src/providers/github/provider.ts';
import { ProvidersConfig } from '../../src/providers/registry.ts';
import { openConsole, TOKENS } from '../support/console.ts';
import { answerForApp, createTestGithubApp, install, type TestGithubApp } from '../support/github-app.ts';
import { TEST_CONFIG } from '../support/http-deps.ts';
import { type LoopbackServer, sendJson, startLoopback } from '../support/loopback-server.ts';

const PUBLIC_URL = 'https://faultline.shop.example';
const SECRET = 'hook-secret-of-the-new-app';

const Manifest = z.object({
  name: z.string(),
  url: z.string(),
  hook_attributes: z.object({ url: z.string(), active: z.boolean() }),
  redirect_url: z.string(),
  public: z.boolean(),
  default_permissions: z.record(z.string(), z.string()),
  default_events: z.array(z.string()),
});

let app: TestGithubApp;
let github: LoopbackServer;
let folder: string;
/** The manifests by the code that GitHub gave for them; a code works once. */
let codes: Map<string, z.infer<typeof Manifest>>;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'faultline-app-'));
  app = createTestGithubApp();
  codes = new Map();
  github = await startLoopback((request, response) => void answerGithub(request, response));
});
afterEach(async () => {
  await github.close();
  await rm(folder, { recursive: true, force: true });
});

/** Answers as github.com and its API do in the manifest flow. */
async function answerGithub(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://x');
  const [, code] = /^\/app-manifests\/([^/]+)\/conversions$/.exec(pathname) ?? [];
  if (/^(?:\/organizations\/[^/]+)?\/settings\/apps\/new$/.test(pathname)) {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const form = new URLSearchParams(Buffer.concat(chunks).toString());
    const manifest = Manifest.parse(JSON.parse(form.get('manifest') ?? ''));
    const given = `code${codes.size}`;
    codes.set(given, manifest);
    const back = new URL(manifest.redirect_url);
    back.searchParams.set('code', given);
    back.searchParams.set('state', searchParams.get('state') ?? '');
    response.writeHead(302, { location: back.href }).end();
  } else if (code !== undefined) {
    const manifest = codes.get(code);
    if (manifest === undefined) return sendJson(response, 404, { message: 'Not Found' });
    codes.delete(code);
    sendJson(response, 201, {
      id: Number(app.id),
      slug: 'faultline-shop',
      name: manifest.name,
      client_id: 'Iv1.0123456789abcdef',
      client_secret: 'never-used',
      pem: app.privateKey,
      webhook_secret: SECRET,
      html_url: `${github.url}/apps/faultline-shop`,
    });
  } else if (!answerForApp(app, request, response)) sendJson(response, 404, { message: 'Not Found' });
}

async function openSettings({
  writes = [] as string[],
  isEmbedded = true,
  publicUrl = PUBLIC_URL as string | null,
}) {
  const console = await openConsole({
    config: {
      ...TEST_CONFIG,
      http: { ...TEST_CONFIG.http, publicUrl },
      providers: ProvidersConfig.parse({ github: { baseUrl: github.url, writes } }),
    },
    ...(isEmbedded && { keepSettings: async (settings) => keepSettings(folder, settings) }),
  });
  const cookies = new Map<string, string>();
  /** Requests a page as a browser does, with its cookies. */
  const get = async (url: string): Promise<LightMyRequestResponse> => {
    const response = await console.app.inject({
      url,
      headers: { authorization: `Bearer ${TOKENS.admin}` },
      cookies: Object.fromEntries(cookies),
    });
    for (const { name, value } of response.cookies) cookies.set(name, value);
    return response;
  };
  /** Presses the button of the form on the page, and returns where GitHub sends the browser. */
  const create = async (body: string): Promise<string> => {
    const [, address = ''] = /action="(http:\/\/127[^"]+)"/.exec(body) ?? [];
    const [, manifest = ''] = /name="manifest" value="([^"]+)"/.exec(body) ?? [];
    const response = await fetch(address, {
      method: 'POST',
      body: new URLSearchParams({ manifest: manifest.replaceAll('&quot;', '"') }),
      redirect: 'manual',
    });
    return response.headers.get('location') ?? '';
  };
  const toPath = (address: string) => address.replace(PUBLIC_URL, '');
  return { console, get, create, toPath };
}

it('an App is created with one button, and its credentials are stored and not shown', async () => {
  const made = readOrCreateSecrets(folder);
  const { console, get, create, toPath } = await openSettings({});
  const page = await get('/settings?provider=github');
  expect(page.headers['content-security-policy']).toContain(`form-action 'self' ${github.url}`);
  expect(page.body).toContain('actions: read, contents: read, metadata: read, pull_requests: read');

  const back = await create(page.body);
  expect([...codes.values()]).toEqual([
    {
      name: 'Faultline faultline.shop.example',
      url: PUBLIC_URL,
      hook_attributes: { url: `${PUBLIC_URL}/webhooks/github`, active: true },
      redirect_url: `${PUBLIC_URL}/settings/app`,
      public: false,
      default_permissions: { actions: 'read', contents: 'read', metadata: 'read', pull_requests: 'read' },
      default_events: ['workflow_run', 'workflow_job'],
    },
  ]);
  const { statusCode, body } = await get(toPath(back));

  expect(statusCode).toBe(200);
  expect(body).toContain(`href="${github.url}/apps/faultline-shop/installations/new"`);
  for (const secret of [SECRET, 'BEGIN RSA', 'never-used']) expect(body).not.toContain(secret);
  const file = join(folder, 'secrets.json');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ ...made });
  const config = readConfig(folder);
  expect(config.providers.github).toMatchObject({
    app: { id: app.id },
    webhookSecrets: [SECRET, made.githubWebhookSecret],
  });
  const { known } = createMaskingOptions(config);
  expect(known).toEqual(expect.arrayContaining([SECRET, app.privateKey.split('\n')[1]]));
  await console.close();
});

it('the App is used after a restart', async () => {
  const { console, get, create, toPath } = await openSettings({});
  await get(toPath(await create((await get('/settings?provider=github')).body)));
  await console.close();
  install(app, 'shop/api');

  const { providers } = readConfig(folder, { FAULTLINE_GITHUB_URL: github.url });
  const checks = createGithubProvider(providers.github).checks([]);
  const findings = (await Promise.all(checks.map(runCheck))).flat();
  expect(findings.find(({ name }) => name === 'github app')).toMatchObject({ state: 'ok' });
});

it('the environment overrides stored settings, and the stored webhook secret is added to its own', async () => {
  keepSettings(folder, {
    FAULTLINE_GITHUB_APP_ID: '4711',
    FAULTLINE_GITHUB_APP_KEY: app.privateKey,
    FAULTLINE_GITHUB_WEBHOOK_SECRET: SECRET,
  });
  const { githubWebhookSecret } = readOrCreateSecrets(folder);
  const read = (given: Record<string, string>): Config['providers']['github'] =>
    readConfig(folder, given).providers.github;

  expect(read({ FAULTLINE_GITHUB_APP_ID: '12' }).app?.id).toBe('12');
  expect(read({ FAULTLINE_GITHUB_WEBHOOK_SECRET: 'of-a-repository' }).webhookSecrets).toEqual([
    'of-a-repository',
    SECRET,
    githubWebhookSecret,
  ]);
  expect(read({ FAULTLINE_DATABASE_URL: 'postgres://127.0.0.1/faultline' }).app).toBeNull();
});

it('the form requests only what may be written, also for an organization', async () => {
  const { console, get, create } = await openSettings({ writes: ['comment', 'check', 'status', 'rerun'] });
  const { body } = await get('/settings?provider=github&organization=acme');
  expect(body).toContain(`action="${github.url}/organizations/acme/settings/apps/new?state=`);
  await create(body);

  expect([...codes.values()][0]?.default_permissions).toEqual({
    actions: 'write',
    checks: 'write',
    contents: 'read',
    metadata: 'read',
    pull_requests: 'write',
    statuses: 'write',
  });
  const hostile = await get('/settings?provider=github&organization=acme/../../evil');
  expect(hostile.body).toContain(`action="${github.url}/settings/apps/new?state=`);
  await console.close();
});

it('the credentials are shown once if settings are stored elsewhere', async () => {
  const { console, get, create, toPath } = await openSettings({ isEmbedded: false });
  const back = toPath(await create((await get('/settings?provider=github')).body));
  const { body, headers } = await get(back);

  expect(headers['cache-control']).toBe('no-store');
  const [, lines = ''] = /<pre>([^<]+)<\/pre>/.exec(body) ?? [];
  const given = Object.fromEntries(
    lines
      .replaceAll('&quot;', '"')
      .split('\n')
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 2, -1)]),
  );
  expect(readConfig(folder, given).providers.github).toMatchObject({
    app: { id: '4711', privateKey: app.privateKey.trim() },
    webhookSecrets: [SECRET],
  });
  expect((await get(back)).statusCode).toBe(403);
  await console.close();
});

it('a setup begun elsewhere, repeated, or by someone who is not an administrator is refused', async () => {
  const { console, get, create, toPath } = await openSettings({});
  const back = toPath(await create((await get('/settings?provider=github')).body));

  const others = await get(back.replace(/state=[^&]+/, 'state=of-another-browser'));
  expect([others.statusCode, others.body]).toEqual([
    403,
    expect.stringContaining('started in another browser'),
  ]);
  const reviewer = await console.app.inject({
    url: back,
    headers: { authorization: `Bearer ${TOKENS.review}` },
  });
  expect(reviewer.statusCode).toBe(403);
  expect(codes.size).toBe(1);
  expect((await get(back)).statusCode).toBe(200);
  expect((await get(back)).statusCode).toBe(403);
  await console.close();
});

it('a code that GitHub does not know is reported', async () => {
  const { console, get, create, toPath } = await openSettings({});
  const back = toPath(await create((await get('/settings?provider=github')).body));
  codes.clear();

  const { statusCode, body } = await get(back);
  expect(statusCode).toBe(404);
  expect(body).toContain('the credentials of the new App');
  await console.close();
});

it('a missing public address is requested first', async () => {
  const { console, get } = await openSettings({ publicUrl: null });

  const { body } = await get('/settings?provider=github');
  expect(body).toContain('It needs the public address.');
  expect(body).not.toContain('name="manifest"');
  await console.close();
});
