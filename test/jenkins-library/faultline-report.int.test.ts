import { beforeAll, expect, test, vi } from 'vitest';
import { buildHttp } from '../../src/api/server.ts';
import { KNOWN_HOSTILE } from '../recipes/hostile-values.ts';
import { attackJenkinsStep } from '../recipes/jenkins-step.ts';
import { startUploadReceiver } from '../recipes/upload-receiver.ts';
import { createFakeHttpDeps, type FakeState } from '../support/fake-stores.ts';
import { JENKINS_SECRETS } from '../support/http-deps.ts';
import { runPipelines, type Told } from './groovy-runner.ts';

const ENV = {
  JOB_NAME: 'shop/api',
  BUILD_NUMBER: '812',
  BUILD_URL: 'https://ci.example.com/job/shop/job/api/812/',
  GIT_URL: 'https://git.example.com/acme/shop.git',
  GIT_BRANCH: 'origin/main',
  GIT_COMMIT: 'a41f9c2e8d0b5f6a7c8d9e0f1a2b3c4d5e6f7a8b',
};
const PULL_REQUEST = {
  ...ENV,
  BUILD_NUMBER: '813',
  BUILD_URL: 'https://ci.example.com/job/shop/job/api/813/',
  GIT_URL: 'git@git.example.com:acme/shop.git',
  BRANCH_NAME: 'PR-7',
  CHANGE_BRANCH: 'Steuersätze',
  CHANGE_ID: '7',
  CHANGE_AUTHOR: 'ada',
};

let state: FakeState;
let told: Told[];
/** All runs in one process: starting Java costs more than they do. */
beforeAll(async () => {
  const fake = createFakeHttpDeps();
  state = fake.state;
  const app = await buildHttp(fake.deps);
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const secret = JENKINS_SECRETS[0];
  told = await runPipelines([
    { env: { ...ENV, FAULTLINE_URL: `${url}/` }, result: 'FAILURE', secret },
    {
      env: PULL_REQUEST,
      result: 'UNSTABLE',
      secret,
      arguments: { url, credentialsId: 'other', repository: 'acme/other' },
    },
    {
      env: { ...ENV, BUILD_NUMBER: '814', BUILD_URL: 'https://ci.example.com/job/shop/job/api/814/' },
      result: 'FAILURE',
      secret,
      arguments: { url, sign: false },
    },
    { env: { ...ENV, FAULTLINE_URL: url }, result: 'FAILURE', secret: 'not-the-secret' },
    { env: ENV, result: 'FAILURE', secret },
    { env: { ...ENV, FAULTLINE_URL: 'http://127.0.0.1:9' }, result: 'FAILURE', secret },
  ]);
  // Accepted at once, recorded a moment later.
  await vi.waitFor(() => expect(state.builds.length).toBe(3), { timeout: 5_000 });
  await app.close();
});

test('a report sends hostile branches and authors unchanged, and shows the secret nowhere', async () => {
  const receiver = await startUploadReceiver();
  const findings = await attackJenkinsStep(KNOWN_HOSTILE, receiver, JENKINS_SECRETS[0]);
  await receiver.close();

  expect(findings).toEqual([]);
});

test('a signed event is accepted and becomes a build', () => {
  expect(told[0]).toMatchObject({
    failed: null,
    echoed: ['Faultline was told: FAILURE'],
    credentials: ['faultline-webhook-secret'],
  });
  expect(Object.keys(told[0]?.requests[0]?.headers ?? {})).toEqual([
    'X-Faultline-Id',
    'X-Faultline-Timestamp',
    'X-Faultline-Signature',
  ]);
  expect(state.builds.find(({ number }) => number === '812')).toMatchObject({
    provider: 'jenkins',
    repository: 'acme/shop',
    pipeline: 'shop/api',
    url: ENV.BUILD_URL,
    branch: 'main',
    commit: ENV.GIT_COMMIT,
    status: 'failed',
    pullRequest: null,
    startedAt: '2026-03-01T12:00:00.000Z',
  });
});

test('the event of a pull request has its number, author and branch, in any characters', () => {
  expect(told[1]).toMatchObject({ failed: null, credentials: ['other'] });
  expect(state.builds.find(({ number }) => number === '813')).toMatchObject({
    repository: 'acme/other',
    branch: 'Steuersätze',
    author: 'ada',
    pullRequest: 7,
    status: 'failed',
  });
});

test('in the sandbox the secret itself is sent, masked in the log', () => {
  expect(told[2]).toMatchObject({ failed: null, requests: [{ headers: { 'X-Faultline-Token': '****' } }] });
  expect(state.builds.some(({ number }) => number === '814')).toBe(true);
});

test('a failed upload is reported, and the build continues', () => {
  expect(told[3]?.failed).toBe(
    'Faultline was not told of this build: Fail: Status code 401 is not in the accepted range: 202',
  );
  expect(told[4]?.failed).toContain('set FAULTLINE_URL, or pass url:');
  expect(told[5]?.failed).toContain('Connection refused');
  expect(state.builds.length).toBe(3);
});

test('the secret appears in no output', () => {
  expect(JSON.stringify(told)).not.toContain(JENKINS_SECRETS[0]);
});
