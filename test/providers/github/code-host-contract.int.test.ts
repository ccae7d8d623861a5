import { afterAll, beforeAll } from 'vitest';
import { silentLogger } from '../../../src/ports/telemetry.ts';
import { createGithubHost } from '../../../src/providers/github/code-host.ts';
import { testCodeHostChangesContract } from '../../contract/code-host-changes-contract.ts';
import { testCodeHostContract } from '../../contract/code-host-contract.ts';
import type { GitRepository } from '../../support/git-repository.ts';
import { type GithubRepositoryApi, startGithubRepositoryApi } from '../../support/github-repository-api.ts';

let github: GithubRepositoryApi;
beforeAll(async () => {
  github = await startGithubRepositoryApi();
});
afterAll(() => github.close());

function open(repository: GitRepository) {
  github.state.repositories.set('shop/api', repository);
  return createGithubHost({
    baseUrl: github.url,
    token: 'ghp_0123456789',
    logger: silentLogger,
    retryUnitMs: 1,
  });
}

testCodeHostContract('github', open);
testCodeHostChangesContract('github', open);
