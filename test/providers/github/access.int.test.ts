import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../../src/ports/telemetry.ts';
import { createGithubAccess } from '../../../src/providers/github/access.ts';
import { createGithubHost } from '../../../src/providers/github/code-host.ts';
import { createGitRepository, type GitRepository } from '../../support/git-repository.ts';
import { answerForApp, createTestGithubApp, install, type TestGithubApp } from '../../support/github-app.ts';
import type { GithubPlace } from '../../support/github-place.ts';
import { type GithubRepositoryApi, startGithubRepositoryApi } from '../../support/github-repository-api.ts';
import { passMinutes } from '../../support/later.ts';
import { sendJson, startLoopback } from '../../support/loopback-server.ts';

const signal = AbortSignal.timeout(60_000);
let app: TestGithubApp;
beforeEach(() => {
  app = createTestGithubApp();
});

describe('unchanged answers', () => {
  it('are stored separately for each installation, also for a repository that moved between two', async () => {
    const server = await startLoopback((request, response) => {
      if (!answerForApp(app, request, response)) sendJson(response, 200, { private: true }, { etag: '"1"' });
    });
    const access = createGithubAccess({
      baseUrl: server.url,
      app,
      token: null,
      logger: silentLogger,
      retryUnitMs: 1,
    });
    const ask = async () => {
      const { client } = await access.forRepository({ owner: 'acme', repo: 'shop' }, signal);
      await client.request('GET /repos/{owner}/{repo}', { owner: 'acme', repo: 'shop' });
    };
    install(app, 'acme/shop', 7);
    await ask();
    await ask();
    install(app, 'acme/shop', 8);
    passMinutes(15);
    await ask();
    const marks = server.requests
      .filter(({ path }) => path === '/repos/acme/shop')
      .map(({ headers }) => headers['if-none-match']);
    expect(marks).toEqual([undefined, '"1"', undefined]);
    await server.close();
  });
});

describe.each<GithubPlace>(['github.com', 'enterprise'])('code on %s, read by an App', (place) => {
  let repository: GitRepository;
  let github: GithubRepositoryApi;
  beforeEach(async () => {
    repository = createGitRepository();
    repository.commit({ 'README.md': 'one\ntwo\n' }, 'One', 'Grace');
    github = await startGithubRepositoryApi({ app, place });
    github.state.repositories.set('shop/api', repository);
  });
  afterEach(async () => {
    await github.close();
    repository.remove();
  });
  const readme = { repository: 'shop/api', ref: null, path: 'README.md' };
  const open = (token: string | null = null) => {
    const baseUrl = place === 'enterprise' ? `${github.url}/api/v3` : github.url;
    return createGithubHost({ baseUrl, app, token, logger: silentLogger, retryUnitMs: 1 });
  };

  it('is shown, with authors and the list of repositories', async () => {
    install(app, 'shop/api');
    const host = open();
    expect((await host.readFile(readme, signal))?.lines).toEqual(['one', 'two']);
    const blamed = await host.blame({ ...readme, lineStart: 2, lineEnd: 2 }, signal);
    expect(blamed).toMatchObject([{ author: 'Grace', subject: 'One', line: 2 }]);
    expect(await host.listRepositories({ limit: 9 }, signal)).toMatchObject([{ repository: 'shop/api' }]);
    expect(
      github.server.requests.some(
        ({ path }) => path === (place === 'enterprise' ? '/api/graphql' : '/graphql'),
      ),
    ).toBe(true);
    expect(
      app.issued.map(({ permissions, repositories }) => [Object.keys(permissions).length, repositories]),
    ).toEqual([
      [4, ['api']],
      [1, null],
    ]);
  });

  it('is refused with a clear message if the App is not installed, and read with the token if there is one', async () => {
    const refusal = {
      code: 'upstream-auth',
      retryable: false,
      message: expect.stringContaining('not installed on shop/api'),
    };
    await expect(open().readFile(readme, signal)).rejects.toMatchObject(refusal);
    expect(await open().canRead('shop/api')).toBe(false);
    expect((await open('ghp_0123456789').readFile(readme, signal))?.lines).toEqual(['one', 'two']);
  });

  it('T32: is not searched for on another host', async () => {
    install(app, 'shop/api');
    const other = await startLoopback((_request, response) => sendJson(response, 200, {}));
    github.state.intercept = (request, response) => {
      if (request.url?.endsWith('/repos/shop/api') !== true) return false;
      response.writeHead(301, { location: `${other.url}/repos/shop/api` }).end();
      return true;
    };
    await expect(open().readFile(readme, signal)).rejects.toMatchObject({
      code: 'upstream-failed',
      retryable: false,
    });
    expect(other.requests).toEqual([]);
    await other.close();
  });
});
