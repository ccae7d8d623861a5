import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { buildHttp } from '../../src/api/server.ts';
import type { App } from '../../src/app/served-app.ts';
import { createApp } from '../../src/app.ts';
import { createEmbeddedPreset } from '../../src/config/load.ts';
import { COMMON, parseConfig } from '../../src/config/schema.ts';
import { silentLogger } from '../../src/ports/telemetry.ts';
import { AnswerView, ThreadList, ThreadView } from '../../src/service/ask/views.ts';
import { type Stored, storeFailedBuild } from '../service/answers/served-world.ts';
import { type InstalledDatabase, installDatabase } from '../support/installed-database.ts';
import { startLoopback } from '../support/loopback-server.ts';
import { sampleBuild } from '../support/sample-analysis.ts';

const SECRET = ['ghp_', 'wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx'].join('');
const createTokenRule = (name: string) => `token-of-${name}-0123456789`;

let folder = '';
let installed: InstalledDatabase;
let environment: Readonly<Record<string, unknown>> = {};
let app: App;
let http: FastifyInstance;
let address = '';
let stored: Stored;

async function start(): Promise<void> {
  const preset = createEmbeddedPreset(folder, join(import.meta.dirname, '../../knowledge'));
  const tokens = ['rita', 'ben'].map((name) => ({ name, token: createTokenRule(name), roles: ['read'] }));
  const admin = { name: 'ada', token: createTokenRule('ada'), roles: ['admin'] };
  app = await createApp(
    parseConfig({
      ...preset,
      database: installed.config,
      ...environment,
      auth: { tokens: [...tokens, admin] },
    }),
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
  await start();
  stored = await storeFailedBuild(app.stores, '812');
});
afterAll(async () => {
  await stop();
  await rm(folder, { recursive: true, force: true });
});

