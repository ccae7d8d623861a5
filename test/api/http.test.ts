import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createPrometheusMetrics } from '../../src/adapters/metrics/prometheus.ts';
import { buildHttp, type HttpDeps } from '../../src/api/server.ts';
import { TriageError, type TriageErrorCode } from '../../src/domain/errors.ts';
import {
  createEmptyHttpDeps,
  createRecordingLogger,
  type LogLine,
  TEST_CONFIG,
  TOKENS,
} from '../support/http-deps.ts';
import { isPage } from './access-matrix.ts';

const log: LogLine[] = [];
const open = { access: { open: 'for this test' } } as const;
let app: FastifyInstance;

function build(changes: Partial<HttpDeps> = {}): Promise<FastifyInstance> {
  return buildHttp(createEmptyHttpDeps({ logger: createRecordingLogger(log), ...changes }));
}

function addThrowingRoutes(scope: FastifyInstance): void {
  scope.get(
    '/throw/:code',
    { config: open, schema: { hide: true, params: z.object({ code: z.string() }) } },
    async (request) => {
      const { code } = request.params as { code: TriageErrorCode };
      throw new TriageError(code, 'This is what happened. Do that.', { details: { where: 'here' } });
    },
  );
  scope.get('/throw-anything', { config: open, schema: { hide: true } }, async () => {
    throw new Error('a secret detail of the inside');
  });
  scope.get('/throw-with-time', { config: open, schema: { hide: true } }, async () => {
    throw new TriageError('locked', 'Not now.', { retryable: true, retryAfterMs: 1500 });
  });
  scope.get(
    '/wrong-answer',
    { config: open, schema: { hide: true, response: { 200: z.object({ a: z.string() }) } } },
    async () => ({
      b: 1,
    }),
  );
  scope.get(
    '/checked',
    {
      config: open,
      schema: { hide: true, querystring: z.object({ limit: z.coerce.number().int().max(10) }) },
    },
    async () => ({}),
  );
}

beforeAll(async () => {
  app = await build({ routes: [addThrowingRoutes] });
});
afterAll(() => app.close());

describe('a refused request', () => {
  test.each<[TriageErrorCode, number]>([
    ['invalid-input', 400],
    ['unauthenticated', 401],
    ['forbidden', 403],
    ['not-found', 404],
    ['conflict', 409],
    ['too-large', 413],
    ['unsupported-type', 415],
    ['rate-limited', 429],
    ['invalid-config', 503],
    ['locked', 503],
    ['storage-failed', 503],
    ['timeout', 504],
    ['upstream-auth', 500],
    ['upstream-failed', 500],
    ['internal', 500],
  ])('%s is answered with %i and a sentence, and logged', async (code, status) => {
    log.length = 0;
    const answer = await app.inject(`/throw/${code}`);

    expect(answer.statusCode).toBe(status);
    expect(answer.json()).toEqual({
      error: { code, message: 'This is what happened. Do that.', requestId: answer.headers['x-request-id'] },
    });
    const line = log.find(({ message }) => message === (status < 500 ? 'request refused' : 'request failed'));
    expect(line?.fields).toMatchObject({
      code,
      status,
      route: '/throw/:code',
      method: 'GET',
      details: { where: 'here' },
    });
    const waits = ['rate-limited', 'locked', 'storage-failed'].includes(code);
    expect(answer.headers['retry-after'] !== undefined).toBe(waits);
  });

  test('contains the waiting time that the error names', async () => {
    expect((await app.inject('/throw-with-time')).headers['retry-after']).toBe('2');
  });

  test('with an unexpected error is a 500 that reveals only the id of the request', async () => {
    for (const url of ['/throw-anything', '/wrong-answer']) {
      const answer = await app.inject(url);
      expect(answer.statusCode).toBe(500);
      expect(answer.json().error).toEqual({
        code: 'internal',
        message: expect.stringContaining('request'),
        requestId: expect.any(String),
      });
      expect(answer.body).not.toMatch(/secret detail|\.ts|stack/);
    }
    expect(
      log.some(
        ({ fields }) =>
          fields.error instanceof Error && fields.error.message === 'a secret detail of the inside',
      ),
    ).toBe(true);
  });

  test('names the field that a schema refuses', async () => {
    const answer = await app.inject('/checked?limit=99');

    expect(answer.statusCode).toBe(400);
    expect(answer.json().error).toMatchObject({
      code: 'invalid-input',
      message: expect.stringContaining('at "limit"'),
      issues: [{ path: 'limit', message: expect.any(String) }],
    });
  });

  test.each([
    ['GET', '/nothing/here?token=abc', 404],
    ['GET', '/%zz', 400],
  ] as const)('%s %s is answered with %i', async (method, url, status) => {
    const answer = await app.inject({ method, url });

    expect(answer.statusCode).toBe(status);
    expect(answer.json().error.message).not.toContain('token=abc');
  });
});

