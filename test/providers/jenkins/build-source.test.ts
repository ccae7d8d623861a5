import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { silentLogger } from '../../../src/ports/telemetry.ts';
import {
  createJenkinsBuildSource,
  type JenkinsBuildSourceOptions,
} from '../../../src/providers/jenkins/api.ts';
import { type JenkinsApi, startJenkinsApi } from '../../support/jenkins-api.ts';
import { sampleBuild } from '../../support/sample-build.ts';

const PATH = '/jenkins/job/team/job/shop/812/';
let jenkins: JenkinsApi;
beforeEach(async () => {
  jenkins = await startJenkinsApi();
});
afterEach(() => jenkins.close());

function fetchBuild(
  url: string | null = `${jenkins.url}${PATH}`,
  options: Partial<JenkinsBuildSourceOptions> = {},
) {
  const source = createJenkinsBuildSource({
    baseUrl: `${jenkins.url}/jenkins`,
    user: 'faultline',
    token: '11e-token',
    timeoutMs: 5_000,
    maxLogBytes: 100_000,
    logger: silentLogger,
    ...options,
  });
  return source.fetch(
    sampleBuild({ provider: 'jenkins', url, externalId: url }),
    new AbortController().signal,
  );
}

/** What Jenkins' JUnit plugin answers, of it the fields that people rely on. */
const report = {
  _class: 'hudson.tasks.junit.TestResult',
  duration: 0.3,
  failCount: 2,
  suites: [
    {
      name: 'com.shop.CartTest',
      cases: [
        { className: 'com.shop.CartTest', name: 'adds', status: 'PASSED', duration: 0.012 },
        {
          className: 'com.shop.CartTest',
          name: 'totals',
          status: 'REGRESSION',
          duration: 0.25,
          errorDetails: 'expected 10.20',
        },
        { className: 'com.shop.CartTest', name: 'taxes', status: 'FAILED', duration: 0 },
        { className: 'com.shop.CartTest', name: 'ships', status: 'SKIPPED', duration: 0 },
        { className: 'com.shop.CartTest', name: 'pays', status: 'FIXED', duration: 0.1 },
      ],
    },
  ],
};

test('the console and the test report of a build are read with the API token', async () => {
  jenkins.state.consoles.set(PATH, 'Started by user\nFAILED: totals\n');
  jenkins.state.reports.set(PATH, report);

  const fetched = await fetchBuild();

  const url = expect.stringMatching(/^http:.*\/consoleFull$/);
  expect(fetched.sources).toEqual([
    { name: 'console.log', kind: 'log', text: 'Started by user\nFAILED: totals\n', notes: [], url },
  ]);
  expect(fetched.testResults.map(({ name, status }) => [name, status])).toEqual([
    ['adds', 'passed'],
    ['totals', 'failed'],
    ['taxes', 'failed'],
    ['ships', 'skipped'],
    ['pays', 'passed'],
  ]);
  expect(fetched.testResults[1]).toMatchObject({ suite: 'com.shop.CartTest', durationMs: 250 });
  expect(jenkins.requests.map(({ path }) => path.replace(/\?.*/, ''))).toEqual([
    `${PATH}consoleText`,
    `${PATH}testReport/api/json`,
    `${PATH}api/json`,
  ]);
  const basic = `Basic ${Buffer.from('faultline:11e-token').toString('base64')}`;
  expect(jenkins.requests.every(({ headers }) => headers.authorization === basic)).toBe(true);
});

test('archived artifacts are read, only those of the build, and pictures are named', async () => {
  jenkins.state.consoles.set(PATH, 'see logs/it #1.log\n');
  jenkins.state.artifacts.set(PATH, {
    'logs/it #1.log': 'quota\n',
    'target/TEST-a.xml': '<testsuite/>',
    'shots/a.png': 'x',
    '../../../secret.log': 'never asked for',
  });

  const { sources, notes } = await fetchBuild();

  expect(sources.map(({ name, kind, text }) => [name, kind, text]).sort()).toEqual([
    ['../../../secret.log', 'artifact', ''],
    ['console.log', 'log', 'see logs/it #1.log\n'],
    ['logs/it #1.log', 'artifact', 'quota\n'],
    ['shots/a.png', 'artifact', ''],
    ['target/TEST-a.xml', 'report', '<testsuite/>'],
  ]);
  expect(notes).toEqual([]);
  expect(jenkins.requests.every(({ path }) => path.startsWith(PATH))).toBe(true);
});

test('a list of artifacts that cannot be read causes a note', async () => {
  jenkins.state.consoles.set(PATH, 'x\n');
  jenkins.state.intercept = (request, response) => {
    if (!request.url?.includes('/812/api/json')) return false;
    response.writeHead(200).end('<html>');
    return true;
  };

  expect((await fetchBuild()).notes).toEqual([
    expect.stringContaining("The build's artifacts could not be read"),
  ]);
});

