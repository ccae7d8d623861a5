import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildHttp } from '../../src/api/server.ts';
import { makeToken } from '../../src/domain/access.ts';
import { TriageError } from '../../src/domain/errors.ts';
import { createFakeTokens, createStoresWith } from '../support/fake-tokens.ts';
import { createEmptyHttpDeps, TEST_CONFIG, TOKENS } from '../support/http-deps.ts';
import { THOROUGH } from '../support/thorough.ts';
import { ACCESS_MATRIX, isPage } from './access-matrix.ts';

const tokens = createFakeTokens();
const past = new Date(Date.now() - 1000).toISOString();
/** Who asks, with the role that counts (null: none) and the token shown. */
const ASKERS: Readonly<
  Record<string, { readonly role: string | null; readonly token: () => string | null }>
> = {
  nobody: { role: null, token: () => null },
  'a wrong token': { role: null, token: () => `${randomUUID()}-other` },
  'a token nobody made': { role: null, token: () => makeToken() },
  'an expired token': { role: null, token: () => tokens.give({ roles: ['admin'], expiresAt: past }) },
  'a revoked token': { role: null, token: () => tokens.give({ roles: ['admin'], revokedAt: past }) },
  'configured: ingest': { role: 'ingest', token: () => TOKENS.ingest },
  'configured: read': { role: 'read', token: () => TOKENS.read },
  'configured: review': { role: 'review', token: () => TOKENS.review },
  'configured: admin': { role: 'admin', token: () => TOKENS.admin },
  'a machine': { role: 'ingest', token: () => tokens.give({ roles: ['ingest'] }) },
  'a viewer': { role: 'read', token: () => tokens.give({ roles: ['read'] }) },
  'a reviewer': { role: 'review', token: () => tokens.give({ roles: ['review'] }) },
  'an admin': { role: 'admin', token: () => tokens.give({ roles: ['admin'] }) },
  // What of other projects it does not see is tested in scope.test.ts.
  'a viewer of one project': {
    role: 'read',
    token: () => tokens.give({ roles: ['read'], repositories: ['acme/shop'] }),
  },
};
const NAMES = Object.keys(ASKERS);
/** Who should fare alike. In a short run one of each is asked at a route, another at the next. */
const ALIKE = [
  ['a wrong token', 'a token nobody made', 'an expired token', 'a revoked token'],
  ['configured: ingest', 'a machine'],
  ['configured: read', 'a viewer', 'a viewer of one project'],
  ['configured: review', 'a reviewer'],
  ['configured: admin', 'an admin'],
];

function chooseAskers(route: string): string[] {
  const at = Object.keys(ACCESS_MATRIX).indexOf(route);
  return THOROUGH ? NAMES : ['nobody'].concat(ALIKE.map((names) => names[at % names.length] ?? ''));
}

let app: FastifyInstance;
beforeAll(async () => {
  app = await buildHttp(
    createEmptyHttpDeps({
      stores: createStoresWith({
        tokens: {
          ...tokens,
          revoke: async () => Promise.reject(new TriageError('storage-failed', 'Not now.')),
        },
      }),
    }),
  );
});
afterAll(() => app.close());

function findExpected(access: string, role: string | null): 'through' | 401 | 403 {
  if (access === 'open') return 'through';
  if (access === 'signature' || role === null) return 401;
  return role === access || role === 'admin' ? 'through' : 403;
}

/** A form that says neither where it comes from nor who sends it could be anybody's. */
function expectSignIn(method: string, access: string): 'through' | 303 | 403 {
  if (method === 'POST') return 403;
  return access === 'open' ? 'through' : 303;
}

test('T15: the access matrix names exactly the existing routes, with the access that they declare', () => {
  const declared = app.routeAccess.map(({ method, url, access }) => {
    const who = 'role' in access ? access.role : 'signature' in access ? 'signature' : 'open';
    return [`${method} ${url}`, who] as const;
  });
  // HEAD comes with each GET and must not be looser.
  const heads = declared.filter(([route]) => route.startsWith('HEAD '));
  for (const [route, who] of heads)
    expect([route, who]).toEqual([route, ACCESS_MATRIX[route.replace('HEAD', 'GET')]]);
  expect(Object.fromEntries(declared.filter(([route]) => !route.startsWith('HEAD ')))).toEqual(ACCESS_MATRIX);
});

