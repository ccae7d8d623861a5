import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../../src/ports/telemetry.ts';
import { createGithubHost } from '../../../src/providers/github/code-host.ts';
import { createGitRepository, type GitRepository } from '../../support/git-repository.ts';
import {
  type GithubRepositoryApi,
  replyNotFound,
  startGithubRepositoryApi,
} from '../../support/github-repository-api.ts';
import { sendJson, startLoopback } from '../../support/loopback-server.ts';

const signal = new AbortController().signal;
const query = { repository: 'shop/api', ref: null };
const readme = { ...query, path: 'README.md' };
const LIMITED = {
  message: 'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.',
};

let repository: GitRepository;
let github: GithubRepositoryApi;
beforeEach(async () => {
  repository = createGitRepository();
  github = await startGithubRepositoryApi();
  github.state.repositories.set('shop/api', repository);
});
afterEach(async () => {
  await github.close();
  repository.remove();
});

function open(options: Partial<Parameters<typeof createGithubHost>[0]> = {}) {
  return createGithubHost({
    baseUrl: github.url,
    token: 'ghp_0123456789',
    logger: silentLogger,
    retryUnitMs: 1,
    ...options,
  });
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** Answers the first so many requests whose path holds `part` in the API's place. */
function replaceAnswer(
  part: string,
  answer: Answer,
  times = Number.POSITIVE_INFINITY,
): { readonly count: number } {
  const state = { count: 0 };
  github.state.intercept = (request, response) => {
    if (!decodeURIComponent(request.url ?? '').includes(part) || state.count >= times) return false;
    state.count += 1;
    answer(request, response);
    return true;
  };
  return state;
}

const replies = (status: number, body: unknown, headers: Record<string, string> = {}): Answer => {
  return (_request, response) => sendJson(response, status, body, headers);
};

describe('the GitHub code host in case of errors', () => {
  beforeEach(() => {
    repository.commit({ 'README.md': 'one\ntwo\n', 'src/a.ts': 'export const a = 1;\n' }, 'One');
  });

  it('reads nothing from a repository that does not exist or is not visible to the token', async () => {
    const lost = { ...readme, repository: 'shop/lost' };
    expect(await open().canRead('shop/lost')).toBe(false);
    expect(await open().readFile(lost, signal)).toBeNull();
    expect(await open().resolve({ repository: 'shop/lost', ref: null }, signal)).toEqual({
      ref: null,
      note: null,
    });
  });

  it('sends no request for an invalid repository name', async () => {
    for (const name of ['shop', 'shop/..', 'shop/api/x', '../etc/passwd', 'a b/c'])
      expect(await open().canRead(name)).toBe(false);
    expect(github.server.requests).toEqual([]);
  });

  it('T31: waits for a short secondary rate limit', async () => {
    const seen = replaceAnswer('/git/trees/', replies(403, LIMITED, { 'retry-after': '1' }), 1);
    expect((await open().readFile(readme, signal))?.lines).toEqual(['one', 'two']);
    expect(seen.count).toBe(1);
  });

  it('T31: returns a long secondary rate limit with its time', async () => {
    const seen = replaceAnswer('/git/trees/', replies(403, LIMITED, { 'retry-after': '120' }));
    const refusal = { code: 'upstream-failed', retryable: true, retryAfterMs: 120_000 };
    await expect(open().readFile(readme, signal)).rejects.toMatchObject(refusal);
    expect(seen.count).toBe(1);
  });

  it('T31: reports when a used-up limit is reset', async () => {
    const reset = String(Math.ceil(Date.now() / 1000) + 1800);
    const used = { 'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset };
    const seen = replaceAnswer(
      '/repos/',
      replies(403, { message: 'API rate limit exceeded for 127.0.0.1.' }, used),
    );
    const error = await open({ token: null })
      .readFile(readme, signal)
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'upstream-failed', retryable: true });
    expect(error).toHaveProperty('retryAfterMs', expect.closeTo(1_800_000, -4));
    expect(seen.count).toBe(1);
    expect(await open({ token: null }).canRead('shop/api')).toBe(true);
  });

  it('T32: names the permission that a refused token lacks, and does not retry', async () => {
    const seen = replaceAnswer('/repos/', replies(401, { message: 'Bad credentials' }));
    const refusal = {
      code: 'upstream-auth',
      retryable: false,
      message: expect.stringContaining('FAULTLINE_GITHUB_TOKEN'),
    };
    await expect(open().readFile(readme, signal)).rejects.toMatchObject(refusal);
    expect(seen.count).toBe(1);
    expect(await open().canRead('shop/api')).toBe(false);
  });

  it('follows a renamed repository, and uses the new name from then on', async () => {
    github.state.renamed.set('shop/old', 'shop/api');
    expect((await open().readFile({ ...readme, repository: 'shop/old' }, signal))?.lines).toEqual([
      'one',
      'two',
    ]);
    const paths = github.server.requests.map(({ path }) => path);
    expect(paths.filter((path) => path.includes('/shop/old'))).toEqual(['/repos/shop/old']);
  });

  it('T32: never sends its token to another host', async () => {
    const other = await startLoopback((_request, response) => sendJson(response, 200, {}));
    const location = `${other.url}/repos/shop/api`;
    const seen = replaceAnswer('/repos/', (_request, response) =>
      response.writeHead(301, { location }).end(),
    );
    const refusal = {
      code: 'upstream-failed',
      retryable: false,
      message: expect.stringContaining('another host'),
    };
    await expect(open().readFile(readme, signal)).rejects.toMatchObject(refusal);
    expect([other.requests, seen.count]).toEqual([[], 1]);
    await other.close();
  });

  it('gives up on circular redirects', async () => {
    const seen = replaceAnswer('/repos/', (_request, response) =>
      response.writeHead(302, { location: '/repos/shop/api' }).end(),
    );
    await expect(open().readFile(readme, signal)).rejects.toMatchObject({ code: 'upstream-failed' });
    expect(seen.count).toBe(4);
  });

  it('reads a file of more than 1 MB, and refuses one of more than 5 MB without reading it', async () => {
    const line = `${'x'.repeat(99)}\n`;
    repository.commit({ 'big.txt': line.repeat(20_000), 'huge.txt': line.repeat(60_000) }, 'Big');
    const big = await open().readFile({ ...query, path: 'big.txt', lineStart: 19_999 }, signal);
    expect(big).toMatchObject({ totalLines: 20_000, lines: ['x'.repeat(99), 'x'.repeat(99)] });
    await expect(open().readFile({ ...query, path: 'huge.txt' }, signal)).rejects.toMatchObject({
      code: 'too-large',
    });
    expect(github.server.requests.filter(({ path }) => path.includes('/git/blobs/'))).toHaveLength(1);
  });

  it('treats an empty repository as one without commits', async () => {
    const empty = createGitRepository();
    github.state.repositories.set('shop/empty', empty);
    const host = open();
    expect(await host.canRead('shop/empty')).toBe(true);
    expect(await host.resolve({ repository: 'shop/empty', ref: null }, signal)).toEqual({
      ref: null,
      note: null,
    });
    expect(await host.history({ repository: 'shop/empty', ref: null, limit: 3 }, signal)).toEqual([]);
    empty.remove();
  });

  it('reports a truncated list of files, and still finds and reads other files by path', async () => {
    repository.commit({ 'z/last.ts': 'export {};\n' }, 'Last');
    github.state.maxTreeEntries = 1;
    const host = open();
    expect(await host.listFiles({ ...query, limit: 9 }, signal)).toEqual({
      paths: ['README.md'],
      truncated: true,
    });
    expect((await host.readFile({ ...query, path: 'z/last.ts' }, signal))?.lines).toEqual(['export {};']);
    expect(await host.findFiles({ ...query, suffix: 'z/last.ts', limit: 3 }, signal)).toEqual(['z/last.ts']);
    expect(await host.findFiles({ ...query, suffix: 'z/absent.ts', limit: 3 }, signal)).toEqual([]);
    expect(await host.readFile({ ...query, path: 'z' }, signal)).toBeNull();
  });

  it('gives up at its time limit, and at once on abort', async () => {
    const seen = replaceAnswer('/git/trees/', () => {});
    const late = { code: 'timeout', retryable: true };
    await expect(open({ timeoutMs: 300 }).readFile(readme, signal)).rejects.toMatchObject(late);
    expect(seen.count).toBe(1);
    await expect(open().readFile(readme, AbortSignal.timeout(300))).rejects.toMatchObject({
      code: 'cancelled',
    });
  });

  it('stops reading a response above its limit, and does not request it again', async () => {
    const seen = replaceAnswer('/git/trees/', (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
      };
      response.on('drain', more);
      more();
    });
    await expect(open({ maxReplyBytes: 1024 * 1024 }).readFile(readme, signal)).rejects.toMatchObject({
      code: 'too-large',
    });
    expect(seen.count).toBe(1);
  });

  it.each([
    [
      'prose',
      (response: ServerResponse) =>
        response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Maintenance</h1>'),
    ],
    ['unexpected format', (response: ServerResponse) => sendJson(response, 200, { tree: 'gone' })],
    [
      'half a document',
      (response: ServerResponse) =>
        response.writeHead(200, { 'content-type': 'application/json' }).end('{"tree": ['),
    ],
  ])('reports a response that is %s', async (_name, answer) => {
    replaceAnswer('/git/trees/', (_request, response) => answer(response));
    const refusal = { code: 'upstream-failed', message: expect.stringContaining('unexpected format') };
    await expect(open().readFile(readme, signal)).rejects.toMatchObject(refusal);
  });

  it('retries after a server error and after a broken connection', async () => {
    const failed = replaceAnswer('/git/trees/', replies(502, { message: 'Bad gateway' }), 1);
    expect(await open().readFile(readme, signal)).not.toBeNull();
    expect(failed.count).toBe(1);
    const broken = replaceAnswer('/git/trees/', (request) => void request.socket.destroy(), 1);
    expect(await open().readFile(readme, signal)).not.toBeNull();
    expect(broken.count).toBe(1);
    replaceAnswer('/git/trees/', replies(502, { message: 'Bad gateway' }));
    await expect(open().readFile(readme, signal)).rejects.toMatchObject({
      code: 'upstream-failed',
      retryable: true,
    });
  });
});

