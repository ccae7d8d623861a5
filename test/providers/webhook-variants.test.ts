import { describe, expect, test } from 'vitest';
import { silentLogger } from '../../src/ports/telemetry.ts';
import { readAzureEvent } from '../../src/providers/azure/webhook.ts';
import { buildkiteWebhook, readBuildkiteEvent } from '../../src/providers/buildkite/webhook.ts';
import { CircleciSettings, createCircleciProvider } from '../../src/providers/circleci/provider.ts';
import { readCircleciEvent } from '../../src/providers/circleci/webhook.ts';
import { computeHmac } from '../../src/providers/webhook.ts';
import { startLoopback } from '../support/loopback-server.ts';
import { sampleBuild } from '../support/sample-build.ts';
import { COMMIT } from './contract.ts';

const PIPELINE = '37c74cb7-d64d-4032-8731-1cb95bfef921';

describe('Buildkite', () => {
  const build = {
    url: 'https://api.buildkite.com/v2/organizations/acme/pipelines/api/builds/1',
    number: 1,
    state: 'passed',
    commit: 'HEAD',
    branch: 'v1',
    tag: 'v1',
    pull_request: null,
  };
  const pipeline = { slug: 'api', repository: 'ssh://git@git.example.com/shop/api.git' };
  const send = (headers: Record<string, string>, nowMs = Date.now()) => {
    const body = Buffer.from(JSON.stringify({ build, pipeline }));
    const all: Record<string, string> = { 'x-buildkite-event': 'build.finished', ...headers };
    return buildkiteWebhook(['a-buildkite-secret']).receive(
      { header: (name) => all[name], query: {}, body },
      nowMs,
    );
  };

  test('authenticates with the token itself, which does not cover the delivery id', () => {
    expect(send({ 'x-buildkite-token': 'a-buildkite-secret' })).toMatchObject({
      deliveryId: null,
      reading: { build: { status: 'passed' } },
    });
    expect(() => send({ 'x-buildkite-token': 'another' })).toThrow(/X-Buildkite-Token does not match/);
  });

  test('is refused with an expired signature', () => {
    const body = JSON.stringify({ build, pipeline });
    const signature = `timestamp=1700000000,signature=${computeHmac('a-buildkite-secret', `1700000000.${body}`)}`;
    expect(send({ 'x-buildkite-signature': signature }, 1_700_000_060_000).event).toBe('build.finished');
    expect(() => send({ 'x-buildkite-signature': signature }, 1_700_086_400_000)).toThrow(
      /more than 5 minutes/,
    );
  });

  test('reports how long a build waited', () => {
    const times = { scheduled_at: '2026-03-01 10:00:00 UTC', started_at: '2026-03-01 10:00:30 UTC' };
    expect(readBuildkiteEvent('build.finished', { build: { ...build, ...times }, pipeline })).toMatchObject({
      build: { queuedSeconds: 30 },
    });
    expect(readBuildkiteEvent('build.finished', { build, pipeline })).toMatchObject({
      build: { queuedSeconds: null },
    });
  });

  test('reports a tag without a known commit', () => {
    const { branch, commit, repository } = { branch: null, commit: null, repository: 'shop/api' };
    expect(readBuildkiteEvent('build.finished', { build, pipeline })).toMatchObject({
      fromFork: false,
      build: { branch, commit, repository },
    });
  });

  test.each([
    ['waits to be unblocked', { build: { ...build, blocked: true }, pipeline }],
    ['was canceled', { build: { ...build, state: 'canceled' }, pipeline }],
    ['names no pipeline', { build: { ...build, url: 'https://api.buildkite.com/v2/builds/1' }, pipeline }],
  ])('is ignored with a reason if a build %s', (_, payload) => {
    expect(readBuildkiteEvent('build.finished', payload)).toMatchObject({ ignored: expect.any(String) });
  });
});

