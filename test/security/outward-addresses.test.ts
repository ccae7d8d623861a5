import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createAddressGuard } from '../../src/adapters/web-search/address-guard.ts';
import { fetchPage } from '../../src/adapters/web-search/fetch-page.ts';
import { type LoopbackServer, startLoopback } from '../support/loopback-server.ts';

const signal = new AbortController().signal;
const limits = { timeoutMs: 400, maxBytes: 100_000 };
let server: LoopbackServer;
let answer: (request: IncomingMessage, response: ServerResponse) => void;
beforeEach(async () => {
  server = await startLoopback((request, response) => answer(request, response));
});
afterEach(() => server.close());

describe('T59: an untrusted address', () => {
  it.each([
    'http://127.1/',
    'http://127.0.0.1/',
    'http://[::1]/',
    'http://[::ffff:10.0.0.1]/',
    'http://0x7f.1/',
    'http://017700000001/',
    'http://169.254.169.254/latest/meta-data',
    'http://10.0.0.1/',
    'http://[fd00::1]/',
    'http://[64:ff9b::a00:1]/',
    'http://0/',
    'http://localhost:6379/',
    'http://metadata.google.internal/',
    'http://faultline.svc.cluster.local/',
    'http://redis:6379/',
    'https://user:password@example.com/',
    'ftp://example.com/',
    'file:///etc/passwd',
    'gopher://example.com/',
    'data:text/plain,x',
  ])('is not requested: %s', async (url) => {
    await expect(fetchPage(new URL(url), createAddressGuard(), limits, signal)).rejects.toMatchObject({
      code: 'forbidden',
    });
  });

  it('whose name resolves differently the second time is judged by the connected address', async () => {
    answer = (_request, response) => response.writeHead(200, { 'content-type': 'text/plain' }).end('said');
    let asked = 0;
    const guard = createAddressGuard({
      resolve: async () => (asked++ === 0 ? ['127.0.0.1'] : ['10.0.0.1']),
      isPublic: (address) => address === '127.0.0.1',
    });
    const url = new URL(`http://rebinds.example.com:${new URL(server.url).port}/`);
    await fetchPage(url, guard, limits, signal);
    expect(asked).toBe(1);
    await expect(fetchPage(url, guard, limits, signal)).rejects.toMatchObject({ code: 'forbidden' });
    expect(server.requests).toHaveLength(1);
  });
});

describe('T60: a server that sends too much, or too slowly', () => {
  const guard = () =>
    createAddressGuard({
      resolve: async () => ['127.0.0.1'],
      isPublic: (address) => address === '127.0.0.1',
    });
  const page = () =>
    fetchPage(new URL(`http://pages.example.com:${new URL(server.url).port}/`), guard(), limits, signal);

  it('has an endless body cut off at the limit', async () => {
    let sent = 0;
    answer = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      const chunk = 'x'.repeat(65_536);
      const more = () => {
        while (!response.destroyed && response.write(chunk)) sent += chunk.length;
        if (!response.destroyed) response.once('drain', more);
      };
      more();
    };
    const told = await page().then(
      ({ bytes }) => bytes.length,
      () => 0,
    );
    expect(told).toBeLessThanOrEqual(limits.maxBytes);
    expect(sent).toBeLessThan(64 * 1024 * 1024);
  });

  it('is cut off at the time limit if it sends byte by byte', async () => {
    answer = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      const drip = setInterval(() => response.write('x'), 20);
      response.on('close', () => clearInterval(drip));
    };
    await expect(page()).rejects.toMatchObject({ code: 'timeout' });
  });

  it('has its redirects followed only a few times', async () => {
    answer = (request, response) =>
      response.writeHead(302, { location: `/${Number(request.url?.slice(1) ?? 0) + 1}` }).end();
    await expect(page()).rejects.toMatchObject({ code: 'upstream-failed' });
    expect(server.requests.length).toBeLessThanOrEqual(6);
  });
});
