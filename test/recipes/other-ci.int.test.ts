import { execFile, execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { buildHttp } from '../../src/api/server.ts';
import { Experiment } from '../../src/domain/experiment.ts';
import { createFakeHttpDeps, type FakeState } from '../support/fake-stores.ts';
import { TOKENS } from '../support/http-deps.ts';
import { type LoopbackServer, sendJson, startLoopback } from '../support/loopback-server.ts';
import { listBlocks, readScriptBelow } from './read-docs.ts';
import { SYSTEMS } from './systems.ts';

const REPORT =
  '<testsuite name="cart"><testcase name="totals"><failure message="expected 10.20, got 10.21">at cart.test.ts:4</failure></testcase></testsuite>';
const [upload = '', fetched = '', tests = '', teamcity = '', forwarder = ''] = listBlocks(
  'start/any-ci.md',
  'sh',
);
const [woodpecker = '', drone = ''] = listBlocks('start/any-ci.md', 'yaml');
const [gitlab = '', gitlabConfirm = ''] = listBlocks('start/gitlab.md', 'yaml');

const MAIN = resolve(import.meta.dirname, '../../src/cli/main.ts');

let app: FastifyInstance;
let state: FakeState;
let folder: string;
let url: string;
beforeEach(async () => {
  const fake = createFakeHttpDeps();
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
  const all = {
    PATH: `${folder}:${process.env.PATH}`,
    FAULTLINE_URL: url,
    FAULTLINE_TOKEN: TOKENS.ingest,
    ...env,
  };
  return new Promise<{ code: unknown; out: string; errors: string }>((resolve) => {
    const child = execFile('sh', ['-c', script], { cwd: folder, env: all }, (error, out, errors) =>
      resolve({ code: error === null ? 0 : error.code, out, errors }),
    );
    // A script that reads no input may have ended before it is written.
    child.stdin?.on('error', () => undefined).end(input);
  });
}

test('an upload with curl from any CI works', async () => {
  const { code, out } = await run(upload, { files: { 'build.log': 'FAIL\n', 'junit.xml': REPORT } });

  expect(code).toBe(0);
  expect(JSON.parse(out)).toEqual(JSON.parse(listBlocks('start/any-ci.md', '')[0] ?? ''));
  expect(state.builds[0]).toMatchObject({
    provider: 'upload',
    repository: 'shop/api',
    pipeline: 'nightly',
    number: '812',
  });
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
    CI_JOB_STARTED_AT: '2026-03-01T12:00:00Z',
  };

  test('script ends with the status of the tests, and keeps their output', async () => {
    const npm = '#!/bin/sh\necho "FAIL cart" >&2\nexit 3\n';
    const script = `chmod +x npm\n${readScriptBelow(gitlab, 'script')}`;

    expect(await run(script, { files: { npm } })).toMatchObject({
      code: 3,
      out: expect.stringContaining('FAIL cart'),
    });
    expect((await run(`${script}`, { files: { npm: '#!/bin/sh\necho fine\n' } })).code).toBe(0);
  });

  test('after_script uploads the log and the reports of a failed job', async () => {
    const files = { 'test.log': 'FAIL cart\n', 'reports/junit a.xml': REPORT };
    const { code, errors } = await run(readScriptBelow(gitlab, 'after_script'), { env: job, files });

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
    expect(state.enqueued).toEqual(['bld_1']);
  });

  test('uploads a merge request with its number; no branch name is executed', async () => {
    const branch = 'a"b\\c$(touch x)`touch y`';
    const env = { ...job, CI_MERGE_REQUEST_IID: '7', CI_MERGE_REQUEST_SOURCE_BRANCH_NAME: branch };
    await run(readScriptBelow(gitlab, 'after_script'), { env, files: { 'test.log': 'FAIL\n' } });

    expect(state.builds).toMatchObject([{ branch, pullRequest: 7 }]);
  });

  /** Two commits, of which the second breaks the sum; what the recipe reports of it. `npm` runs before the tests do. */
  async function confirmExperiment(
    npm: string,
  ): Promise<{ readonly experiment: Experiment; readonly out: string }> {
    const git = (...args: readonly string[]) =>
      execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=nobody@example.test', ...args], {
        cwd: folder,
        encoding: 'utf8',
      }).trim();
    const sum = 'exports.sum = (a, b) => a + b;\n';
    const check =
      "require('node:test').test('adds up', () => require('node:assert').equal(require('./sum.js').sum(2, 3), 5));\n";
    const commands = {
      npm: `#!/bin/sh\n${npm}\nexec ${process.execPath} --test\n`,
      faultline: `#!/bin/sh\nexec ${process.execPath} ${MAIN} "$@"\n`,
    };
    await run('chmod +x npm faultline; git init -q', {
      files: { ...commands, 'sum.js': sum, 'sum.test.js': check },
    });
    git('add', '--all');
    git('commit', '-q', '-m', 'works');
    const base = git('rev-parse', 'HEAD');
    await run('echo "exports.sum = (a, b) => a - b;" > sum.js');
    git('commit', '-q', '-am', 'breaks');

    const received: [string, string][] = [];
    const server = await startLoopback((request, response) => {
      const chunks: Buffer[] = [];
      request
        .on('data', (chunk: Buffer) => chunks.push(chunk))
        .on('end', () => {
          received.push([request.url ?? '', Buffer.concat(chunks).toString()]);
          sendJson(response, 200, { buildId: 'bld_7', analyses: [] });
        });
    });
    const files = {
      'test.log': '✖ adds up (1.2ms)\n',
      'uploaded.json': '{"buildId": "bld_7", "jobId": "job_1"}',
    };
    const env = {
      ...job,
      CI_COMMIT_BEFORE_SHA: base,
      MINUTES: /MINUTES: "(\d+)"/.exec(gitlabConfirm)?.[1],
      FAULTLINE_URL: server.url,
    };
    const { out, errors } = await run(readScriptBelow(gitlabConfirm, 'after_script'), { env, files });
    await server.close();
    expect(git('worktree', 'list').split('\n')).toHaveLength(1);
    const [[path, text] = ['', '']] = received;
    expect(path, errors).toBe('/api/builds/bld_7/experiments');
    return { experiment: Experiment.parse(JSON.parse(text)), out };
  }

  test('after_script reruns the failing command, searches the commit, tries changes, and reports to the uploaded build', async () => {
    const { experiment, out } = await confirmExperiment('');

    expect(out).toContain('introduced by this change');
    expect(experiment).toMatchObject({
      verdict: 'this-change',
      bisection: { verdict: 'found', candidates: [{ subject: 'breaks' }] },
      fixes: { verdict: 'not-fixed', attempts: [] },
    });
  });

  test('a job that is canceled reports the runs made by then', async () => {
    const { experiment } = await confirmExperiment(
      `echo >> ${folder}/runs; [ "$(wc -l < ${folder}/runs)" -lt 3 ] || kill -TERM $PPID`,
    );

    expect(experiment.notes).toContain('Interrupted before all runs were made.');
    expect(experiment.arms.reduce((runs, { failed, passed }) => runs + failed + passed, 0)).toBe(2);
  });

  test('uploads a passed job as a passed build, and nothing of a canceled one', async () => {
    const files = { 'test.log': 'ok\n', 'reports/junit a.xml': REPORT };
    const after = readScriptBelow(gitlab, 'after_script');
    expect((await run(after, { env: { ...job, CI_JOB_STATUS: 'canceled' }, files })).code).toBe(0);
    expect(state.builds).toEqual([]);

    expect((await run(after, { env: { ...job, CI_JOB_STATUS: 'success' }, files })).code).toBe(0);
    expect(state.builds).toEqual([expect.objectContaining({ status: 'passed', number: '4711' })]);
  });
});

