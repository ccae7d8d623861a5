import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildHttp } from '../../src/api/server.ts';
import type { App } from '../../src/app/served-app.ts';
import { createApp } from '../../src/app.ts';
import { createEmbeddedPreset } from '../../src/config/load.ts';
import { COMMON, parseConfig } from '../../src/config/schema.ts';
import { digestOfToken, makeToken } from '../../src/domain/access.ts';
import { silentLogger } from '../../src/ports/telemetry.ts';
import {
  AnswerView,
  RepositoryList,
  RepositoryThreadList,
  RepositoryThreadView,
} from '../../src/service/ask/views.ts';
import { createGitRepository } from '../support/git-repository.ts';
import { type InstalledDatabase, installDatabase } from '../support/installed-database.ts';
import { startLoopback } from '../support/loopback-server.ts';

const SHOP = 'acme/shop';
const SECRET = 'other/secret';
const TOKENS = { rita: makeToken(), ada: 'token-of-ada-0123456789' };
const shop = createGitRepository();
const secret = createGitRepository();
const COMMENT = '/** Adds the tax of a country to the net price. */';
let folder = '';
let installed: InstalledDatabase;
let app: App;
let http: FastifyInstance;
let address = '';

async function start(analyst: object = {}): Promise<void> {
  const preset = createEmbeddedPreset(folder, join(import.meta.dirname, '../../knowledge'));
  const tokens = [{ name: 'ada', token: TOKENS.ada, roles: ['admin'] }];
  const codeHost = { driver: 'local-git', clones: { [SHOP]: shop.folder, [SECRET]: secret.folder } };
  app = await createApp(
    parseConfig({ ...preset, database: installed.config, codeHost, auth: { tokens }, ...analyst }),
    silentLogger,
  );
  http = await buildHttp(app);
  address = await http.listen({ host: '127.0.0.1', port: 0 });
}

async function stop(): Promise<void> {
  await http.close();
  await app.close({ drainMs: 0 });
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'faultline-ask-'));
  installed = await installDatabase(folder);
  shop.commit(
    {
      'README.md': '# Shop\n\nA small shop that sells coffee to people in offices.\n',
      'src/cart.js': `${COMMENT}\nfunction addTax (net, country) {\n  return net\n}\n`,
    },
    'Add the cart',
  );
  secret.commit({ 'README.md': '# Plans\n\nThe plans that nobody may read yet.\n' }, 'Add plans');
  await start();
  await app.stores.tokens.keep({
    name: 'rita',
    digest: digestOfToken(TOKENS.rita),
    roles: ['read'],
    repositories: [SHOP],
    createdBy: 'ada',
    expiresInDays: null,
  });
});
afterAll(async () => {
  await stop();
  for (const repository of [shop, secret]) repository.remove();
  await rm(folder, { recursive: true, force: true });
});

