import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createEmbeddedPreset, loadConfig } from '../../../src/config/load.ts';
import { createGiteaBuildSource } from '../../../src/providers/gitea/build-source.ts';
import { createGiteaPastRuns } from '../../../src/providers/gitea/past-runs.ts';
import { readGiteaEvent } from '../../../src/providers/gitea/webhook.ts';
import { splitFilesOfDiff } from '../../../src/providers/patches.ts';
import { type LoopbackServer, sendJson, startLoopback } from '../../support/loopback-server.ts';
import { sampleBuild } from '../../support/sample-build.ts';

const readAddress = (given: string) =>
  loadConfig(createEmbeddedPreset('/data', '/knowledge'), { FAULTLINE_GITEA_URL: given }, () => '').providers
    .gitea.baseUrl;

it.each([
  ['https://git.example.com', 'https://git.example.com/api/v1'],
  ['https://git.example.com/', 'https://git.example.com/api/v1'],
  ['https://git.example.com/api/v1/', 'https://git.example.com/api/v1'],
  ['https://example.com/git', 'https://example.com/git/api/v1'],
  ['http://127.0.0.1:3000', 'http://127.0.0.1:3000/api/v1'],
])('%s is requested at %s', (given, address) => expect(readAddress(given)).toBe(address));

describe('a run of a pull request', () => {
  const read = (head: object) => {
    const pull = { number: 7, head: { ref: 'round', ...head }, base: { ref: 'main', repo: { id: 1 } } };
    const run = {
      id: 41,
      path: 'ci.yml@refs/pull/7/head',
      run_number: 12,
      run_attempt: 1,
      conclusion: 'failure',
      pull_requests: [pull],
    };
    const sent = {
      head_sha: 'a41f9c2e8d0b5f6a7c8d9e0f1a2b3c4d5e6f7a8b',
      html_url: 'https://git.example.com/shop/api/actions/runs/12',
    };
    const repository = { full_name: 'shop/api', default_branch: 'main' };
    return readGiteaEvent('workflow_run', {
      action: 'completed',
      repository,
      workflow: { name: 'ci' },
      workflow_run: { ...run, ...sent },
    });
  };

  it('has the branch of the pull request, because the run names none', () => {
    expect(read({ repo: { id: 1 } })).toMatchObject({
      fromFork: false,
      build: { pullRequest: 7, branch: 'round' },
    });
  });

  it.each([
    ['a fork', { repo: { id: 2 } }],
    ['a fork that was deleted', { repo: null }],
  ])('has no branch if it came from %s', (_, head) => {
    expect(read(head)).toMatchObject({ fromFork: true, build: { pullRequest: 7, branch: null } });
  });
});

describe('Forgejo', () => {
  const trigger = (change: object = {}) =>
    JSON.stringify({
      pull_request: { number: 7, head: { ref: 'round', repo: { full_name: 'shop/api' }, ...change } },
    });
  const run = (change: object = {}) => ({
    id: 41,
    index_in_repo: 12,
    workflow_id: 'ci.yml',
    repository: { full_name: 'shop/api', default_branch: 'main' },
    prettyref: 'main',
    commit_sha: 'a41f9c2e8d0b5f6a7c8d9e0f1a2b3c4d5e6f7a8b',
    status: 'failure',
    trigger_user: { login: 'ann' },
    html_url: 'https://forge.example.com/shop/api/actions/runs/12',
    started: '2026-03-01T10:00:00Z',
    stopped: '0001-01-01T00:00:00Z',
    ...change,
  });
  const read = (name: string, action: string, change: object = {}) =>
    readGiteaEvent(`action_run_${name}`, {
      action,
      run: run(change),
      prior_status: 'running',
      last_run: null,
    });

  it('reports the end of a run in one event', () => {
    expect(read('failure', 'failure')).toMatchObject({
      fromFork: false,
      build: {
        provider: 'gitea',
        repository: 'shop/api',
        pipeline: 'ci.yml',
        number: '12',
        externalId: '41',
        status: 'failed',
        branch: 'main',
        author: 'ann',
        pullRequest: null,
        startedAt: '2026-03-01T10:00:00.000Z',
        finishedAt: null,
      },
    });
    expect(read('success', 'success', { status: 'success' })).toMatchObject({ build: { status: 'passed' } });
    expect(read('recover', 'recover', { status: null })).toMatchObject({ build: { status: 'passed' } });
    expect(read('failure', 'failure', { status: 'cancelled' })).toEqual({
      ignored: 'the run ended as cancelled: neither failed nor passed',
    });
  });

  it('names the pull request, because its branch may be that of a fork with the same name', () => {
    expect(read('failure', 'failure', { prettyref: '#7', event_payload: trigger() })).toMatchObject({
      build: { pullRequest: 7, branch: 'round' },
    });
    const fork = trigger({ repo: { full_name: 'eve/api' } });
    expect(read('failure', 'failure', { prettyref: '#7', event_payload: fork })).toMatchObject({
      fromFork: true,
      build: { pullRequest: 7, branch: null },
    });
    expect(read('failure', 'failure', { prettyref: '#7', event_payload: 'no JSON' })).toMatchObject({
      build: { pullRequest: 7, branch: null },
    });
  });
});

