import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KEYS } from '../../src/console/controls.ts';
import { openConsole, type TestConsole, TOKENS } from '../support/console.ts';
import { createEmptyHttpDeps, createRecordingLogger, type LogLine } from '../support/http-deps.ts';

let app: FastifyInstance;
let console: TestConsole;
const log: LogLine[] = [];

beforeAll(async () => {
  console = await openConsole({ logger: createRecordingLogger(log) });
  app = console.app;
});
afterAll(async () => await console.close());

const form = (payload: Record<string, string>, headers: Record<string, string> = {}) => ({
  payload: new URLSearchParams(payload).toString(),
  headers: {
    'content-type': 'application/x-www-form-urlencoded',
    'sec-fetch-site': 'same-origin',
    host: 'localhost',
    ...headers,
  },
});

async function signIn(token: string): Promise<string> {
  const answer = await app.inject({ method: 'POST', url: '/sign-in', ...form({ token, next: '/me' }) });
  expect(answer.statusCode).toBe(303);
  return String(answer.headers['set-cookie']).split(';')[0] ?? '';
}

describe('signing in', () => {
  it('exchanges a token for a cookie that scripts cannot read and other sites cannot use', async () => {
    const answer = await app.inject({
      method: 'POST',
      url: '/sign-in',
      ...form({ token: TOKENS.read, next: '/me' }),
    });
    expect(answer.statusCode).toBe(303);
    expect(answer.headers.location).toBe('/me');
    expect(answer.headers['set-cookie']).toMatch(
      /^__Host-fl=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; Secure; SameSite=Lax$/i,
    );
    const me = await app.inject({
      url: '/me',
      headers: { cookie: await signIn(TOKENS.read), host: 'localhost' },
    });
    expect(me.statusCode).toBe(200);
    expect(me.body).toContain('read-holder');
    expect(me.headers['content-security-policy']).toContain("require-trusted-types-for 'script'");
  });

  it('is requested of a visitor, who then returns to the first page', async () => {
    const answer = await app.inject({ url: '/me?x=1', headers: { host: 'localhost' } });
    expect(answer.statusCode).toBe(303);
    expect(answer.headers.location).toBe('/sign-in?next=%2Fme%3Fx%3D1');
  });

  it('reports what is wrong with a token, signs nobody in, and redirects nowhere else', async () => {
    const wrong = await app.inject({
      method: 'POST',
      url: '/sign-in',
      ...form({ token: 'no-such-token-here', next: '/' }),
    });
    expect(wrong.statusCode).toBe(401);
    expect(wrong.body).toContain('is invalid');
    for (const next of ['//evil.example', '/\\evil.example', 'https://evil.example']) {
      const answer = await app.inject({
        method: 'POST',
        url: '/sign-in',
        ...form({ token: TOKENS.read, next }),
      });
      expect(answer.headers.location).toBe('/');
    }
  });

  it('ends permanently with signing out', async () => {
    const cookie = await signIn(TOKENS.read);
    const out = await app.inject({ method: 'POST', url: '/sign-out', ...form({}, { cookie }) });
    expect(out.headers['clear-site-data']).toBe('"cache", "storage"');
    expect((await app.inject({ url: '/me', headers: { cookie, host: 'localhost' } })).statusCode).toBe(303);
  });

  it('ends the session that this browser had before', async () => {
    const cookie = await signIn(TOKENS.read);
    await app.inject({
      method: 'POST',
      url: '/sign-in',
      ...form({ token: TOKENS.review, next: '/me' }, { cookie }),
    });
    expect((await app.inject({ url: '/me', headers: { cookie, host: 'localhost' } })).statusCode).toBe(303);
  });

  it('is logged with the name, and without the token, whether it succeeded or failed', async () => {
    log.length = 0;
    await signIn(TOKENS.read);
    await app.inject({
      method: 'POST',
      url: '/sign-in',
      ...form({ token: 'no-such-token-here', next: '/' }),
    });
    expect(log).toContainEqual(
      expect.objectContaining({
        message: 'signed in',
        fields: expect.objectContaining({ principal: 'read-holder' }),
      }),
    );
    expect(log.map(({ message }) => message)).toContain('sign-in refused');
    for (const secret of [TOKENS.read, 'no-such-token-here'])
      expect(JSON.stringify(log)).not.toContain(secret);
  });

  it('ends after twelve hours by our clock, whatever the browser keeps', async () => {
    const cookie = await signIn(TOKENS.read);
    const rows = await console.database.query(
      "update sessions set expires_at = expires_at - interval '12 hours' returning expires_at <= clock_timestamp() as over",
    );
    expect(rows).toContainEqual({ over: true });
    expect((await app.inject({ url: '/me', headers: { cookie, host: 'localhost' } })).statusCode).toBe(303);
  });

  it('keeps what was typed when the session had ended, and sends it again afterwards', async () => {
    const late = await app.inject({ method: 'POST', url: '/me', ...form({ theme: 'dark', keys: '<on>' }) });
    expect(late.statusCode).toBe(401);
    const held = /name="held" value="([^"]*)"/.exec(late.body)?.[1] ?? '';
    expect(held).toBe('theme=dark&amp;keys=%3Con%3E');
    expect(late.body).toContain('Your input is kept');
    const back = await app.inject({
      method: 'POST',
      url: '/sign-in',
      ...form({ token: TOKENS.read, next: '/me', held: held.replaceAll('&amp;', '&') }),
    });
    expect(back.statusCode).toBe(200);
    expect(back.body).toContain('<form method="post" action="/me" data-whole>');
    expect(back.body).toContain('name="keys" value="&lt;on&gt;"');
  });

  it('keeps a form up to the limit, although it grows when it is encoded again', async () => {
    const log = 'Fehler: “Größe”\n'.repeat(4_000);
    const late = await app.inject({ method: 'POST', url: '/paste', ...form({ log }) });
    const held = /name="held" value="([^"]*)"/.exec(late.body)?.[1] ?? '';
    expect(held.length).toBeGreaterThan(100_000);
    const back = await app.inject({
      method: 'POST',
      url: '/sign-in',
      ...form({ token: TOKENS.read, next: '/paste', held }),
    });
    expect(back.statusCode).toBe(200);
    expect(back.body).toContain(log);
  });

  it('says that a larger form must be entered again', async () => {
    const address = await app.listen({ host: '127.0.0.1', port: 0 });
    const answer = await fetch(`${address}/paste`, {
      method: 'POST',
      body: new URLSearchParams({ log: 'x'.repeat(500_000) }),
      headers: { 'sec-fetch-site': 'same-origin' },
    });
    expect(answer.status).toBe(401);
    const page = await answer.text();
    expect(page).toContain('Sign in, then enter your input again.');
    expect(page).not.toContain('Your input is kept');
  });

  it('limits wrong tokens with one beginning, from whatever addresses they are sent', async () => {
    const guess = (n: number) =>
      app.inject({
        method: 'POST',
        url: '/sign-in',
        remoteAddress: `10.3.0.${n}`,
        ...form({ token: `faultline_ab${n}`, next: '/' }),
      });
    for (let n = 0; n < 30; n += 1) expect((await guess(n)).statusCode).toBe(401);
    expect((await guess(30)).statusCode).toBe(429);
  });
});

