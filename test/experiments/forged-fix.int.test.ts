import { existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { FixTrial } from '../../src/domain/experiment.ts';
import { outputReader } from '../../src/experiments/outcome.ts';
import { type FixOptions, tryFix } from '../../src/experiments/try-fix.ts';
import { createGitRepository, type GitRepository } from '../support/git-repository.ts';
import { THOROUGH } from '../support/thorough.ts';

const never = new AbortController().signal;
const NODE_TEST = [process.execPath, '--test'];
const ALLOWED = { tests: true, workflows: false };
const SUM_TEST = `const { test } = require('node:test');\ntest('adds', () => require('node:assert').equal(require('./sum.js').sum(2, 3), 5));\ntest('rests', () => {});\n`;
const WRONG = 'exports.sum = (a, b) => a - b;\n';
const RIGHT = 'exports.sum = (a, b) => a + b;\n';
const PACKAGE = `{\n  "scripts": {\n    "test": "node --test"\n  }\n}\n`;

let repository: GitRepository;
beforeEach(() => {
  repository = createGitRepository();
});
afterEach(() => repository.remove());

/** Tries changes of files, each from what is committed. */
const tryIt = (
  changes: readonly Readonly<Record<string, string | null>>[],
  options: Partial<FixOptions> = {},
): Promise<FixTrial> => {
  const proposals = changes.map((files, at) => {
    repository.commit(files, 'proposed');
    const diff = `${repository.git('diff', '--no-renames', 'HEAD^', 'HEAD')}\n`;
    repository.git('reset', '-q', '--hard', 'HEAD^');
    return { source: `fix ${at + 1}`, diff };
  });
  const { env } = process;
  const common = {
    cwd: repository.folder,
    env,
    tests: [],
    rules: [],
    check: null,
    runs: 3,
    limitMs: 100_000,
    allowed: { tests: false, workflows: false },
  };
  return tryFix({ argv: NODE_TEST, ...common, proposals, ...options }, { read: outputReader() }, never);
};
const told = ({ verdict, attempts }: FixTrial) => [verdict, ...attempts.map((attempt) => attempt.verdict)];
const has = (program: string) =>
  process.env.PATH?.split(':').some((folder) => existsSync(join(folder, program))) === true;

describe('a change that makes a test "pass" by how it is run', () => {
  const echoed = { 'package.json': PACKAGE.replace('node --test', "echo '# pass 1'") };
  const deletes = {
    'package.json': PACKAGE.replace('"test"', '"pretest": "rm -f sum.test.js",\n    "test"'),
  };

  test("is refused; with --allow-tests its passes count only if the tool's report shows the test", async () => {
    repository.commit({ 'sum.js': WRONG, 'sum.test.js': SUM_TEST, 'package.json': PACKAGE }, 'broken');
    const argv = ['npm', 'test'];
    const refused = await tryIt([echoed, deletes], { argv });
    expect(told(refused)).toEqual(['not-fixed', 'refused', 'refused']);
    expect(refused.attempts[0]?.refused).toBe(
      'package.json says how the tests run; allow it with --allow-tests',
    );
    const allowed = await tryIt([echoed, deletes, { 'sum.js': RIGHT }], { argv, allowed: ALLOWED });
    expect(allowed.verdict).toBe('fixed');
    expect(allowed.attempts.slice(0, 2).map(({ verdict }) => verdict)).not.toContain('fixed');
    expect(allowed.attempts[0]?.sentence).toContain(
      'no report of the tool shows that the failing tests ran and passed',
    );
  });

  test('is refused if it changes the script that the command starts', async () => {
    const check = (rest: string) => `#!/bin/sh\n${rest}\n`;
    repository.commit(
      { 'sum.js': WRONG, 'sum.test.js': SUM_TEST, check: check(`exec ${process.execPath} --test`) },
      'broken',
    );
    expect(told(await tryIt([{ check: check("echo '# pass 1'") }], { argv: ['sh', 'check'] }))).toEqual([
      'not-fixed',
      'refused',
    ]);
  });

  test('is not a fix if the code exits before its tests, or skips them', async () => {
    repository.commit(
      { 'sum.js': WRONG, 'sum.test.js': SUM_TEST.replace('() => require', '(t) => require') },
      'broken',
    );
    const ends = { 'sum.js': `console.log('# pass 1');\nprocess.exit(0);\n` };
    const skips = {
      'sum.js': `exports.sum = () => { throw Object.assign(new Error(), { code: 'SKIP' }); };\n`,
    };
    const found = await tryIt([ends, skips, { 'sum.js': RIGHT }]);
    expect(told(found).at(-1)).toBe('fixed');
    expect(told(found).slice(1, -1)).not.toContain('fixed');
  });

  test('is not a fix if the test is removed from the file, but is one if the file could not be loaded before', async () => {
    repository.commit({ 'sum.js': WRONG, 'sum.test.js': SUM_TEST }, 'broken');
    const gone = {
      'sum.test.js': SUM_TEST.replace("test('adds'", "test('adds nothing'").replace('5)', '-1)'),
    };
    expect(told(await tryIt([gone], { allowed: ALLOWED }))[0]).toBe('not-fixed');
    repository.commit({ 'sum.js': 'exports.sum = (\n' }, 'does not load');
    expect(told(await tryIt([{ 'sum.js': RIGHT }]))).toEqual(['fixed', 'fixed']);
  });
});

// Other tools take long to start: a short run tries Node's own.
if (THOROUGH) {
  describe.skipIf(!has('pytest'))('with pytest', () => {
    const argv = ['python3', '-m', 'pytest', '-q'];
    const forge = `import pytest\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n    report = (yield).get_result()\n    report.outcome = 'passed'\n`;
    const test_shop = 'import shop\ndef test_adds():\n    assert shop.add(2, 3) == 5\n';
    const broken = {
      'shop.py': 'def add(a, b): return a - b\n',
      'test_shop.py': test_shop,
      'pyproject.toml': '[project]\nname = "shop"\n',
    };

    test('a plugin that fakes results is refused, wherever its options are set', async () => {
      repository.commit(broken, 'broken');
      const options = {
        'pyproject.toml': '[project]\nname = "shop"\n\n[tool.pytest.ini_options]\naddopts = "-p forge"\n',
        'forge.py': forge,
      };
      const ini = { 'setup.cfg': '[tool:pytest]\naddopts = -p forge\n', 'forge.py': forge };
      const found = await tryIt(
        [
          options,
          ini,
          { 'conftest.py': forge },
          { 'pytest.py': 'print("1 passed")\n' },
          { 'shop.py': 'def add(a, b): return a + b\n' },
        ],
        { argv },
      );
      expect(told(found)).toEqual(['fixed', 'refused', 'refused', 'refused', 'refused', 'fixed']);
    });

    test('a process that exits early is not a fix, also behind make', async () => {
      repository.commit({ ...broken, Makefile: 'check:\n\t@python3 -m pytest -q\n' }, 'broken');
      const ends = { 'shop.py': 'import os\nprint("1 passed in 0.01s", flush=True)\nos._exit(0)\n' };
      for (const command of [argv, ['make', '-s', 'check']]) {
        const found = await tryIt([ends, { 'shop.py': 'def add(a, b): return a + b\n' }], { argv: command });
        expect(told(found)).toEqual([
          'fixed',
          expect.stringMatching(/^(?:not-fixed|inconclusive)$/),
          'fixed',
        ]);
      }
    });
  });

  describe.skipIf(!has('go'))('with Go', () => {
    test('an exit before the tests is not a fix', async () => {
      const go = (body: string) => `package shop\n\nimport "os"\n\nvar _ = os.Args\n\n${body}`;
      const sum = 'func Sum(a, b int) int { return a - b }\n';
      const goTest =
        'package shop\n\nimport "testing"\n\nfunc TestSum(t *testing.T) {\n\tif Sum(2, 3) != 5 {\n\t\tt.Fatal("wrong")\n\t}\n}\n';
      repository.commit(
        { 'go.mod': 'module shop\n\ngo 1.20\n', 'sum.go': go(sum), 'sum_test.go': goTest },
        'broken',
      );
      const ends = { 'sum.go': go(`${sum}\nfunc init() {\n\tprintln("PASS")\n\tos.Exit(0)\n}\n`) };
      const found = await tryIt([ends, { 'sum.go': go(sum.replace('-', '+')) }], {
        argv: ['go', 'test', './...'],
      });
      expect([found.verdict, found.attempts[0]?.verdict === 'fixed']).toEqual(['fixed', false]);
    });
  });

  describe('with Vitest', () => {
    test('a real fix is accepted because the report shows the test', async () => {
      const vitest = join(process.cwd(), 'node_modules/.bin/vitest');
      symlinkSync(join(process.cwd(), 'node_modules'), join(repository.folder, 'node_modules'), 'dir');
      const source = `import { expect, test } from 'vitest';\nimport { sum } from './sum.mjs';\ntest('adds', () => { expect(sum(2, 3)).toBe(5); });\n`;
      repository.commit(
        {
          '.gitignore': 'node_modules',
          'sum.mjs': 'export const sum = (a, b) => a - b;\n',
          'sum.test.mjs': source,
        },
        'broken',
      );
      const ends = {
        'sum.mjs': 'export const sum = (a, b) => a - b;\nconsole.log("1 passed");\nprocess.exit(0);\n',
      };
      const found = await tryIt([ends, { 'sum.mjs': 'export const sum = (a, b) => a + b;\n' }], {
        argv: [vitest, 'run'],
      });
      expect([found.verdict, found.attempts[0]?.verdict === 'fixed']).toEqual(['fixed', false]);
    });
  });
}
