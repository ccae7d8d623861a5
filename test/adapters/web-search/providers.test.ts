import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  createBraveSearch,
  createSearxngSearch,
  createTavilySearch,
} from '../../../src/adapters/web-search/services.ts';
import type { WebSearch } from '../../../src/ports/toolbox.ts';
import { testWebSearchContract } from '../../contract/web-search-contract.ts';
import { type LoopbackServer, sendJson, startLoopback } from '../../support/loopback-server.ts';

const KEY = 'key-of-the-operator-4711';
const FOUND = [
  {
    title: 'Connection <strong>refused</strong>',
    url: 'https://example.com/refused',
    text: 'Nobody <b>listens</b> &amp; answers.',
  },
  { title: 'Inside', url: 'http://10.0.0.7/admin', text: 'private' },
  { title: 'Loop', url: 'http://2130706433/', text: 'private' },
  { title: 'Loop 6', url: 'http://[::1]/', text: 'private' },
  { title: 'Meta', url: 'http://169.254.169.254/latest', text: 'private' },
  { title: 'Name', url: 'http://build.internal/', text: 'private' },
  { title: 'No page', url: 'javascript:alert(1)', text: 'private' },
  { title: 'Second', url: 'https://example.org/second', text: 'More.' },
  { title: 'Third', url: 'https://example.net/third', text: 'Even more.' },
];

let server: LoopbackServer;
let intercept: ((request: IncomingMessage, response: ServerResponse) => void) | null = null;
beforeAll(async () => {
  server = await startLoopback((request, response) => {
    if (intercept !== null) return intercept(request, response);
    const path = new URL(request.url ?? '', 'http://x').pathname;
    const description = FOUND.map(({ title, url, text }) => ({ title, url, description: text }));
    const content = FOUND.map(({ title, url, text }) => ({ title, url, content: text }));
    if (path === '/res/v1/web/search')
      sendJson(response, 200, { type: 'search', web: { type: 'search', results: description } });
    else if (path === '/search') sendJson(response, 200, { query: 'x', results: content });
    else sendJson(response, 404, {});
  });
});
afterAll(() => server.close());
afterEach(() => {
  intercept = null;
});

const options = () => ({ baseUrl: server.url, apiKey: KEY, timeoutMs: 2_000, pages: 0 });
const PROVIDERS: readonly (readonly [string, () => WebSearch])[] = [
  ['searxng', () => createSearxngSearch(options())],
  ['brave', () => createBraveSearch(options())],
  ['tavily', () => createTavilySearch(options())],
];

for (const [name, open] of PROVIDERS) testWebSearchContract(name, open);

describe.each(PROVIDERS)('the search provider %s', (_name, open) => {
  const search = () => open().search('connection refused', 5, new AbortController().signal);

  it("returns plain text in the provider's order, and sends query and key", async () => {
    const results = await search();
    const sent = server.requests.at(-1);

    expect(results.map(({ url }) => url)).toEqual([
      'https://example.com/refused',
      'https://example.org/second',
      'https://example.net/third',
    ]);
    expect(results[0]).toMatchObject({ title: 'Connection refused', text: 'Nobody listens & answers.' });
    expect([sent?.headers.authorization, sent?.headers['x-subscription-token']].join()).toContain(KEY);
    expect(sent?.path).not.toContain(KEY);
  });

  it.each([
    [401, 'upstream-auth', false],
    [403, 'upstream-auth', false],
    [402, 'quota-exhausted', false],
    [429, 'rate-limited', true],
    [500, 'upstream-failed', true],
    [302, 'upstream-failed', false],
  ])('maps status %i to %s, and names the key in no error', async (status, code, retryable) => {
    intercept = (_request, response) => {
      response
        .writeHead(status, { location: 'http://169.254.169.254/', 'retry-after': '7' })
        .end(`bad key ${KEY}`);
    };
    const before = server.requests.length;
    const error = await search().catch((thrown: unknown) => thrown);

    expect(error).toMatchObject({ code, retryable });
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain(KEY);
    expect(server.requests.length).toBe(before + 1);
  });

  it('reports a clear error for answers that hang, are invalid, or never end', async () => {
    intercept = () => undefined;
    await expect(search()).rejects.toMatchObject({ code: 'timeout', retryable: true });
    intercept = (_request, response) => response.end('<html>');
    await expect(search()).rejects.toMatchObject({ code: 'upstream-failed' });
    intercept = (_request, response) => response.end(Buffer.alloc(3 * 1024 * 1024, 'x'));
    await expect(search()).rejects.toMatchObject({ code: 'too-large' });
  });
});
