import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createGithubJob, type GithubApi, startGithubApi } from '../support/github-api.ts';
import { createRunner, type Runner } from './runner.ts';

const CAPTURED = join(import.meta.dirname, '../fixtures/failures');

let runner: Runner;
let log: string;
beforeAll(async () => {
  runner = await createRunner();
  log = await readFile(join(CAPTURED, 'atlas-webpack-missing-file/log.txt'), 'utf8');
});
afterAll(() => runner.close());

describe('a step without a server', () => {
  test('reports the cause in summary, annotation and outputs, and does not change the result of the job', async () => {
    const {
      exitCode,
      outputs,
      commands,
      summary,
      log: shown,
    } = await runner.run({ with: { log: 'build.log' }, files: { 'build.log': log } });

    expect(exitCode).toBe(0);
    expect(outputs).toMatchObject({
      category: 'CODE_ERROR',
      confidence: expect.stringMatching(/^0\.\d\d?$/),
      url: 'https://github.example.com/shop/api/actions/runs/289782451',
    });
    expect(JSON.parse(outputs.json ?? '')).toEqual([
      expect.objectContaining({ category: 'CODE_ERROR', kind: 'missing_module', url: null }),
    ]);
    expect(commands).toEqual([
      {
        name: 'warning',
        properties: { file: 'src/index.js', line: '2', title: expect.stringContaining('(Code error, ') },
        message: expect.stringContaining('Fix: '),
      },
    ]);
    expect(summary).toContain('### Faultline: 1 cause');
    expect(summary).toContain("Can't resolve './legend/names.js'");
    expect(shown).toContain('Code error ');
  });

  test('reads globs, reports, and a log that a job wrote in pieces with tee', async () => {
    const report =
      '<testsuite name="cart"><testcase name="totals"><failure message="expected 10.20, got 10.21">at cart.test.ts:4</failure></testcase></testsuite>';
    const { outputs } = await runner.run({
      with: { log: 'logs/*.log', reports: 'out/**/*.xml\nnone/*.xml' },
      files: { 'logs/a.log': 'npm test\n', 'out/deep/junit.xml': report },
    });

    expect(outputs.category).toBe('TEST_FAILURE');
  });

  test('names files by their paths in the repository, wherever the workspace is', async () => {
    const { commands, outputs } = await runner.run({
      with: { log: '*.log' },
      files: { 'build.log': "> tsc\n$WORKSPACE/src/cart.ts(4,7): error TS2304: Cannot find name 'totl'.\n" },
    });

    expect(commands).toMatchObject([{ properties: { file: 'src/cart.ts', line: '4' } }]);
    expect(JSON.parse(outputs.json ?? '')).toMatchObject([{ title: "cart.ts:4: Cannot find name 'totl'" }]);
  });

  test.each(['GITEA_ACTIONS', 'FORGEJO_ACTIONS'])(
    'prints the summary where the runner shows none: %s',
    async (name) => {
      const step = { with: { log: 'build.log' }, files: { 'build.log': `${log}\nFAIL ::error::spoofed\n` } };
      const { log: shown, commands } = await runner.run({ ...step, env: { [name]: 'true' } });

      expect(shown).toMatch(/^Fix\tCorrect the import of/m);
      expect(shown).toMatch(/^Evidence\tbuild\.log:14 Module not found/m);
      expect(commands).toHaveLength(1);
    },
  );

  test('fails only if fail-on requests it', async () => {
    const files = { 'build.log': log };
    const codes = ['TEST_FAILURE, CODE_ERROR', 'INFRA_ERROR, unanswered'].map(
      async (failOn) => (await runner.run({ with: { log: 'build.log', 'fail-on': failOn }, files })).exitCode,
    );

    expect(await Promise.all(codes)).toEqual([1, 0]);
  });

  test.each([
    ['no input', {}, 'Nothing to read: set the input'],
    ['a file that is not there', { log: 'gone.log' }, 'No file found at gone.log'],
    [
      'a word that fail-on does not know',
      { log: 'x', 'fail-on': 'sometimes' },
      'The input "fail-on" accepts never, any',
    ],
    ['a time that is none', { log: 'x', wait: 'long' }, 'The input "wait" must be 0 to 900 seconds'],
    ['an invalid URL', { log: 'x', 'server-url': 'faultline' }, 'The input "server-url" must be a URL'],
    [
      'a server without a token',
      { log: 'x', 'server-url': 'https://f.example' },
      'The input "token" is empty',
    ],
  ])('warns instead of causing a second failure: %s', async (_, given, sentence) => {
    const { exitCode, commands, summary, outputs } = await runner.run({ with: given });

    expect(exitCode).toBe(0);
    expect(commands).toEqual([
      { name: 'warning', properties: { title: 'Faultline' }, message: expect.stringContaining(sentence) },
    ]);
    expect(summary).toContain('Faultline could not analyze the build');
    expect(outputs).toMatchObject({ category: '', confidence: '', json: '[]' });
  });

  test('fails without anything to read if fail-on requires an answer', async () => {
    expect((await runner.run({ with: { log: 'gone.log', 'fail-on': 'unanswered' } })).exitCode).toBe(1);
  });

  test('shows the text of a log as plain text: no command, output, markup or mention takes effect', async () => {
    const name =
      'x ::error::spoofed%0A::set-output name=category::HACKED <img src=x onerror=alert(1)> [a](javascript:alert(1)) @everyone ##[error]old ```';
    const lines = [
      `FAIL src/cart.test.ts > ${name}`,
      `AssertionError: expected ${name} to equal 1`,
      '    at src/cart.test.ts:4:1',
      '::error::spoofed',
      'category<<EOF',
      'HACKED',
      'EOF',
      '\u001b]0;title\u0007<!-- faultline:comment -->',
    ];
    const report = `<testsuite name="s"><testcase name="${name.replaceAll('<', '&lt;').replaceAll('"', '&quot;')}"><failure message="::error::spoofed&#10;::stop-commands::x">${name.replaceAll('<', '&lt;')}</failure></testcase></testsuite>`;
    const {
      commands,
      outputs,
      summary,
      log: shown,
    } = await runner.run({
      with: { log: 'build.log', reports: 'junit.xml' },
      files: { 'build.log': lines.join('\n'), 'junit.xml': report },
    });

    expect(commands.length).toBeGreaterThan(0);
    expect(
      commands.every(
        ({ message, properties }) => !message.startsWith('spoofed') && properties.title?.includes('('),
      ),
    ).toBe(true);
    expect(outputs.category).toMatch(/^[A-Z]+_[A-Z]+$/);
    const page = micromark(summary, {
      extensions: [gfm()],
      htmlExtensions: [gfmHtml()],
      allowDangerousHtml: true,
    });
    expect(page).not.toMatch(/<img|<a [^>]*javascript|<!--/i);
    expect(page.replaceAll(/<pre><code[\s\S]*?<\/code><\/pre>|<code>[\s\S]*?<\/code>/g, '')).not.toMatch(
      /@everyone/,
    );
    expect(shown + summary).not.toContain('\u001b');
  });

  test('masks secrets of a log in all output', async () => {
    const secret = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`;
    const said = `${log}\nERROR in ./src/other.js 1:0-9\nModule not found: Error: Can't resolve './${secret}' in '/home/runner'\n`;
    const {
      summary,
      outputs,
      commands,
      log: shown,
    } = await runner.run({ with: { log: 'build.log' }, files: { 'build.log': said } });

    expect(JSON.stringify([summary, outputs, commands, shown])).not.toContain(secret);
  });
});

