import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Build } from '../../../src/domain/build.ts';
import { silentLogger } from '../../../src/ports/telemetry.ts';
import {
  createGithubBuildSource,
  type GithubBuildSourceOptions,
} from '../../../src/providers/github/build-source.ts';
import {
  createGithubArtifact,
  createGithubJob,
  type GithubApi,
  startGithubApi,
} from '../../support/github-api.ts';
import { sendJson } from '../../support/loopback-server.ts';
import { makeZip } from '../../support/make-zip.ts';
import { sampleBuild } from '../../support/sample-build.ts';

let github: GithubApi;
beforeEach(async () => {
  github = await startGithubApi();
});
afterEach(() => github.close());

function fetchBuild(
  build: Partial<Build> = {},
  options: Partial<GithubBuildSourceOptions> = {},
  signal = new AbortController().signal,
) {
  const source = createGithubBuildSource({
    baseUrl: github.url,
    token: 'ghs_test-token',
    timeoutMs: 10_000,
    maxLogBytes: 1024 * 1024,
    logger: silentLogger,
    retryUnitMs: 5,
    ...options,
  });
  return source.fetch(sampleBuild(build), signal);
}

function store(path: string, content: Buffer | string): void {
  github.state.stored.set(path, content);
}

describe('the logs of a failed run', () => {
  test('are those of its failed jobs', async () => {
    github.state.jobs = [
      createGithubJob({ id: 1, name: 'lint', conclusion: 'success' }),
      createGithubJob({ id: 2, name: 'test (20)' }),
      createGithubJob({ id: 3, name: 'test (22)', conclusion: 'timed_out' }),
      createGithubJob({ id: 4, name: 'deploy', conclusion: 'skipped' }),
    ];
    store('/jobs/2/logs', '2020-10-05T16:32:07Z FAIL cart\n');
    store('/jobs/3/logs', 'timed out\n');

    const fetched = await fetchBuild();

    expect(fetched.sources.map(({ name, kind, text }) => [name, kind, text])).toEqual([
      ['test (20).log', 'log', '2020-10-05T16:32:07Z FAIL cart\n'],
      ['test (22).log', 'log', 'timed out\n'],
    ]);
    expect(fetched.notes).toEqual([]);
  });

  test('are requested with the token, by run and attempt; the storage never sees the token (T32)', async () => {
    github.state.jobs = [createGithubJob({ id: 2, name: 'test' })];
    store('/jobs/2/logs', 'x\n');

    await fetchBuild({ attempt: 3 });

    expect(github.api.requests.map(({ path }) => path)).toContain(
      '/repos/octo-org/octo-repo/actions/runs/289782451/attempts/3/jobs?per_page=100',
    );
    expect(github.api.requests.every(({ headers }) => headers.authorization === 'token ghs_test-token')).toBe(
      true,
    );
    expect(github.storage.requests.length).toBeGreaterThan(0);
    expect(github.storage.requests.every(({ headers }) => headers.authorization === undefined)).toBe(true);
  });

  test('are waited for if their job has only just ended', async () => {
    github.state.jobs = [
      createGithubJob({ id: 2, name: 'test', completed_at: new Date(Date.now() - 5_000).toISOString() }),
    ];

    await expect(fetchBuild()).rejects.toMatchObject({ code: 'not-found', retryable: true });
  });

  test('are found on more than one page of jobs', async () => {
    github.state.jobs = Array.from({ length: 150 }, (_, index) =>
      createGithubJob({ id: index + 1, name: `job ${index}`, conclusion: 'success' }),
    );
    github.state.jobs.push(createGithubJob({ id: 900, name: 'last' }));
    store('/jobs/900/logs', 'boom\n');

    expect((await fetchBuild()).sources.map((source) => source.name)).toEqual(['last.log']);
  });

  test('of an unfinished run are reported as such', async () => {
    github.state.jobs = [
      createGithubJob({ id: 2, name: 'test' }),
      createGithubJob({ id: 3, name: 'e2e', status: 'in_progress', conclusion: null }),
    ];
    store('/jobs/2/logs', 'boom\n');

    expect((await fetchBuild()).notes).toEqual([
      "1 of the run's 2 jobs had not finished when its logs were read.",
    ]);
  });

  test('that one job has lost are noted, and the others are read', async () => {
    github.state.jobs = [createGithubJob({ id: 2, name: 'a' }), createGithubJob({ id: 3, name: 'b' })];
    store('/jobs/3/logs', 'boom\n');

    const fetched = await fetchBuild();

    expect(fetched.sources.map((source) => source.name)).toEqual(['b.log']);
    expect(fetched.notes).toEqual([
      expect.stringContaining('The log of job "a" could not be read: GitHub returned 404'),
    ]);
  });
});