describe('the history of Forgejo', () => {
  it('is listed in the form of its events, until the runs are too old', async () => {
    const run = (id: number, status: string, started: string) => ({
      id,
      index_in_repo: id,
      workflow_id: 'ci.yml',
      prettyref: 'main',
      commit_sha: 'a41f9c2e8d0b5f6a7c8d9e0f1a2b3c4d5e6f7a8b',
      status,
      started,
      stopped: started,
    });
    const listed = [
      run(3, 'running', '0001-01-01T00:00:00Z'),
      run(2, 'failure', '2026-03-02T10:00:00Z'),
      run(1, 'success', '2026-01-01T10:00:00Z'),
    ];
    const server = await startLoopback(({ url = '' }, response) => {
      if (url.includes('/actions/workflows')) sendJson(response, 404, {});
      else
        sendJson(
          response,
          200,
          url.includes('/actions/runs')
            ? { workflow_runs: listed }
            : { full_name: 'shop/api', default_branch: 'main' },
        );
    });
    const past = createGiteaPastRuns({ baseUrl: `${server.url}/api/v1`, token: 't' }, 5_000);
    const signal = AbortSignal.timeout(5_000);
    const readings: unknown[] = [];
    for await (const pastRun of past.list('shop/api', new Date('2026-03-01T00:00:00Z'), signal))
      readings.push([pastRun.attempt, await pastRun.load(signal)]);
    await server.close();

    expect(readings).toMatchObject([
      [null, { ignored: expect.stringContaining('running') }],
      [
        null,
        {
          build: {
            repository: 'shop/api',
            pipeline: 'ci.yml',
            number: '2',
            status: 'failed',
            branch: 'main',
          },
        },
      ],
    ]);
  });
});

