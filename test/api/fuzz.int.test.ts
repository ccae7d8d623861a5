import fc from 'fast-check';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ErrorAnswer } from '../../src/api/answers.ts';
import { buildHttp } from '../../src/api/server.ts';
import { systemClock } from '../../src/lib/time.ts';
import { createPostgresArchive } from '../../src/stores/archive/postgres.ts';
import { createStores } from '../../src/stores/stores.ts';
import { createEmptyHttpDeps, createRecordingLogger, type LogLine, TOKENS } from '../support/http-deps.ts';
import { openTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { listValues, NASTY } from '../support/schema-arbitrary.ts';
import { createStoredAsk, createStoredRepositoryAsk } from '../support/stored-ask.ts';
import { runs, THOROUGH } from '../support/thorough.ts';
import { ACCESS_MATRIX, isPage } from './access-matrix.ts';

/** Of each route. */
const RUNS = runs(25);
/** The same requests every time: a route that breaks once breaks again. */
const SEED = 20_260_101;

const Parameter = z.object({
  name: z.string(),
  in: z.enum(['path', 'query', 'header']),
  schema: z.unknown(),
});
const Operation = z.object({
  parameters: z.array(Parameter).default([]),
  requestBody: z.object({ content: z.record(z.string(), z.object({ schema: z.unknown() })) }).optional(),
  responses: z.record(z.string(), z.unknown()),
});
const Description = z.object({ paths: z.record(z.string(), z.record(z.string(), Operation)) });

let database: TestDatabase;
let app: FastifyInstance;
let described: z.infer<typeof Description>;
const log: LogLine[] = [];
let requests = 0;

beforeAll(async () => {
  database = await openTestDatabase();
  const stores = createStores(database, systemClock);
  const empty = createEmptyHttpDeps();
  app = await buildHttp({
    ...empty,
    stores,
    database,
    ask: createStoredAsk(stores),
    repositoryAsk: createStoredRepositoryAsk(stores),
    archive: createPostgresArchive(database),
    notifier: { notify: () => undefined, settle: async () => undefined },
    knowledge: {
      add: async () => Promise.reject(new Error('not reached: needs a reader of documents')),
      list: async () => [],
      show: async () => null,
      remove: async () => null,
      embed: async () => ({ embedder: null, embedded: 0, removed: 0 }),
    },
    logger: createRecordingLogger(log),
  });
  described = Description.parse((await app.inject('/openapi.json')).json());
});
afterAll(async () => {
  await app.close();
  await database.dispose();
});

/** Pages are tried for themselves; the protocol of agents and Slack's presses, which are signed, with their own tests. */
const routes = Object.keys(ACCESS_MATRIX).filter(
  (route) =>
    !isPage(route.split(' ')[1] ?? '') &&
    !/\/docs|openapi|\/mcp|\/slack/.test(route) &&
    route !== 'POST /api/knowledge',
);
/** Without an issuer there is no signing in by one; a stream of events lasts as long as a run. */
const pages = Object.keys(ACCESS_MATRIX).filter(
  (route) => isPage(route.split(' ')[1] ?? '') && !/openid|events/.test(route),
);

function createRequests(
  route: string,
): fc.Arbitrary<{ url: string; body: unknown; headers: Record<string, string> }> {
  const [method = '', url = ''] = route.split(' ');
  const operation = described.paths[url.replace(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()];
  if (operation === undefined) throw new Error(`${route} is not described`);
  const of = (place: string) =>
    fc.record(
      Object.fromEntries(
        operation.parameters
          .filter((parameter) => parameter.in === place)
          .map((parameter) => [
            parameter.name,
            place === 'path'
              ? listValues(parameter.schema)
              : fc.option(listValues(parameter.schema), { nil: undefined }),
          ]),
      ),
    );
  const bodies = operation.requestBody?.content['application/json']?.schema;
  return fc
    .record({
      path: of('path'),
      query: of('query'),
      headers: of('header'),
      body: bodies === undefined ? fc.constant(undefined) : listValues(bodies),
    })
    .map(({ path, query, headers, body }) => ({
      url: `${url.replace(/:(\w+)/g, (_whole, name: string) => encodeValue(path[name]))}?${formatQuery(query)}`,
      body,
      headers: toHeaders(headers),
    }));
}

function formatQuery(query: object): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  return given.map(([name, value]) => `${name}=${encodeValue(value)}`).join('&');
}

/** Any text as an address takes it; half a surrogate pair has no other form than the broken bytes. */
function encodeValue(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return text.isWellFormed() ? encodeURIComponent(text) : '%ED%A0%80';
}

function toHeaders(headers: object): Record<string, string> {
  const visible = Object.entries(headers).filter(
    ([, value]) => typeof value === 'string' && /^[\x20-\x7e]{0,500}$/.test(value),
  );
  return Object.fromEntries(visible.map(([name, value]) => [name, String(value)]));
}

/** Nothing failed here, and what is refused is refused in the one shape. */
function check(route: string, answer: Awaited<ReturnType<FastifyInstance['inject']>>): void {
  requests += 1;
  const told = `${route} ${answer.statusCode} ${answer.body.slice(0, 300)}`;
  expect(answer.statusCode, told).toBeLessThan(500);
  if (answer.statusCode >= 400) expect(ErrorAnswer.safeParse(answer.json()).success, told).toBe(true);
}

describe('T22: generated requests, valid and invalid by the description', () => {
  it.each(routes)('cause no server error on %s', async (route) => {
    const [method] = route.split(' ') as ['GET' | 'POST' | 'DELETE'];
    await fc.assert(
      fc.asyncProperty(createRequests(route), async ({ url, body, headers }) => {
        const payload = body === undefined ? undefined : (JSON.stringify(body) ?? 'null');
        const sent = {
          ...headers,
          ...(payload !== undefined && { 'content-type': 'application/json' }),
          authorization: `Bearer ${TOKENS.admin}`,
        };
        check(
          route,
          await app.inject({ method, url, headers: sent, ...(payload !== undefined && { payload }) }),
        );
      }),
      { numRuns: RUNS, seed: SEED },
    );
  });
});

describe('T21: JSON that breaks careless programs', () => {
  const bodies: readonly (readonly [string, string])[] = [
    ['__proto__', '{"__proto__": {"isAdmin": true}, "question": "why"}'],
    ['constructor.prototype', '{"constructor": {"prototype": {"x": 1}}, "question": "why"}'],
    ['a key twice', '{"question": "a", "question": "b"}'],
    ['ten thousand levels', `${'['.repeat(10_000)}${']'.repeat(10_000)}`],
    ['ten thousand levels of objects', `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`],
    ['NaN', '{"question": NaN}'],
    ['Infinity', '{"version": 1e999, "type": "accept"}'],
    ['half a surrogate pair', '{"question": "\\ud800", "name": "\\ud800", "answer": "\\ud800"}'],
    [
      'NUL',
      '{"question": "a\\u0000", "answer": "a\\u0000", "type": "reject", "reason": "\\u0000", "version": 1}',
    ],
    ['no UTF-8', '{"question": "\xff\xfe"}'],
    ['nothing', ''],
    ['not JSON', '<xml/>'],
    ['a bare value', '"x"'],
  ];
  const posts = routes.filter((route) => route.startsWith('POST') && !route.includes('/webhooks/'));

  it.each(bodies)('is refused or cleaned, and causes no server error: %s', async (_what, text) => {
    for (const route of posts) {
      const url = (route.split(' ')[1] ?? '').replace(':id', 'x');
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${TOKENS.admin}` };
      check(route, await app.inject({ method: 'POST', url, headers, payload: Buffer.from(text, 'latin1') }));
    }
    expect(Reflect.get({}, 'isAdmin')).toBeUndefined();
  });

  const FIELDS = [
    'repository',
    'repo',
    'q',
    'L',
    'file',
    'from',
    'offset',
    'state',
    'category',
    'days',
    'token',
    'next',
    'version',
    'type',
    'pattern',
  ];

  it('is accepted or refused in every field of every body', async () => {
    for (const route of pages) {
      const [method, url = ''] = route.split(' ') as ['GET' | 'POST', string];
      for (const text of chooseNasty(pages.indexOf(route))) {
        const path = url.replace(/:(\w+)/g, encodeValue(text));
        const fields = FIELDS.map((name) => `${name}=${encodeValue(text)}`).join('&');
        const headers = {
          authorization: `Bearer ${TOKENS.admin}`,
          'content-type': 'application/x-www-form-urlencoded',
        };
        const answer = await app.inject(
          method === 'GET'
            ? { url: `${path}?${fields}`, headers }
            : { method, url: path, headers, payload: fields },
        );
        requests += 1;
        expect(answer.statusCode, `${route} ${answer.statusCode} ${answer.body.slice(0, 300)}`).toBeLessThan(
          500,
        );
      }
    }
  });

  it('is accepted or refused in every part of every address', async () => {
    for (const route of routes) {
      const [method, url = ''] = route.split(' ') as ['GET' | 'POST' | 'DELETE', string];
      for (const text of chooseNasty(routes.indexOf(route))) {
        const path = url.replace(/:(\w+)/g, encodeValue(text));
        const query = [
          'repository',
          'text',
          'since',
          'limit',
          'number',
          'provider',
          'analysis',
          'build',
          'token',
        ].map((name) => `${name}=${encodeValue(text)}`);
        for (const address of [
          path,
          `${path}?${query.join('&')}`,
          ...query.slice(0, 4).map((one) => `${path}?${one}`),
        ]) {
          if (method !== 'GET' && address !== path) continue;
          const headers = { authorization: `Bearer ${TOKENS.admin}` };
          check(route, await app.inject({ method, url: address, headers }));
        }
      }
    }
    console.info(
      `${requests} requests to ${routes.length} routes and ${pages.length} pages; failed: 0; lines about failures in the log: ${listFailures().length}`,
    );
    expect(listFailures().map(({ fields }) => [fields.route, fields.code, fields.reason])).toEqual([]);
  });
});

/** Returns the texts for one route: in a short run a third of them, another one than for the route before. */
function chooseNasty(place: number): readonly string[] {
  return NASTY.filter((one, at) => one.length < 300 && (THOROUGH || (at + place) % 3 === 0));
}

function listFailures(): LogLine[] {
  return log.filter(({ message }) => message === 'request failed');
}
