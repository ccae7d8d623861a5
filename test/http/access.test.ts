import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildHttp } from '../../src/http.ts';
import { emptyHttpDeps, TOKENS } from '../support/http-deps.ts';
import { ACCESS_MATRIX } from './access-matrix.ts';

let app: FastifyInstance;
beforeAll(async () => {
  app = await buildHttp(emptyHttpDeps());
});
afterAll(() => app.close());

type Asker = 'nobody' | 'wrong token' | keyof typeof TOKENS;
const ASKERS: readonly Asker[] = ['nobody', 'wrong token', 'ingest', 'read', 'review', 'admin'];

function expected(access: string, asker: Asker): 'through' | 401 | 403 {
  if (access === 'open') return 'through';
  if (access === 'signature') return 401;
  if (asker === 'nobody' || asker === 'wrong token') return 401;
  return asker === access || asker === 'admin' ? 'through' : 403;
}

test('the matrix names exactly the routes there are, with the access they declare', () => {
  const declared = app.routeAccess.map(({ method, url, access }) => {
    const who = 'role' in access ? access.role : 'signature' in access ? 'signature' : 'open';
    return [`${method} ${url}`, who] as const;
  });
  // HEAD comes with each GET and must not be looser.
  const heads = declared.filter(([route]) => route.startsWith('HEAD '));
  for (const [route, who] of heads) expect([route, who]).toEqual([route, ACCESS_MATRIX[route.replace('HEAD', 'GET')]]);
  expect(Object.fromEntries(declared.filter(([route]) => !route.startsWith('HEAD ')))).toEqual(ACCESS_MATRIX);
});

describe.each(Object.entries(ACCESS_MATRIX))('%s', (route, access) => {
  test.each(ASKERS)(`lets %s in as ${access} says`, async (asker) => {
    const [method, url] = route.split(' ') as ['GET' | 'POST', string];
    const token = asker === 'wrong token' ? 'some-other-token-0123' : asker === 'nobody' ? null : TOKENS[asker];
    // Each asker from an address of its own: this is about access, not about guessing too often.
    const remoteAddress = `10.${ASKERS.indexOf(asker)}.0.${Object.keys(ACCESS_MATRIX).indexOf(route)}`;
    const answer = await app.inject({
      method,
      url: url.replace(':id', 'x'),
      remoteAddress,
      ...(token === null ? {} : { headers: { authorization: `Bearer ${token}` } }),
      ...(method === 'POST' ? { payload: {} } : {}),
    });

    const want = expected(access, asker);
    if (want === 'through') expect([401, 403, 404]).not.toContain(answer.statusCode);
    else expect(answer.statusCode).toBe(want);
  });
});

test('a route that does not say who may use it stops the start', async () => {
  const careless = (scope: FastifyInstance) => void scope.get('/api/secrets', async () => 'all of them');

  await expect(buildHttp(emptyHttpDeps({ routes: [careless] }))).rejects.toThrow('GET /api/secrets does not declare config.access');
});

test('a token is taken only as a bearer token', async () => {
  for (const authorization of [
    TOKENS.read,
    `Basic ${TOKENS.read}`,
    'Bearer',
    `Bearer ${TOKENS.read} x`,
    `Bearer ${TOKENS.read.slice(0, -1)}`,
  ]) {
    const answer = await app.inject({ url: '/api/builds', headers: { authorization } });
    expect([authorization, answer.statusCode, answer.headers['www-authenticate']]).toEqual([authorization, 401, 'Bearer']);
  }
});

test('thirty wrong tokens in a minute are answered with "wait"', async () => {
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
