import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildHttp } from '../../src/api/server.ts';
import { createEmptyHttpDeps, TOKENS } from '../support/http-deps.ts';

let app: FastifyInstance;
beforeAll(async () => {
  app = await buildHttp(createEmptyHttpDeps());
});
afterAll(() => app.close());

describe('an unsupported method on a known path', () => {
  it.each([
    ['DELETE', '/healthz', 'GET, HEAD, OPTIONS'],
    ['PUT', '/api/builds', 'GET, HEAD, OPTIONS, POST'],
    ['PATCH', '/api/builds/bld_1?token=abc', 'GET, HEAD, OPTIONS'],
    ['TRACE', '/api/analyses/ana_1/ask', 'OPTIONS, POST'],
    ['QUERY', '/api/knowledge/runbooks%2Fdisk.md', 'DELETE, GET, HEAD, OPTIONS'],
    ['GET', '/mcp', 'OPTIONS, POST'],
    ['GET', '/webhooks/github', 'OPTIONS, POST'],
    ['POST', '/openapi.json', 'GET, HEAD, OPTIONS'],
    ['POST', '/builds', 'GET, HEAD, OPTIONS'],
  ] as const)('%s %s is answered with 405 and the supported methods', async (method, url, allow) => {
    const answer = await app.inject({ method: method as 'GET', url });

    expect([answer.statusCode, answer.headers.allow]).toEqual([405, allow]);
    expect(answer.json().error).toEqual({
      code: 'wrong-method',
      message: `${url.split('?')[0]} does not support ${method}. Use ${allow}; see /docs.`,
      requestId: expect.any(String),
    });
  });

  it('is refused, whatever its body', async () => {
    for (const type of ['application/json', 'image/png', 'multipart/form-data']) {
      const answer = await app.inject({
        method: 'PUT',
        url: '/api/builds',
        payload: '{',
        headers: { 'content-type': type },
      });
      expect(answer.statusCode).toBe(405);
    }
  });
});

it('OPTIONS returns the methods of a path', async () => {
  const answer = await app.inject({ method: 'OPTIONS', url: '/api/reviews/next' });

  expect([answer.statusCode, answer.headers.allow, answer.body]).toEqual([204, 'OPTIONS, POST', '']);
});

it('HEAD is answered like GET, without the body', async () => {
  const headers = { authorization: `Bearer ${TOKENS.read}` };
  const [head, get] = await Promise.all(
    (['HEAD', 'GET'] as const).map((method) => app.inject({ method, url: '/api/readiness', headers })),
  );

  expect([head?.statusCode, head?.headers['content-length'], head?.body]).toEqual([
    200,
    get?.headers['content-length'],
    '',
  ]);
});

it.each(['/nothing', '/api/buildz', '/healthzz', '/openapixjson'])(
  '%s is not found, whatever the method',
  async (url) => {
    for (const method of ['GET', 'OPTIONS', 'PUT'] as const) {
      const answer = await app.inject({ method, url });
      expect([answer.statusCode, answer.headers.allow, answer.json().error.code]).toEqual([
        404,
        undefined,
        'not-found',
      ]);
    }
  },
);