describe('the script for any CI', () => {
  const files = {
    'ci/test': tests,
    'test.log': 'FAIL cart\n',
    'reports/junit a.xml': REPORT,
  };
  const commit = 'a'.repeat(40);

  test('ends a job that writes its log with the status of the tests', async () => {
    const npm = '#!/bin/sh\necho "FAIL cart" >&2\nexit 3\n';
    const { code, out } = await run('chmod +x npm; sh ci/test; code=$?; cat test.log; exit $code', {
      files: { ...files, npm },
    });
    expect({ code, out }).toEqual({ code: 3, out: 'FAIL cart\nFAIL cart\n' });
  });

  test.each([
    [
      'Woodpecker',
      woodpecker,
      {
        CI_REPO: 'shop/api',
        CI_WORKFLOW_NAME: 'ci',
        CI_PIPELINE_NUMBER: '812',
        CI_COMMIT_SHA: commit,
        CI_COMMIT_BRANCH: 'main',
        CI_COMMIT_SOURCE_BRANCH: 'a"b$(touch x)',
        CI_COMMIT_PULL_REQUEST: '7',
        CI_COMMIT_AUTHOR: 'ada',
        CI_PIPELINE_URL: 'https://ci.example.com/repos/1/pipeline/812',
        CI_PIPELINE_STARTED: '1772366400',
      },
    ],
    [
      'Drone',
      drone,
      {
        DRONE_REPO: 'shop/api',
        DRONE_STAGE_NAME: 'ci',
        DRONE_BUILD_NUMBER: '812',
        DRONE_COMMIT_SHA: commit,
        DRONE_BRANCH: 'main',
        DRONE_SOURCE_BRANCH: 'a"b$(touch x)',
        DRONE_PULL_REQUEST: '7',
        DRONE_COMMIT_AUTHOR: 'ada',
        DRONE_BUILD_LINK: 'https://drone.example.com/shop/api/812',
        DRONE_BUILD_STARTED: '1772366400',
      },
    ],
  ])('sends the log and the reports of a failed build from %s', async (_, yaml, env) => {
    const { code, errors } = await run(readScriptBelow(yaml, 'commands'), { env, files });

    expect({ code, errors }).toEqual({ code: 0, errors: '' });
    const build = {
      repository: 'shop/api',
      pipeline: 'ci',
      number: '812',
      branch: 'a"b$(touch x)',
      commit,
      author: 'ada',
      pullRequest: 7,
    };
    expect(state.builds).toMatchObject([
      {
        ...build,
        status: 'failed',
        url: expect.stringMatching(/^https:.*812$/),
        startedAt: '2026-03-01T12:00:00.000Z',
      },
    ]);
    expect([...state.archive.keys()]).toEqual(['bld_1/test.log', 'bld_1/junit a.xml']);
  });

  test('works in Woodpecker without a pull request, and without reports', async () => {
    const env = {
      CI_REPO: 'shop/api',
      CI_WORKFLOW_NAME: 'ci',
      CI_PIPELINE_NUMBER: '812',
      CI_COMMIT_SHA: commit,
      CI_COMMIT_BRANCH: 'main',
    };
    const more = {
      CI_COMMIT_PULL_REQUEST: '',
      CI_COMMIT_AUTHOR: 'ada',
      CI_PIPELINE_URL: 'https://ci.example.com/1',
    };
    const { 'reports/junit a.xml': _, ...bare } = files;
    expect(
      await run(readScriptBelow(woodpecker, 'commands'), { env: { ...env, ...more }, files: bare }),
    ).toMatchObject({
      code: 0,
      errors: '',
    });
    expect(state.builds).toMatchObject([{ branch: 'main', pullRequest: null }]);
  });

  test('gets what it needs from Buildbot', async () => {
    const values = { branch: 'main', tag: '', title: '', author: 'ada' };
    const [build] =
      (await SYSTEMS.find(({ name }) => name === 'Buildbot')?.prepare([values], {
        url,
        token: TOKENS.ingest,
      })) ?? [];
    const [{ argv, env } = { argv: [], env: {} }] = build?.commands ?? [];
    const { code, errors } = await run(argv.map((argument) => `'${argument}'`).join(' '), { env, files });

    expect({ code, errors }).toEqual({ code: 0, errors: '' });
    expect(state.builds).toMatchObject([
      {
        repository: 'shop/api',
        pipeline: 'ci',
        number: '812',
        branch: 'main',
        commit: expect.any(String),
        url: 'https://ci.example.com/#/builders/1/builds/812',
      },
    ]);
  });

  test('uploads a build whose checkout failed, and states that it has no log', async () => {
    const env = { REPOSITORY: 'shop/api', PIPELINE: 'ci', NUMBER: '1' };
    expect(await run(fetched, { env })).toMatchObject({ code: 0, errors: '' });

    expect([...state.archive]).toEqual([
      ['bld_1/test.log', 'There is no test.log: the job failed before it wrote one.\n'],
    ]);
  });

  test('names a service that does not respond, and exits with an error', async () => {
    const env = { REPOSITORY: 'shop/api', PIPELINE: 'ci', NUMBER: '1', FAULTLINE_URL: 'http://127.0.0.1:9' };
    const once = fetched.replace('--retry 3', '');
    expect(await run(once, { env, files })).toMatchObject({
      code: 7,
      errors: expect.stringContaining('127.0.0.1'),
    });
  });

  test('prints the reason of a refused upload, and exits with an error', async () => {
    const env = { REPOSITORY: 'shop/api', PIPELINE: 'ci', NUMBER: '1', ATTEMPT: '0' };
    const { code, out, errors } = await run(fetched, { env, files });

    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(errors).toMatch(/^Faultline refused the build \(400\): .*attempt.*must be from 1 to 10000.*\n$/);

    const denied = { ...env, ATTEMPT: '2', FAULTLINE_TOKEN: 'flt_another-token-that-nobody-knows' };
    expect((await run(fetched, { env: denied, files })).errors).toMatch(
      /^Faultline refused the build \(401\): .*token/,
    );

    await run(fetched, { env: { ...env, ATTEMPT: '2' }, files });
    expect(state.builds).toMatchObject([{ attempt: 2, startedAt: null }]);
  });

  test("does not follow a log or report that is a link, which could lead to the token in the step's environment", async () => {
    const link =
      'ln -sf /proc/self/environ test.log; ln -s /proc/self/environ reports/b.xml; echo FAIL > other.log';
    const upload = fetched.replace('test.log', 'test.log other.log');
    const env = { REPOSITORY: 'shop/api', PIPELINE: 'ci', NUMBER: '1' };
    expect(await run(`${link}\n${upload}`, { env, files })).toMatchObject({ code: 0, errors: '' });

    expect([...state.archive.keys()]).toEqual(['bld_1/other.log', 'bld_1/junit a.xml']);
  });

  describe('TeamCity', () => {
    let status: string;
    let server: LoopbackServer;
    beforeEach(async () => {
      status = 'FAILURE';
      server = await startLoopback(({ url: path, headers }, response) => {
        const login = Buffer.from((headers.authorization ?? '').replace('Basic ', ''), 'base64').toString();
        const known = new Map([
          ['/app/rest/builds/id:4711/status', status],
          ['/app/rest/builds/id:4711/number', '812'],
          ['/downloadBuildLog.html?buildId=4711', 'FAIL cart\n'],
        ]);
        const text = login === 'TeamCityBuildId=4711:secret' ? known.get(path ?? '') : undefined;
        response.writeHead(text === undefined ? 404 : 200).end(text);
      });
    });
    afterEach(() => server.close());

    /** As TeamCity fills in parameters: `%%` represents one percent sign. */
    const filled = () => {
      const parameters = new Map([
        ['system.teamcity.auth.userId', 'TeamCityBuildId=4711'],
        ['system.teamcity.auth.password', 'secret'],
        ['teamcity.serverUrl', server.url],
        ['teamcity.build.id', '4711'],
      ]);
      return teamcity.replace(/%([\w.]*)%/g, (whole, name) =>
        name === '' ? '%' : (parameters.get(name) ?? whole),
      );
    };

    test('downloads and sends the log of a failed build', async () => {
      const env = { TEAMCITY_PROJECT_NAME: 'shop', TEAMCITY_BUILDCONF_NAME: 'ci', BUILD_VCS_NUMBER: commit };
      const { code, errors } = await run(filled(), { env, files: {} });

      expect({ code, errors }).toEqual({ code: 0, errors: '' });
      expect(state.builds).toMatchObject([{ repository: 'shop', pipeline: 'ci', number: '812', commit }]);
      expect(state.archive.get('bld_1/build.log')).toBe('FAIL cart\n');
    });

    test('sends nothing of a passed one', async () => {
      status = 'SUCCESS';
      expect(await run(filled(), { files: {} })).toMatchObject({
        code: 0,
        errors: '',
      });
      expect(state.builds).toEqual([]);
    });
  });
});

