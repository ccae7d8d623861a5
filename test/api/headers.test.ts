import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildHttp } from '../../src/api/server.ts';
import { createEmptyHttpDeps, TEST_CONFIG, TOKENS } from '../support/http-deps.ts';

let app: FastifyInstance;
beforeAll(async () => {
  app = await buildHttp(createEmptyHttpDeps());
});
afterAll(() => app.close());

const EVERYWHERE: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'SAMEORIGIN',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

test.each([
  ['an answer', '/healthz', 200],
  ['a refusal', '/api/builds', 401],
  ['nothing', '/nowhere', 404],
  ['the description', '/openapi.json', 200],
])('%s allows a browser nothing that it does not need', async (_what, url, status) => {
  const { statusCode, headers } = await app.inject(url);
  expect(statusCode).toBe(status);
  expect(headers).toMatchObject(EVERYWHERE);
  expect(headers['content-security-policy']).toBe(
    "default-src 'none';base-uri 'none';form-action 'self';frame-ancestors 'none'",
  );
  expect([headers['x-powered-by'], headers.server, headers['set-cookie']]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test('there is no CORS, so no other site can read a response, with or without a token', async () => {
  const origin = { origin: 'https://evil.example', authorization: `Bearer ${TOKENS.admin}` };
  for (const url of ['/healthz', '/api/builds', '/openapi.json', '/docs/']) {
    const { headers } = await app.inject({ url, headers: origin });
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
  }
  const preflight = await app.inject({
    method: 'OPTIONS',
    url: '/api/builds',
    headers: {
      ...origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization',
    },
  });
  expect(preflight.statusCode).toBe(204);
  expect(Object.keys(preflight.headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
});

test('T63: the reference page runs its own script and one inline script, by its hash, and loads nothing from elsewhere', async () => {
  const page = await app.inject('/docs/');
  const policy = Object.fromEntries(
    String(page.headers['content-security-policy'])
      .split('; ')
      .map((directive) => {
        const [name = '', ...values] = directive.split(' ');
        return [name, values];
      }),
  );
  const inline = [...page.body.matchAll(/<script[^>]*>([\s\S]*?)<\/script>/g)]
    .map(([, script = '']) => script)
    .filter((one) => one.trim() !== '');
  const hashes = inline.map((script) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`);
  expect(hashes.length).toBeGreaterThan(0);
  expect(policy['script-src']).toEqual(["'self'", ...hashes]);
  expect(policy['default-src']).toEqual(["'none'"]);
  expect(policy['connect-src']).toEqual(["'self'"]);
  expect(Object.values(policy).flat().join(' ')).not.toMatch(/https?:|\*|unsafe-eval/);
  expect(page.body).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
});

test('a token in the address is not accepted, because addresses are logged', async () => {
  for (const url of [`/api/builds?token=${TOKENS.admin}`, `/api/builds?access_token=${TOKENS.admin}`])
    expect((await app.inject(url)).statusCode).toBe(401);
});

test('over HTTPS a browser gets HSTS for a year; over HTTP it does not', async () => {
  const http = { ...TEST_CONFIG.http, trustProxy: 1 as const };
  const behindProxy = await buildHttp(createEmptyHttpDeps({ config: { ...TEST_CONFIG, http } }));
  for (const url of ['/healthz', '/sign-in', '/api/builds', '/nowhere']) {
    const { headers } = await behindProxy.inject({ url, headers: { 'x-forwarded-proto': 'https' } });
    expect(headers['strict-transport-security']).toBe('max-age=31536000');
    expect((await app.inject(url)).headers['strict-transport-security']).toBeUndefined();
  }
  await behindProxy.close();
});

test.each([
  ['a body of two lengths', 'POST /api/builds HTTP/1.1\r\ncontent-length: 3\r\ntransfer-encoding: chunked'],
  ['two lengths of a body', 'POST /api/builds HTTP/1.1\r\ncontent-length: 3\r\ncontent-length: 4'],
  ['TRACE', 'TRACE /healthz HTTP/1.1'],
])('a malformed request is refused: %s', async (_what, head) => {
  const served = await buildHttp(createEmptyHttpDeps());
  const { port } = new URL(await served.listen({ port: 0, host: '127.0.0.1' }));
  const socket = connect(Number(port), '127.0.0.1');
  socket.write(`${head}\r\nhost: faultline.example\r\nconnection: close\r\n\r\n0\r\n\r\n`);
  let answer = '';
  for await (const piece of socket) answer += String(piece);
  expect(answer).toMatch(/^HTTP\/1\.1 40[045] /);
  await served.close();
});
