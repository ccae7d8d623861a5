import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { silentLogger } from '../../../src/ports/telemetry.ts';
import { createGithubBuildSource } from '../../../src/providers/github/build-source.ts';
import { createGithubJob, type GithubApi, startGithubApi } from '../../support/github-api.ts';
import { makeZip } from '../../support/make-zip.ts';
import { sampleBuild } from '../../support/sample-build.ts';

const ARCHIVE = '/runs/289782451/attempts/1/logs';

let github: GithubApi;
beforeEach(async () => {
  github = await startGithubApi();
});
afterEach(() => github.close());

async function fetchGreen(maxBytes = 1024 * 1024) {
  const options = {
    baseUrl: github.url,
    token: 'ghs_test-token',
    timeoutMs: 10_000,
    maxLogBytes: 4 * 1024 * 1024,
  };
  const source = createGithubBuildSource({ ...options, logger: silentLogger, retryUnitMs: 5 });
  const logs = await source.fetchGreen(
    sampleBuild({ status: 'passed' }),
    new AbortController().signal,
    maxBytes,
  );
  return logs.map(({ name, text }) => [name, text]);
}

function createPassedJob(id: number, name: string) {
  return createGithubJob({ id, name, conclusion: 'success' });
}

describe('the logs of a passed run', () => {
  test('are those of its passed jobs, in one download, named like the logs of failed jobs', async () => {
    github.state.jobs = [
      createPassedJob(1, 'test (20)'),
      createPassedJob(2, 'build / linux'),
      createGithubJob({ id: 3, name: 'flaky', conclusion: 'failure' }),
    ];
    const members = [
      { name: '0_test (20).txt', content: 'ok 1\n' },
      { name: '1_build  linux.txt', content: 'built\n' },
      { name: '2_flaky.txt', content: 'not ok\n' },
      { name: 'test (20)/1_Set up job.txt', content: 'again\n' },
    ];
    github.state.stored.set(ARCHIVE, makeZip(members));

    expect(await fetchGreen()).toEqual([
      ['test (20).log', 'ok 1\n'],
      ['build / linux.log', 'built\n'],
    ]);
    expect(github.api.requests).toHaveLength(2);
  });

  test('exclude jobs if a file of the archive could belong to several', async () => {
    github.state.jobs = [createPassedJob(1, 'a:b'), createPassedJob(2, 'ab'), createPassedJob(3, 'c')];
    const members = [
      { name: '0_ab.txt', content: 'one\n' },
      { name: '1_ab.txt', content: 'other\n' },
      { name: '2_c.txt', content: 'c\n' },
    ];
    github.state.stored.set(ARCHIVE, makeZip(members));

    expect(await fetchGreen()).toEqual([['c.log', 'c\n']]);
  });

  test('are fetched one by one if the archive is too large, up to the size limit', async () => {
    github.state.jobs = [createPassedJob(1, 'long'), createPassedJob(2, 'short')];
    const long = Array.from({ length: 3_000 }, (_, i) => `line ${i * 7919} of a long log`).join('\n');
    github.state.stored.set(ARCHIVE, makeZip([{ name: '0_long.txt', content: long }]));
    github.state.stored.set('/jobs/1/logs', long);
    github.state.stored.set('/jobs/2/logs', 'short\n');

    expect(await fetchGreen(5_000)).toEqual([['short.log', 'short\n']]);
  });

  test('are waited for if the run has only just ended', async () => {
    github.state.jobs = [
      createGithubJob({
        id: 1,
        name: 'test',
        conclusion: 'success',
        completed_at: new Date(Date.now() - 5_000).toISOString(),
      }),
    ];

    await expect(fetchGreen()).rejects.toMatchObject({ code: 'not-found', retryable: true });
  });

  test('are absent if no job passed', async () => {
    github.state.jobs = [createGithubJob({ id: 1, name: 'deploy', conclusion: 'skipped' })];

    expect(await fetchGreen()).toEqual([]);
  });
});
