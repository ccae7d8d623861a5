import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { buildHttp } from '../../src/api/server.ts';
import { type FakeState, fakeHttpDeps } from '../support/fake-stores.ts';
import { TOKENS } from '../support/http-deps.ts';
import { blocksOf, scriptBelow } from './read-docs.ts';

const REPORT =
  '<testsuite name="cart"><testcase name="totals"><failure message="expected 10.20, got 10.21">at cart.test.ts:4</failure></testcase></testsuite>';
const [upload = '', forwarder = ''] = blocksOf('start/gitlab.md', 'sh');
const [gitlab = ''] = blocksOf('start/gitlab.md', 'yaml');

let app: FastifyInstance;
let state: FakeState;
let folder: string;
let url: string;
beforeEach(async () => {
  const fake = fakeHttpDeps();
  state = fake.state;
  app = await buildHttp(fake.deps);
  url = await app.listen({ host: '127.0.0.1', port: 0 });
  folder = await mkdtemp(join(tmpdir(), 'faultline-recipe-'));
});
afterEach(async () => {
  await app.close();
  await rm(folder, { recursive: true, force: true });
});

async function run(
  script: string,
  { env = {}, files = {}, input = '' }: { env?: object; files?: Record<string, string>; input?: string } = {},
) {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  const all = { PATH: `${folder}:${process.env.PATH}`, FAULTLINE_URL: url, FAULTLINE_TOKEN: TOKENS.ingest, ...env };
  return new Promise<{ code: unknown; out: string; errors: string }>((resolve) => {
    const child = execFile('sh', ['-c', script], { cwd: folder, env: all }, (error, out, errors) =>
      resolve({ code: error === null ? 0 : error.code, out, errors }),
    );
    child.stdin?.end(input);
  });
}

test('anything with curl', async () => {
  const { code, out } = await run(upload, { files: { 'build.log': 'FAIL\n', 'junit.xml': REPORT } });

  expect(code).toBe(0);
  expect(JSON.parse(out)).toEqual(JSON.parse(blocksOf('start/gitlab.md', '')[0] ?? ''));
  expect(state.builds[0]).toMatchObject({ provider: 'upload', repository: 'shop/api', pipeline: 'nightly', number: '812' });
});

describe('GitLab CI', () => {
  const job = {
    CI_JOB_STATUS: 'failed',
    CI_PROJECT_PATH: 'shop/api',
    CI_PROJECT_NAME: 'api',
    CI_JOB_NAME: 'test',
    CI_JOB_ID: '4711',
    CI_COMMIT_REF_NAME: 'main',
    CI_COMMIT_SHA: 'a'.repeat(40),
    GITLAB_USER_LOGIN: 'ada',
    CI_JOB_URL: 'https://gitlab.example.com/shop/api/-/jobs/4711',
  };

  test('script ends as the tests ended, and keeps what they said', async () => {
    const npm = '#!/bin/sh\necho "FAIL cart" >&2\nexit 3\n';
    const script = `chmod +x npm\n${scriptBelow(gitlab, 'script')}`;

    expect(await run(script, { files: { npm } })).toMatchObject({ code: 3, out: expect.stringContaining('FAIL cart') });
    expect((await run(`${script}`, { files: { npm: '#!/bin/sh\necho fine\n' } })).code).toBe(0);
  });

  test('after_script uploads the log and the reports of a job that failed', async () => {
    const files = { 'test.log': 'FAIL cart\n', 'reports/junit a.xml': REPORT };
    const { code, errors } = await run(scriptBelow(gitlab, 'after_script'), { env: job, files });

    expect({ code, errors }).toEqual({ code: 0, errors: '' });
    expect(state.builds).toMatchObject([
      {
        repository: 'shop/api',
        pipeline: 'api / test',
        number: '4711',
        job: 'test',
        branch: 'main',
        author: 'ada',
        pullRequest: null,
        status: 'failed',
      },
    ]);
    expect([...state.archive.keys()]).toEqual(['bld_1/test.log', 'bld_1/junit a.xml']);
    expect(state.archive.get('bld_1/test.log')).toBe('FAIL cart\n');
    expect(state.rung).toEqual(['job_1']);
  });

  test('of a merge request with its number; no name of a branch breaks out', async () => {
    const branch = 'a"b\\c$(touch x)`touch y`';
    const env = { ...job, CI_MERGE_REQUEST_IID: '7', CI_MERGE_REQUEST_SOURCE_BRANCH_NAME: branch };
    await run(scriptBelow(gitlab, 'after_script'), { env, files: { 'test.log': 'FAIL\n' } });

    expect(state.builds).toMatchObject([{ branch, pullRequest: 7 }]);
  });

  test('sends nothing of a job that passed', async () => {
    const { code } = await run(scriptBelow(gitlab, 'after_script'), { env: { ...job, CI_JOB_STATUS: 'success' } });

    expect(code).toBe(0);
    expect(state.builds).toEqual([]);
  });
});

