import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Experiment } from '../../src/domain/experiment.ts';
import { sendJson, startLoopback } from '../support/loopback-server.ts';
import { sampleAnalysis } from '../support/sample-analysis.ts';
import { createRunner, type Runner } from './runner.ts';

const TOKEN = 'flt_0123456789';
const HEAD = "const { test } = require('node:test');\nconst assert = require('node:assert');\n";
const SUM_TEST = `${HEAD}test('adds up', () => assert.equal(require('./sum.js').sum(2, 3), 5));\n`;
const LOG = `✖ adds up (1.2ms)
ℹ tests 1
ℹ fail 1

✖ failing tests:

test at sum.test.js:3:1
✖ adds up (1.2ms)
  AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:

  -1 !== 5
`;

let runner: Runner;
beforeAll(async () => {
  runner = await createRunner();
});
afterAll(() => runner.close());

const ids: string[] = [];

/** Two commits, of which the second breaks the sum; the ids of both. */
function createCommits(folder: string): void {
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=nobody@example.test', ...args], {
      cwd: folder,
      encoding: 'utf8',
    }).trim();
  git('init', '--quiet', '--initial-branch=main');
  git('add', '--all');
  git('commit', '--quiet', '-m', 'works');
  ids[0] = git('rev-parse', 'HEAD');
  execFileSync('sed', ['-i', 's/a + b/a - b/', 'sum.js'], { cwd: folder });
  git('commit', '--quiet', '-am', 'breaks');
}

// Modules are CommonJS here, whatever the release of the action that lies above says of its own.
const files = {
  'package.json': '{}',
  'build.log': LOG,
  'sum.js': 'exports.sum = (a, b) => a + b;\n',
  'sum.test.js': SUM_TEST,
  '.gitignore': 'build.log\n',
};
/** With a diff that mends the sum. */
const filesWithFix = {
  ...files,
  'fix.diff':
    '--- a/sum.js\n+++ b/sum.js\n@@ -1 +1 @@\n-exports.sum = (a, b) => a - b;\n+exports.sum = (a, b) => a + b;\n',
  '.gitignore': 'build.log\nfix.diff\n',
};
const given = {
  log: 'build.log',
  confirm: `${process.execPath} --test`,
  'confirm-runs': '3',
  'confirm-base': 'HEAD^',
};

