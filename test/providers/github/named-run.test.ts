import { expect, it } from 'vitest';
import { silentLogger } from '../../../src/ports/telemetry.ts';
import { createGithubProvider } from '../../../src/providers/github/provider.ts';
import { readActionsPath } from '../../../src/providers/named-runs.ts';
import { ProvidersConfig } from '../../../src/providers/registry.ts';
import { startLoopback } from '../../support/loopback-server.ts';

it('a named run is given up if GitHub does not respond', async () => {
  const github = await startLoopback(() => undefined);
  const { runs } = createGithubProvider(ProvidersConfig.parse({ github: { baseUrl: github.url } }).github);
  const run = { repository: 'shop/api', id: '90', attempt: null };
  // The outer limit only ends the test.
  const loading = runs?.load(run, { logger: silentLogger, timeoutMs: 100 }, AbortSignal.timeout(3_000));

  await expect(loading).rejects.toMatchObject({ code: 'timeout' });
  await github.close();
});

it.each(['../user', 'shop/..', './api'])(
  'an address names no run in a repository called %s',
  (repository) => {
    expect(readActionsPath(`${repository}/actions/runs/90`)).toBeNull();
  },
);

it('an address gives the repository, the run and the attempt', () => {
  expect(readActionsPath('shop/.github/actions/runs/90/attempts/2')).toEqual({
    repository: 'shop/.github',
    id: '90',
    attempt: 2,
  });
});