async function call(
  who: string,
  method: string,
  path: string,
  body?: object,
  headers: Record<string, string> = {},
) {
  return await fetch(`${address}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${createTokenRule(who)}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    body: body === undefined ? null : JSON.stringify(body),
  });
}

const askPath = () => `/api/analyses/${stored.analysis.id}/ask`;

async function askQuestion(question: string, thread?: string, who = 'rita'): Promise<AnswerView> {
  const answer = await call(who, 'POST', askPath(), {
    question,
    ...(thread === undefined ? {} : { thread }),
  });
  expect(answer.status).toBe(200);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  return AnswerView.parse(await answer.json());
}

describe('asking over HTTP', () => {
  it('answers as JSON, with citations of source and line, and stores who asked and when', async () => {
    const answer = await askQuestion(`why? my token is ${SECRET}`);
    expect(answer.citations[0]).toMatchObject({ id: 'E1', source: 'build.log' });
    expect(answer.citations[0]?.lineStart).toBeGreaterThan(0);
    expect(answer).toMatchObject({ askedBy: 'rita', position: 1, shape: 'explanation', analyst: 'rules' });
    expect(answer.question).not.toContain(SECRET);
    const { thread, turns } = ThreadView.parse(
      await (await call('ben', 'GET', `/api/threads/${answer.threadId}`)).json(),
    );
    expect(thread).toMatchObject({
      analysisId: stored.analysis.id,
      buildId: stored.build.id,
      startedBy: 'rita',
      turns: 1,
    });
    expect(turns[0]?.steps.map(({ node }) => node)).toContain('check_citations');
    expect(JSON.stringify(turns)).not.toContain(SECRET);
  });

  it('streams the steps, the text, the answer, and the end', async () => {
    const answer = await call(
      'rita',
      'POST',
      askPath(),
      { question: 'how did it fail?' },
      { accept: 'text/event-stream' },
    );
    expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('x-accel-buffering')).toBe('no');
    const events = (await answer.text()).split('\n\n').flatMap((block) => {
      const [, event, data] = /^event: (\w+)\ndata: (.*)$/.exec(block) ?? [];
      return event === undefined ? [] : [{ event, data: JSON.parse(data ?? '') as unknown }];
    });
    const order = [...new Set(events.map(({ event }) => event))];
    expect(order).toEqual(['step', 'text', 'answer', 'done']);
    const whole = AnswerView.parse(events.find(({ event }) => event === 'answer')?.data);
    const told = events
      .filter(({ event }) => event === 'text')
      .map(({ data }) => z.object({ text: z.string() }).parse(data).text);
    expect(told.join('')).toBe(whole.text);
    expect(whole.shape).toBe('journey');
    const steps = events
      .filter(({ event }) => event === 'step')
      .map(({ data }) => z.object({ node: z.string() }).parse(data).node);
    expect(steps).toContain('execute_tools');
  });

  it('continues a thread, also after a restart of the process', async () => {
    const first = await askQuestion('why?');
    const second = await askQuestion('did it fail before?', first.threadId, 'ben');
    expect(second).toMatchObject({ threadId: first.threadId, position: 2, askedBy: 'ben' });
    await stop();
    await start();
    const third = await askQuestion('and who broke it?', first.threadId);
    expect(third.position).toBe(3);
    const { turns } = ThreadView.parse(
      await (await call('rita', 'GET', `/api/threads/${first.threadId}`)).json(),
    );
    expect(turns.map(({ question }) => question)).toEqual([
      'why?',
      'did it fail before?',
      'and who broke it?',
    ]);
    const list = ThreadList.parse(
      await (await call('rita', 'GET', `/api/threads?analysis=${stored.analysis.id}`)).json(),
    );
    expect(list.items[0]).toMatchObject({ id: first.threadId, turns: 3 });
  });

  it('answers about a build by id and by number; a build without an analysis is a conflict', async () => {
    for (const id of [stored.build.id, 'github:812']) {
      const answer = await call('rita', 'POST', `/api/builds/${id}/ask`, { question: 'why?' });
      expect(AnswerView.parse(await answer.json()).citations.length).toBeGreaterThan(0);
    }
    const { id: _id, receivedAt: _at, ...fresh } = sampleBuild({ number: '900', externalId: '900' });
    const { build } = await app.stores.builds.upsert(fresh);
    expect((await call('rita', 'POST', `/api/builds/${build.id}/ask`, { question: 'why?' })).status).toBe(
      409,
    );
  });

  it('refuses a request with an error status before the stream begins, also if the client wants events', async () => {
    const events = { accept: 'text/event-stream' };
    expect(
      (await call('rita', 'POST', '/api/analyses/ana_none/ask', { question: 'why?' }, events)).status,
    ).toBe(404);
    expect(
      (await call('rita', 'POST', askPath(), { question: 'why?', thread: 'thr_none' }, events)).status,
    ).toBe(404);
    expect((await call('rita', 'POST', askPath(), { question: 'x'.repeat(2_001) })).status).toBe(400);
    expect((await call('rita', 'POST', askPath(), { question: '  ' })).status).toBe(400);
    const other = await storeFailedBuild(app.stores, '813');
    const { threadId } = await askQuestion('why?');
    expect(
      (
        await call('rita', 'POST', `/api/analyses/${other.analysis.id}/ask`, {
          question: 'why?',
          thread: threadId,
        })
      ).status,
    ).toBe(409);
  });

  it('deletes a thread for its author and for an admin only', async () => {
    const mine = await askQuestion('why?');
    expect((await call('ben', 'DELETE', `/api/threads/${mine.threadId}`)).status).toBe(403);
    expect((await call('rita', 'DELETE', `/api/threads/${mine.threadId}`)).status).toBe(204);
    expect((await call('rita', 'GET', `/api/threads/${mine.threadId}`)).status).toBe(404);
    const theirs = await askQuestion('why?');
    expect((await call('ada', 'DELETE', `/api/threads/${theirs.threadId}`)).status).toBe(204);
  });

  it('stops the answer if the client disconnects, and stores nothing of it', async () => {
    const asked = Promise.withResolvers<void>();
    const closed = Promise.withResolvers<void>();
    const model = await startLoopback((request) => {
      asked.resolve();
      request.socket.on('close', () => closed.resolve());
    });
    await stop();
    const { llm } = COMMON.analyst;
    environment = {
      analyst: { driver: 'llm', llm: { ...llm, baseUrl: `${model.url}/v1`, apiKey: 'k', maxRetries: 0 } },
    };
    await start();
    const reader = new AbortController();
    const headers = {
      authorization: `Bearer ${createTokenRule('rita')}`,
      'content-type': 'application/json',
      accept: 'text/event-stream',
    };
    const body = JSON.stringify({ question: 'is anybody there?' });
    const answer = await fetch(`${address}${askPath()}`, {
      method: 'POST',
      headers,
      body,
      signal: reader.signal,
    });
    expect(answer.status).toBe(200);
    await asked.promise;
    reader.abort();
    await closed.promise;
    const list = ThreadList.parse(await (await call('rita', 'GET', '/api/threads')).json());
    expect(list.items.map(({ title }) => title)).not.toContain('is anybody there?');
    await model.close();
  });

  it('is described in the OpenAPI document', async () => {
    const { paths } = z
      .object({ paths: z.record(z.string(), z.unknown()) })
      .parse(await (await fetch(`${address}/openapi.json`)).json());
    for (const path of [
      '/api/analyses/{id}/ask',
      '/api/builds/{id}/ask',
      '/api/threads',
      '/api/threads/{id}',
    ])
      expect(paths).toHaveProperty([path]);
  });
});
