import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { buildHttp } from '../../src/api/server.ts';
import { createFakeTokens, createStoresWith } from '../support/fake-tokens.ts';
import { createEmptyHttpDeps, TOKENS } from '../support/http-deps.ts';

const Reference = z.object({ $ref: z.string().optional() });
const Schema = Reference.extend({
  type: z.string().optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
});
const Parameter = z.object({ name: z.string(), in: z.string(), schema: z.looseObject({}) });
const Content = z.object({ 'application/json': z.object({ schema: Schema }).optional() });
const Description = z.object({
  paths: z.record(
    z.string(),
    z.object({
      get: z
        .object({
          parameters: z.array(Parameter).default([]),
          responses: z.record(z.string(), z.object({ content: Content.optional() })),
        })
        .optional(),
    }),
  ),
  components: z.object({ schemas: z.record(z.string(), Schema) }),
});
const Refused = z.object({
  error: z.object({ code: z.string(), message: z.string(), requestId: z.string() }),
});

/** A list in a format of somebody else. */
const EXPORTS = ['/api/builds/{id}/code-quality'];

let app: FastifyInstance;
let lists: [path: string, parameters: z.infer<typeof Parameter>[], fields: string[]][];
let bare: string[];
beforeAll(async () => {
  app = await buildHttp(createEmptyHttpDeps({ stores: createStoresWith({ tokens: createFakeTokens() }) }));
  const { paths, components } = Description.parse(JSON.parse((await app.inject('/openapi.json')).body));
  const resolve = ({ $ref, ...schema }: z.infer<typeof Schema>) =>
    $ref === undefined ? schema : components.schemas[$ref.split('/').at(-1) ?? ''];
  const answers = Object.entries(paths).flatMap(([path, { get }]) => {
    const schema = get?.responses[200]?.content?.['application/json']?.schema;
    return get === undefined || schema === undefined ? [] : [{ path, get, schema: resolve(schema) }];
  });
  lists = answers
    .filter(({ schema }) => schema?.properties?.items !== undefined)
    .map(({ path, get, schema }) => [path, get.parameters, Object.keys(schema?.properties ?? {})]);
  bare = answers.filter(({ schema }) => schema?.type === 'array').map(({ path }) => path);
});
afterAll(() => app.close());

/** The address of a list, with a value for everything that it needs. */
function fill(path: string, parameters: readonly z.infer<typeof Parameter>[], change: string): string {
  const query = parameters
    .filter((parameter) => parameter.in === 'query' && !['limit', 'offset'].includes(parameter.name))
    .filter(({ name }) => ['repository', 'fingerprint'].includes(name))
    .map(({ name }) => `${name}=x`);
  return `${path.replaceAll(/\{\w+\}/g, 'x')}?${[...query, change].join('&')}`;
}

describe('each list of the API', () => {
  it('is an object with a page of items', () => {
    expect(bare).toEqual(EXPORTS);
    expect(lists.length).toBeGreaterThan(18);
    for (const [path, , fields] of lists)
      expect([path, fields]).toEqual([path, expect.arrayContaining(['items', 'limit', 'offset', 'next'])]);
  });

  it('has the same limit and offset', () => {
    for (const [path, parameters] of lists) {
      const schemas = new Map(parameters.map(({ name, schema }) => [name, schema]));
      const limit = { type: 'integer', minimum: 1, maximum: 200 };
      const offset = { type: 'integer', minimum: 0, maximum: 1_000_000 };
      expect([path, schemas.get('limit')]).toEqual([path, expect.objectContaining(limit)]);
      expect([path, schemas.get('offset')]).toEqual([path, expect.objectContaining(offset)]);
    }
  });

  it.each(['limit=0', 'limit=201', 'limit=', 'offset=-1', 'offset=x'])(
    'refuses %s in the same way',
    async (change) => {
      const headers = { authorization: `Bearer ${TOKENS.admin}` };
      for (const [path, parameters] of lists) {
        const answer = await app.inject({ url: fill(path, parameters, change), headers });
        const { error } = Refused.parse(answer.json());
        expect([path, answer.statusCode, error.code]).toEqual([path, 400, 'invalid-input']);
        expect(error.message).toContain(change.split('=', 1)[0]);
      }
    },
  );

  it('needs a token', async () => {
    for (const [path, parameters] of lists) {
      const answer = await app.inject(fill(path, parameters, 'limit=1'));
      expect([path, answer.statusCode, Refused.parse(answer.json()).error.code]).toEqual([
        path,
        401,
        'unauthenticated',
      ]);
    }
  });
});
