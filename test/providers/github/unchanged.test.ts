import { createHash } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../../src/ports/telemetry.ts';
import { createGithubClient } from '../../../src/providers/github/client.ts';
import { type LoopbackServer, sendJson, startLoopback } from '../../support/loopback-server.ts';

const open: LoopbackServer[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

/** An API whose answers carry a mark, and which says 304 to who knows it. */
async function startApi(answerTo: (path: string, accept: string) => unknown) {
  const sent: number[] = [];
  const server = await startLoopback((request, response) => {
    const body = answerTo(request.url ?? '', request.headers.accept ?? '');
    const etag = `W/"${createHash('sha256').update(JSON.stringify(body)).digest('hex')}"`;
    const unchanged = request.headers['if-none-match'] === etag;
    sent.push(unchanged ? 304 : 200);
    if (unchanged) response.writeHead(304, { etag }).end();
    else sendJson(response, 200, body, { etag, link: '<http://x/next>; rel="next"' });
  });
  open.push(server);
  const client = (token: string | null = null) =>
    createGithubClient(
      { baseUrl: server.url, logger: silentLogger, retryUnitMs: 1 },
      { who: 'token', token },
    );
  return { server, sent, client };
}

describe('a cached answer of GitHub', () => {
  it('is requested by its ETag, and returned whole', async () => {
    const api = await startApi(() => ({ name: 'shop' }));
    const client = api.client();
    const first = await client.request('GET /repos/{owner}/{repo}', { owner: 'acme', repo: 'shop' });
    const second = await client.request('GET /repos/{owner}/{repo}', { owner: 'acme', repo: 'shop' });

    expect(second.data).toEqual(first.data);
    expect(second.headers.link).toBe(first.headers.link);
    expect(api.sent).toEqual([200, 304]);
  });

  it('is replaced as soon as it changes', async () => {
    let stars = 1;
    const api = await startApi(() => ({ stars }));
    const client = api.client();
    const ask = async () => (await client.request('GET /repos/a/b')).data.stars;
    expect([await ask(), await ask()]).toEqual([1, 1]);
    stars = 2;
    expect([await ask(), await ask()]).toEqual([2, 2]);
    expect(api.sent).toEqual([200, 304, 200, 304]);
  });

  it('differs by address and by format, and belongs to one token', async () => {
    const api = await startApi((path, accept) => ({ path, raw: accept.includes('raw') }));
    const client = api.client('one');
    await client.request('GET /repos/a/b?page=1');
    await client.request('GET /repos/a/b?page=2');
    await client.request('GET /repos/a/b?page=1', { mediaType: { format: 'raw' } });
    await api.client('other').request('GET /repos/a/b?page=1');
    expect(api.sent).toEqual([200, 200, 200, 200]);
    await client.request('GET /repos/a/b?page=2');
    expect(api.sent.at(-1)).toBe(304);
  });

  it('is not stored if it is large, or for anything but reading', async () => {
    const api = await startApi((path) => ({
      text: path.includes('large') ? 'x'.repeat(3_000_000) : 'small',
    }));
    const client = api.client();
    for (const _ of [1, 2]) await client.request('GET /repos/a/large');
    for (const _ of [1, 2]) await client.request('POST /graphql', { query: '{}' });
    expect(api.sent).toEqual([200, 200, 200, 200]);
    expect(api.server.requests.some(({ headers }) => headers['if-none-match'] !== undefined)).toBe(false);
  });
});