test('an aggregated report contains its parts', async () => {
  jenkins.state.consoles.set(PATH, 'boom\n');
  const child = { number: 812, url: `${jenkins.url}/jenkins/job/team/job/shop$cart/812/` };
  jenkins.state.reports.set(PATH, { failCount: 2, childReports: [{ child, result: report }] });

  expect((await fetchBuild()).testResults).toHaveLength(5);
});

test('a build without tests has no report, and no note about it', async () => {
  jenkins.state.consoles.set(PATH, 'boom\n');

  expect(await fetchBuild()).toMatchObject({ testResults: [], notes: [] });
});

test('a report that cannot be read causes a note', async () => {
  jenkins.state.consoles.set(PATH, 'boom\n');
  jenkins.state.reports.set(PATH, { suites: 'none' });

  expect((await fetchBuild()).notes).toEqual([expect.stringContaining('test report could not be read')]);
});

test('a build address without its last slash, or with a query, is the same build', async () => {
  jenkins.state.consoles.set(PATH, 'boom\n');

  expect((await fetchBuild(`${jenkins.url}${PATH.slice(0, -1)}?x=1#y`)).sources).toHaveLength(1);
});

describe('an address outside of the configured Jenkins is never requested (T59)', () => {
  test.each([
    ['another host', () => 'http://169.254.169.254/jenkins/job/x/1/'],
    ['another port', () => 'http://127.0.0.1:1/jenkins/job/x/1/'],
    ['another scheme', () => `${jenkins.url.replace('http:', 'https:')}/jenkins/job/x/1/`],
    ['a file', () => 'file:///etc/passwd'],
    ['beside the base path', () => `${jenkins.url}/jenkins-other/job/x/1/`],
    ['above the base path', () => `${jenkins.url}/job/x/1/`],
    ['climbing out', () => `${jenkins.url}/jenkins/../admin/`],
    ['climbing out, encoded', () => `${jenkins.url}/jenkins/%2e%2e/admin/`],
    ['an encoded slash', () => `${jenkins.url}/jenkins/..%2fadmin/`],
    [
      'a user in the address',
      () => `${jenkins.url.replace('//', '//jenkins.example.com@')}/jenkins/job/x/1/`,
    ],
    ['the host as a user', () => `${jenkins.url}@example.com/jenkins/job/x/1/`],
  ])('%s', async (_what, url) => {
    await expect(fetchBuild(url())).rejects.toMatchObject({ code: 'forbidden', retryable: false });
    expect(jenkins.requests).toEqual([]);
  });

  test('nor is any if none is configured', async () => {
    await expect(fetchBuild(undefined, { baseUrl: null })).rejects.toMatchObject({ code: 'invalid-config' });
  });

  test.each([[null], ['not an address']])('nor is %s', async (url) => {
    await expect(fetchBuild(url)).rejects.toMatchObject({ code: 'not-found' });
  });
});

describe('an error from Jenkins', () => {
  test.each([
    [401, 'upstream-auth', false],
    [403, 'upstream-auth', false],
    [404, 'not-found', false],
    [429, 'upstream-failed', true],
    [500, 'upstream-failed', true],
    [503, 'upstream-failed', true],
  ])('with status %i is %s', async (status, code, retryable) => {
    jenkins.state.intercept = (_request, response) => {
      response.writeHead(status).end();
      return true;
    };

    await expect(fetchBuild()).rejects.toMatchObject({ code, retryable });
  });

  test('is raised for a redirect to the login page, which is not followed', async () => {
    jenkins.state.intercept = (_request, response) => {
      response.writeHead(302, { location: 'http://127.0.0.1:1/login' }).end();
      return true;
    };

    await expect(fetchBuild()).rejects.toMatchObject({ code: 'upstream-auth' });
  });

  test('is raised for a console above the size limit', async () => {
    jenkins.state.consoles.set(PATH, 'x'.repeat(200_000));

    await expect(fetchBuild()).rejects.toMatchObject({ code: 'too-large' });
  });

  test('is a timeout for a console that arrives too slowly', async () => {
    jenkins.state.intercept = (_request, response) => {
      response.writeHead(200);
      const drip = setInterval(() => response.write('.'), 20);
      response.on('close', () => clearInterval(drip));
      return true;
    };

    await expect(fetchBuild(undefined, { timeoutMs: 200 })).rejects.toMatchObject({
      code: 'timeout',
      retryable: true,
    });
  });

  test('is retryable if Jenkins does not respond', async () => {
    await jenkins.close();

    await expect(fetchBuild()).rejects.toMatchObject({ code: 'upstream-failed', retryable: true });
  });
});
