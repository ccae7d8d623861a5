import { afterAll, beforeAll } from 'vitest';
import { createGiteaHost } from '../../../src/providers/gitea/code-host.ts';
import { testCodeHostChangesContract } from '../../contract/code-host-changes-contract.ts';
import { testCodeHostContract } from '../../contract/code-host-contract.ts';
import type { GitRepository } from '../../support/git-repository.ts';
import { type GiteaRepositoryApi, startGiteaRepositoryApi } from '../../support/gitea-repository-api.ts';

let gitea: GiteaRepositoryApi;
beforeAll(async () => {
  gitea = await startGiteaRepositoryApi();
});
afterAll(() => gitea.close());

function open(repository: GitRepository) {
  gitea.repositories.set('shop/api', repository);
  return createGiteaHost({
    baseUrl: `${gitea.url}/api/v1`,
    token: 'gitea-token',
    timeoutMs: 20_000,
    retryUnitMs: 1,
  });
}

testCodeHostContract('gitea', open);
testCodeHostChangesContract('gitea', open);
