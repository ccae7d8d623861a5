import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createEmbeddedPreset, loadConfig } from '../../../src/config/load.ts';
import { parseReport } from '../../../src/log/reports/report.ts';
import { createGitlabBuildSource } from '../../../src/providers/gitlab/build-source.ts';
import { createGitlabStatusClient } from '../../../src/providers/gitlab/notices.ts';
import { gitlabWebhook, readGitlabEvent } from '../../../src/providers/gitlab/webhook.ts';
import { commitNotice } from '../../channels/sample-notice.ts';
import { type LoopbackServer, sendJson, startLoopback } from '../../support/loopback-server.ts';
import { sampleBuild } from '../../support/sample-build.ts';

const readAddress = (given: string) =>
  loadConfig(createEmbeddedPreset('/data', '/knowledge'), { FAULTLINE_GITLAB_URL: given }, () => '').providers
    .gitlab.baseUrl;

it.each([
  ['https://gitlab.example.com', 'https://gitlab.example.com/api/v4'],
  ['https://example.com/gitlab/', 'https://example.com/gitlab/api/v4'],
  ['https://gitlab.com/api/v4', 'https://gitlab.com/api/v4'],
])('%s is requested at %s', (given, address) => expect(readAddress(given)).toBe(address));

describe('a signed delivery', () => {
  const NOW = Date.parse('2026-03-01T12:00:00Z');
  const body = Buffer.from(JSON.stringify({ object_kind: 'merge_request' }));
  const key = Buffer.from('thirty-two-random-bytes-0123456789');
  const secret = `whsec_${key.toString('base64')}`;
  const receive = (change: Record<string, string> = {}, at = NOW) => {
    const timestamp = String(NOW / 1000);
    const signature = createHmac('sha256', key).update(`msg-1.${timestamp}.`).update(body).digest('base64');
    const signed = {
      'webhook-id': 'msg-1',
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1,${signature}`,
    };
    const headers: Record<string, string> = { 'x-gitlab-event': 'Merge Request Hook', ...signed, ...change };
    return gitlabWebhook(['another-secret', secret]).receive(
      { header: (name) => headers[name], query: {}, body },
      at,
    );
  };

  it('is accepted with a signature of Standard Webhooks, and refused with a wrong one', () => {
    expect(receive()).toMatchObject({ deliveryId: 'msg-1', event: 'Merge Request Hook' });
    expect(receive({ 'webhook-signature': `v1,b2xk ${createSignature(key, body, NOW)}` })).toMatchObject({
      deliveryId: 'msg-1',
    });
    expect(() => receive({ 'webhook-id': 'msg-2' })).toThrow('does not match');
    expect(() => receive({}, NOW + 301_000)).toThrow('more than 5 minutes');
    expect(() => receive({ 'webhook-timestamp': 'soon' })).toThrow('webhook-timestamp');
  });
});

function createSignature(key: Buffer, body: Buffer, now: number): string {
  return `v1,${createHmac('sha256', key)
    .update(`msg-1.${now / 1000}.`)
    .update(body)
    .digest('base64')}`;
}

describe('an event of GitLab', () => {
  const pipeline = {
    id: 41,
    sha: 'a41f9c2e8d0b5f6a7c8d9e0f1a2b3c4d5e6f7a8b',
    status: 'failed',
    ref: 'refs/merge-requests/7/head',
  };
  const project = {
    path_with_namespace: 'group/sub/api',
    default_branch: 'main',
    web_url: 'https://gitlab.example.com/group/sub/api',
  };

  it('names its merge request, in nested groups', () => {
    const reading = readGitlabEvent('Pipeline Hook', {
      object_kind: 'pipeline',
      object_attributes: pipeline,
      project,
    });
    const url = 'https://gitlab.example.com/group/sub/api/-/pipelines/41';
    expect(reading).toMatchObject({
      build: { repository: 'group/sub/api', number: '41', pullRequest: 7, branch: null, url },
    });
  });

  it('may concern a job that is allowed to fail, an older server without a project, or a canceled pipeline', () => {
    const job = {
      object_kind: 'build',
      sha: pipeline.sha,
      build_id: 2,
      build_name: 'test',
      build_status: 'failed',
      pipeline_id: 41,
    };
    expect(readGitlabEvent('Job Hook', { ...job, project, build_allow_failure: true })).toHaveProperty(
      'ignored',
    );
    const repository = { homepage: 'https://gitlab.example.com/shop/api' };
    expect(readGitlabEvent('Job Hook', { ...job, repository })).toMatchObject({
      build: { repository: 'shop/api', number: 'run 41' },
    });
    const canceled = {
      object_kind: 'pipeline',
      object_attributes: { ...pipeline, status: 'canceled' },
      project,
    };
    expect(readGitlabEvent('Pipeline Hook', canceled)).toHaveProperty('ignored');
  });

  it('contains how long a pipeline and a job waited', () => {
    const waited = {
      object_kind: 'pipeline',
      object_attributes: { ...pipeline, status: 'failed', queued_duration: 12 },
      project,
    };
    expect(readGitlabEvent('Pipeline Hook', waited)).toMatchObject({ build: { queuedSeconds: 12 } });
    const job = {
      object_kind: 'build',
      sha: pipeline.sha,
      build_id: 2,
      build_name: 'test',
      build_status: 'failed',
      pipeline_id: 41,
    };
    expect(
      readGitlabEvent('Job Hook', { ...job, project, build_queued_duration: 1095.588715 }),
    ).toMatchObject({
      build: { queuedSeconds: 1095.588715 },
    });
  });

  it('may be a deployment, which is not a build', () => {
    // From https://docs.gitlab.com/user/project/integrations/webhook_events/#deployment-events
    const deployed = {
      object_kind: 'deployment',
      status: 'success',
      status_changed_at: '2021-04-28 21:50:00 +0200',
      environment: 'staging',
      deployable_url: 'https://gitlab.example/root/shop/-/jobs/796',
      short_sha: '279484c0',
      project,
    };
    expect(readGitlabEvent('Deployment Hook', deployed)).toEqual({
      ignored: expect.stringContaining('the deployment is kept'),
      deployment: {
        repository: project.path_with_namespace,
        environment: 'staging',
        version: '279484c0',
        url: deployed.deployable_url,
        at: '2021-04-28T19:50:00.000Z',
      },
    });
    expect(readGitlabEvent('Deployment Hook', { ...deployed, status: 'running' })).toEqual({
      ignored: expect.stringContaining('running'),
    });
  });
});

describe('a GitLab server', () => {
  let server: LoopbackServer;
  let routes: Record<string, unknown>;
  beforeEach(async () => {
    routes = {};
    server = await startLoopback((request, response) => {
      const { pathname } = new URL(request.url ?? '', 'http://x');
      const found = routes[decodeURIComponent(pathname).replace('/api/v4/projects/shop/api/', '')];
      if (typeof found === 'string') response.writeHead(200, { 'content-type': 'text/plain' }).end(found);
      else if (typeof found === 'number')
        sendJson(response, found, { message: 'Cannot transition status via :drop from :failed' });
      else sendJson(response, found === undefined ? 404 : 200, found ?? { message: '404 Not Found' });
    });
  });
  afterEach(() => server.close());
  const options = () => ({ baseUrl: `${server.url}/api/v4`, token: 'glpat-x', retryUnitMs: 1 });
  const fetch = () =>
    createGitlabBuildSource({ ...options(), timeoutMs: 10_000, maxLogBytes: 1_000_000 }).fetch(
      sampleBuild({ provider: 'gitlab', repository: 'shop/api', externalId: '41' }),
      AbortSignal.timeout(20_000),
    );
  const job = (change: object = {}) => ({
    id: 2,
    name: 'test',
    status: 'failed',
    finished_at: '2026-03-01T11:00:00Z',
    ...change,
  });

  it('returns a trace whose lines are marked with their streams', async () => {
    routes['pipelines/41/jobs'] = [job()];
    routes['jobs/2/trace'] = [
      '2026-03-01T10:59:58.000001Z 00O section_start:1772362798:step_script\r\u001b[0KExecuting',
      '2026-03-01T10:59:59.000001Z 00O FAIL c',
      '2026-03-01T10:59:59.000002Z 00O+art adds up',
      '2026-03-01T11:00:00.000001Z 01E expected 3',
      '2026-03-01T11:00:00.000002Z 00O ',
    ].join('\n');
    const [log] = (await fetch()).sources;
    expect(log?.text.split('\n')).toEqual([
      expect.stringMatching(/^2026-03-01T10:59:58\.000001Z section_start:1772362798:step_script/),
      ...(log?.text.includes('\nExecuting') === true ? [expect.any(String)] : []),
      '2026-03-01T10:59:59.000001Z FAIL cart adds up',
      '2026-03-01T11:00:00.000001Z expected 3',
      '2026-03-01T11:00:00.000002Z ',
    ]);
  });

  it('returns its test report as the original JUnit report', async () => {
    routes['pipelines/41/jobs'] = [job()];
    routes['jobs/2/trace'] = 'FAIL\n';
    const cases = [
      {
        status: 'failed',
        name: 'adds <up>',
        classname: 'Cart',
        execution_time: 0.2,
        system_output: 'expected 3 & got 4\u0000',
        file: 'cart.ts',
      },
      { status: 'success', name: 'is empty', classname: 'Cart', execution_time: 0.1 },
      { status: 'skipped', name: 'is slow', classname: 'Cart' },
    ];
    routes['pipelines/41/test_report'] = { test_suites: [{ name: 'unit', test_cases: cases }] };
    const report = (await fetch()).sources.find(({ kind }) => kind === 'report');
    const { testResults } = parseReport('test-report.xml', report?.text ?? '');
    expect(testResults.map(({ name, status, durationMs }) => [name, status, durationMs])).toEqual([
      ['adds <up>', 'failed', 200],
      ['is slow', 'skipped', 0],
      ['is empty', 'passed', 100],
    ]);
    expect(report?.text).toContain('expected 3 &amp; got 4');
  });

  it('lists a retried job once, and excludes one that is allowed to fail', async () => {
    routes['pipelines/41/jobs'] = [
      job({ id: 9 }),
      job({ id: 2 }),
      job({ id: 3, name: 'lint', allow_failure: true }),
    ];
    routes['jobs/9/trace'] = 'the retry\n';
    expect((await fetch()).sources.map(({ name, text }) => [name, text])).toEqual([
      ['test.log', 'the retry\n'],
    ]);
  });

  it('that refuses an unchanged status causes no error, unlike another refusal', async () => {
    const commit = 'a41f9c2e8d0b5f6a7c8d9e0f1a2b3c4d5e6f7a8b';
    const show = () =>
      createGitlabStatusClient(options()).send(
        { state: 'failure', description: 'CODE_ERROR', targetUrl: null },
        commitNotice(commit),
      );
    routes[`statuses/${commit}`] = 400;
    expect(await show()).toEqual({ reference: commit });
    routes[`statuses/${commit}`] = 403;
    await expect(show()).rejects.toMatchObject({
      code: 'upstream-auth',
      message: expect.stringContaining('the scope api'),
    });
  });
});
