import { generateKeyPairSync } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Build } from '../../../src/domain/build.ts';
import type { Logger } from '../../../src/ports/telemetry.ts';
import {
  createGithubBuildSource,
  type GithubBuildSourceOptions,
} from '../../../src/providers/github/build-source.ts';
import { createGithubJob, type GithubApi, startGithubApi } from '../../support/github-api.ts';
import { createTestGithubApp, install, type TestGithubApp } from '../../support/github-app.ts';
import { passMinutes } from '../../support/later.ts';
import { sendJson, startLoopback } from '../../support/loopback-server.ts';
import { sampleBuild } from '../../support/sample-build.ts';

const REPOSITORY = 'octo-org/octo-repo';
let app: TestGithubApp;
let github: GithubApi;
let said: string[];
beforeEach(async () => {
  app = createTestGithubApp();
  github = await startGithubApi({ app });
  github.state.jobs = [createGithubJob({ id: 2, name: 'test' })];
  github.state.stored.set('/jobs/2/logs', 'boom\n');
  said = [];
});
afterEach(async () => {
  await github.close();
  // Whatever happened: nobody was told the key, a signed word of it, or a token.
  const [keyLine = ''] = app.privateKey.split('\n').slice(3);
  for (const secret of [keyLine, 'ghs_', 'ghp_', 'eyJ']) expect(said.join('\n')).not.toContain(secret);
});

/** Remembers all that is logged, as far down as it goes. */
const listening: Logger = {
  debug: recordLine,
  info: recordLine,
  warn: recordLine,
  error: recordLine,
  child: () => listening,
};
function recordLine(fields: object, sentence: string): void {
  said.push(`${sentence} ${JSON.stringify(fields)}`);
}

function open(options: Partial<GithubBuildSourceOptions> = {}) {
  const source = createGithubBuildSource({
    baseUrl: github.url,
    token: null,
    app,
    timeoutMs: 10_000,
    maxLogBytes: 1024 * 1024,
    logger: listening,
    retryUnitMs: 5,
    ...options,
  });
  return async (build: Partial<Build> = {}) => {
    try {
      return (await source.fetch(sampleBuild(build), AbortSignal.timeout(4_000))).sources.map(
        ({ text }) => text,
      );
    } catch (error) {
      said.push(String(error));
      throw error;
    }
  };
}

const asked = (part: string) => github.api.requests.filter(({ path }) => path.includes(part)).length;
const signedWith = (part: string) =>
  github.api.requests.filter(({ path }) => path.includes(part)).map(({ headers }) => headers.authorization);

describe('a GitHub App', () => {
  test('reads with a token for one repository and reading only, which is requested once', async () => {
    install(app, REPOSITORY);
    const fetch = open();

    expect(await Promise.all([fetch(), fetch(), fetch()])).toEqual([['boom\n'], ['boom\n'], ['boom\n']]);

    expect([asked('/installation'), app.issued.length]).toEqual([2, 1]);
    const permissions = { actions: 'read', contents: 'read', metadata: 'read', pull_requests: 'read' };
    expect(app.issued[0]).toMatchObject({ installation: 7, permissions, repositories: ['octo-repo'] });
    expect(new Set(signedWith('/actions/'))).toEqual(new Set([`token ${app.issued[0]?.token}`]));
  });

  test('requests no permission that it was not granted', async () => {
    install(app, REPOSITORY, 7, { metadata: 'read', actions: 'read' });
    await open()();
    expect(app.issued[0]?.permissions).toEqual({ actions: 'read', metadata: 'read' });
  });

  test('renews its token before it expires', async () => {
    install(app, REPOSITORY);
    const fetch = open();
    await fetch();
    passMinutes(50);
    await fetch();
    expect(app.issued).toHaveLength(1);
    passMinutes(6);
    await fetch();
    expect(app.issued).toHaveLength(2);
    expect(signedWith('/actions/').at(-1)).toBe(`token ${app.issued[1]?.token}`);
  });

  test('replaces a revoked token, once', async () => {
    install(app, REPOSITORY);
    const fetch = open();
    await fetch();
    passMinutes(1);
    for (const token of app.issued) token.revoked = true;
    expect(await fetch()).toEqual(['boom\n']);
    expect(app.issued).toHaveLength(2);
  });

  test('retries with a token that GitHub created only just now', async () => {
    install(app, REPOSITORY);
    let refused = 0;
    github.state.intercept = (request, response) => {
      if (request.url?.includes('/jobs') !== true || refused++ > 0) return false;
      sendJson(response, 401, { message: 'Bad credentials' });
      return true;
    };
    expect(await open()()).toEqual(['boom\n']);
    expect(app.issued).toHaveLength(1);
  });

  test('never uses the token of one repository for another', async () => {
    install(app, REPOSITORY, 7);
    install(app, 'other/octo-repo', 8);
    const fetch = open();
    await Promise.all([fetch(), fetch({ repository: 'other/octo-repo' })]);
    const createTokenRule = (id: number) =>
      `token ${app.issued.find(({ installation }) => installation === id)?.token}`;
    expect(new Set(signedWith('/octo-org/octo-repo/actions/'))).toEqual(new Set([createTokenRule(7)]));
    expect(new Set(signedWith('/other/octo-repo/actions/'))).toEqual(new Set([createTokenRule(8)]));
  });

  test('finds a renamed repository by its id', async () => {
    install(app, 'octo-org/new-name');
    app.renamed.set(REPOSITORY, { number: 99, name: 'octo-org/new-name' });
    await open()().catch(() => undefined);
    expect(app.issued[0]?.repositories).toEqual(['new-name']);
  });

  test('searches again if it was uninstalled and installed again', async () => {
    install(app, REPOSITORY, 7);
    const fetch = open();
    await fetch();
    install(app, REPOSITORY, 8);
    passMinutes(56);
    expect(await fetch()).toEqual(['boom\n']);
    expect(app.issued.map(({ installation }) => installation)).toEqual([7, 8]);
  });
});