describe('a Gitea server', () => {
  let server: LoopbackServer;
  let routes: Record<string, unknown>;
  beforeEach(async () => {
    routes = {};
    server = await startLoopback((request, response) => {
      const { pathname } = new URL(request.url ?? '', 'http://x');
      const found = routes[pathname.replace('/api/v1/repos/shop/api/actions/', '')];
      if (typeof found === 'string') response.writeHead(200, { 'content-type': 'text/plain' }).end(found);
      else sendJson(response, found === undefined ? 404 : 200, found ?? { message: 'not found' });
    });
  });
  afterEach(() => server.close());
  const fetch = (attempt: number) =>
    createGiteaBuildSource({
      baseUrl: `${server.url}/api/v1`,
      token: null,
      timeoutMs: 10_000,
      maxLogBytes: 1_000_000,
      retryUnitMs: 1,
    }).fetch(
      sampleBuild({ provider: 'gitea', repository: 'shop/api', externalId: '41', attempt }),
      AbortSignal.timeout(20_000),
    );
  const job = (id: number, attempt: number) => ({
    id,
    name: 'test',
    status: 'completed',
    conclusion: 'failure',
    run_attempt: attempt,
  });

  it('before 1.27 lists the jobs of a run, not of its attempts', async () => {
    routes = {
      'runs/41/jobs': { jobs: [job(2, 1), job(3, 2)], total_count: 2 },
      'jobs/2/logs': 'first\n',
      'jobs/3/logs': 'second\n',
    };
    expect((await fetch(1)).sources.map(({ text }) => text)).toEqual(['first\n']);
    expect((await fetch(2)).sources.map(({ text }) => text)).toEqual(['second\n']);
    const later = await fetch(3);
    expect(later.notes).toEqual([
      'The jobs of attempt 3 are no longer listed; those of a later attempt were read.',
    ]);
  });

  it('without an API for logs is reported, and the build is not read as empty', async () => {
    routes = { 'runs/41/jobs': { jobs: [job(2, 1)], total_count: 1 } };
    const message = expect.stringMatching(
      /^No log of run 41 can be read\. The log of job "test" could not be read: Gitea returned 404/,
    );
    await expect(fetch(1)).rejects.toMatchObject({ code: 'not-found', retryable: false, message });
  });
});

it('a Gitea delivery to the GitHub address is refused with the right address', async () => {
  const { createGithubProvider: githubProvider } = await import('../../../src/providers/github/provider.ts');
  const { GithubSettings } = await import('../../../src/providers/github/provider.ts');
  const { computeHmac } = await import('../../../src/providers/webhook.ts');
  const body = Buffer.from('{}');
  const headers: Record<string, string> = {
    'x-gitea-event': 'workflow_run',
    'x-hub-signature-256': `sha256=${computeHmac('one-secret', body)}`,
  };
  const { webhook } = githubProvider(GithubSettings.parse({ webhookSecrets: ['one-secret'] }));
  expect(() => webhook.receive({ header: (name) => headers[name], query: {}, body }, 0)).toThrow(
    'Change the webhook to /webhooks/gitea',
  );
});

it('a unified diff gives its files: new, deleted, renamed, binary, and with quoted names', () => {
  const diff = [
    'diff --git a/src/cart.ts b/src/cart.ts',
    'index 1..2 100644',
    '--- a/src/cart.ts',
    '+++ b/src/cart.ts',
    '@@ -1,2 +1,2 @@',
    ' a',
    '-b',
    '+c',
    'diff --git a/new file.txt b/new file.txt',
    'new file mode 100644',
    '--- /dev/null',
    '+++ b/new file.txt\t',
    '@@ -0,0 +1 @@',
    '+x',
    'diff --git "a/b\\303\\266se.txt" "b/b\\303\\266se.txt"',
    'deleted file mode 100644',
    '--- "a/b\\303\\266se.txt"',
    '+++ /dev/null',
    '@@ -1 +0,0 @@',
    '-y',
    'diff --git a/old.ts b/moved.ts',
    'similarity index 100%',
    'rename from old.ts',
    'rename to moved.ts',
    'diff --git a/logo.png b/logo.png',
    'index 3..4 100644',
    'Binary files a/logo.png and b/logo.png differ',
    '',
  ].join('\n');
  expect(
    splitFilesOfDiff(diff).map(({ path, previousPath, status, additions, deletions }) => [
      path,
      previousPath,
      status,
      additions,
      deletions,
    ]),
  ).toEqual([
    ['src/cart.ts', null, 'modified', 1, 1],
    ['new file.txt', null, 'added', 1, 0],
    ['böse.txt', null, 'removed', 0, 1],
    ['moved.ts', 'old.ts', 'renamed', 0, 0],
    ['logo.png', null, 'modified', 0, 0],
  ]);
  expect(splitFilesOfDiff(diff)[0]?.patch).toBe('@@ -1,2 +1,2 @@\n a\n-b\n+c');
});