describe.each(Object.entries(ACCESS_MATRIX))('the route %s', (route, access) => {
  test.each(chooseAskers(route))(`T15: accepts %s with the access ${access}`, async (asker) => {
    const [method, url] = route.split(' ') as ['GET' | 'POST', string];
    const role = ASKERS[asker]?.role ?? null;
    const token = ASKERS[asker]?.token() ?? null;
    // Each asker from an address of its own: this is about access, not about guessing too often.
    const remoteAddress = `10.${NAMES.indexOf(asker)}.0.${Object.keys(ACCESS_MATRIX).indexOf(route)}`;
    const answer = await app.inject({
      method,
      url: url.replace(':source', 'github').replace(':id', 'x'),
      remoteAddress,
      ...(token === null ? {} : { headers: { authorization: `Bearer ${token}` } }),
      ...(method === 'POST' ? { payload: {} } : {}),
    });

    const want = token === null && isPage(url) ? expectSignIn(method, access) : findExpected(access, role);
    if (want === 'through') expect([401, 403, 404]).not.toContain(answer.statusCode);
    else expect(answer.statusCode).toBe(want);
  });
});

test('the server does not start if a route declares no access', async () => {
  const careless = (scope: FastifyInstance) => void scope.get('/api/secrets', async () => 'all of them');

  await expect(buildHttp(createEmptyHttpDeps({ routes: [careless] }))).rejects.toThrow(
    'GET /api/secrets does not declare config.access',
  );
});

test('a token is accepted only as a bearer token', async () => {
  for (const authorization of [
    TOKENS.read,
    `Basic ${TOKENS.read}`,
    'Bearer',
    `Bearer ${TOKENS.read} x`,
    `Bearer ${TOKENS.read.slice(0, -1)}`,
  ]) {
    const answer = await app.inject({ url: '/api/builds', headers: { authorization } });
    expect([authorization, answer.statusCode, answer.headers['www-authenticate']]).toEqual([
      authorization,
      401,
      'Bearer',
    ]);
  }
});

test('T19: after thirty wrong tokens in a minute the client has to wait', async () => {
  const statuses: number[] = [];
  let last = await app.inject({ url: '/api/builds', remoteAddress: '10.9.9.9' });
  for (let guess = 0; guess < 31; guess++) {
    const headers = { authorization: `Bearer guess-number-${guess}-0123` };
    last = await app.inject({ url: '/api/builds', remoteAddress: '10.9.9.9', headers });
    statuses.push(last.statusCode);
  }
  expect(statuses.slice(0, 28)).toEqual(Array(28).fill(401));
  expect(last.statusCode).toBe(429);
  expect(Number(last.headers['retry-after'])).toBeGreaterThan(0);
  const neighbour = await app.inject({ url: '/api/builds', remoteAddress: '10.9.9.8' });
  expect(neighbour.statusCode).toBe(401);
});

test('T19: guesses with the same beginning are counted together for all addresses, and never delay the right token', async () => {
  const token = tokens.give({ name: 'guessed', roles: ['read'] });
  let last = 0;
  for (let guess = 0; guess < 32; guess++) {
    const headers = { authorization: `Bearer ${token.slice(0, 14)}${String(guess).padStart(39, '0')}` };
    last = (await app.inject({ url: '/api/builds', remoteAddress: `10.200.1.${guess}`, headers })).statusCode;
  }
  expect(last).toBe(429);
  const right = await app.inject({
    url: '/api/builds',
    remoteAddress: '10.200.1.1',
    headers: { authorization: `Bearer ${token}` },
  });
  expect(right.statusCode).toBe(503);
});

test('T19: behind a trusted proxy, the guessing client has to wait, not the proxy', async () => {
  const http = { ...TEST_CONFIG.http, trustProxy: 1 as const };
  const proxied = await buildHttp(
    createEmptyHttpDeps({ stores: createStoresWith({ tokens }), config: { ...TEST_CONFIG, http } }),
  );
  const ask = (client: string, guess: number) =>
    proxied.inject({
      url: '/api/builds',
      remoteAddress: '10.0.0.7',
      headers: {
        authorization: `Bearer ${guess}-wrong-token-${client}`,
        'x-forwarded-for': `1.2.3.4, ${client}`,
      },
    });
  const statuses: number[] = [];
  for (let guess = 0; guess < 31; guess++) statuses.push((await ask('192.0.2.1', guess)).statusCode);
  const other = await ask('192.0.2.2', 0);
  await proxied.close();
  expect([statuses.at(-1), other.statusCode]).toEqual([429, 401]);
});
