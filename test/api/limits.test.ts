import { connect } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { afterEach, describe, expect, test } from 'vitest';
import { buildHttp, type HttpDeps } from '../../src/api/server.ts';
import { createFakeTokens, createStoresWith } from '../support/fake-tokens.ts';
import { createEmptyHttpDeps, GITHUB_SECRETS, TEST_CONFIG, TOKENS } from '../support/http-deps.ts';
import { signForGithub } from '../support/webhook-senders.ts';

let app: FastifyInstance;
afterEach(() => app.close());

async function open(
  http: Partial<HttpDeps['config']['http']>,
  changes: Partial<HttpDeps> = {},
): Promise<FastifyInstance> {
  app = await buildHttp(
    createEmptyHttpDeps({ ...changes, config: { ...TEST_CONFIG, http: { ...TEST_CONFIG.http, ...http } } }),
  );
  return app;
}

async function listen(http: Partial<HttpDeps['config']['http']> = {}): Promise<number> {
  await (await open(http)).listen({ host: '127.0.0.1', port: 0 });
  const address = app.server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** Sends pieces as they are until the other side ends; gives back what it said. */
async function send(port: number, head: string, pieces: Iterable<string | Buffer>): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let answer = '';
  socket.setEncoding('utf8').on('data', (part: string) => {
    answer += part;
  });
  socket.on('error', () => undefined);
  const closed = new Promise<void>((done) => socket.once('close', () => done()));
  socket.write(head);
  for (const piece of pieces) {
    if (socket.destroyed || answer !== '') break;
    socket.write(piece);
    // Whoever only writes does not hear the answer before the line is cut.
    await setImmediate();
  }
  await closed;
  return answer;
}

describe('T19: limits that do not depend on the address', () => {
  test('a token has a limit of its own for all addresses, separate from other tokens', async () => {
    const tokens = createFakeTokens();
    await open({ tokenRateLimit: 3 }, { stores: createStoresWith({ tokens }) });
    const [left, right] = [tokens.give({ name: 'one' }), tokens.give({ name: 'other' })];
    const ask = (token: string, n: number) =>
      app.inject({
        url: '/api/builds',
        remoteAddress: `10.1.0.${n}`,
        headers: { authorization: `Bearer ${token}` },
      });
    const answers = [await ask(left, 1), await ask(left, 2), await ask(left, 3), await ask(left, 4)];
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([503, 503, 503, 429]);
    expect(Number(answers[3]?.headers['retry-after'])).toBeGreaterThan(0);
    expect((await ask(right, 1)).statusCode).toBe(503);
  });

  test('a webhook sender is limited by its accepted deliveries; forged ones do not count against it', async () => {
    await open({ sourceRateLimit: 2 });
    const body = JSON.stringify({ zen: 'x' });
    const deliver = (target: string, signature: string, n: number) =>
      app.inject({
        method: 'POST',
        url: '/webhooks/github',
        payload: body,
        remoteAddress: `10.2.0.${n}`,
        headers: {
          'content-type': 'application/json',
          'x-github-event': 'ping',
          'x-github-delivery': `delivery-${n}`,
          'x-hub-signature-256': signature,
          'x-github-hook-installation-target-id': target,
        },
      });
    const right = signForGithub(body, GITHUB_SECRETS[0]);
    const forged: number[] = [];
    for (let n = 0; n < 5; n++) forged.push((await deliver('42', `sha256=${'0'.repeat(64)}`, n)).statusCode);
    expect(forged).toEqual(Array(5).fill(401));
    const statuses: number[] = [];
    for (let n = 5; n < 9; n++) statuses.push((await deliver('42', right, n)).statusCode);
    expect(statuses).toEqual([202, 202, 429, 429]);
    const late = await deliver('42', right, 9);
    expect(Number(late.headers['retry-after'])).toBeGreaterThan(0);
    expect((await deliver('43', right, 10)).statusCode).toBe(202);
  });
});

describe('T20: requests that are too large or too slow', () => {
  const auth = `authorization: Bearer ${TOKENS.ingest}\r\n`;
  const chunk = (bytes: number) => `${bytes.toString(16)}\r\n${'x'.repeat(bytes)}\r\n`;
  function* createEndless(): Generator<string> {
    for (let n = 0; n < 600; n++) yield chunk(65_536);
  }

  test.each([
    ['/api/builds', auth],
    ['/webhooks/github', ''],
    ['/webhooks/jenkins', ''],
  ])('a chunked body without a length is not read beyond the limit: %s', async (path, more) => {
    const port = await listen({ maxBodyBytes: 256 * 1024 });
    const head = `POST ${path} HTTP/1.1\r\nhost: x\r\n${more}content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`;
    let sent = 0;
    const counted = function* () {
      for (const piece of createEndless()) {
        sent += 1;
        yield piece;
      }
    };
    expect(await send(port, head, counted())).toMatch(/^HTTP\/1.1 413 /);
    expect(sent).toBeLessThan(600);
  });

  test('a client that reads only after sending everything still receives the error', async () => {
    const port = await listen({ maxBodyBytes: 256 * 1024 });
    const length = 8 * 1024 * 1024;
    const socket = connect(port, '127.0.0.1');
    socket.pause();
    socket.on('error', () => undefined);
    socket.write(
      `POST /api/builds HTTP/1.1\r\nhost: x\r\n${auth}content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`,
    );
    await new Promise((sent) => socket.write(chunk(length), sent));
    const answer: Buffer[] = [];
    socket.on('data', (part) => answer.push(part)).resume();
    await new Promise((closed) => socket.once('close', closed));
    expect(Buffer.concat(answer).toString()).toMatch(/^HTTP\/1.1 413 /);
  });

  test('ten thousand headers are refused', async () => {
    const headers = Array.from({ length: 10_000 }, (_, n) => `x-${n}: 1\r\n`).join('');
    expect(await send(await listen(), `GET /healthz HTTP/1.1\r\nhost: x\r\n${headers}\r\n`, [])).toMatch(
      /^HTTP\/1.1 431 /,
    );
  });

  test('a body that arrives byte by byte is cut off at the time limit, with an error', async () => {
    const port = await listen();
    // Node's own clocks; waiting for them would take minutes.
    expect([app.server.requestTimeout, app.server.headersTimeout <= 60_000]).toEqual([120_000, true]);
    app.server.on('connection', (socket) => {
      socket.once('data', () => {
        app.server.emit(
          'clientError',
          Object.assign(new Error('slow'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }),
          socket,
        );
      });
    });
    const answer = await send(
      port,
      `POST /api/builds HTTP/1.1\r\nhost: x\r\n${auth}content-length: 1000\r\n\r\n{`,
      [],
    );
    expect(answer).toMatch(/^HTTP\/1.1 408 /);
  });
});

describe('T44: a body with a declared compression', () => {
  const bomb = gzipSync(Buffer.alloc(8 * 1024 * 1024));

  test.each(['gzip', 'deflate', 'br', 'zstd', 'gzip, gzip', 'identity, gzip', 'x'])(
    'as %s is refused without being read',
    async (encoding) => {
      await open({});
      for (const url of ['/api/builds', '/webhooks/github', '/webhooks/jenkins', '/api/knowledge']) {
        const headers = {
          authorization: `Bearer ${TOKENS.admin}`,
          'content-type': 'application/json',
          'content-encoding': encoding,
        };
        const answer = await app.inject({ method: 'POST', url, payload: bomb, headers });
        expect([url, answer.statusCode, answer.json().error.code]).toEqual([url, 415, 'unsupported-type']);
      }
    },
  );
});
