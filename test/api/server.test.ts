import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { afterEach, describe, expect, test } from 'vitest';
import { buildHttp, type HttpDeps } from '../../src/api/server.ts';
import { TriageError } from '../../src/domain/errors.ts';
import {
  createEmptyHttpDeps,
  createRecordingLogger,
  type LogLine,
  TEST_CONFIG,
  TOKENS,
} from '../support/http-deps.ts';

const open = { access: { open: 'for this test' } } as const;
let app: FastifyInstance;
let log: LogLine[];
afterEach(() => app.close());

async function listen(changes: Partial<HttpDeps> = {}): Promise<number> {
  log = [];
  app = await buildHttp(createEmptyHttpDeps({ logger: createRecordingLogger(log), ...changes }));
  await app.listen({ host: '127.0.0.1', port: 0 });
  const address = app.server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** Sends bytes as they are and gives back all that comes until the other side ends. */
async function sendRaw(port: number, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let answer = '';
  socket.setEncoding('utf8').on('data', (part: string) => {
    answer += part;
  });
  socket.write(text);
  await once(socket, 'close');
  return answer;
}

describe('bytes that are not a valid request', () => {
  test.each([
    [
      'headers of 20 kB',
      `GET /healthz HTTP/1.1\r\nhost: x\r\nx-a: ${'a'.repeat(20_000)}\r\n\r\n`,
      431,
      'too-large',
    ],
    [
      'an address of 20 kB',
      `GET /api/builds?x=${'a'.repeat(20_000)} HTTP/1.1\r\nhost: x\r\n\r\n`,
      431,
      'too-large',
    ],
    ['a method nobody knows', 'FOO / HTTP/1.1\r\nhost: x\r\n\r\n', 400, 'invalid-input'],
    [
      'two lengths',
      'POST /api/builds HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab',
      400,
      'invalid-input',
    ],
    [
      'a length and chunks',
      'POST /api/builds HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
      'invalid-input',
    ],
  ])('%s is answered with the usual error, and logged', async (_what, bytes, status, code) => {
    const [head = '', body = ''] = (await sendRaw(await listen(), bytes)).split('\r\n\r\n');

    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(head).toContain('content-type: application/json; charset=utf-8');
    expect(JSON.parse(body)).toEqual({ error: { code, message: expect.stringMatching(/^[A-Z].*\.$/) } });
    expect(
      log.filter(({ message }) => message === 'request refused').map(({ fields }) => fields.status),
    ).toEqual([status]);
  });

  test('are not repeated in the log', async () => {
    await sendRaw(
      await listen(),
      `GET / HTTP/1.1\r\nauthorization: Bearer ${TOKENS.admin}\r\nbad header\r\n\r\n`,
    );
    expect(log.length).toBeGreaterThan(0);
    expect(JSON.stringify(log)).not.toContain(TOKENS.admin);
  });
});

test('an id that is too long is refused by its schema, with a short sentence', async () => {
  await listen();
  const headers = { authorization: `Bearer ${TOKENS.admin}` };
  for (const length of [1001, 5_000]) {
    const answer = await app.inject({ url: `/api/builds/${'a'.repeat(length)}`, headers });
    expect(answer.statusCode).toBe(400);
    expect(answer.json().error.message.length).toBeLessThan(300);
  }
  expect((await app.inject({ url: `/api/builds/upload:${'a'.repeat(200)}`, headers })).statusCode).toBe(503);
});

describe('the message of a database driver', () => {
  const failing = (error: TriageError) => ({
    routes: [
      (scope: FastifyInstance) =>
        void scope.get('/fail', { config: open }, async () => Promise.reject(error)),
    ],
  });
  const cause = new Error('password authentication failed for user "faultline" at db.internal');

  test('is logged, and not sent to the client', async () => {
    await listen(
      failing(
        new TriageError('storage-failed', `The database request failed: ${cause.message}`, {
          retryable: true,
          cause,
        }),
      ),
    );
    const answer = await app.inject('/fail');

    expect([answer.statusCode, answer.headers['retry-after']]).toEqual([503, '5']);
    expect(answer.body).not.toMatch(/password|internal/);
    expect(answer.json().error.message).toContain(answer.headers['x-request-id']);
    expect(JSON.stringify(log)).toContain('db.internal');
  });

  test('T68: about a full disk asks the client to retry', async () => {
    await listen(
      failing(
        new TriageError('storage-failed', 'x', { retryable: true, cause, details: { state: '53100' } }),
      ),
    );
    const answer = await app.inject('/fail');
    expect([answer.statusCode, answer.headers['retry-after']]).toEqual([507, '5']);
  });

  test('about an invalid value does not ask the client to retry', async () => {
    await listen(failing(new TriageError('storage-failed', 'x', { cause, details: { state: '22003' } })));
    const answer = await app.inject('/fail');
    expect([answer.statusCode, answer.headers['retry-after']]).toEqual([500, undefined]);
  });
});

test('every route except the reference page must declare its access', async () => {
  const routes = [(scope: FastifyInstance) => void scope.get('/docs-of-the-house', async () => ({}))];
  await expect(buildHttp(createEmptyHttpDeps({ routes }))).rejects.toThrow(
    '/docs-of-the-house does not declare config.access',
  );
  await listen();
});

test('a webhook has a smaller size limit than an upload, signed or not', async () => {
  const http = { ...TEST_CONFIG.http, maxBodyBytes: 64 * 1024 * 1024 };
  const port = await listen({ config: { ...TEST_CONFIG, http } });
  for (const path of ['/webhooks/github', '/webhooks/jenkins']) {
    const head = `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${26 * 1024 * 1024}\r\n\r\n`;
    expect(await sendRaw(port, head)).toMatch(/^HTTP\/1.1 413 /);
  }
});

test('a body that never ends does not delay shutdown', async () => {
  const port = await listen();
  const socket: Socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  const ended = once(socket, 'close');
  socket.write(`POST /api/builds HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${TOKENS.ingest}\r\n`);
  socket.write('content-type: application/json\r\ncontent-length: 1000\r\n\r\n{');
  await once(app.server, 'request');
  // The sender sends no more, so a stop that waited for it would never come to an end.
  await app.close();
  await ended;
});
