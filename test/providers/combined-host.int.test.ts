import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../src/ports/telemetry.ts';
import { createCombinedHost } from '../../src/providers/combined-host.ts';
import { createLocalGitHost } from '../../src/providers/git/clone.ts';
import { createGithubHost } from '../../src/providers/github/code-host.ts';
import { testCodeHostContract } from '../contract/code-host-contract.ts';
import { createGitRepository, type GitRepository } from '../support/git-repository.ts';
import { type GithubRepositoryApi, startGithubRepositoryApi } from '../support/github-repository-api.ts';
import { sendJson } from '../support/loopback-server.ts';
import { THOROUGH } from '../support/thorough.ts';

const signal = new AbortController().signal;
let github: GithubRepositoryApi;
let remote: GitRepository;
let clone: GitRepository;

beforeAll(async () => {
  github = await startGithubRepositoryApi();
});
afterAll(() => github.close());
beforeEach(() => {
  github.state.intercept = null;
  [remote, clone] = [createGitRepository(), createGitRepository()];
  for (const repository of [remote, clone]) repository.commit({ 'a.txt': 'old\n' }, 'Old');
  github.state.repositories.set('shop/api', remote).set('shop/web', remote);
});
afterEach(() => {
  for (const repository of [remote, clone]) repository.remove();
});

function open(folder = clone.folder) {
  const token = 'ghp_0123456789';
  const hosted = createGithubHost({ baseUrl: github.url, token, logger: silentLogger, retryUnitMs: 1 });
  return createCombinedHost(createLocalGitHost({ clones: { 'shop/api': folder } }), hosted);
}

// Both hosts pass it on their own in every run.
if (THOROUGH) testCodeHostContract('local-git and github', ({ folder }) => open(folder));

describe('a clone combined with GitHub', () => {
  const api = { repository: 'shop/api', path: 'a.txt' };

  it('reads only from the clone what it contains', async () => {
    const before = github.server.requests.length;
    const host = open();
    const old = clone.git('rev-parse', 'HEAD');
    expect((await host.readFile({ ...api, ref: old }, signal))?.lines).toEqual(['old']);
    expect(await host.commitDiff({ repository: 'shop/api', commit: old }, signal)).not.toBeNull();
    expect(await host.compare({ repository: 'shop/api', base: old, head: old }, signal)).not.toBeNull();
    expect(github.server.requests).toHaveLength(before);
  });

  it('asks GitHub for commits that the clone does not have, and for repositories without a clone', async () => {
    const fresh = remote.commit({ 'a.txt': 'new\n' }, 'New');
    const host = open();
    expect(await host.resolve({ ...api, ref: fresh }, signal)).toEqual({ ref: fresh, note: null });
    expect((await host.readFile({ ...api, ref: fresh }, signal))?.lines).toEqual(['new']);
    const old = remote.git('rev-parse', `${fresh}^`);
    expect(
      (await host.compare({ repository: 'shop/api', base: old, head: fresh }, signal))?.commits,
    ).toHaveLength(1);
    expect(
      (await host.readFile({ repository: 'shop/web', ref: null, path: 'a.txt' }, signal))?.lines,
    ).toEqual(['new']);
    expect(await host.canRead('shop/web')).toBe(true);
  });

  it('uses an outdated clone, with a note, while GitHub does not respond', async () => {
    const fresh = remote.commit({ 'a.txt': 'new\n' }, 'New');
    github.state.intercept = (_request, response) => {
      sendJson(response, 401, { message: 'Bad credentials' });
      return true;
    };
    const resolved = await open().resolve({ ...api, ref: fresh }, signal);
    expect(resolved).toEqual({
      ref: clone.git('rev-parse', 'HEAD'),
      note: expect.stringContaining('is not in the clone'),
    });
  });

  it('lists the repositories of both, each once', async () => {
    const found = await open().listRepositories({ limit: 9 }, signal);
    expect(found.map(({ repository }) => repository)).toEqual(['shop/api', 'shop/web']);
  });
});