describe('a step that runs the failing command again', () => {
  test('states with run counts that this change broke the test, first in summary, log and outputs', async () => {
    const { exitCode, outputs, summary, log } = await runner.run({
      with: given,
      files,
      prepare: createCommits,
    });

    expect(exitCode, log).toBe(0);
    expect(outputs.verdict).toBe('this-change');
    expect(summary).toMatch(
      /^### Faultline: 1 cause\n\n\*\*Fails 3 of 3 here, 0 of 3 on the base \(\w{7}\): introduced by this change/,
    );
    expect(log).toMatch(/^run 1 here, only the failing tests: failed/m);
    expect(log).toMatch(/^Fails 3 of 3 here, 0 of 3 on the base/m);
    expect(JSON.parse(outputs.json ?? '')).toMatchObject([
      { facts: { Tried: [expect.stringContaining('introduced by this change')] } },
    ]);
  });

  test('finds the commit that broke the test and tries a diff, within the minutes that remain', async () => {
    const also = { bisect: 'true', 'try-fix': 'fix.diff' };
    const { outputs, summary, log } = await runner.run({
      with: { ...given, ...also },
      files: filesWithFix,
      prepare: createCommits,
    });

    expect(outputs, log).toMatchObject({
      verdict: 'this-change',
      culprit: expect.stringMatching(/^[0-9a-f]{40}$/),
    });
    expect(outputs.patch).toContain('+exports.sum = (a, b) => a + b;');
    expect(summary).toMatch(/Broken by \w{7} \(.* runs\)\. Fixed: fails 0 of 3 with it, 3 of 3 without it/);
    expect(summary).toMatch(/Commit: \w{7} breaks, by Ada\n\nTried: fix\.diff: Fails 0 of 3/);
  });

  test('compares with the commit before the push, and reports if that commit cannot be fetched', async () => {
    const push = { before: '0123456789'.repeat(4), repository: { default_branch: 'trunk' } };
    const { outputs, summary } = await runner.run({
      with: { ...given, 'confirm-base': '' },
      files,
      prepare: createCommits,
      event: push,
    });

    expect(outputs.verdict).toBe('reproduced');
    expect(summary).toContain(`Not compared: this commit was not built on ${push.before} or trunk`);
  });

  test('gives the command the environment of a job, without the tokens and files of this step', async () => {
    const spy = `${HEAD}const { writeFileSync } = require('node:fs');\nwriteFileSync(process.env.SEEN, JSON.stringify(process.env));\ntest('adds up', () => assert.fail());\n`;
    const folder = mkdtempSync(join(tmpdir(), 'faultline-seen-'));
    const seen = join(folder, 'environment.json');
    const env = {
      SEEN: seen,
      ACTIONS_RUNTIME_TOKEN: 'of-the-runner',
      'INPUT_GITHUB-TOKEN': 'of-the-job',
      OWN: 'of the job',
    };
    await runner.run({
      with: { ...given, 'confirm-runs': '1' },
      files: { ...files, 'sum.test.js': spy },
      prepare: createCommits,
      env,
    });

    const text = readFileSync(seen, 'utf8');
    rmSync(folder, { recursive: true });
    expect(JSON.parse(text)).toMatchObject({ OWN: 'of the job', GITHUB_REPOSITORY: 'shop/api' });
    expect(text).not.toMatch(/INPUT_|of-the-runner|of-the-job|GITHUB_OUTPUT|GITHUB_STEP_SUMMARY/);
  });

  test('uploads the outcome for the build, and shows the answer that contains it', async () => {
    const received: [string, string][] = [];
    const answer = async (request: IncomingMessage, response: ServerResponse) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      received.push([`${request.method} ${request.url}`, Buffer.concat(chunks).toString('latin1')]);
      const done = { buildId: 'bld_1', triage: { state: 'done', error: null }, analyses: [sampleAnalysis()] };
      sendJson(response, 200, request.method === 'POST' ? { buildId: 'bld_1', analyses: [] } : done);
    };
    const server = await startLoopback((request, response) => void answer(request, response));
    const asked = {
      ...given,
      'server-url': server.url,
      token: TOKEN,
      'try-fix': 'fix.diff',
      suggest: 'true',
    };
    const { outputs } = await runner.run({ with: asked, files: filesWithFix, prepare: createCommits });
    await server.close();

    expect(received.map(([line]) => line)).toEqual([
      'POST /api/builds',
      'POST /api/builds/bld_1/experiments',
      'GET /api/builds/bld_1/analyses',
    ]);
    const told = Experiment.parse(JSON.parse(received[1]?.[1] ?? ''));
    expect(told).toMatchObject({
      verdict: 'this-change',
      tests: ['adds up'],
      dependsOnOthers: null,
      fixes: { verdict: 'fixed', suggest: true },
    });
    expect(outputs.verdict).toBe('this-change');
  });

  test.each([
    [
      'a command that is not there',
      { confirm: 'no-such-program' },
      'The failure was not confirmed: no-such-program could not be started',
    ],
    [
      'a directory outside of the workspace',
      { 'confirm-directory': '../..' },
      'The input "confirm-directory" must name a directory in the workspace',
    ],
    [
      'a directory that is absolute',
      { 'confirm-directory': '/' },
      'The input "confirm-directory" must name a directory in the workspace',
    ],
    ['no command', { confirm: 'true' }, 'The input "confirm" must be the failing command, such as npm test.'],
    ['runs that are none', { 'confirm-runs': 'many' }, 'The input "confirm-runs" must be 1 to 50 runs'],
  ])('reports a warning: %s', async (_, change, sentence) => {
    const { exitCode, commands } = await runner.run({
      with: { ...given, ...change },
      files,
      prepare: createCommits,
    });

    expect(exitCode).toBe(0);
    expect(commands.map(({ message }) => message)).toContainEqual(expect.stringContaining(sentence));
  });
});
