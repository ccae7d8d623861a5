import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createGitRepository, type GitRepository } from '../support/git-repository.ts';
import { runFaultline } from './faultline.ts';

const CHECK =
  "require('node:test').test('adds up', () => require('node:assert').equal(require('./sum.js').sum(2, 3), 5));\n";
const LOG =
  '✖ adds up (1.2ms)\n\n✖ failing tests:\n\ntest at sum.test.js:1:22\n✖ adds up (1.2ms)\n  AssertionError [ERR_ASSERTION]: -1 == 5\n';

let repository: GitRepository;
beforeEach(() => {
  repository = createGitRepository();
  repository.commit(
    { 'sum.js': 'exports.sum = (a, b) => a + b;\n', 'sum.test.js': CHECK, '.gitignore': 'build.log\n' },
    'works',
  );
  writeFileSync(join(repository.folder, 'sum.js'), 'exports.sum = (a, b) => a - b;\n');
  writeFileSync(join(repository.folder, 'build.log'), LOG);
});
afterEach(() => repository.remove());

const triage = (...args: readonly string[]) =>
  runFaultline(['triage', join(repository.folder, 'build.log'), '--repo', repository.folder, ...args]);

test('triage --confirm runs the command again, and the answer states what the runs show', async () => {
  const { code, stdout, stderr } = await triage('--confirm', `${process.execPath} --test`, '--json');
  expect(code, stderr).toBe(0);
  expect(JSON.parse(stdout).analyses[0]).toMatchObject({
    category: 'TEST_FAILURE',
    experiment: {
      verdict: 'this-change',
      sentence: expect.stringMatching(/^Fails 5 of 5 here, 0 of 5 on the base/),
    },
  });
  expect(repository.git('worktree', 'list').split('\n')).toHaveLength(1);
});

test('triage --confirm names a command that cannot be started, and still answers', async () => {
  const { code, stdout, stderr } = await triage('--confirm', 'no-such-program', '--json');
  expect(code).toBe(3);
  expect(stderr).toContain('no-such-program could not be started');
  expect(JSON.parse(stdout).analyses[0]).toMatchObject({ category: 'TEST_FAILURE', experiment: null });
});
