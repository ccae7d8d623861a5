import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { buildHttp } from '../../src/api/server.ts';
import { createFakeTokens } from '../support/fake-tokens.ts';
import { createEmptyHttpDeps, TEST_CONFIG, TOKENS } from '../support/http-deps.ts';
import { sampleAnalysis, sampleAnswers, sampleBuild } from '../support/sample-analysis.ts';
import { addTokens, createFailureRow, createInstallation } from './world.ts';

const tokens = createFakeTokens();
const theirs = sampleBuild({ id: 'bld_2', repository: 'other/web' });
const world = createInstallation({
  builds: { find: async (id) => (id === 'bld_1' ? sampleBuild() : theirs) },
  analyses: { find: async (id) => sampleAnalysis({ id, buildId: id === 'ana_9f2c' ? 'bld_1' : 'bld_2' }) },
  failures: {
    search: async ({ repositories }) =>
      repositories === undefined
        ? [createFailureRow(), createFailureRow({ repository: 'other/web', analysisId: 'ana_theirs' })]
        : [createFailureRow()],
  },
  history: {
    similarFailures: async () => [
      { ...createFailureRow(), score: 0.9 },
      { ...createFailureRow({ repository: 'other/web', analysisId: 'ana_theirs' }), score: 0.8 },
    ],
  },
});

let app: FastifyInstance;
beforeAll(async () => {
  const stores = addTokens(world.stores, tokens);
  const config = { ...TEST_CONFIG, http: { ...TEST_CONFIG.http, publicUrl: 'https://faultline.example' } };
  app = await buildHttp(
    createEmptyHttpDeps({ stores, config, explainLog: async () => sampleAnswers([sampleAnalysis()]) }),
  );
});
afterAll(() => app.close());

const Listed = z.object({
  result: z.object({
    tools: z.array(z.object({ name: z.string(), annotations: z.object({ readOnlyHint: z.boolean() }) })),
  }),
});
const Called = z.object({
  result: z.object({ content: z.array(z.object({ text: z.string() })), isError: z.boolean().optional() }),
});

interface Given {
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: string;
}

function post(payload: object, { token = TOKENS.read, headers = {}, query = '' }: Given = {}) {
  const accept = 'application/json, text/event-stream';
  return app.inject({
    method: 'POST',
    url: `/mcp${query}`,
    payload,
    headers: { accept, authorization: `Bearer ${token}`, ...headers },
  });
}

async function listNames(given: Given = {}): Promise<string[]> {
  const answer = await post({ jsonrpc: '2.0', id: 1, method: 'tools/list' }, given);
  return Listed.parse(answer.json()).result.tools.map(({ name }) => name);
}

async function call(name: string, args: object, given: Given = {}) {
  const answer = await post(
    { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name, arguments: args } },
    given,
  );
  const { content, isError } = Called.parse(answer.json()).result;
  return { text: content.map(({ text }) => text).join(), failed: isError === true };
}

describe('the offered tools', () => {
  it('only read, except feedback sent by a reviewer', async () => {
    const reading = [
      'list_failures',
      'get_failure',
      'get_evidence',
      'search_similar',
      'flaky_tests',
      'explain_log',
    ];
    expect(await listNames()).toEqual(reading);
    expect(await listNames({ token: TOKENS.admin })).toEqual(reading);
    expect(await listNames({ token: TOKENS.admin, query: '?allow=feedback' })).toEqual([
      ...reading,
      'submit_feedback',
    ]);
    const refused = await post({ jsonrpc: '2.0', id: 1, method: 'tools/list' }, { query: '?allow=feedback' });
    expect(refused.statusCode).toBe(403);
  });

  it('declare their effects', async () => {
    const answer = await post(
      { jsonrpc: '2.0', id: 1, method: 'tools/list' },
      { token: TOKENS.admin, query: '?allow=feedback' },
    );
    const { tools } = Listed.parse(answer.json()).result;
    expect(tools.filter(({ annotations }) => !annotations.readOnlyHint).map(({ name }) => name)).toEqual([
      'submit_feedback',
    ]);
  });
});