describe('a form of another site', () => {
  it.each([
    [{ 'sec-fetch-site': 'cross-site' }, 403],
    [{ 'sec-fetch-site': 'same-site' }, 403],
    [{ 'sec-fetch-site': 'same-origin' }, 303],
    [{ 'sec-fetch-site': 'none' }, 303],
    [{ origin: 'http://evil.example' }, 403],
    [{ origin: 'null' }, 403],
    [{ origin: 'http://localhost' }, 303],
    [{}, 403],
  ])('is refused: %o is answered %i', async (headers, status) => {
    const cookie = await signIn(TOKENS.read);
    const { payload } = form({ theme: 'light' });
    const base = { 'content-type': 'application/x-www-form-urlencoded', host: 'localhost', cookie };
    const answer = await app.inject({
      method: 'POST',
      url: '/me',
      payload,
      headers: { ...base, ...headers },
    });
    expect(answer.statusCode).toBe(status);
  });

  it('is accepted with a token', async () => {
    const { payload } = form({ theme: 'light' });
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      authorization: `Bearer ${TOKENS.read}`,
    };
    expect((await app.inject({ method: 'POST', url: '/me', payload, headers })).statusCode).toBe(303);
  });
});

describe('settings', () => {
  it('are stored and applied', async () => {
    const cookie = await signIn(TOKENS.admin);
    await app.inject({ method: 'POST', url: '/me', ...form({ theme: 'dark' }, { cookie }) });
    const { body } = await app.inject({ url: '/me', headers: { cookie, host: 'localhost' } });
    expect(body).toContain('<html lang="en" data-theme="dark" data-keys="off" data-wrap="off">');
  });
});

describe('keys', () => {
  it('never decide when pressed by mistake', () => {
    const pressed = KEYS.flatMap(({ keys }) => keys.split('|'));
    for (const key of [
      'Enter',
      ' ',
      'Backspace',
      'Delete',
      'ArrowLeft',
      'ArrowRight',
      'ArrowUp',
      'ArrowDown',
    ])
      expect(pressed).not.toContain(key);
  });

  it('have one meaning in one place', () => {
    for (const place of ['queue', 'item', 'log', 'page'] as const) {
      const pressed = KEYS.filter(({ places }) => places.includes(place)).flatMap(({ keys }) =>
        keys.split('|'),
      );
      expect(new Set(pressed).size).toBe(pressed.length);
    }
  });
});

describe('behind a proxy that ends TLS without saying so', () => {
  let proxied: Awaited<ReturnType<typeof openConsole>>;
  beforeAll(async () => {
    const { config } = createEmptyHttpDeps();
    proxied = await openConsole({
      config: { ...config, http: { ...config.http, publicUrl: 'https://faultline.example.com' } },
    });
  });
  afterAll(async () => await proxied.close());

  it.each([
    ['faultline.example.com', /^__Host-fl=.*; Secure/i],
    ['build-server:4600', /^fl=/],
  ])('the cookie for %s is marked as the public address requires', async (host, expected) => {
    const answer = await proxied.app.inject({
      method: 'POST',
      url: '/sign-in',
      ...form({ token: TOKENS.read }, { host }),
    });
    expect(answer.headers['set-cookie']).toMatch(expected);
    const cookie = String(answer.headers['set-cookie']).split(';')[0] ?? '';
    expect((await proxied.app.inject({ url: '/me', headers: { host, cookie } })).statusCode).toBe(200);
  });
});