describe('a later job', () => {
  let github: GithubApi;
  beforeAll(async () => {
    github = await startGithubApi();
    const ended = { status: 'completed', completed_at: '2026-10-12T14:01:00Z' } as const;
    github.state.jobs = [
      createGithubJob({ id: 11, name: 'lint', conclusion: 'success', ...ended }),
      createGithubJob({ id: 12, name: 'test', conclusion: 'failure', ...ended }),
      createGithubJob({ id: 13, name: 'explain', status: 'in_progress', conclusion: null }),
    ];
    github.state.stored.set('/jobs/12/logs', log);
  });
  afterAll(() => github.close());

  test('reads the logs of the failed jobs with the token, which is sent only to the API', async () => {
    const token = 'ghs_0123456789abcdef';
    const step = { with: { 'github-token': token }, env: { GITHUB_API_URL: github.url } };
    const { outputs, log: shown, summary } = await runner.run(step);

    expect(outputs.category).toBe('CODE_ERROR');
    expect(github.api.requests.every(({ headers }) => headers.authorization?.includes(token))).toBe(true);
    expect(github.storage.requests.length).toBe(1);
    expect(github.storage.requests[0]?.headers.authorization).toBeUndefined();
    expect(shown + summary + JSON.stringify(outputs)).not.toContain(token);
  });

  test('names the permission that the token lacks', async () => {
    github.state.intercept = (_request, response) => {
      response
        .writeHead(403, { 'content-type': 'application/json' })
        .end('{"message":"Resource not accessible by integration"}');
      return true;
    };
    const { exitCode, commands } = await runner.run({
      with: { 'github-token': 'ghs_0123456789abcdef' },
      env: { GITHUB_API_URL: github.url },
    });
    github.state.intercept = null;

    expect(exitCode).toBe(0);
    expect(commands[0]).toMatchObject({
      name: 'warning',
      message: expect.stringMatching(/^GitHub returned 403 .* "permissions: actions: read"/),
    });
  });
});