describe("the archive of a run, if no job's log is available", () => {
  const archive = '/runs/289782451/attempts/1/logs';
  beforeEach(() => {
    github.state.jobs = [
      createGithubJob({ id: 2, name: 'build / test: unit' }),
      createGithubJob({ id: 3, name: 'lint', conclusion: 'success' }),
    ];
  });

  test('gives the logs of the failed jobs', async () => {
    const step = { name: 'build  test unit/1_Set up job.txt', content: 'part\n' };
    store(
      archive,
      makeZip([
        { name: '0_build  test unit.txt', content: 'boom\n' },
        { name: '1_lint.txt', content: 'fine\n' },
        step,
      ]),
    );

    expect((await fetchBuild()).sources.map(({ name, text }) => [name, text])).toEqual([
      ['0_build  test unit.log', 'boom\n'],
    ]);
  });

  test('gives all logs if none has the name of a failed job', async () => {
    store(archive, makeZip([{ name: '0_other.txt', content: 'boom\n' }]));

    expect((await fetchBuild()).sources.map(({ name }) => name)).toEqual(['0_other.log']);
  });

  const bomb = Buffer.alloc(900 * 1024 * 3, 'a');
  test.each([
    ['no zip at all', Buffer.from('<html>'), 'invalid-input'],
    [
      'cut off (T46)',
      makeZip([{ name: '0_a.txt', content: 'x'.repeat(1000) }]).subarray(0, 60),
      'invalid-input',
    ],
    ['empty', makeZip([]), 'not-found'],
    [
      'of too many entries',
      makeZip(Array.from({ length: 2001 }, (_, index) => ({ name: `${index}_a.txt`, content: '' }))),
      'too-large',
    ],
    ['a bomb', makeZip([{ name: '0_a.txt', content: bomb }]), 'too-large'],
    [
      'lying about its size',
      makeZip([{ name: '0_a.txt', content: bomb, declaredSize: 10 }]),
      'invalid-input',
    ],
    ['encrypted', makeZip([{ name: '0_a.txt', content: 'x', encrypted: true }]), 'invalid-input'],
    ['climbing out', makeZip([{ name: '../0_a.txt', content: 'x' }]), 'invalid-input'],
    ['absolute', makeZip([{ name: '/etc/0_a.txt', content: 'x' }]), 'invalid-input'],
    [
      'nested',
      makeZip([{ name: '0_a.txt', content: makeZip([{ name: 'x', content: 'x' }]) }]),
      'unsupported-type',
    ],
    [
      'of many parts that are too large together',
      makeZip([0, 1, 2].map((n) => ({ name: `${n}_a.txt`, content: `${'a b '.repeat(100_000)}${n}` }))),
      'too-large',
    ],
  ])('is refused: %s (T42, T43)', async (_what, content, code) => {
    store(archive, content);

    await expect(fetchBuild()).rejects.toMatchObject({ code, retryable: false });
  });

  test('is refused for a high compression ratio even below the size limit', async () => {
    store(archive, makeZip([{ name: '0_a.txt', content: bomb }]));

    await expect(fetchBuild({}, { maxLogBytes: 100 * 1024 * 1024 })).rejects.toThrow(
      'grows more than 100 times',
    );
  });
});

describe('test reports', () => {
  beforeEach(() => {
    github.state.jobs = [createGithubJob({ id: 2, name: 'test' })];
    store('/jobs/2/logs', 'boom\n');
  });

  test('come from artifacts that are named like reports', async () => {
    github.state.artifacts = [
      createGithubArtifact({ id: 1, name: 'dist' }),
      createGithubArtifact({ id: 2, name: 'junit-results' }),
      createGithubArtifact({ id: 3, name: 'test-report-old', expired: true }),
      createGithubArtifact({ id: 4, name: 'test-results-huge', size_in_bytes: 900_000_000 }),
    ];
    store(
      '/artifacts/2/zip',
      makeZip([
        { name: 'reports/TEST-cart.xml', content: '<testsuite/>' },
        { name: 'readme.md', content: 'x' },
      ]),
    );

    const { sources, notes } = await fetchBuild();

    expect(sources.map(({ name, kind }) => [name, kind])).toEqual([
      ['test.log', 'log'],
      ['junit-results/reports/TEST-cart.xml', 'report'],
      ['junit-results/readme.md', 'artifact'],
      ['test-results-huge', 'artifact'],
      ['dist', 'artifact'],
    ]);
    expect(sources.slice(3).map(({ text, notes: why }) => [text, ...why])).toEqual([
      ['', 'not kept: it is 900 MB, more than 21 MB'],
      ['', 'not kept: a build output, judging by its name'],
    ]);
    expect(notes).toEqual([]);
  });

  test('that are broken are noted, and the log is still read', async () => {
    github.state.artifacts = [createGithubArtifact({ id: 2, name: 'junit' })];
    store('/artifacts/2/zip', 'no zip');

    const { sources, notes } = await fetchBuild();

    expect(sources).toHaveLength(1);
    expect(notes).toEqual([expect.stringContaining('the artifact "junit" could not be read')]);
  });
});