test('requests above the limit of an address have to wait', async () => {
  const strict = await build({ config: { ...TEST_CONFIG, http: { ...TEST_CONFIG.http, rateLimit: 2 } } });
  const ask = () => strict.inject({ url: '/openapi.json' });
  const answers = [await ask(), await ask(), await ask()];
  const probe = await strict.inject('/healthz');
  await strict.close();

  expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 429]);
  expect(answers[2]?.json().error.code).toBe('rate-limited');
  expect(Number(answers[2]?.headers['retry-after'])).toBeGreaterThan(0);
  expect(probe.statusCode).toBe(200);
});

describe('behind a proxy', () => {
  const PROXY = '10.0.0.7';

  async function listStatuses(
    trustProxy: HttpDeps['config']['http']['trustProxy'],
    forwarded: readonly string[],
  ): Promise<number[]> {
    const strict = await build({
      config: { ...TEST_CONFIG, http: { ...TEST_CONFIG.http, rateLimit: 1, trustProxy } },
    });
    const answers: number[] = [];
    for (const list of forwarded) {
      const answer = await strict.inject({
        url: '/openapi.json',
        remoteAddress: PROXY,
        headers: { 'x-forwarded-for': list },
      });
      answers.push(answer.statusCode);
    }
    await strict.close();
    return answers;
  }

  test.each([1, [PROXY], ['10.0.0.0/8']])(
    'that is trusted (%j), each client has a limit of its own',
    async (trust) => {
      expect(await listStatuses(trust, ['192.0.2.1', '192.0.2.2', '192.0.2.1'])).toEqual([200, 200, 429]);
    },
  );

  test.each([1, [PROXY]])('that is trusted (%j), a client cannot pretend to be another', async (trust) => {
    expect(await listStatuses(trust, ['198.51.100.1, 192.0.2.1', '198.51.100.2, 192.0.2.1'])).toEqual([
      200, 429,
    ]);
  });

  test.each([false as const, ['10.9.9.9']])(
    'that is not trusted (%j), the claimed client address is ignored',
    async (trust) => {
      expect(await listStatuses(trust, ['192.0.2.1', '192.0.2.2'])).toEqual([200, 429]);
    },
  );
});

describe('the health routes', () => {
  test('/healthz reports that the process is running', async () => {
    expect((await app.inject('/healthz')).json()).toEqual({ alive: true });
  });

  const since = '2026-11-22T07:00:00.000Z';
  const down = {
    state: 'down' as const,
    says: 'password authentication failed for user faultline at db.internal',
    since,
  };
  const ok = { state: 'ok' as const, says: 'postgres answers', since };

  test('/readyz reports readiness, and names backends that are down', async () => {
    expect((await app.inject('/readyz')).json()).toEqual({ ready: true, degraded: [], backends: {} });
    const readiness = async () => ({
      ok: true,
      degraded: ['jobQueue'],
      backends: { database: ok, jobQueue: down },
    });
    const limping = await build({ readiness });
    const answer = await limping.inject('/readyz');
    await limping.close();

    expect([answer.statusCode, answer.json()]).toEqual([
      200,
      { ready: true, degraded: ['jobQueue'], backends: { database: 'ok', jobQueue: 'down' } },
    ]);
    expect(answer.body).not.toMatch(/password|db\.internal/);
  });

  test('/readyz gives no reasons without a token, and all of them with one', async () => {
    const sick = await build({
      readiness: async () => ({ ok: false, degraded: ['database'], backends: { database: down } }),
    });
    const answer = await sick.inject('/readyz');
    const told = await sick.inject({
      url: '/api/readiness',
      headers: { authorization: `Bearer ${TOKENS.read}` },
    });
    const alive = await sick.inject('/healthz');
    await sick.close();

    expect([answer.statusCode, answer.headers['retry-after'], answer.json()]).toEqual([
      503,
      '5',
      { ready: false, degraded: ['database'], backends: { database: 'down' } },
    ]);
    expect(told.json()).toEqual({ ready: false, degraded: ['database'], backends: { database: down } });
    expect(alive.statusCode).toBe(200);
  });
});