describe('CircleCI', () => {
  const event = {
    type: 'workflow-completed',
    id: 'cbabbb40',
    happened_at: '2022-05-27T16:20:13.954328Z',
    workflow: {
      id: 'c2006ece',
      name: 'build',
      created_at: '2022-05-27T16:20:07.631Z',
      stopped_at: '2022-05-27T16:20:13.812Z',
      status: 'failed',
    },
    pipeline: {
      id: PIPELINE,
      number: 1,
      trigger_parameters: {
        git: { checkout_sha: COMMIT, branch: 'main', checkout_url: 'git@gitlab.com:shop/api.git' },
      },
    },
    project: { name: 'api', slug: 'circleci/DdaVt/6EkDP' },
    organization: { name: 'shop' },
  };

  test('names repository, branch and commit in other fields for GitLab and the GitHub App', () => {
    expect(readCircleciEvent(event)).toMatchObject({
      deliveryId: 'cbabbb40',
      reading: {
        build: {
          repository: 'shop/api',
          branch: 'main',
          commit: COMMIT,
          pipeline: 'build',
          number: '1',
          finishedAt: '2022-05-27T16:20:13.812Z',
        },
      },
    });
  });

  test('without these fields is stored under organization and project, and a passed job is ignored', () => {
    const bare = { ...event, pipeline: { id: PIPELINE, number: 1 } };
    expect(readCircleciEvent(bare).reading).toMatchObject({
      build: { repository: 'shop/api', branch: null, commit: null },
    });
    const job = { name: 'test', number: 4, status: 'success' };
    expect(readCircleciEvent({ ...event, type: 'job-completed', job }).reading).toMatchObject({
      ignored: expect.stringContaining('job'),
    });
  });

  /** Starts an API with one failed job, whose step has its output at the given addresses. */
  const startApi = (outputs: readonly (string | null)[]) =>
    startLoopback(({ url: path = '' }, response) => {
      const job = {
        name: 'test',
        job_number: 4,
        status: 'failed',
        project_slug: 'gh/shop/api',
        stopped_at: '2022-05-27T16:20:13Z',
      };
      const items = path.includes('/pipeline/')
        ? [{ id: 'w1', name: 'build', created_at: '2022-05-27T16:20:07Z' }]
        : [job];
      const steps = [{ name: 'npm\ntest', actions: outputs.map((output) => ({ output_url: output })) }];
      response.end(JSON.stringify(path.includes('/v1.1/') ? { steps } : { items, next_page_token: null }));
    });
  const fetchLogs = async (url: string, maxLogBytes: number) => {
    const provider = createCircleciProvider(CircleciSettings.parse({ baseUrl: url, token: 'secret-token' }));
    const source = await provider.openBuildSource({ logger: silentLogger, timeoutMs: 5_000, maxLogBytes });
    const build = sampleBuild({ provider: 'circleci', externalId: `${PIPELINE}/build`, finishedAt: null });
    return await source.fetch(build, AbortSignal.timeout(5_000));
  };

  test('links to output in a storage, which never sees the token', async () => {
    const storage = await startLoopback((_request, response) =>
      response.end(JSON.stringify([{ message: 'FAIL\n', type: 'out' }])),
    );
    const api = await startApi([`${storage.url}/signed?key=1`, null]);
    const { sources } = await fetchLogs(api.url, 10_000).finally(() =>
      Promise.all([api.close(), storage.close()]),
    );

    expect(sources.map(({ name, text }) => [name, text])).toEqual([['test.log', '====>> npm test\nFAIL\n']]);
    expect(api.requests.every(({ headers }) => headers['circle-token'] === 'secret-token')).toBe(true);
    expect(storage.requests.map(({ headers }) => headers['circle-token'])).toEqual([undefined]);
  });

  test('has its output limited in bytes, and nothing more requested beyond the limit', async () => {
    const storage = await startLoopback((_request, response) =>
      response.end(JSON.stringify([{ message: 'ü'.repeat(6_000), type: 'out' }])),
    );
    const api = await startApi(['1', '2', '3'].map((key) => `${storage.url}/signed?key=${key}`));
    const reading = fetchLogs(api.url, 20_000).finally(() => Promise.all([api.close(), storage.close()]));

    await expect(reading).rejects.toMatchObject({ code: 'too-large' });
    expect(storage.requests).toHaveLength(2);
  });
});

describe('Azure Pipelines', () => {
  const resource = {
    uri: 'vstfs:///Build/Build/2',
    id: 2,
    buildNumber: 'Address_20150407.1',
    status: 'succeeded',
    reason: 'manual',
    url: 'https://dev.azure.com/acme/DefaultCollection/My%20Shop/_apis/build/Builds/2',
    sourceGetVersion: `LG:refs/heads/main:${COMMIT}`,
    finishTime: '2015-04-07T18:06:10.69Z',
    definition: { id: 2, name: 'Address' },
    requests: [{ requestedFor: { displayName: 'Ann' } }],
  };

  test('reports how long a build waited', () => {
    const times = { queueTime: '2015-04-07T18:04:00.5Z', startTime: '2015-04-07T18:04:06.5Z' };
    const event = { id: 'n1', eventType: 'build.complete', resource: { ...resource, ...times } };
    expect(readAzureEvent(event).reading).toMatchObject({ build: { queuedSeconds: 6 } });
  });

  test('is also read in version 1.0 of its resource', () => {
    expect(readAzureEvent({ id: 'n1', eventType: 'build.complete', resource }).reading).toMatchObject({
      build: {
        repository: 'My Shop',
        externalId: 'My Shop/2',
        branch: 'main',
        commit: COMMIT,
        author: 'Ann',
        status: 'passed',
        url: 'https://dev.azure.com/acme/DefaultCollection/My%20Shop/_build/results?buildId=2',
      },
    });
  });

  test.each([
    ['succeeded', 'passed'],
    ['Succeeded', 'passed'],
    ['Failed', 'failed'],
  ])('has a result that is read in any case: %s', (result, status) => {
    const ended = { ...resource, status: 'completed', result };
    expect(readAzureEvent({ id: 'n1', eventType: 'build.complete', resource: ended }).reading).toMatchObject({
      build: { status },
    });
  });

  test('names the GitHub repository that it builds', () => {
    const named = {
      ...resource,
      status: 'completed',
      result: 'partiallySucceeded',
      repository: { name: 'shop/api' },
    };
    expect(readAzureEvent({ id: 'n1', eventType: 'build.complete', resource: named }).reading).toMatchObject({
      build: { repository: 'shop/api', status: 'failed' },
    });
  });
});