describe('artifacts', () => {
  beforeEach(() => {
    github.state.jobs = [createGithubJob({ id: 2, name: 'test' })];
    store('/jobs/2/logs', 'boom\n');
  });

  test('give every text in them, and the names of other files', async () => {
    github.state.artifacts = [
      createGithubArtifact({ id: 7, name: 'server-logs' }),
      createGithubArtifact({ id: 8, name: 'e2e' }),
    ];
    store('/artifacts/7/zip', makeZip([{ name: 'app/server.log', content: 'ready\n' }]));
    const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]);
    const nested = makeZip([{ name: 'worker.log', content: 'lost\n' }]);
    const members = [
      { name: 'shot.png', content: png },
      { name: 'heap', content: png },
      { name: 'more.zip', content: nested },
    ];
    store('/artifacts/8/zip', makeZip(members));

    const { sources, notes } = await fetchBuild();

    expect(sources.map(({ name, kind, text }) => [name, kind, text])).toEqual([
      ['test.log', 'log', 'boom\n'],
      ['server-logs/app/server.log', 'artifact', 'ready\n'],
      ['e2e/heap', 'artifact', ''],
      ['e2e/more.zip/worker.log', 'artifact', 'lost\n'],
      ['e2e/shot.png', 'artifact', ''],
    ]);
    expect(sources[2]?.notes).toEqual(['not kept: a PNG image']);
    expect(notes).toEqual([]);
  });

  test('that cannot be fetched cause a note each', async () => {
    github.state.artifacts = [
      createGithubArtifact({ id: 7, name: 'gone-logs' }),
      createGithubArtifact({ id: 8, name: 'logs' }),
    ];
    store('/artifacts/8/zip', makeZip([{ name: 'a.log', content: 'x\n' }]));

    const { sources, notes } = await fetchBuild();

    expect(sources.map(({ name }) => name)).toEqual(['test.log', 'logs/a.log']);
    expect(notes).toEqual([expect.stringContaining('the artifact "gone-logs" could not be read')]);
  });
});

