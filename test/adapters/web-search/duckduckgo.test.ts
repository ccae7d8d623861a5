import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createDuckDuckGoSearch } from '../../../src/adapters/web-search/duckduckgo.ts';
import { testWebSearchContract } from '../../contract/web-search-contract.ts';
import { type LoopbackServer, startLoopback } from '../../support/loopback-server.ts';

const wrapped = (url: string) => `//duckduckgo.com/l/?uddg=${encodeURIComponent(url)}&amp;rut=0a1b`;
const result = (href: string, title: string, text: string) => `
  <div class="result results_links web-result"><h2 class="result__title"><a rel="nofollow" class="result__a" href="${href}">${title}</a></h2>
  <a class="result__snippet" href="${href}">${text}</a></div>`;

const PAGE = `<!doctype html><html><body><div id="links" class="results">
  ${result('//duckduckgo.com/y.js?ad_domain=shop.example', 'Buy sockets', 'An advertisement.')}
  ${result(wrapped('https://example.com/refused?a=1&b=2'), 'Connection <b>refused</b>', 'Nobody <b>listens</b> &amp; answers &lt;here&gt;.')}
  ${result(wrapped('http://10.0.0.7/admin'), 'Inside', 'private')}
  ${result(wrapped('javascript:alert(1)'), 'No page', 'private')}
  ${result('https://example.org/second', 'Second', 'More.')}
</div></body></html>`;
const LITE = `<table><tr><td><a rel="nofollow" href="https://example.com/lite" class='result-link'>Lite</a></td></tr>
  <tr><td class='result-snippet'>Small.</td></tr></table>`;
const CHALLENGE =
  '<form id="challenge-form"><div class="anomaly-modal__title">Bots use DuckDuckGo too.</div></form>';
const EMPTY = '<div class="result result--no-result"><div class="no-results">No results.</div></div>';

let server: LoopbackServer;
let intercept: ((request: IncomingMessage, response: ServerResponse) => void) | null = null;
beforeAll(async () => {
  server = await startLoopback((request, response) => {
    if (intercept !== null) return intercept(request, response);
    response
      .writeHead(200, { 'content-type': 'text/html' })
      .end(request.url?.startsWith('/lite') ? LITE : PAGE);
  });
});
afterAll(() => server.close());
afterEach(() => {
  intercept = null;
});

const signal = new AbortController().signal;
const open = (path = '/html/', paceMs = 0) =>
  createDuckDuckGoSearch({
    baseUrl: `${server.url}${path}`,
    apiKey: null,
    timeoutMs: 2_000,
    pages: 0,
    paceMs,
  });

testWebSearchContract('duckduckgo', open);

describe('duckduckgo', () => {
  it('reads results without redirect addresses and advertisements, and sends only the query', async () => {
    const before = server.requests.length;
    const results = await open().search('connection refused', 5, signal);

    expect(results).toEqual([
      {
        title: 'Connection refused',
        url: 'https://example.com/refused?a=1&b=2',
        text: 'Nobody listens & answers <here>.',
      },
      { title: 'Second', url: 'https://example.org/second', text: 'More.' },
    ]);
    expect(server.requests.slice(before).map(({ path }) => path)).toEqual(['/html/?q=connection+refused']);
    expect(server.requests.at(-1)?.headers['user-agent']).toBe('faultline');
  });

  it('also reads the lite page', async () => {
    const [result] = await open('/lite/').search('x', 5, signal);
    expect(result).toEqual({ title: 'Lite', url: 'https://example.com/lite', text: 'Small.' });
  });

  it('returns no results if the page says that there are none', async () => {
    intercept = (_request, response) => response.end(EMPTY);
    expect(await open().search('blorp', 5, signal)).toEqual([]);
  });

  it.each([
    ['a page that asks for a person', 202, CHALLENGE],
    ['429', 429, ''],
    ['403', 403, ''],
  ])('sends no requests for a while after %s', async (_what, status, page) => {
    intercept = (_request, response) => response.writeHead(status, { 'content-type': 'text/html' }).end(page);
    const search = open();
    const before = server.requests.length;

    const refused = { code: 'rate-limited', retryable: false };
    await expect(search.search('x', 5, signal)).rejects.toMatchObject(refused);
    await expect(search.search('y', 5, signal)).rejects.toMatchObject(refused);
    expect(server.requests.length).toBe(before + 1);
  });

  it('sends one request at a time, and rejects those that would wait too long', async () => {
    const times: number[] = [];
    intercept = (_request, response) => {
      times.push(Date.now());
      response.end(PAGE);
    };
    const search = open('/html/', 100);
    await Promise.all(['a', 'b', 'c'].map((query) => search.search(query, 5, signal)));
    expect(times).toHaveLength(3);
    // Two pauses of 100 ms, of which a busy machine may shorten one by answering the first question late.
    expect((times[2] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(90);

    const slow = open('/html/', 9_000);
    await slow.search('a', 5, signal);
    await expect(slow.search('b', 5, signal)).rejects.toMatchObject({ code: 'rate-limited' });
  });

  it('has limits of time and size', async () => {
    intercept = () => undefined;
    await expect(open().search('x', 5, signal)).rejects.toMatchObject({ code: 'timeout', retryable: true });
    intercept = (_request, response) => response.end(Buffer.alloc(150 * 1024, '<p>'));
    await expect(open().search('x', 5, signal)).rejects.toMatchObject({ code: 'too-large' });
  });

  it('parses the largest hostile page without blocking other work', async () => {
    const page = `${'<div><a class="result__a" href="x">'.repeat(3_500)}`;
    expect(page.length).toBeLessThan(128 * 1024);
    intercept = (_request, response) => response.end(page);
    const started = performance.now();
    expect(await open().search('x', 5, signal)).toEqual([]);
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});