describe('an App that is not installed', () => {
  const refusal = {
    code: 'upstream-auth',
    retryable: false,
    message: expect.stringMatching(/not installed on octo-org\/octo-repo.*Install it/),
  };

  test('is refused finally, with what to do, and this is remembered for a minute', async () => {
    const fetch = open();
    await expect(fetch()).rejects.toMatchObject(refusal);
    await expect(fetch()).rejects.toMatchObject(refusal);
    expect(asked('/installation')).toBe(1);
    install(app, REPOSITORY);
    passMinutes(2);
    expect(await fetch()).toEqual(['boom\n']);
  });

  test('is replaced by the token, if there is one, and only there', async () => {
    install(app, 'octo-org/ours');
    const fetch = open({ token: 'ghp_0123456789' });
    await Promise.all([fetch(), fetch({ repository: 'octo-org/ours' })]);
    expect(new Set(signedWith('/octo-repo/actions/'))).toEqual(new Set(['token ghp_0123456789']));
    expect(new Set(signedWith('/ours/actions/'))).toEqual(new Set([`token ${app.issued[0]?.token}`]));
  });

  test('any longer is refused in the same way', async () => {
    install(app, REPOSITORY);
    install(app, 'octo-org/ours');
    const fetch = open();
    await fetch();
    app.installations.delete(REPOSITORY);
    passMinutes(56);
    await expect(fetch()).rejects.toMatchObject(refusal);
  });
});

describe('T32: a refusal by GitHub', () => {
  test('of an unknown key is final, even if there is a token', async () => {
    install(app, REPOSITORY);
    app.publicKey = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey;
    const fetch = open({ token: 'ghp_0123456789' });
    const message = expect.stringMatching(/401.*FAULTLINE_GITHUB_APP_ID.*FAULTLINE_GITHUB_APP_KEY/);
    await expect(fetch()).rejects.toMatchObject({ code: 'upstream-auth', retryable: false, message });
    expect(github.api.requests).toHaveLength(1);
  });

  test('of a suspended installation is final, found by the search or on creating a token', async () => {
    const installation = install(app, REPOSITORY);
    const fetch = open();
    await fetch();
    installation.suspended = true;
    const refusal = {
      code: 'upstream-auth',
      retryable: false,
      message: expect.stringContaining('suspended'),
    };
    await expect(open()()).rejects.toMatchObject(refusal);
    passMinutes(9);
    for (const token of app.issued) token.revoked = true;
    await expect(fetch()).rejects.toMatchObject(refusal);
  });

  test('with a rate limit or server error is left to the queue', async () => {
    install(app, REPOSITORY);
    const answers = [
      {
        status: 403,
        body: { message: 'You have exceeded a secondary rate limit.' },
        headers: { 'retry-after': '90' },
      },
      { status: 503, body: { message: 'Unavailable' }, headers: {} },
    ];
    for (const { status, body, headers } of answers) {
      github.state.intercept = (_request, response) => {
        sendJson(response, status, body, headers);
        return true;
      };
      await expect(open()()).rejects.toMatchObject({ code: 'upstream-failed', retryable: true });
    }
  });

  test.each(['/installation', '/attempts/1/jobs'])(
    'leads neither its JWT nor its token to another host (%s)',
    async (part) => {
      install(app, REPOSITORY);
      const other = await startLoopback((_request, response) => sendJson(response, 200, { id: 7, jobs: [] }));
      github.state.intercept = (request, response) => {
        if (request.url?.split('?')[0]?.endsWith(part) !== true) return false;
        response.writeHead(302, { location: `${other.url}${request.url}` }).end();
        return true;
      };
      await expect(open()()).rejects.toMatchObject({
        code: 'upstream-failed',
        retryable: false,
        message: expect.stringContaining('another host'),
      });
      expect(other.requests).toEqual([]);
      await other.close();
    },
  );

  test('never reveals the token to the storage', async () => {
    install(app, REPOSITORY);
    await open()();
    expect(github.storage.requests.map(({ headers }) => headers.authorization)).toEqual([undefined]);
  });
});

test('an App and its logs are found on an Enterprise server', async () => {
  const enterprise = await startGithubApi({ app, place: 'enterprise' });
  enterprise.state.jobs = github.state.jobs;
  enterprise.state.stored.set('/jobs/2/logs', 'boom there\n');
  install(app, REPOSITORY);
  expect(await open({ baseUrl: `${enterprise.url}/api/v3` })()).toEqual(['boom there\n']);
  expect(enterprise.api.requests.every(({ path }) => path.startsWith('/api/v3/'))).toBe(true);
  await enterprise.close();
});