describe('the metrics route', () => {
  test('needs a token with read permission, and counts the previous requests', async () => {
    const measured = await build({ metrics: createPrometheusMetrics({ ofProcess: false }) });
    await measured.inject('/healthz');
    await measured.inject('/no/such/address?token=hunter2');
    const answer = await measured.inject({
      url: '/metrics',
      headers: { authorization: `Bearer ${TOKENS.read}` },
    });
    const refused = await measured.inject('/metrics');
    await measured.close();

    expect(answer.headers['content-type']).toMatch(/^text\/plain/);
    expect(answer.body).toContain(
      'http_request_duration_seconds_count{method="GET",route="/healthz",status="2xx"} 1',
    );
    expect(answer.body).toContain(
      'http_request_duration_seconds_count{method="GET",route="none",status="4xx"} 1',
    );
    expect(answer.body).not.toContain('hunter2');
    expect(refused.statusCode).toBe(401);
  });
});

describe('the OpenAPI document', () => {
  const Operation = z.object({
    operationId: z.string(),
    summary: z.string(),
    description: z.string().min(1),
    tags: z.array(z.string()).min(1),
    security: z.array(z.record(z.string(), z.array(z.string()))),
    responses: z.record(z.string(), z.object({ content: z.record(z.string(), z.unknown()).optional() })),
    requestBody: z
      .object({
        required: z.boolean(),
        content: z.record(z.string(), z.looseObject({ schema: z.unknown() })),
      })
      .optional(),
  });
  const Description = z.object({
    openapi: z.literal('3.1.0'),
    tags: z.array(z.object({ name: z.string() })),
    components: z.object({ securitySchemes: z.record(z.string(), z.unknown()) }),
    paths: z.record(z.string(), z.record(z.string(), Operation)),
  });
  const describeApp = async (of: FastifyInstance) =>
    Description.parse((await of.inject('/openapi.json')).json());

  test('names every route except its own, with summary, tag and responses', async () => {
    const plain = await build();
    const { paths } = await describeApp(plain);
    const described = Object.entries(paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const routes = plain.routeAccess
      .filter(
        ({ method, url }) =>
          method !== 'HEAD' && !url.startsWith('/docs') && url !== '/openapi.json' && !isPage(url),
      )
      .map(({ method, url }) => `${method} ${url.replace(/:(\w+)/g, '{$1}')}`);
    await plain.close();

    expect(described.sort()).toEqual(routes.sort());
  });

  test('marks each route that needs a token', async () => {
    const plain = await build();
    const { paths } = await describeApp(plain);
    for (const { method, url, access } of plain.routeAccess) {
      if (method === 'HEAD' || !('role' in access) || isPage(url)) continue;
      const operation = paths[url.replace(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()];
      expect([url, operation?.security]).toEqual([url, [{ bearer: [] }]]);
    }
    await plain.close();
  });

  test('describes the name, tag, responses and authentication of each operation', async () => {
    const { paths, tags, components } = await describeApp(app);
    const operations = Object.values(paths).flatMap((path) => Object.values(path));
    const ids = operations.map(({ operationId }) => operationId);

    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => !/^[a-z][A-Za-z]+$/.test(id))).toEqual([]);
    expect([...new Set(operations.flatMap((operation) => operation.tags))].sort()).toEqual(
      tags.map(({ name }) => name).sort(),
    );
    expect(
      operations.filter(({ responses }) => !Object.keys(responses).some((status) => status.startsWith('2'))),
    ).toEqual([]);
    const schemes = operations.flatMap(({ security }) => security.flatMap((one) => Object.keys(one)));
    expect([...new Set(schemes)].sort()).toEqual(Object.keys(components.securitySchemes).sort());
    expect(['/healthz', '/readyz'].map((path) => paths[path]?.get?.security)).toEqual([[], []]);
  });

  test.each([
    ['GET /metrics', ['text/plain']],
    ['GET /api/flaky-tests', ['application/json', 'text/csv', 'text/plain']],
    ['GET /api/builds/{id}/sarif', ['application/sarif+json']],
    ['POST /api/builds/{id}/ask', ['application/json', 'text/event-stream']],
  ])('%s responds with the types that are described', async (route, types) => {
    const [method = '', path = ''] = route.split(' ');
    const { paths } = await describeApp(app);

    expect(Object.keys(paths[path]?.[method.toLowerCase()]?.responses['200']?.content ?? {})).toEqual(types);
  });

  test('has named schemas and errors, to which all bodies refer', async () => {
    const text = (await app.inject('/openapi.json')).body;
    const { components, paths } = z
      .object({
        components: z.object({
          schemas: z.record(z.string(), z.object({})),
          responses: z.record(
            z.string(),
            z.looseObject({ content: z.record(z.string(), z.looseObject({ example: z.object({}) })) }),
          ),
        }),
        paths: z.record(
          z.string(),
          z.record(z.string(), z.looseObject({ responses: z.record(z.string(), z.unknown()) })),
        ),
      })
      .parse(JSON.parse(text));
    const references = [...text.matchAll(/"#\/components\/(\w+)\/(\w+)"/g)].map(
      ([, kind, name]) => `${kind} ${name}`,
    );
    const known = [
      ...Object.keys(components.schemas).map((name) => `schemas ${name}`),
      ...Object.keys(components.responses).map((name) => `responses ${name}`),
    ];

    expect([...new Set(references)].filter((reference) => !known.includes(reference))).toEqual([]);
    for (const name of ['Analysis', 'Build', 'Cause', 'Error', 'Evidence', 'Review', 'Suspect'])
      expect(Object.keys(components.schemas)).toContain(name);
    expect(Object.keys(paths['/api/builds/{id}']?.get?.responses ?? {})).toEqual([
      '200',
      '400',
      '401',
      '403',
      '404',
      '409',
      '429',
      '503',
      '4XX',
      '5XX',
    ]);
    const bodies = [...text.matchAll(/"application\/json":\{"schema":\{"(\$?\w+)"/g)].map(([, key]) => key);
    expect(bodies.filter((key) => key !== '$ref')).toEqual([]);
    expect(text).not.toContain('x-component');
  });

  test('marks the bodies that are optional', async () => {
    const { paths } = await describeApp(app);
    const optional = Object.values(paths)
      .flatMap((path) => Object.values(path))
      .filter(({ requestBody }) => requestBody?.required === false)
      .map(({ operationId }) => operationId);

    expect(optional.sort()).toEqual(['claimNextReview', 'undoReview']);
  });

  test('shows both forms of an upload, with examples', async () => {
    const { paths } = await describeApp(app);
    const content = paths['/api/builds']?.post?.requestBody?.content ?? {};

    expect(Object.keys(content)).toEqual(['multipart/form-data', 'application/json']);
    expect(JSON.stringify(content)).toContain('"format":"binary"');
    expect(JSON.stringify(content['application/json'])).toContain('expected 10.20, got 10.21');
  });
});

describe('the reference page', () => {
  test('runs only its own script, and loads nothing from elsewhere', async () => {
    const page = await app.inject('/docs/');
    const csp = String(page.headers['content-security-policy']);
    const inline = [...page.body.matchAll(/<script[^>]*>([\s\S]*?)<\/script>/g)]
      .map((match) => match[1] ?? '')
      .filter((text) => text.trim() !== '');

    expect(page.statusCode).toBe(200);
    expect(csp).toMatch(/^default-src 'none'; script-src 'self' 'sha256-/);
    expect(csp).not.toMatch(/script-src[^;]*unsafe/);
    for (const script of inline) expect(csp).toContain(createHash('sha256').update(script).digest('base64'));
    const addresses = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1]);
    expect(addresses).toEqual(['js/scalar.js']);
    expect(page.body).not.toMatch(/https?:\/\//);
    expect((await app.inject('/docs/js/scalar.js')).statusCode).toBe(200);
  });

  test('is the only page whose policy allows anything', async () => {
    for (const url of ['/healthz', '/openapi.json', '/nothing']) {
      const answer = await app.inject(url);
      expect(answer.headers['content-security-policy']).toBe(
        "default-src 'none';base-uri 'none';form-action 'self';frame-ancestors 'none'",
      );
      expect(answer.headers['x-content-type-options']).toBe('nosniff');
    }
  });
});

test('a token in a header or a query never appears in the log', async () => {
  log.length = 0;
  await app.inject({ url: '/api/builds', headers: { authorization: `Bearer ${TOKENS.ingest}` } });
  await app.inject({ method: 'POST', url: '/webhooks/jenkins?token=hush-hush-hush', payload: {} });

  expect(log.length).toBeGreaterThan(2);
  expect(JSON.stringify(log)).not.toMatch(/ingest-token|hush-hush/);
});