describe('an error from GitHub', () => {
  const always = (answer: (response: ServerResponse) => void) => {
    github.state.intercept = (_request, response) => {
      answer(response);
      return true;
    };
  };

  test.each([
    [401, 'Bad credentials', 'upstream-auth', false],
    [403, 'Resource not accessible by integration', 'upstream-auth', false],
    [404, 'Not Found', 'not-found', false],
    [410, 'Gone', 'not-found', false],
    [422, 'Unprocessable', 'upstream-failed', false],
    [500, 'Server Error', 'upstream-failed', true],
    [503, 'Unavailable', 'upstream-failed', true],
  ])('with status %i %s is %s', async (status, message, code, retryable) => {
    always((response) => sendJson(response, status, { message }));

    await expect(fetchBuild()).rejects.toMatchObject({ code, retryable });
  });

  test('T32: about a missing repository ends the fetch with the reason, at the first request', async () => {
    always((response) => sendJson(response, 404, { message: 'Not Found' }));

    const message = expect.stringMatching(/returned 404 for the jobs of the run: it no longer exists/);
    await expect(fetchBuild()).rejects.toMatchObject({ code: 'not-found', retryable: false, message });
    expect(github.api.requests).toHaveLength(1);
  });

  test('T32: about expired logs of jobs and archive ends the fetch with the reason', async () => {
    github.state.jobs = [createGithubJob({ id: 2, name: 'test' })];
    github.state.intercept = (request, response) => {
      if (request.url?.endsWith('/logs') !== true) return false;
      sendJson(response, 410, { message: 'The logs for this run have expired and are no longer available.' });
      return true;
    };

    const message = expect.stringMatching(/returned 410 for the archive of the run's logs: it has expired/);
    await expect(fetchBuild()).rejects.toMatchObject({ code: 'not-found', retryable: false, message });
    expect(github.api.requests.filter(({ path }) => path.endsWith('/logs'))).toHaveLength(2);
  });

  test('T32: or a redirect of a list to another host is not followed', async () => {
    always((response) => response.writeHead(302, { location: `${github.storage.url}/jobs` }).end());

    await expect(fetchBuild()).rejects.toMatchObject({ code: 'upstream-failed', retryable: false });
    expect(github.storage.requests).toEqual([]);
  });

  test('has a message without token and signed address', async () => {
    github.state.jobs = [createGithubJob({ id: 2, name: 'test' })];
    store('/jobs/2/logs', 'x');
    await github.storage.close();

    const error: unknown = await fetchBuild().catch((thrown: unknown) => thrown);

    expect(error).toMatchObject({ code: 'upstream-failed', retryable: true });
    expect(String(error)).not.toMatch(/ghs_|sig=/);
  });

  test('that is a temporary server error is retried', async () => {
    let calls = 0;
    github.state.jobs = [createGithubJob({ id: 2, name: 'test' })];
    store('/jobs/2/logs', 'boom\n');
    github.state.intercept = (_request, response) => {
      calls++;
      if (calls > 2) return false;
      sendJson(response, 502, { message: 'Bad Gateway' });
      return true;
    };

    expect((await fetchBuild()).sources).toHaveLength(1);
  });

  test('that is a short secondary limit is waited for; a long one returns to the queue with its time (T31)', async () => {
    const limit = (seconds: number) => (response: ServerResponse) =>
      sendJson(
        response,
        403,
        { message: 'You have exceeded a secondary rate limit.' },
        { 'retry-after': String(seconds) },
      );
    always(limit(90));
    await expect(fetchBuild()).rejects.toMatchObject({
      code: 'upstream-failed',
      retryable: true,
      retryAfterMs: 90_000,
    });
    expect(github.api.requests).toHaveLength(1);

    let calls = 0;
    github.state.jobs = [createGithubJob({ id: 2, name: 'test' })];
    store('/jobs/2/logs', 'boom\n');
    github.state.intercept = (_request, response) => {
      if (calls++ > 0) return false;
      limit(2)(response);
      return true;
    };
    expect((await fetchBuild()).sources).toHaveLength(1);
  });

  test('that is a primary limit returns to the queue until its reset', async () => {
    const reset = Math.floor(Date.now() / 1000) + 600;
    always((response) =>
      sendJson(
        response,
        429,
        { message: 'API rate limit exceeded' },
        { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(reset) },
      ),
    );

    const error: unknown = await fetchBuild().catch((thrown: unknown) => thrown);

    expect(error).toMatchObject({ code: 'upstream-failed', retryable: true });
    expect((error as { retryAfterMs: number }).retryAfterMs).toBeGreaterThan(500_000);
  });

  test('that is no response at all is a timeout', async () => {
    github.state.intercept = () => true;

    await expect(fetchBuild({}, { timeoutMs: 200 })).rejects.toMatchObject({
      code: 'timeout',
      retryable: true,
    });
  });

  test('does not prevent the caller from aborting', async () => {
    github.state.intercept = () => true;
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 50);

    await expect(fetchBuild({}, {}, stop.signal)).rejects.toMatchObject({ code: 'cancelled' });
  });

  test('is raised for a log above the limit, which is not read to its end', async () => {
    github.state.jobs = [createGithubJob({ id: 2, name: 'test' })];
    store('/jobs/2/logs', 'x'.repeat(2 * 1024 * 1024));

    await expect(fetchBuild()).rejects.toMatchObject({ code: 'too-large', retryable: false });
  });

  test('is raised for a redirect of the storage, which is not followed', async () => {
    github.state.jobs = [createGithubJob({ id: 2, name: 'test' })];
    github.state.intercept = (request, response) => {
      if (request.url?.endsWith('/logs') !== true) return false;
      response.writeHead(302, { location: `${github.url}/loop/logs` }).end();
      return true;
    };

    await expect(fetchBuild()).rejects.toMatchObject({ code: 'upstream-failed' });
  });
});

test.each([
  [{ externalId: null }],
  [{ externalId: 'https://example.com/1' }],
  [{ repository: 'no-owner' }],
  [{ repository: 'a/b/c' }],
])('a build without a run (%o) is not requested', async (build) => {
  await expect(fetchBuild(build)).rejects.toMatchObject({ code: 'not-found' });
  expect(github.api.requests).toEqual([]);
});