describe('the GitHub code host', () => {
  it('caches what cannot change: a second request for a commit costs nothing', async () => {
    repository.commit({ 'README.md': 'one\n' }, 'One');
    const host = open();
    await host.readFile(readme, signal);
    const before = github.server.requests.length;
    await host.readFile({ ...readme, lineStart: 1 }, signal);
    await host.findFiles({ ...query, suffix: 'README.md', limit: 1 }, signal);
    expect(github.server.requests.length).toBe(before);
  });

  it('sends one request for several callers at once, and another if the first is aborted', async () => {
    repository.commit({ 'README.md': 'one\n' }, 'One');
    const host = open();
    const found = await Promise.all(
      Array.from({ length: 5 }, () => host.findFiles({ ...query, suffix: 'README.md', limit: 1 }, signal)),
    );
    expect(found.flat()).toHaveLength(5);
    expect(github.server.requests).toHaveLength(3);
    // The first gives up once its question hangs, however long it took to get there.
    const gone = new AbortController();
    const seen = replaceAnswer('/git/trees/', () => gone.abort(), 1);
    const other = open();
    const [first, second] = await Promise.allSettled([
      other.readFile(readme, gone.signal),
      other.readFile(readme, signal),
    ]);
    expect([seen.count, first.status, second.status]).toEqual([1, 'rejected', 'fulfilled']);
  });

  it('reads public repositories without a token, but neither blame nor a list of repositories', async () => {
    repository.commit({ 'README.md': 'one\n' }, 'One');
    const host = open({ token: null });
    expect((await host.readFile(readme, signal))?.lines).toEqual(['one']);
    const refusal = { code: 'forbidden', message: expect.stringContaining('FAULTLINE_GITHUB_TOKEN') };
    await expect(host.blame({ ...readme, lineStart: 1, lineEnd: 1 }, signal)).rejects.toMatchObject(refusal);
    expect(await host.listRepositories({ limit: 9 }, signal)).toEqual([]);
    expect(github.server.requests.every(({ headers }) => headers.authorization === undefined)).toBe(true);
  });

  it('lists the repositories of an installation through its own address', async () => {
    const [own] = await open({ token: 'ghs_0123456789' }).listRepositories({ limit: 9 }, signal);
    expect(own).toEqual({
      repository: 'shop/api',
      defaultBranch: 'main',
      description: 'The shop/api repository',
    });
    expect(github.server.requests[0]?.path).toMatch(/^\/installation\/repositories\?/);
  });

  it('names the pull request of a commit', async () => {
    const commit = repository.commit({ 'README.md': 'one\n' }, 'One');
    github.state.pulls.set(commit, [
      { number: 11, merged_at: null },
      { number: 12, merged_at: '2026-01-01T00:00:00Z' },
    ]);
    expect((await open().commitDiff({ repository: 'shop/api', commit }, signal))?.commit.pullRequest).toBe(
      12,
    );
    replaceAnswer('/pulls', (_request, response) => replyNotFound(response));
    expect(
      (await open().commitDiff({ repository: 'shop/api', commit }, signal))?.commit.pullRequest,
    ).toBeNull();
  });

  it('searches a large repository by code search and by names, and reads what it quotes', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 80 }, (_, index) => [`src/f${index}.ts`, `export const f${index} = 1;\n`]),
    );
    const first = repository.commit(
      { ...files, 'src/cart.ts': 'export function totalOf() {}\n', 'docs/totalof.md': 'see cart\n' },
      'Many',
    );
    repository.commit({ 'src/cart.ts': '// new\nexport function totalOf() {}\n' }, 'More');
    const host = open();
    const hits = await host.search({ ...query, ref: first, text: 'totalOf', limit: 9 }, signal);
    expect(hits).toEqual([{ path: 'src/cart.ts', line: 1, text: 'export function totalOf() {}' }]);
    const unsigned = await open({ token: null }).searchFiles(
      { ...query, words: ['totalOf', 'cart'], limit: 9 },
      signal,
    );
    expect(unsigned.map(({ path }) => path)).toEqual(['docs/totalof.md', 'src/cart.ts']);
    expect(github.server.requests.filter(({ path }) => path.startsWith('/search/code'))).toHaveLength(1);
    expect(github.server.requests.filter(({ path }) => path.includes('/git/blobs/')).length).toBeLessThan(10);
  });
});