async function call(
  who: keyof typeof TOKENS,
  method: string,
  path: string,
  body?: object,
  headers: Record<string, string> = {},
  signal: AbortSignal | null = null,
) {
  return await fetch(`${address}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${TOKENS[who]}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    body: body === undefined ? null : JSON.stringify(body),
    signal,
  });
}

const createPath = (repository: string) => `/api/repositories/${encodeURIComponent(repository)}/ask`;
const threadPath = (id: string) => `/api/repository-threads/${id}`;

async function ask(question: string, thread?: string): Promise<AnswerView> {
  const answer = await call('rita', 'POST', createPath(SHOP), {
    question,
    ...(thread === undefined ? {} : { thread }),
  });
  expect(answer.status).toBe(200);
  return AnswerView.parse(await answer.json());
}

describe('questions about a repository over HTTP', { timeout: 60_000 }, () => {
  it('are answered with file and line, and follow-ups in a thread build on earlier questions', async () => {
    const first = await ask('where is addTax?');
    expect(first.text).toContain('src/cart.js:2 defines the function addTax');
    expect(first.citations).toEqual([expect.objectContaining({ source: 'src/cart.js', lineStart: 1 })]);
    const second = await ask('who changed it?', first.threadId);
    expect(second).toMatchObject({ threadId: first.threadId, position: 2, title: 'addTax' });
    expect(second.text).toContain('last changed by');
    const listed = await call('rita', 'GET', `/api/repository-threads?repository=${SHOP}`);
    expect(RepositoryThreadList.parse(await listed.json()).items[0]).toMatchObject({
      id: first.threadId,
      repository: SHOP,
      turns: 2,
      startedBy: 'rita',
    });
    const found = await call('rita', 'GET', threadPath(first.threadId));
    expect(RepositoryThreadView.parse(await found.json()).turns).toHaveLength(2);
    expect((await call('ada', 'DELETE', threadPath(first.threadId))).status).toBe(204);
    expect((await call('rita', 'GET', threadPath(first.threadId))).status).toBe(404);
  });

  it('are streamed as events', async () => {
    const body = { question: 'what does addTax do?' };
    const answer = await call('rita', 'POST', createPath(SHOP), body, { accept: 'text/event-stream' });
    const text = await answer.text();
    expect([...new Set([...text.matchAll(/^event: (\w+)$/gm)].map(([, event]) => event))]).toEqual([
      'step',
      'text',
      'answer',
      'done',
    ]);
    expect(text).toContain('Adds the tax of a country to the net price.');
  });

  it('are refused with one sentence if the repository is not configured or not in scope', async () => {
    const listed = await call('rita', 'GET', '/api/repositories');
    expect(RepositoryList.parse(await listed.json()).items).toEqual([{ repository: SHOP }]);
    const all = await call('ada', 'GET', '/api/repositories');
    expect(RepositoryList.parse(await all.json()).items).toHaveLength(2);
    const refusals = await Promise.all(
      [
        SECRET,
        'acme/*',
        'acme/none',
        'https://github.com/acme/shop.git',
        'file:///etc',
        '../..',
        shop.folder,
      ].map(async (name) => {
        const answer = await call('rita', 'POST', createPath(name), { question: 'what is this project?' });
        return [answer.status, ((await answer.json()) as { error: { message: string } }).error.message];
      }),
    );
    expect(new Set(refusals.map(String)).size).toBe(1);
    expect(refusals[0]?.[0]).toBe(404);
  });

  it('are refused if they are empty, too long, or continue a thread about something else', async () => {
    const refused = async (question: string, thread?: string) =>
      (await call('ada', 'POST', createPath(SECRET), { question, thread })).status;
    expect(await refused('  ')).toBe(400);
    expect(await refused('x'.repeat(2_001))).toBe(400);
    const { threadId } = await ask('what is this project?');
    expect(await refused('what is this project?', threadId)).toBe(409);
    expect(await refused('what is this project?', 'thr_none')).toBe(404);
  });

  it('have a page that answers, and shows the cited lines', async () => {
    const page = await (await call('rita', 'GET', `/ask?repo=${SHOP}`)).text();
    expect(page).toContain('Ask about acme/shop');
    expect(page).toContain('<option value="acme/shop">');
    expect(page).not.toContain(SECRET);
    const form = new URLSearchParams({ repository: SHOP, question: 'where is addTax?' });
    const sent = await fetch(`${address}/ask`, {
      method: 'POST',
      redirect: 'manual',
      headers: { authorization: `Bearer ${TOKENS.rita}`, origin: address },
      body: form,
    });
    expect(sent.status).toBe(303);
    const shown = await (await call('rita', 'GET', sent.headers.get('location') ?? '')).text();
    expect(shown).toContain('src/cart.js:1–4');
    expect(shown).toContain('function addTax (net, country) {');
  });

  it('stop if the client disconnects, and store nothing', async () => {
    const asked = Promise.withResolvers<void>();
    const closed = Promise.withResolvers<void>();
    const model = await startLoopback((request) => {
      asked.resolve();
      request.socket.on('close', () => closed.resolve());
    });
    await stop();
    const { llm } = COMMON.analyst;
    const llmOptions = { ...llm, baseUrl: `${model.url}/v1`, apiKey: 'k', maxRetries: 0 };
    await start({ analyst: { driver: 'llm', llm: llmOptions } });
    const reader = new AbortController();
    const body = { question: 'is anybody there?' };
    const events = { accept: 'text/event-stream' };
    const before = await app.stores.repositoryThreads.list({}, { limit: 50, offset: 0 });
    const answer = await call('rita', 'POST', createPath(SHOP), body, events, reader.signal);
    expect(answer.status).toBe(200);
    await asked.promise;
    reader.abort();
    await closed.promise;
    const after = await app.stores.repositoryThreads.list({}, { limit: 50, offset: 0 });
    expect(after).toEqual(before);
    await model.close();
  });

  it('are deleted with all other data of the repository', async () => {
    const { signal } = new AbortController();
    expect((await app.stores.repositoryThreads.list({}, { limit: 50, offset: 0 })).length).toBeGreaterThan(0);
    await app.retention.forget(SHOP, 0, signal);
    expect(await app.stores.repositoryThreads.list({ repository: SHOP }, { limit: 50, offset: 0 })).toEqual(
      [],
    );
  });
});
