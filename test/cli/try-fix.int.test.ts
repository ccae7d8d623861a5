import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { createGitRepository, type GitRepository } from '../support/git-repository.ts';
import { sendJson, startLoopback } from '../support/loopback-server.ts';
import { type ProcessOptions, runFaultlineProcess } from './faultline.ts';

const CHECK =
  "require('node:test').test('adds up', () => require('node:assert').equal(require('./sum.js').sum(2, 3), 5));\n";
const DIFF =
  '--- a/sum.js\n+++ b/sum.js\n@@ -1 +1 @@\n-exports.sum = (a, b) => a - b;\n+exports.sum = (a, b) => a + b;\n';

let repository: GitRepository;
beforeEach(() => {
  repository = createGitRepository();
  repository.commit({ 'sum.js': 'exports.sum = (a, b) => a - b;\n', 'sum.test.js': CHECK }, 'broken');
});
afterEach(() => repository.remove());

const tryFix = (args: readonly string[], options: ProcessOptions = {}) =>
  runFaultlineProcess(['try-fix', ...args, '--', process.execPath, '--test'], {
    cwd: repository.folder,
    ...options,
  });

test('try-fix tries a diff from standard input, and the one in an answer of the service', async () => {
  const given = await tryFix(['--patch', '-', '--branch', 'mended'], {
    input: `Not tried:\n\`\`\`diff\n${DIFF}\`\`\`\n`,
  });
  expect(given.code, given.stderr).toBe(0);
  expect(given.stdout).toMatch(
    /^Result\tFixed: fails 0 of 3 with it, 3 of 3 without it, and the wider check passes\./,
  );
  expect(given.stdout).toContain('Changes\tsum.js\nBranch\tmended');
  const server = await startLoopback((_, response) =>
    sendJson(response, 200, { answer: { fixRecommendation: `Not tried:\n${DIFF}` } }),
  );
  const stored = await tryFix(['--analysis', 'ana_1', '--url', server.url, '--token', 'flt_1', '--json']);
  await server.close();
  expect(JSON.parse(stored.stdout)).toMatchObject({
    verdict: 'fixed',
    attempts: [{ source: 'the fix of ana_1' }],
    branch: null,
  });
  expect(await tryFix(['--patch', 'sum.js'])).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('sum.js has no diff'),
  });
  expect(await tryFix(['--rule', 'guess'])).toMatchObject({ code: 2 });
});

test('an interrupted try-fix leaves no files in the temporary directory', async () => {
  const temporary = mkdtempSync(join(tmpdir(), 'faultline-test-'));
  onTestFinished(() => rmSync(temporary, { recursive: true }));
  const started = join(temporary, 'started');
  const hangs = `require('node:fs').writeFileSync(${JSON.stringify(started)}, ''); setTimeout(() => {}, 60_000);\n`;
  repository.commit({ 'sum.test.js': hangs }, 'hangs');
  const whenStarted = (then: () => void): unknown =>
    setTimeout(() => (existsSync(started) ? then() : whenStarted(then)), 100);
  const onStart: ProcessOptions['onStart'] = ({ kill }) => whenStarted(() => kill('SIGINT'));
  const ended = await tryFix(['--patch', '-'], { input: DIFF, env: { TMPDIR: temporary }, onStart });
  expect(ended.code).toBe(130);
  expect(readdirSync(temporary).filter((name) => name.startsWith('faultline'))).toEqual([]);
});