describe('CDEvents', () => {
  function event(type: string, content: object, more: object = {}) {
    const context = {
      version: '0.4.1',
      id: '271069a8-fc18',
      source: '/tekton/shop',
      type: `dev.cdevents.${type}`,
      timestamp: '2026-10-12T14:01:00.315384Z',
    };
    return { context, subject: { id: 'run-123', source: '/tekton/shop', type: 'pipelineRun', content }, ...more };
  }
  const failed = {
    pipelineName: 'api',
    outcome: 'failure',
    uri: 'https://ci.example.com/run-123',
    errors: 'Something went wrong\n"quoted"',
  };

  test('a pipeline that failed becomes a build with what the event says', async () => {
    const custom = { customDataContentType: 'application/json', customData: { repository: 'shop/api', branch: 'main' } };
    const { code, errors } = await run(forwarder, { input: JSON.stringify(event('pipelinerun.finished.0.2.0', failed, custom)) });

    expect({ code, errors }).toEqual({ code: 0, errors: '' });
    expect(state.builds).toMatchObject([
      {
        repository: 'shop/api',
        pipeline: 'api',
        number: '271069a8-fc18',
        branch: 'main',
        url: failed.uri,
        status: 'failed',
        finishedAt: '2026-10-12T14:01:00.315Z',
      },
    ]);
    expect(state.archive.get('bld_1/cdevent.log')).toBe('api ended: failure\nSomething went wrong\n"quoted"\n');
  });

  test('a task that failed, inside of a CloudEvent', async () => {
    const data = event('taskrun.finished.0.3.0-draft', { taskName: 'lint', outcome: 'error', url: 'https://ci.example.com/t' });
    await run(forwarder, { input: JSON.stringify({ specversion: '1.0', type: data.context.type, id: '1', source: '/x', data }) });

    expect(state.builds).toMatchObject([{ repository: '/tekton/shop', pipeline: 'lint', url: 'https://ci.example.com/t' }]);
  });

  test.each([
    ['success', event('pipelinerun.finished.0.2.0', { ...failed, outcome: 'success' })],
    ['a start', event('pipelinerun.started.0.2.0', { pipelineName: 'api' })],
    ['something else', event('artifact.published.0.2.0', {})],
  ])('%s is no news', async (_, given) => {
    expect(await run(forwarder, { input: JSON.stringify(given) })).toEqual({ code: 0, out: '', errors: '' });
    expect(state.builds).toEqual([]);
  });

  test('what the server refuses is an error of the forwarder', async () => {
    const { code, errors } = await run(forwarder, {
      input: JSON.stringify(event('pipelinerun.finished.0.2.0', failed)),
      env: { FAULTLINE_TOKEN: 'wrong' },
    });

    expect(code).not.toBe(0);
    expect(errors).toContain('401');
    expect(errors).not.toContain('wrong');
  });
});