describe('the visible failures', () => {
  const one = () => ({ token: tokens.give({ roles: ['read'], repositories: ['shop/*'] }) });

  it('are limited to the repositories of the token, in lists, searches and reads', async () => {
    const given = one();
    expect((await call('list_failures', {})).text).toContain('other/web');
    expect((await call('list_failures', {}, given)).text).not.toContain('other/web');
    expect((await call('search_similar', { text: 'expected' })).text).toContain('other/web');
    expect((await call('search_similar', { text: 'expected' }, given)).text).not.toContain('other/web');
    expect((await call('get_failure', { id: 'ana_9f2c' }, given)).failed).toBe(false);
    expect(await call('get_failure', { id: 'ana_theirs' }, given)).toEqual({
      text: 'There is no failure ana_theirs. Next: list_failures names the ids that exist.',
      failed: true,
    });
    expect((await call('get_evidence', { id: 'bld_2', from: 1 }, given)).failed).toBe(true);
  });
});

describe('access to the MCP route', () => {
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

  it.each([
    ['a page of somebody else', { origin: 'https://evil.example' }, 403],
    [
      'a page whose name was made to point here',
      { origin: 'http://rebound.example', host: 'rebound.example' },
      403,
    ],
    ['our own page', { origin: 'https://faultline.example' }, 200],
    ['a page on this machine', { origin: 'http://localhost:6274' }, 200],
    ['a client that is no browser', {}, 200],
  ])('%s', async (_name, headers, status) => {
    expect((await post(message, { headers: { ...headers } })).statusCode).toBe(status);
  });

  it('uses neither a stream nor a session: GET and DELETE are answered with 405', async () => {
    for (const method of ['GET', 'DELETE'] as const) {
      const answer = await app.inject({
        method,
        url: '/mcp',
        headers: { authorization: `Bearer ${TOKENS.read}` },
      });
      expect([answer.statusCode, answer.headers.allow]).toEqual([405, 'OPTIONS, POST']);
    }
  });
});

describe('an MCP request', () => {
  it.each([
    ['several messages as one', [{ jsonrpc: '2.0', id: 1, method: 'tools/list' }], 400],
    ['no message', { hello: 1 }, 400],
    [
      'a message that is too large',
      { jsonrpc: '2.0', id: 1, method: 'x', params: { x: 'x'.repeat(5_000_000) } },
      413,
    ],
  ])('is refused: %s', async (_name, payload, status) => {
    expect((await post(payload)).statusCode).toBe(status);
  });

  it.each([
    ['broken JSON', '{"jsonrpc": "2.0", "id": 1,', -32700],
    ['no body', '', -32700],
    ['no message', '{"hello": 1}', -32600],
    ['several messages as one', '[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600],
  ])("is answered with the protocol's own error: %s", async (_name, payload, code) => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${TOKENS.read}` };
    const answer = await app.inject({ method: 'POST', url: '/mcp', payload, headers });

    expect([answer.statusCode, answer.json()]).toEqual([
      400,
      { jsonrpc: '2.0', id: null, error: { code, message: expect.any(String) } },
    ]);
  });

  it('without an accepted type is answered in JSON', async () => {
    const answer = await post({ jsonrpc: '2.0', id: 1, method: 'ping' }, { headers: { accept: '*/*' } });

    expect([answer.statusCode, answer.json()]).toEqual([200, { jsonrpc: '2.0', id: 1, result: {} }]);
  });

  it('with wrong arguments is reported to the agent, which can correct them', async () => {
    const { text, failed } = await call('list_failures', { limit: 0, repo: 'x' });
    expect(failed).toBe(true);
    expect(text).toMatch(/limit/);
  });

  it('with a log that is too long is refused, and with a shorter one is explained', async () => {
    expect((await call('explain_log', { log: 'x'.repeat(500_001) })).text).toContain(
      'paste the part that fails',
    );
    expect((await call('explain_log', { log: 'Error: boom' })).text).toContain(
      'Test failure · wrong value · 91 % sure',
    );
  });

  it('that is a notification is accepted without an answer', async () => {
    expect((await post({ jsonrpc: '2.0', method: 'notifications/initialized' })).statusCode).toBe(202);
  });
});