describe('CDEvents', () => {
  function createEvent(type: string, content: object, more: object = {}) {
    const context = {
      version: '0.4.1',
      id: '271069a8-fc18',
      source: '/tekton/shop',
      type: `dev.cdevents.${type}`,
      timestamp: '2026-10-12T14:01:00.315384Z',
    };
    return {
      context,
      subject: { id: 'run-123', source: '/tekton/shop', type: 'pipelineRun', content },
      ...more,
    };
  }
  const failed = {
    pipelineName: 'api',
    outcome: 'failure',
    uri: 'https://ci.example.com/run-123',
    errors: 'Something went wrong\n"quoted"',
  };

  test('a failed pipeline becomes a build with the facts of the event', async () => {
    const custom = {
      customDataContentType: 'application/json',
      customData: { repository: 'shop/api', branch: 'main' },
    };
    const { code, errors } = await run(forwarder, {
      input: JSON.stringify(createEvent('pipelinerun.finished.0.2.0', failed, custom)),
    });

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
    expect(state.archive.get('bld_1/cdevent.log')).toBe(
      'api ended: failure\nSomething went wrong\n"quoted"\n',
    );
  });

  test('a failed task inside of a CloudEvent becomes a build', async () => {
    const data = createEvent('taskrun.finished.0.3.0-draft', {
      taskName: 'lint',
      outcome: 'error',
      url: 'https://ci.example.com/t',
    });
    await run(forwarder, {
      input: JSON.stringify({ specversion: '1.0', type: data.context.type, id: '1', source: '/x', data }),
    });

    expect(state.builds).toMatchObject([
      { repository: '/tekton/shop', pipeline: 'lint', url: 'https://ci.example.com/t' },
    ]);
  });

  test.each([
    ['success', createEvent('pipelinerun.finished.0.2.0', { ...failed, outcome: 'success' })],
    ['a start', createEvent('pipelinerun.started.0.2.0', { pipelineName: 'api' })],
    ['something else', createEvent('artifact.published.0.2.0', {})],
  ])('%s is ignored', async (_, given) => {
    expect(await run(forwarder, { input: JSON.stringify(given) })).toEqual({ code: 0, out: '', errors: '' });
    expect(state.builds).toEqual([]);
  });

  test('a refusal by the server is an error of the forwarder', async () => {
    const { code, errors } = await run(forwarder, {
      input: JSON.stringify(createEvent('pipelinerun.finished.0.2.0', failed)),
      env: { FAULTLINE_TOKEN: 'wrong' },
    });

    expect(code).not.toBe(0);
    expect(errors).toContain('401');
    expect(errors).not.toContain('wrong');
  });
});
