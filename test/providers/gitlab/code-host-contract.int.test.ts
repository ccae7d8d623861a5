import { afterAll, beforeAll } from 'vitest';
import { createGitlabHost } from '../../../src/providers/gitlab/code-host.ts';
import { testCodeHostChangesContract } from '../../contract/code-host-changes-contract.ts';
import { testCodeHostContract } from '../../contract/code-host-contract.ts';
import type { GitRepository } from '../../support/git-repository.ts';
import { type GitlabRepositoryApi, startGitlabRepositoryApi } from '../../support/gitlab-repository-api.ts';

let gitlab: GitlabRepositoryApi;
beforeAll(async () => {
  gitlab = await startGitlabRepositoryApi();
});
afterAll(() => gitlab.close());

function open(repository: GitRepository) {
  gitlab.repositories.set('shop/api', repository);
  return createGitlabHost({
    baseUrl: `${gitlab.url}/api/v4`,
    token: 'glpat-x',
    timeoutMs: 20_000,
    retryUnitMs: 1,
  });
}

testCodeHostContract('gitlab', open);
testCodeHostChangesContract('gitlab', open);
