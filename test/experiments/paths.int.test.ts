import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Experiment } from '../../src/domain/experiment.ts';
import type { FailingTest } from '../../src/domain/failure.ts';
import { bisect } from '../../src/experiments/bisect.ts';
import { type ConfirmOptions, confirm } from '../../src/experiments/confirm.ts';
import { outputReader } from '../../src/experiments/outcome.ts';
import { createGitRepository, type GitRepository } from '../support/git-repository.ts';
import { THOROUGH } from '../support/thorough.ts';

const never = new AbortController().signal;
const RIGHT = 'exports.sum = (a, b) => a + b;\n';
const WRONG = 'exports.sum = (a, b) => a - b;\n';
const sumTest = (path: string) =>
  `const { test } = require('node:test');\ntest('adds', () => require('node:assert').equal(require('${path}').sum(2, 3), 5));\n`;

let repository: GitRepository;
let outside: string;
beforeEach(() => {
  repository = createGitRepository();
  outside = mkdtempSync(join(tmpdir(), 'faultline-outside-'));
});
afterEach(() => {
  repository.remove();
  rmSync(outside, { recursive: true });
});

const confirmed = (changes: Partial<ConfirmOptions>): Promise<Experiment> =>
  confirm(
    {
      argv: [],
      cwd: repository.folder,
      env: process.env,
      base: undefined,
      runs: 3,
      limitMs: 100_000,
      tests: [],
      conditions: false,
      ...changes,
    },
    { read: outputReader() },
    never,
  );
const breakIt = (files: Readonly<Record<string, string>>) => {
  repository.commit({ 'sum.js': RIGHT, ...files }, 'works');
  repository.git('checkout', '-q', '-b', 'work');
  repository.commit({ 'sum.js': WRONG }, 'breaks');
};

describe('the run on the base uses no file of the checkout', () => {
  test('even if the command names one by its full path', async () => {
    breakIt({ 'sum.test.js': sumTest('./sum.js') });
    const argv = [process.execPath, '--test', join(repository.folder, 'sum.test.js')];
    expect(await confirmed({ argv })).toMatchObject({
      verdict: 'this-change',
      arms: [{}, {}, { where: 'base', passed: 3 }],
    });
  });

  if (THOROUGH) {
    test('even if a variable contains the path of the code', async () => {
      breakIt({ 'sum.test.js': sumTest('sum.js') });
      const env = { ...process.env, NODE_PATH: repository.folder };
      expect(await confirmed({ argv: [process.execPath, '--test', 'sum.test.js'], env })).toMatchObject({
        verdict: 'this-change',
      });
    });

    test('even if the checkout is reached through a symbolic link, above it or inside it', async () => {
      breakIt({ 'web/sum.test.js': sumTest('../sum.js') });
      symlinkSync(repository.folder, join(outside, 'link'), 'dir');
      symlinkSync(join(repository.folder, 'web'), join(outside, 'web'), 'dir');
      for (const cwd of [join(outside, 'link/web'), join(outside, 'web')]) {
        const argv = [process.execPath, '--test', join(cwd, 'sum.test.js')];
        expect(await confirmed({ argv, cwd })).toMatchObject({
          verdict: 'this-change',
          arms: [{}, {}, { where: 'base', passed: 3 }],
        });
      }
    });
  }

  test('and a symbolic link to the checkout prevents the comparison, and such a commit is skipped', async () => {
    repository.commit({ 'sum.js': RIGHT, 'real/sum.test.js': sumTest('../sum.js') }, 'works');
    symlinkSync(join(repository.folder, 'real'), join(repository.folder, 'linked'), 'dir');
    const good = repository.commit({}, 'links');
    repository.git('checkout', '-q', '-b', 'work');
    repository.commit({ 'sum.js': WRONG }, 'breaks');
    const argv = [process.execPath, '--test', 'linked/sum.test.js'];
    const found = await confirmed({ argv });
    expect(found).toMatchObject({
      verdict: 'reproduced',
      notes: [expect.stringContaining('linked/sum.test.js is a symbolic link')],
    });
    const options = {
      argv,
      cwd: repository.folder,
      env: process.env,
      good,
      bad: 'HEAD',
      runs: 3,
      limitMs: 100_000,
      tests: [],
    };
    expect(await bisect(options, { read: outputReader() }, never)).toMatchObject({
      verdict: 'not-reproduced',
      tried: [],
    });
  });
});

/** As a log names it. */
const failing = (file: string): FailingTest => ({
  framework: 'pytest',
  name: 'test_adds',
  suite: null,
  file,
  line: null,
  message: null,
  expected: null,
  actual: null,
  at: null,
});
const hasPytest = process.env.PATH?.split(':').some((folder) => existsSync(join(folder, 'pytest'))) === true;

describe.skipIf(!hasPytest)('a file that a log names outside of the checkout is not run', () => {
  const ran = () => existsSync(join(outside, 'ran'));
  beforeEach(() => {
    const evil = `open(${JSON.stringify(join(outside, 'ran'))}, 'w')\ndef test_adds():\n    assert False\n`;
    writeFileSync(join(outside, 'test_evil.py'), evil);
    const good = {
      'shop.py': 'def add(a, b): return a + b\n',
      'test_shop.py': 'import shop\ndef test_adds():\n    assert shop.add(2, 3) == 5\n',
    };
    repository.commit(good, 'works');
    repository.git('checkout', '-q', '-b', 'work');
    repository.commit({ 'shop.py': 'def add(a, b): return a - b\n' }, 'breaks');
  });

  const names: [string, () => string][] = [
    ['by a relative path', () => relative(repository.folder, join(outside, 'test_evil.py'))],
    ['by its whole path', () => join(outside, 'test_evil.py')],
    [
      'by a symbolic link',
      () => {
        symlinkSync(outside, join(repository.folder, 'linked'), 'dir');
        return 'linked/test_evil.py';
      },
    ],
    [
      'as a file of options',
      () => {
        writeFileSync(join(repository.folder, 'options::test_adds'), join(outside, 'test_evil.py'));
        return '@options';
      },
    ],
  ];
  test.each(THOROUGH ? names : names.slice(0, 1))('%s', async (_, file) => {
    // The command names the project's own test, so that nothing but the log could lead outside.
    const found = await confirmed({
      argv: ['python3', '-m', 'pytest', 'test_shop.py'],
      tests: [failing(file())],
    });
    expect([found.verdict, ran()]).toEqual(['this-change', false]);
  });

  test('but one inside of it is run, also on the base, even if it is named by its full path', async () => {
    const file = join(repository.folder, 'test_shop.py');
    const found = await confirmed({ argv: ['python3', '-m', 'pytest'], tests: [failing(file)] });
    expect(found).toMatchObject({
      verdict: 'this-change',
      narrowed: ['python3', '-m', 'pytest', 'test_shop.py::test_adds'],
    });
  });
});
