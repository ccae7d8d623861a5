import { afterEach, beforeEach, expect, test } from 'vitest';
import { createGitRepository, type GitRepository } from '../support/git-repository.ts';
import { runFaultlineProcess } from './faultline.ts';

const CHECK =
  "require('node:test').test('adds up', () => require('node:assert').equal(require('./sum.js').sum(2, 3), 5));\n";

let repository: GitRepository;
beforeEach(() => {
  repository = createGitRepository();
});
afterEach(() => repository.remove());

test('bisect names the commit that broke the command, as text and as JSON', async () => {
  const good = repository.commit(
    { 'sum.js': 'exports.sum = (a, b) => a + b;\n', 'sum.test.js': CHECK },
    'works',
  );
  const guilty = repository.commit({ 'sum.js': 'exports.sum = (a, b) => a - b;\n' }, 'turns the sum around');
  repository.commit({ 'notes.txt': '1' }, 'a note');
  const bisect = (...args: string[]) =>
    runFaultlineProcess(['bisect', '--good', good, ...args, '--', process.execPath, '--test'], {
      cwd: repository.folder,
    });
  const plain = await bisect();
  expect(plain.code, plain.stderr).toBe(0);
  expect(plain.stdout).toMatch(
    new RegExp(
      `^Result\\tBroken by ${guilty.slice(0, 7)} .*\\nCommit\\t${guilty.slice(0, 7)} turns the sum around, by `,
    ),
  );
  expect(JSON.parse((await bisect('--json')).stdout)).toMatchObject({
    verdict: 'found',
    candidates: [{ commit: guilty }],
  });
  expect(repository.git('worktree', 'list').split('\n')).toHaveLength(1);
});
