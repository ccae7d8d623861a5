import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, expect, it } from 'vitest';
import { listExternalChecks } from '../../src/app/external-checks.ts';
import { readConfig } from '../../src/cli/settings.ts';
import { type Finding, runCheck } from '../../src/ports/health.ts';
import { type GithubApi, startGithubApi } from '../support/github-api.ts';
import { createTestGithubApp, install, type TestGithubApp } from '../support/github-app.ts';

const FOLDER = mkdtempSync(join(tmpdir(), 'faultline-doctor-app-'));
let app: TestGithubApp;
let github: GithubApi;
beforeEach(async () => {
  app = createTestGithubApp();
  github = await startGithubApi({ app });
});
afterEach(() => github.close());
afterAll(() => rmSync(FOLDER, { recursive: true, force: true }));

async function runDoctor(environment: Readonly<Record<string, string>> = {}): Promise<Finding[]> {
  const config = readConfig(FOLDER, {
    FAULTLINE_GITHUB_URL: github.url,
    FAULTLINE_GITHUB_TOKEN: '',
    FAULTLINE_GITHUB_APP_ID: app.id,
    FAULTLINE_GITHUB_APP_KEY: app.privateKey,
    FAULTLINE_CLONES: 'shop/api=/clones/api',
    ...environment,
  });
  const asked = listExternalChecks(config).filter(({ name }) => name.startsWith('github'));
  return (await Promise.all(asked.map(runCheck))).flat();
}

it('doctor names the App and the number of its installations', async () => {
  install(app, 'shop/api');
  expect(await runDoctor()).toEqual([
    { name: 'github app', state: 'ok', says: 'Faultline Test, installed 1 time' },
  ]);
});

it('doctor also checks the token if there is one', async () => {
  install(app, 'shop/api');
  expect((await runDoctor({ FAULTLINE_GITHUB_TOKEN: 'ghp_0123456789' })).map(({ name }) => name)).toEqual([
    'github app',
    'github',
  ]);
});

it('doctor reports an App without installations', async () => {
  const [found] = await runDoctor();
  expect(found).toMatchObject({
    state: 'wrong',
    says: expect.stringContaining('not installed anywhere'),
    remedy: expect.stringContaining('/apps/faultline-test'),
  });
});

it('doctor reports a repository that the App cannot access', async () => {
  install(app, 'shop/web');
  expect(await runDoctor()).toMatchObject([
    { state: 'note', says: expect.stringContaining('not installed on shop/api') },
  ]);
});

it('doctor reports missing permissions', async () => {
  install(app, 'shop/api', 7, { metadata: 'read', contents: 'read' });
  expect(await runDoctor()).toMatchObject([
    { state: 'wrong', says: expect.stringContaining('cannot fetch logs') },
  ]);
  install(app, 'shop/api', 7, { metadata: 'read', contents: 'read', actions: 'read' });
  expect(await runDoctor()).toMatchObject([
    { state: 'note', says: expect.stringContaining('pull_requests') },
  ]);
});

it('doctor reports a key of another App, and an address that is not GitHub', async () => {
  install(app, 'shop/api');
  const other = createTestGithubApp().privateKey;
  const [found] = await runDoctor({ FAULTLINE_GITHUB_APP_KEY: other });
  expect(found).toMatchObject({
    state: 'wrong',
    says: expect.stringContaining('does not accept the key of the GitHub App 4711'),
  });
  expect(JSON.stringify(found)).not.toContain(other.split('\n')[3]);
  expect(await runDoctor({ FAULTLINE_GITHUB_URL: `${github.storage.url}/nothing` })).toMatchObject([
    { state: 'wrong' },
  ]);
});
