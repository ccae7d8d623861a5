import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createAddressGuard,
  isPublicAddress,
  isPublicUrl,
} from '../../../src/adapters/web-search/address-guard.ts';
import { fetchPage } from '../../../src/adapters/web-search/fetch-page.ts';
import { searchWith } from '../../../src/adapters/web-search/results.ts';
import { type LoopbackServer, startLoopback } from '../../support/loopback-server.ts';

let server: LoopbackServer;
let answer: (request: IncomingMessage, response: ServerResponse) => void;
beforeEach(async () => {
  server = await startLoopback((request, response) => answer(request, response));
});
afterEach(() => server.close());

/** Only what `pages.example.com` resolves to counts as public; it leads to the loopback server. */
const guard = () =>
  createAddressGuard({
    resolve: async (name) =>
      name === 'pages.example.com'
        ? ['127.0.0.1']
        : name === 'both.example.com'
          ? ['127.0.0.1', '10.0.0.1']
          : ['10.0.0.1'],
    isPublic: (address) => address === '127.0.0.1',
  });
const at = (path: string, host = 'pages.example.com') =>
  new URL(`http://${host}:${new URL(server.url).port}${path}`);
const limits = { timeoutMs: 2_000, maxBytes: 100_000 };
const signal = new AbortController().signal;
const html = (body: string) => (_request: IncomingMessage, response: ServerResponse) => {
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(body);
};
const search = (url: URL) =>
  searchWith('test', async () => [{ title: 'T', url: url.href, text: 'said' }], {
    baseUrl: null,
    apiKey: null,
    timeoutMs: 2_000,
    pages: 1,
    guard: guard(),
  });
const readText = async (path: string, host?: string) =>
  (await search(at(path, host)).search('x', 1, signal))[0]?.text;

describe('an address', () => {
  it.each([
    '127.0.0.1',
    '10.1.2.3',
    '172.16.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
    '224.0.0.1',
    '255.255.255.255',
    '198.18.0.1',
    '::1',
    '::',
    'fe80::1%eth0',
    'fc00::1',
    'ff02::1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '64:ff9b::a00:1',
    '2002:a00:1::',
    '2001:db8::1',
    'no address',
  ])('is not public: %s', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it.each(['8.8.8.8', '93.184.215.14', '2606:2800:21f:cb07::1'])('is public: %s', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it.each([
    'http://0x7f.1/',
    'http://2130706433/',
    'http://[::ffff:10.0.0.1]/',
    'http://localhost/',
    'http://localhost./',
    'http://jenkins/',
    'http://db.internal/',
    'http://user:pw@example.com/',
    'ftp://example.com/',
    'file:///etc/passwd',
  ])('is refused because of its host name: %s', (url) => {
    expect(isPublicUrl(new URL(url))).toBe(false);
  });
});

describe('a found page', () => {
  it('is read as text, without scripts and navigation', async () => {
    answer = html('<nav>menu</nav><h1>Refused</h1><script>alert(1)</script><p>Start the <b>server</b>.</p>');

    expect(await readText('/a')).toBe('said\n\nRefused\nStart the server.');
    expect(server.requests[0]?.headers.cookie).toBeUndefined();
  });

  it('is not fetched if any of its addresses is private', async () => {
    answer = html('secret');
    await expect(fetchPage(at('/', 'both.example.com'), guard(), limits, signal)).rejects.toMatchObject({
      code: 'forbidden',
    });
    await expect(fetchPage(at('/', 'inner.example.com'), guard(), limits, signal)).rejects.toMatchObject({
      code: 'forbidden',
    });

    expect(await readText('/', 'both.example.com')).toBe('said');
    expect(server.requests).toEqual([]);
  });

  it.each(['http://10.0.0.1/', 'http://localhost/', 'http://inner.example.com/', 'file:///etc/passwd'])(
    'is not fetched after a redirect to %s',
    async (location) => {
      answer = (_request, response) => response.writeHead(302, { location }).end();

      await expect(fetchPage(at('/'), guard(), limits, signal)).rejects.toMatchObject({ code: 'forbidden' });
      expect(server.requests).toHaveLength(1);
    },
  );

  it('is fetched after redirects to public addresses, up to a limit', async () => {
    answer = (request, response) =>
      request.url === '/end'
        ? html('<p>here</p>')(request, response)
        : response.writeHead(301, { location: '/end' }).end();
    expect(await readText('/start')).toBe('said\n\nhere');

    answer = (_request, response) => response.writeHead(301, { location: '/again' }).end();
    await expect(fetchPage(at('/'), guard(), limits, signal)).rejects.toMatchObject({
      code: 'upstream-failed',
    });
  });

  it("falls back to the provider's summary if it is too deep, too long, hangs, or is not text", async () => {
    answer = html('<div>'.repeat(400_000));
    expect(await readText('/deep')).toBe('said');
    answer = html(`<p>${'word '.repeat(1_000_000)}`);
    expect((await readText('/long'))?.length).toBeLessThanOrEqual(2_520);
    answer = () => undefined;
    expect(await readText('/hang')).toBe('said');
    answer = (_request, response) => response.writeHead(200, { 'content-type': 'image/png' }).end('x');
    expect(await readText('/picture')).toBe('said');
  });
});
